"""A comparison as one HTML file that loads nothing else: the story first, and charts of both runs over each other."""

import base64
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Template
from markupsafe import Markup

from plimsoll.charts.chart import Chart
from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.doubts import proposed
from plimsoll.comparison.judging import DIFFERENT, Compared, Outcome
from plimsoll.comparison.phases import CommonPhase
from plimsoll.comparison.run_table import columns, run_table
from plimsoll.comparison.sentences import by_signal, moved, place, title
from plimsoll.comparison.story import ANSWERS, Answer, account, answer, unchanged
from plimsoll.model.times import Zone, duration_text
from plimsoll.report.comparison.charts import Overlaid
from plimsoll.report.comparison.words import TITLES, cells
from plimsoll.report.html import cover
from plimsoll.report.html.templates import environment
from plimsoll.report.render.html import asset, chart_style, page_data, page_script
from plimsoll.report.wording import scope
from plimsoll.review.sentences import breach_sentence
from plimsoll.rules.severity import MARKS

_CLASSES = {Answer.WORSE: "critical", Answer.NOT_WORSE: "healthy", Answer.UNKNOWN: "unknown"}
_DRAWN = {Outcome.REGRESSION: 10, Outcome.IMPROVEMENT: 4, Outcome.CHANGE: 3}
_MOST_SAME = 4
_MOST_ROWS = 400


@dataclass(frozen=True)
class Row:
    """One signal in a table."""

    outcome: Outcome
    title: str
    place: str
    cells: tuple[str, ...]
    critical: bool

    @property
    def unchanged(self) -> bool:
        """Whether it did not change, or that cannot be told."""
        return self.outcome not in DIFFERENT


@dataclass(frozen=True)
class Section:
    """A signal that differs: its sentence, its facts, a chart, and rows for other hosts and instances."""

    title: str
    place: str
    sentence: str
    facts: list[tuple[str, str]]
    chart: Chart | None
    rows: list[Row]
    severity: str


@dataclass(frozen=True)
class Part:
    """One run compared with the baseline."""

    comparison: Comparison
    answer: str
    kind: str
    story: list[str]
    scopes: list[tuple[str, str]]
    groups: list[tuple[str, list[Section], int]]
    same: list[Section]
    also_worse: list[tuple[CommonPhase, list[Row]]]
    load: list[Row]
    crossed: list[tuple[str, list[tuple[str, str]]]]
    tables: list[tuple[str, list[Row], int, bool]]
    lone: list[tuple[str, list[str]]]


def render(comparisons: Sequence[Comparison], zone: Zone | None = None, now: int | None = None) -> str:
    """The report. Times are in `zone`, by default those of the logs; `now` (UTC ns) is when it is made."""
    charts = Overlaid(comparisons)
    parts = [_part(one, charts, zone) for one in comparisons]
    rows = run_table(comparisons)
    script = page_script()
    page = _template().render(
        baseline=comparisons[0].first,
        parts=parts,
        columns=columns(rows),
        rows=rows,
        simulated=any(one.second.review.run.simulated or one.first.review.run.simulated for one in comparisons),
        made_by=cover.made_by(),
        made_at=cover.made_at(time.time_ns() if now is None else now),
        data=page_data(charts.charts, elapsed=True),
        css=Markup(chart_style()) + Markup(asset("page/report.css")) + Markup(asset("page/compare.css")),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        symbols=MARKS,
    )
    return page.encode(errors="replace").decode()


def _part(comparison: Comparison, charts: Overlaid, zone: Zone | None) -> Part:
    said = answer(comparison)
    groups: list[tuple[str, list[Section], int]] = []
    for outcome, most in _DRAWN.items():
        found = by_signal(comparison.of(outcome))
        if found:
            sections = [_section(comparison, group, charts) for group in found[:most]]
            groups.append((TITLES[outcome], sections, len(found) - len(sections)))
    return Part(
        comparison=comparison,
        answer=ANSWERS[said],
        kind=_CLASSES[said],
        story=account(comparison),
        scopes=[(side.name, _scope(side, zone)) for side in (comparison.first, comparison.second)],
        groups=groups,
        same=[_section(comparison, [one], charts) for one in unchanged(comparison)[:_MOST_SAME]],
        also_worse=[(phase, [_row(one) for one in found]) for phase, found in comparison.also_worse()],
        load=[_row(one) for one in comparison.load.signals],
        crossed=_crossed(comparison),
        tables=[_table(comparison, at) for at in range(len(comparison.phases))],
        lone=_lone(comparison),
    )


def _scope(side: Side, zone: Zone | None) -> str:
    return scope(side.review, zone or side.review.zone)


def _section(comparison: Comparison, group: Sequence[Compared], charts: Overlaid) -> Section:
    one = group[0]
    first, second, change, interval, effective = cells(one)
    name = title(one)
    return Section(
        title=one.signal.title,
        place=place(one),
        sentence=f"{name[:1].upper()}{name[1:]} {moved(one)}." if one.outcome in _DRAWN else "",
        facts=[
            (comparison.first.name, first),
            (comparison.second.name, second),
            ("Change", change or "–"),
            ("Difference, 95 % interval", interval),
            ("Independent samples", effective),
        ],
        chart=charts.add(comparison, one),
        rows=[_row(other) for other in group[1:]],
        severity="critical" if one.outcome == Outcome.REGRESSION and one.treatment.critical else "info",
    )


def _row(one: Compared) -> Row:
    return Row(one.outcome, one.signal.title, place(one), cells(one), one.treatment.critical)


def _crossed(comparison: Comparison) -> list[tuple[str, list[tuple[str, str]]]]:
    found = comparison.thresholds
    lists = (
        (f"Only in {comparison.second.called}", found.only_second),
        (f"Only in {comparison.first.called}", found.only_first),
        ("In both", tuple(one for _, one in found.both)),
        ("In one run, and not judged in the other", found.unjudged),
    )
    return [(what, [(one.rule.severity, breach_sentence(one)) for one in some]) for what, some in lists if some]


def _table(comparison: Comparison, at: int) -> tuple[str, list[Row], int, bool]:
    phase = comparison.phases[at]
    found = comparison.in_phase(phase)
    text = phase.name
    if phase.first and phase.second:
        lengths = [duration_text(one.end - one.start) for one in (phase.first, phase.second)]
        text = f"{phase.name}: {' and '.join(dict.fromkeys(lengths))}"
    rows = [_row(one) for one in found[:_MOST_ROWS]]
    return text, rows, len(found) - len(rows), phase is comparison.phase


def _lone(comparison: Comparison) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for side, lone, hosts in zip(
        (comparison.first, comparison.second), comparison.lone, comparison.hosts.alone, strict=True
    ):
        names = [f"{one.signal.title} ({', '.join((one.host, *one.instances))})" for one in lone]
        names += [f"all of host {host}" for host in hosts]
        if side is comparison.second:
            names += [proposed(comparison, one) for one in comparison.proposals]
        if names:
            found.append((side.called, names))
    return found


@cache
def _template() -> Template:
    return environment(lambda name: asset(f"page/{name}"), {"titles": TITLES}).get_template("compare.html.j2")

"""The review as one HTML file that stands alone: nothing in it is loaded from anywhere."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from model.log import Log
from model.numbers import number, percent
from model.remark import counted
from model.times import Zone, words
from review.chart import HEIGHT, WIDTH, Chart, Frame
from review.findings import Finding, Outcome
from review.gauge import level, water
from review.report_crossed import condition_text, crossed
from review.report_figures import figures
from review.report_signals import Signals
from review.report_tables import SHOWN_SUBJECTS, held, statistics, unjudged
from review.review import Review
from review.sentences import between, how_long, threshold, worst_text
from review.verdict import Verdict, said, tally
from review.wording import MARKS, host_of, place, scope
from rules.schema import Rule, Signal
from rules.wording import limit_text

_MOST_REMARKS = 200
_MOST_FILES = 200
_CLOCK_STEPS = 400  # how finely changes of the zone's offset are looked for
_UNJUDGED = (
    (Outcome.NO_DATA, "No data", "recorded, but without samples that could be judged"),
    (
        Outcome.NOT_JUDGED,
        "Not judged",
        "something that must be known is missing, or their phase does not occur in this run",
    ),
    (Outcome.NOT_RECORDED, "Not recorded", "the rules apply to these hosts, but these logs lack the counters"),
    (Outcome.DOES_NOT_APPLY, "Does not apply", "no host in these logs is of the kind the rules are for"),
    (Outcome.OFF, "Switched off", "plimsoll.toml says not to judge them, and why"),
)


def render(review: Review, zone: Zone | None = None) -> str:
    """The report. Times are in `zone`, by default the log's own.

    What no file can hold (half of a surrogate pair in a counter's name) is shown as a question mark.
    """
    zone = zone or review.zone
    signals = Signals(review)
    filled = review.start is not None and review.end is not None
    frame = Frame.of(review.start or 0, review.end or 0, review.phases, zone) if filled else None
    groups = crossed(review, zone, signals, frame)
    found_held, found_short = review.of(Outcome.HELD), review.of(Outcome.TOO_SHORT)
    page = _template().render(
        review=review,
        name=_name(review),
        zone=zone.label(review.start or 0),
        span=zone.span,
        said=said(review.verdict),
        headline=review.answer,
        trouble=_trouble(review),
        water=_worst_water(review),
        tally=tally(review.findings),
        scope=scope(review, zone),
        figures=figures(review, signals),
        groups=groups,
        crossed=len(review.of(Outcome.CROSSED)),
        short=held(found_short),
        short_count=len(found_short),
        held=held(found_held),
        held_count=len(found_held),
        overridden=[
            dict.fromkeys((f.signal.title, f.override.note) for f in found if f.override)
            for found in (found_short, found_held)
        ],
        statistics=statistics(review, signals, zone),
        unjudged=[
            (title, text, len(review.of(o)), unjudged(review, o)) for o, title, text in _UNJUDGED if review.of(o)
        ],
        rules=_rules(review),
        remarks=review.remarks[:_MOST_REMARKS],
        files=[_file(review, log, zone) for log in review.logs[:_MOST_FILES]],
        shown_subjects=SHOWN_SUBJECTS,
        data=_Data(frame, zone),
        symbols=MARKS,
        width=WIDTH,
        height=HEIGHT,
        css=_verbatim("report.css"),
        js=_verbatim("report.js"),
    )
    return page.encode(errors="replace").decode()


@dataclass
class _Data:
    """What the pointer shows over the charts, gathered while they are written."""

    frame: Frame | None
    zone: Zone
    charts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, chart: Chart) -> int:
        """Note a chart's values; returns the number the page knows it by."""
        self.charts.append(chart.data)
        return len(self.charts) - 1

    def json(self) -> Markup:
        """Everything as JSON that may stand inside a script element."""
        content: dict[str, Any] = {"charts": self.charts}
        if self.frame is not None:
            start, end = self.frame.start, self.frame.end
            content |= {"start": start // 1_000_000, "end": end // 1_000_000, "clock": _offsets(self.zone, start, end)}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        for character in "<>&\u2028\u2029":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return Markup(text)


def _offsets(zone: Zone, start: int, end: int) -> list[tuple[int, int]]:
    """From when (ms) the zone's clock was how far (min) ahead of UTC, for each change within the run."""
    found: list[tuple[int, int]] = []
    for step in range(_CLOCK_STEPS + 1):
        at = start + (end - start) * step // _CLOCK_STEPS
        ahead = (zone.local(at).utcoffset() or timedelta()) // timedelta(minutes=1)
        if not found or found[-1][1] != ahead:
            found.append((at // 1_000_000, ahead))
    return found


@dataclass(frozen=True)
class _RuleEntry:
    """One rule of the packs, as the list of rules shows it."""

    rule: Rule
    pack: str
    signal: Signal
    limit: str
    condition: str
    look_at: str
    overrides: tuple[str, ...]


def _rules(review: Review) -> list[_RuleEntry]:
    signals = review.question.signals
    overridden: dict[str, dict[str, dict[str, None]]] = {}  # hosts, by rule and by what was done to it
    for finding in review.findings:
        if finding.override:
            notes = overridden.setdefault(finding.rule.id, {})
            notes.setdefault(finding.override.note, {})[host_of(finding)] = None
    return [
        _RuleEntry(
            rule,
            applied.pack.title,
            signals[rule.signal],
            limit_text(rule.healthy, signals[rule.signal].unit, rule.scale),
            condition_text(rule, signals[rule.signal].unit),
            ", ".join(signals[name].title for name in rule.look_at if name in signals),
            tuple(f"{', '.join(hosts)}: {note}" for note, hosts in overridden.get(rule.id, {}).items()),
        )
        for applied in review.applied
        for rule in applied.pack.rules
    ]


def _file(review: Review, log: Log, zone: Zone) -> dict[str, str]:
    filled = len(log.times) > 0
    return {
        "path": str(log.path),
        "format": log.format,
        "hosts": ", ".join(review.hosts_of(log)),
        "span": zone.span(int(log.times[0]), int(log.times[-1])) if filled else "no rows",
        "every": between(log.intervals) if log.intervals else "–",
        "rows": number(len(log.times)),
        "counters": number(len(log.series)),
        "present": number(log.present),
        "missing": number(log.missing),
        "zone": log.zone.label(int(log.times[0]) if filled else 0),
    }


def _name(review: Review) -> str:
    """What the report is of: the run's name, else that of its file."""
    count = len(review.logs)
    return review.run.name or (review.logs[0].path.name if count == 1 else f"{number(count)} files")


def _trouble(review: Review) -> str:
    """The severity the verdict is shown in: none where nothing was crossed that matters."""
    if review.verdict != Verdict.NOT_HEALTHY:
        return "unknown" if review.verdict == Verdict.UNKNOWN else "healthy"
    severities = {finding.rule.severity for finding in review.of(Outcome.CROSSED)}
    return "critical" if "critical" in severities else "warning"


def _worst_water(review: Review) -> str | None:
    """The gauge beside the verdict: the worst finding that can be measured."""
    ranked = (level(finding) for finding in review.of(Outcome.CROSSED, Outcome.TOO_SHORT, Outcome.HELD))
    return next((water(height) for height in ranked if height is not None), None)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    filters: dict[str, Any] = {"number": number, "percent": percent, "words": words, "counted": counted}
    functions: dict[str, Any] = {"threshold": threshold, "place": place, "how_long": how_long, "worst": _worst}
    environment.filters.update(filters)
    environment.globals.update(functions)
    return environment.from_string(_text("report.html.j2"))


def _worst(finding: Finding) -> str:
    return worst_text(finding)


def _text(name: str) -> str:
    return files("review").joinpath(name).read_text(encoding="utf-8")


def _verbatim(name: str) -> Markup:
    return Markup(_text(name))

"""The sections of crossed signals: the worst subjects are drawn in charts, the rest are table rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from plimsoll.charts.chart import Chart, Charts, Span
from plimsoll.model.times import Zone
from plimsoll.model.value_text import percent, quantity
from plimsoll.report.html.finding_lines import constant, finding_lines, limits
from plimsoll.report.html.gauge import level, water
from plimsoll.report.html.related_signals import RelatedSignals, related_signals
from plimsoll.report.wording import (
    brief_crossings,
    condition_text,
    lasted,
    old_limits,
    threshold,
    until,
    used_by,
    where,
)
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    breach_sentence,
    how_long,
    in_phase,
    note_sentence,
    place,
    reduced,
    worst_crossed,
    worst_text,
)
from plimsoll.review.verdict import Group
from plimsoll.rules.crossings import Crossing
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import limit_text

DRAWN_PER_SIGNAL = 8
DRAWN_IN_ALL = 24
_SIGNALS_WITH_RELATED = 8  # the worst are shown with the signals their rules say to look at
_LISTED_CROSSINGS = 20
_LISTED_WHERE_OFTEN = 200  # where a rule was often crossed, all crossings count together
_LISTED_SUBJECTS = 120


@dataclass(frozen=True)
class CrossingRow:
    """One crossing in a subject's table."""

    when: str
    lasted: str
    worst: str
    mean: str
    processes: str


@dataclass(frozen=True)
class DrawnSubject:
    """One rule crossed for one subject, with all details. `title` distinguishes it from the others of its section."""

    severity: Severity
    title: str
    sentence: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    water: str | None
    chart: Chart | None
    rows: tuple[CrossingRow, ...]
    hidden_rows: int
    notes: tuple[str, ...]
    override: str
    processes: str
    related: RelatedSignals | None
    reduced: str


@dataclass(frozen=True)
class CrossedSection:
    """One crossed signal: the subjects that are drawn, worst first, and those listed in rows."""

    id: str
    severity: Severity
    title: str
    place: str
    drawn: tuple[DrawnSubject, ...]
    rest: tuple[Finding, ...]
    hidden: int
    rules: tuple[tuple[Rule, str], ...]
    old_limits: tuple[str, ...]


def crossed(review: Review, zone: Zone, signals: RecordedSignals, charts: Charts | None) -> tuple[CrossedSection, ...]:
    """Return the crossed signals, worst first. `charts` is None if the logs have no rows."""
    groups = review.groups
    builder = _SubjectBuilder(review, zone, signals, charts)
    drawn = _drawn_per_signal([len(group.findings) for group in groups])
    return tuple(
        _section(review, group, count, builder, related=at < _SIGNALS_WITH_RELATED and group.worst.severe)
        for at, (group, count) in enumerate(zip(groups, drawn, strict=True))
    )


def anchor(kind: str, signal: str, host: str = "") -> str:
    """Return the id of a section, which links name: `crossed-cpu-busy`."""
    return "-".join(part for part in (kind, signal.replace(".", "-"), host) if part)


def _drawn_per_signal(sizes: Sequence[int]) -> list[int]:
    """Return how many findings of each signal are drawn: the worst of each first, then the second worst, and so on."""
    drawn = [0] * len(sizes)
    turns = zip_longest(*([at] * min(size, DRAWN_PER_SIGNAL) for at, size in enumerate(sizes)))
    order = [at for turn in turns for at in turn if at is not None]
    for at in order[:DRAWN_IN_ALL]:
        drawn[at] += 1
    return drawn


def _section(review: Review, group: Group, count: int, builder: "_SubjectBuilder", *, related: bool) -> CrossedSection:
    worst, rest = group.worst, group.findings[count:]
    return CrossedSection(
        id=anchor("crossed", group.signal),
        severity=group.severity,
        title=worst.signal.title,
        place=where(group),
        drawn=tuple(
            builder.subject(finding, group, related=related and at == 0)
            for at, finding in enumerate(group.findings[:count])
        ),
        rest=rest[:_LISTED_SUBJECTS],
        hidden=max(0, len(rest) - _LISTED_SUBJECTS),
        rules=tuple(
            (rule, _whole_condition(review, next(f for f in group.findings if f.rule.id == rule.id)))
            for rule in group.rules
        ),
        old_limits=old_limits(group.not_counted, group.signal),
    )


def _whole_condition(review: Review, finding: Finding) -> str:
    text = condition_text(finding.rule, finding.signal.unit)
    for condition in finding.rule.and_:
        signal = review.question.signals[condition.signal]
        limit = limit_text(condition.healthy, signal.unit)
        text += f"; and {signal.title} ({condition_text(condition, signal.unit)}) not {limit}"
    return text


@dataclass(frozen=True)
class _SubjectBuilder:
    """Builds the subjects of one report, with their charts."""

    review: Review
    zone: Zone
    signals: RecordedSignals
    charts: Charts | None

    def subject(self, finding: Finding, group: Group, *, related: bool) -> DrawnSubject:
        """Return one finding; `related` adds the signals its rule says to look at."""
        crossings = finding.counted
        most = _LISTED_WHERE_OFTEN if finding.outcome == Outcome.OFTEN else _LISTED_CROSSINGS
        listed = sorted(
            sorted(crossings, key=lambda crossing: -crossing.duration)[:most], key=lambda crossing: crossing.start
        )
        several = len(crossings) > 1 or finding.outcome == Outcome.OFTEN
        return DrawnSubject(
            severity=finding.rule.severity,
            title=_title(finding, group),
            sentence=_sentence(finding),
            summary=finding.rule.summary,
            facts=self._facts(finding),
            water=water(level(finding)),
            chart=self._chart(finding, group),
            rows=tuple(self._row(finding, crossing) for crossing in listed) if several else (),
            hidden_rows=len(crossings) - len(listed),
            notes=finding.notes,
            override=finding.override.note if finding.override else "",
            processes=used_by(finding, crossings[0].start) if crossings and not several else "",
            related=related_signals(self.review, self.signals, finding, self.charts)
            if related and self.charts
            else None,
            reduced=reduced(finding),
        )

    def _facts(self, finding: Finding) -> tuple[tuple[str, str], ...]:
        crossings = finding.counted
        facts = [
            ("Crossed", how_long(finding).removeprefix("for ") + in_phase(finding)),
            ("Worst", worst_text(finding, worst_crossed(finding))),
            ("Threshold", threshold(finding)),
            ("First" if len(crossings) > 1 else "From", self._clock(min(crossing.start for crossing in crossings))),
        ]
        brief = brief_crossings(finding) if finding.outcome != Outcome.OFTEN else ""
        if finding.share_of_time is not None:
            briefly = f", with brief crossings: {brief}" if brief else ""
            facts.append(("Beyond the limit", f"{percent(finding.share_of_time)} of the time{briefly}"))
        return tuple(facts)

    def _row(self, finding: Finding, crossing: Crossing) -> CrossingRow:
        unit = finding.signal.unit
        when = f"{self._clock(crossing.start)} – {self._clock(until(self.review, crossing))}"
        return CrossingRow(
            when,
            lasted(crossing.duration),
            quantity(crossing.worst, unit),
            quantity(crossing.mean, unit),
            used_by(finding, crossing.start),
        )

    def _clock(self, instant: int) -> str:
        return self.review.clock(self.zone, instant)

    def _chart(self, finding: Finding, group: Group) -> Chart | None:
        lines = finding_lines(finding, self.signals)
        if self.charts is None or not lines or constant(lines, finding.signal.unit):
            return None
        alike = tuple(item for item in group.findings if item.subject == finding.subject)
        return self.charts.add(
            lines,
            finding.signal.unit,
            f"Chart: {_sentence(finding)} Crossed {how_long(finding)}.",
            limits=limits(finding, alike if finding is group.worst else ()),
            spans=[Span(crossing.start, crossing.end) for crossing in finding.counted],
            severity=finding.rule.severity,
        )


def _sentence(finding: Finding) -> str:
    return breach_sentence(finding) if finding.severe else note_sentence(finding)


def _title(finding: Finding, group: Group) -> str:
    """What distinguishes a finding from the others of its signal: its place, and its limit if there are several."""
    several_places = len({finding.subject for finding in group.findings}) > 1
    parts = [place(finding) if several_places else "", threshold(finding) if len(group.rules) > 1 else ""]
    return " · ".join(part for part in parts if part)

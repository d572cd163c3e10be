"""The sections on signals whose limits were crossed: charts for the worst subjects, table rows for other subjects."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from plimsoll.charts.chart import Chart, Charts, Span
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.report.html.finding_lines import describe_constant, draw_finding, list_limits
from plimsoll.report.html.related_signals import find_related_signals
from plimsoll.report.wording import (
    describe_brief_crossings,
    describe_condition,
    describe_place,
    describe_users,
    format_lasting,
    list_old_limits,
)
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    describe_breach,
    describe_length,
    describe_note,
    describe_phase,
    find_worst_crossed,
    format_threshold,
    format_worst,
    name_place,
)
from plimsoll.review.verdict import Group
from plimsoll.rules.wording import limit_text

DRAWN_PER_SIGNAL = 8
DRAWN_IN_ALL = 24
_SIGNALS_WITH_RELATED = 8  # the worst are shown with the signals their rules say to look at
_LISTED_CROSSINGS = 20
_LISTED_WHERE_OFTEN = 200  # for an often crossed rule, all crossings count together
_LISTED_SUBJECTS = 120


def make_anchor(kind: str, signal: str, host: str = "") -> str:
    """Return the id by which links refer to a section: `crossed-cpu-busy`."""
    return "-".join(part for part in (kind, signal.replace(".", "-"), host) if part)


@dataclass(frozen=True)
class CrossedSections:
    """The sections on signals whose limits were crossed, for macros.html.j2; without charts if `charts` is None."""

    review: Review
    zone: Zone
    signals: RecordedSignals
    charts: Charts | None

    def sections(self) -> list[dict[str, Any]]:
        """Return a section for each signal whose limit was crossed, the worst signal first."""
        groups = self.review.groups
        # The worst finding of each signal is drawn first, then the second worst of each, and so on.
        turns = zip_longest(*([at] * min(len(group.findings), DRAWN_PER_SIGNAL) for at, group in enumerate(groups)))
        drawn = [at for turn in turns for at in turn if at is not None][:DRAWN_IN_ALL]
        return [
            self._build_section(group, drawn.count(at), related=at < _SIGNALS_WITH_RELATED and group.worst.severe)
            for at, group in enumerate(groups)
        ]

    def _build_section(self, group: Group, count: int, *, related: bool) -> dict[str, Any]:
        """Return the section on a signal: charts of the `count` worst findings, table rows for the other findings."""
        rest = group.findings[count:]
        worst = {finding.rule.id: finding for finding in reversed(group.findings)}
        return {
            "id": make_anchor("crossed", group.signal),
            "severity": group.severity,
            "title": group.worst.signal.title,
            "place": describe_place(group),
            "drawn": [
                self._describe_subject(finding, group, related=related and at == 0, drawn=group.findings[:at])
                for at, finding in enumerate(group.findings[:count])
            ],
            "rest": rest[:_LISTED_SUBJECTS],
            "hidden": max(0, len(rest) - _LISTED_SUBJECTS),
            "rules": [(rule, self._describe_condition(worst[rule.id])) for rule in group.rules],
            "old_limits": list_old_limits(group.not_counted, group.signal),
        }

    def _describe_condition(self, finding: Finding) -> str:
        text = describe_condition(finding.rule, finding.signal.unit)
        for condition in finding.rule.and_:
            signal = self.review.question.signals[condition.signal]
            limit = limit_text(condition.healthy, signal.unit)
            text += f"; and {signal.title} ({describe_condition(condition, signal.unit)}) not {limit}"
        return text

    def _describe_subject(
        self, finding: Finding, group: Group, *, related: bool, drawn: Sequence[Finding]
    ) -> dict[str, Any]:
        """Return a finding with all details; its `title` distinguishes it from other findings of its signal.

        The chart is left out if the chart of a finding in `drawn` already shows the same values and both limits.
        """
        crossings, unit = finding.counted, finding.signal.unit
        most = _LISTED_WHERE_OFTEN if finding.outcome == Outcome.OFTEN else _LISTED_CROSSINGS
        longest = crossings.longest(most)
        several = len(crossings) > 1 or finding.outcome == Outcome.OFTEN
        several_places = len({finding.subject for finding in group.findings}) > 1
        is_drawn = _is_drawn(finding, drawn)
        titles = (
            name_place(finding) if several_places else "",
            format_threshold(finding) if len(group.rules) > 1 else "",
        )
        return {
            "finding": finding,
            "title": " · ".join(filter(None, titles)),
            "sentence": _format_sentence(finding),
            "facts": self._list_facts(finding),
            "chart": None if is_drawn else self._build_chart(finding, group),
            "rows": [
                {
                    "when": f"{self._format_clock(crossing.start)} – {self._format_clock(crossing.end)}",
                    "lasted": format_lasting(crossing.duration),
                    "worst": format_value(crossing.worst, unit),
                    "mean": format_value(crossing.mean, unit),
                    "processes": describe_users(finding, crossing.start),
                }
                for crossing in sorted(longest, key=lambda crossing: crossing.start)
                if several
            ],
            "hidden_rows": len(crossings) - len(longest),
            "processes": describe_users(finding, crossings[0].start)
            if crossings and not several and not is_drawn
            else "",
            "related": find_related_signals(self.review, self.signals, finding, self.charts)
            if related and self.charts
            else None,
        }

    def _list_facts(self, finding: Finding) -> tuple[tuple[str, str], ...]:
        """Return the facts of a finding as (name, text): how long, worst value, threshold, start, share of time."""
        crossings = finding.counted
        facts = [
            ("Crossed", describe_length(finding).removeprefix("for ") + describe_phase(finding)),
            ("Worst", format_worst(finding, find_worst_crossed(finding))),
            ("Threshold", format_threshold(finding)),
            (
                "First" if len(crossings) > 1 else "From",
                self._format_clock(min(crossing.start for crossing in crossings)),
            ),
        ]
        brief = describe_brief_crossings(finding) if finding.outcome != Outcome.OFTEN else ""
        if finding.share_of_time is not None:
            briefly = f", with brief crossings: {brief}" if brief else ""
            facts.append(("Beyond the limit", f"{format_percent(finding.share_of_time)} of the time{briefly}"))
        return tuple(facts)

    def _format_clock(self, instant: int) -> str:
        return self.review.clock(self.zone, instant)

    def _build_chart(self, finding: Finding, group: Group) -> Chart | None:
        """Return the chart of a finding; None if the values are constant or missing."""
        lines = draw_finding(finding, self.signals)
        if self.charts is None or not lines or describe_constant(lines, finding.signal.unit):
            return None
        alike = tuple(item for item in group.findings if item.subject == finding.subject)
        return self.charts.add(
            lines,
            finding.signal.unit,
            f"Chart: {_format_sentence(finding)} Crossed {describe_length(finding)}.",
            limits=list_limits(finding, alike),
            spans=[Span(crossing.start, crossing.end) for crossing in finding.counted],
            severity=finding.rule.severity,
        )


def _is_drawn(finding: Finding, drawn: Sequence[Finding]) -> bool:
    """Return whether the chart of a finding in `drawn` also shows the values of `finding`."""
    rule = finding.rule
    return any(
        other.subject == finding.subject and (other.rule.reduce, other.rule.over) == (rule.reduce, rule.over)
        for other in drawn
    )


def _format_sentence(finding: Finding) -> str:
    return describe_breach(finding) if finding.severe else describe_note(finding)

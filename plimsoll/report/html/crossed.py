"""The sections on signals whose limits were crossed: charts for the worst subjects, table rows for other subjects."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from plimsoll.charts.chart import Chart, Charts, Span
from plimsoll.model.times import Zone
from plimsoll.model.value_text import percent, quantity
from plimsoll.report.html.finding_lines import constant, finding_lines, limits
from plimsoll.report.html.related_signals import related_signals
from plimsoll.report.wording import brief_crossings, condition_text, lasted, old_limits, used_by, where
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    breach_sentence,
    how_long,
    in_phase,
    note_sentence,
    place,
    threshold,
    worst_crossed,
    worst_text,
)
from plimsoll.review.verdict import Group
from plimsoll.rules.wording import limit_text

DRAWN_PER_SIGNAL = 8
DRAWN_IN_ALL = 24
_SIGNALS_WITH_RELATED = 8  # the worst are shown with the signals their rules say to look at
_LISTED_CROSSINGS = 20
_LISTED_WHERE_OFTEN = 200  # for an often crossed rule, all crossings count together
_LISTED_SUBJECTS = 120


def anchor(kind: str, signal: str, host: str = "") -> str:
    """Return the id by which links refer to a section: `crossed-cpu-busy`."""
    return "-".join(part for part in (kind, signal.replace(".", "-"), host) if part)


@dataclass(frozen=True)
class CrossedSections:
    """The sections on signals whose limits were crossed, for macros.html.j2; without rows, `charts` is None."""

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
            self._section(group, drawn.count(at), related=at < _SIGNALS_WITH_RELATED and group.worst.severe)
            for at, group in enumerate(groups)
        ]

    def _section(self, group: Group, count: int, *, related: bool) -> dict[str, Any]:
        """Return the section on a signal: charts of the `count` worst findings, table rows for the other findings."""
        rest = group.findings[count:]
        worst = {finding.rule.id: finding for finding in reversed(group.findings)}
        return {
            "id": anchor("crossed", group.signal),
            "severity": group.severity,
            "title": group.worst.signal.title,
            "place": where(group),
            "drawn": [
                self._subject(finding, group, related=related and at == 0, drawn=group.findings[:at])
                for at, finding in enumerate(group.findings[:count])
            ],
            "rest": rest[:_LISTED_SUBJECTS],
            "hidden": max(0, len(rest) - _LISTED_SUBJECTS),
            "rules": [(rule, self._whole_condition(worst[rule.id])) for rule in group.rules],
            "old_limits": old_limits(group.not_counted, group.signal),
        }

    def _whole_condition(self, finding: Finding) -> str:
        text = condition_text(finding.rule, finding.signal.unit)
        for condition in finding.rule.and_:
            signal = self.review.question.signals[condition.signal]
            limit = limit_text(condition.healthy, signal.unit)
            text += f"; and {signal.title} ({condition_text(condition, signal.unit)}) not {limit}"
        return text

    def _subject(self, finding: Finding, group: Group, *, related: bool, drawn: Sequence[Finding]) -> dict[str, Any]:
        """Return a finding with all details; its `title` distinguishes it from other findings of its signal.

        The chart is left out if the chart of a finding in `drawn` shows the same values, and so the limits of both
        findings.
        """
        crossings, unit = finding.counted, finding.signal.unit
        most = _LISTED_WHERE_OFTEN if finding.outcome == Outcome.OFTEN else _LISTED_CROSSINGS
        longest = crossings.longest(most)
        several = len(crossings) > 1 or finding.outcome == Outcome.OFTEN
        several_places = len({finding.subject for finding in group.findings}) > 1
        is_drawn = _is_drawn(finding, drawn)
        titles = (place(finding) if several_places else "", threshold(finding) if len(group.rules) > 1 else "")
        return {
            "finding": finding,
            "title": " · ".join(filter(None, titles)),
            "sentence": _sentence(finding),
            "facts": self._facts(finding),
            "chart": None if is_drawn else self._chart(finding, group),
            "rows": [
                {
                    "when": f"{self._clock(crossing.start)} – {self._clock(crossing.end)}",
                    "lasted": lasted(crossing.duration),
                    "worst": quantity(crossing.worst, unit),
                    "mean": quantity(crossing.mean, unit),
                    "processes": used_by(finding, crossing.start),
                }
                for crossing in sorted(longest, key=lambda crossing: crossing.start)
                if several
            ],
            "hidden_rows": len(crossings) - len(longest),
            "processes": used_by(finding, crossings[0].start) if crossings and not several and not is_drawn else "",
            "related": related_signals(self.review, self.signals, finding, self.charts)
            if related and self.charts
            else None,
        }

    def _facts(self, finding: Finding) -> tuple[tuple[str, str], ...]:
        """Return the facts of a finding as (name, text): how long, worst value, threshold, start, share of time."""
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

    def _clock(self, instant: int) -> str:
        return self.review.clock(self.zone, instant)

    def _chart(self, finding: Finding, group: Group) -> Chart | None:
        """Return the chart of a finding; None if the values are constant or missing."""
        lines = finding_lines(finding, self.signals)
        if self.charts is None or not lines or constant(lines, finding.signal.unit):
            return None
        alike = tuple(item for item in group.findings if item.subject == finding.subject)
        return self.charts.add(
            lines,
            finding.signal.unit,
            f"Chart: {_sentence(finding)} Crossed {how_long(finding)}.",
            limits=limits(finding, alike),
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


def _sentence(finding: Finding) -> str:
    return breach_sentence(finding) if finding.severe else note_sentence(finding)

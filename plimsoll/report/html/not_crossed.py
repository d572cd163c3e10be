"""The signals within their limits, or recorded too briefly to judge: an item with a chart for each signal of a host.

Signals nearest to their limits come first. With many hosts, an item shows one signal on all hosts.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from plimsoll.charts.chart import MOST_LINES, Chart, Charts, ChartSeries, Span
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import make_host_key
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_value, number
from plimsoll.report.html.crossed import make_anchor
from plimsoll.report.html.finding_lines import OWN_SCALE, describe_constant, draw_finding, list_limits
from plimsoll.report.html.gauge import compute_level, draw_water
from plimsoll.report.wording import (
    describe_brief_crossings,
    describe_extreme,
    find_host,
    format_lasting,
    format_margin,
    is_never_tested,
)
from plimsoll.review.findings import Finding, Outcome, rank_nearness
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import describe_length, find_worst_shown, format_threshold, limit_of, name_place
from plimsoll.rules.crossings import Crossing
from plimsoll.rules.subjects import Subject

_MOST_ITEMS = 90  # with more, each item is one signal on all hosts
_OPEN = 3  # items unfolded at first, if nothing was crossed
_LISTED_CROSSINGS = 100
_SHOWN_ALIKE = 24  # instances listed below the worst one of a rule; the next is how many in all
_SHOWN_ALIKE_IN_ALL = 400
_SHOWN_ALIKE_AT_LEAST = 3


class NotCrossed:
    """The report's items on all findings of one outcome: within limits, or recorded too briefly."""

    def __init__(
        self, review: Review, outcome: Outcome, signals: RecordedSignals, charts: Charts | None, zone: Zone
    ) -> None:
        self._review, self._signals, self._charts, self._zone = review, signals, charts, zone
        self._outcome = outcome
        self._numbers = {make_host_key(host): at for at, host in enumerate(review.hosts)}
        findings = review.of(outcome)
        if outcome == Outcome.TOO_SHORT:
            findings = [finding for finding in findings if not is_never_tested(finding)]
        by_host = _group_findings(findings, per_host=True)
        self.per_host = len(by_host) <= _MOST_ITEMS
        groups = by_host if self.per_host else _group_findings(findings, per_host=False)
        nearest_first = (sorted(group, key=rank_nearness) for group in groups)
        ordered = sorted(nearest_first, key=lambda group: rank_nearness(group[0]))
        rules = sum(len({finding.rule.id for finding in group}) for group in groups)
        self._shown = max(_SHOWN_ALIKE_AT_LEAST, min(_SHOWN_ALIKE, _SHOWN_ALIKE_IN_ALL // max(1, rules)))
        opened = 0 if review.of(Outcome.CROSSED, Outcome.OFTEN) or outcome != Outcome.WITHIN else _OPEN
        self.items = tuple(self._build_item(group, at < opened) for at, group in enumerate(ordered))

    def id(self, finding: Finding) -> str:
        """Return the id of the item that contains a finding."""
        host = make_host_key(find_host(finding) if self.per_host else "")
        return make_anchor(str(self._outcome), finding.rule.signal, str(self._numbers.get(host, "")))

    def _build_item(self, group: Sequence[Finding], opened: bool) -> dict[str, Any]:
        """Return the item on a signal of one host, or of all hosts: `row` is the finding nearest to its limit."""
        subjects = {finding.subject for finding in group}
        brief = [(finding, crossing) for finding in group for crossing in finding.of_samples(finding.crossings)]
        longest = sorted(brief, key=lambda pair: -pair[1].duration)[:_LISTED_CROSSINGS]
        by_rule = group_pairs((finding.rule.id, finding) for finding in group)
        return {
            "id": self.id(group[0]),
            "row": self._build_row(group[0]),
            "others": f"worst of {number(len(subjects))}" if len(subjects) > 1 else "",
            "chart": self._build_chart(group),
            "brief": [self._describe_brief_crossing(*pair) for pair in sorted(longest, key=lambda pair: pair[1].start)],
            "hidden_brief": len(brief) - len(longest),
            "rules": [
                {
                    "first": self._build_row(alike[0]),
                    "alike": [self._build_row(finding) for finding in alike[1 : 1 + self._shown]],
                    "count": len(alike) - 1,
                }
                for alike in by_rule.values()
            ],
            "open": opened,
        }

    def _build_row(self, finding: Finding) -> dict[str, Any]:
        """Return the texts of a finding by the column in which they are shown."""
        count = self._signals.count(finding)
        too_short = finding.outcome == Outcome.TOO_SHORT
        return {
            "rule": finding.rule.id,
            "title": finding.signal.title,
            "place": name_place(finding),
            "worst": format_value(find_worst_shown(finding), finding.signal.unit),
            "extreme": describe_extreme(finding).removeprefix("highest").strip(),
            "water": draw_water(compute_level(finding)),
            "threshold": format_threshold(finding),
            "override": finding.override.note if finding.override else "",
            "margin": format_margin(finding) if finding.room is not None else "" if limit_of(finding).limit else "–",
            "crossed": (describe_length(finding) if finding.crossings else "")
            if too_short
            else describe_brief_crossings(finding),
            "samples": number(count) if count is not None else "–",
            "evaluations": number(finding.track.judged) if finding.track else "",
        }

    def _describe_brief_crossing(self, finding: Finding, crossing: Crossing) -> tuple[str, ...]:
        """Return the texts on a crossing too short to fire: when, how long, its worst value, where, and the limit."""
        start, end = (self._review.clock(self._zone, at) for at in (crossing.start, crossing.end))
        worst, lasted = format_value(crossing.worst, finding.signal.unit), format_lasting(crossing.duration)
        return f"{start} – {end}", lasted, worst, name_place(finding), format_threshold(finding)

    def _build_chart(self, group: Sequence[Finding]) -> Chart | None:
        """Return a chart of the finding nearest to its limit, and other subjects' samples; None if constant."""
        leading = next((finding for finding in group if finding.rule.reduce not in OWN_SCALE), group[0])
        lines = draw_finding(leading, self._signals)
        if self._charts is None or not lines or leading.signal.fact:
            return None
        other_series: dict[Subject, ChartSeries] = {}
        for finding in group:
            samples = self._signals.samples(finding)
            same_scale = leading.rule.reduce not in OWN_SCALE and finding.subject != leading.subject
            if samples is not None and finding.subject and same_scale:
                other_series.setdefault(finding.subject, ChartSeries(str(finding.subject), "other", samples))
        if other_series:
            lines = [
                ChartSeries(f"{name_place(leading)}: {line.label}", line.kind, line.samples, line.caption)
                for line in lines
            ]
        lines = [*lines, *islice(other_series.values(), max(0, MOST_LINES - len(lines)))]
        if describe_constant(lines, leading.signal.unit):
            return None
        alike = tuple(finding for finding in group if finding.subject == leading.subject)
        return self._charts.add(
            lines,
            leading.signal.unit,
            f"Chart: {leading.signal.title} of {name_place(leading)}, {describe_extreme(leading)} "
            f"{format_value(find_worst_shown(leading), leading.signal.unit)}; {list_limits(leading)[0].text}.",
            limits=list_limits(leading, alike),
            spans=[Span(crossing.start, crossing.end) for crossing in leading.crossings],
            severity="brief",
        )


def _group_findings(findings: Iterable[Finding], *, per_host: bool) -> list[list[Finding]]:
    hosts = ((finding, make_host_key(find_host(finding)) if per_host else "") for finding in findings)
    return list(group_pairs(((finding.rule.signal, host), finding) for finding, host in hosts).values())

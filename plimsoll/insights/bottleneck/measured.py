"""The signals of a run, averaged over equal parts of its time, and the values from which resources are near full."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import EqualParts, compute_median
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import Planned, leave_out_planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, make_host_key
from plimsoll.review.findings import Finding
from plimsoll.review.judged_resources import find_hosts_with_guests, list_counters_to_record
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.load import load
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Pressure
from plimsoll.rules.subjects import Subject

Mask = NDArray[np.bool_]
_ROWS_PER_PART = 3
_PARTS = (12, 120)
OURS = "our choice"
_HARDLY_EVER = 0.1  # our choice: of the evaluations


@dataclass(frozen=True)
class Bound:
    """A value from which a resource is near its capacity, and the document that states the value."""

    limit: float
    document: str


class _Parts(EqualParts):
    """Equal parts of a run, with means of the unplanned time."""

    def __init__(self, start: int, end: int, count: int, planned: Sequence[Planned]) -> None:
        super().__init__(start, end, count)
        self._planned = planned

    def means(self, samples: Samples, rules: Collection[str] = ()) -> Values:
        """Return the mean in each part, without work that was planned for all or any of `rules`."""
        return super().means(leave_out_planned(samples, self._planned, rules))


class Measured:
    """The signals of a review as means over equal parts of the run, and their limits."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.rows = max(len(log.times) for log in review.logs)
        fewest, most = _PARTS
        count = int(np.clip(self.rows // _ROWS_PER_PART, fewest, most))
        self.parts = _Parts(review.start or 0, review.end or 0, count, review.question.planned)
        self._means: dict[str, Mapping[Subject, Values]] = {}

    def of(self, signal: str) -> Mapping[Subject, Values]:
        """Return the means of a signal in the parts of the run, by subject."""
        if signal not in self._means:
            recorded = self.review.signals.of(signal)
            rules = self._rules.get(signal, ())
            self._means[signal] = {subject: self.parts.means(samples, rules) for subject, samples in recorded.items()}
        return self._means[signal]

    def on(self, signal: str, host: str) -> dict[Subject, Values]:
        """Return the means of a signal in the parts of the run, by subject of one host."""
        return {s: values for s, values in self.of(signal).items() if make_host_key(s.host) == make_host_key(host)}

    def of_host(self, signal: str, host: str) -> tuple[Subject, Values] | None:
        """Return the subject and means of a host's signal without instances; None if the signal was not recorded."""
        return next(iter(self.on(signal, host).items()), None)

    def bound(self, signal: str, subject: Subject) -> Bound | None:
        """Return the value from which a signal shows a used-up resource or waiting requests; None without one."""
        pressure = self.pressures.get(signal)
        if pressure is None:
            return None
        for finding, _ in self._list_judgements(signal, subject):
            if not finding.superseded_by:
                return Bound(find_capacity_limit(finding).limit, cite_document(finding.rule))
        if pressure.at is not None and not isinstance(pressure.at, str):
            return Bound(pressure.at, pressure.source)
        name = pressure.at or next(iter(pressure.rules), None)
        if not name:
            return None
        rule = load().rules[name]
        # A rule whose limit is scaled by an unknown fact may not apply.
        unknown = rule.scale in rule.where and rule.scale and self.review.facts.find(subject, rule.scale) is None
        return None if unknown else self.documented(name, subject)

    def counting(self, signal: str, subject: Subject, part: Mask) -> Bound | None:
        """Return the limit of a signal's first rule that applied in `part`; None without such a rule.

        A rule applies if its conditions besides the limit were met in at least half of the judged samples.
        """
        for finding, track in self._list_judgements(signal, subject):
            if self._are_further_conditions_met(track, part):
                return Bound(find_capacity_limit(finding).limit, cite_document(finding.rule))
        return None

    def excused(self, signal: str, subject: Subject, part: Mask) -> bool:
        """Return whether a signal was judged, but none of its rules applied in `part`; see `counting`."""
        judged = self._list_judgements(signal, subject)
        return bool(judged) and not any(self._are_further_conditions_met(track, part) for _, track in judged)

    def is_idle(self, signal: str, subject: Subject, part: Mask) -> bool:
        """Return whether `part` of the run nearly always had no requests, or too few requests to measure latency."""
        judged_tracks = self._list_judgements(signal, subject)
        track = next((track for f, track in judged_tracks if f.subject and f.subject.key == subject.key), None)
        if track is None:
            return False
        judged = np.append(part, [False])[self.parts.places(track.times)]
        return bool(judged.any()) and float(np.isfinite(track.values[judged]).mean()) < _HARDLY_EVER

    def _list_judgements(self, signal: str, subject: Subject) -> list[tuple[Finding, RuleEvaluation]]:
        """Return the finding and evaluation of each rule on a signal: for the subject, else for its host."""
        pressure = self.pressures.get(signal)
        keys = (
            [((rule, *subject.key), (rule, make_host_key(subject.host))) for rule in pressure.rules] if pressure else []
        )
        findings = [self._findings.get(of_subject) or self._findings.get(of_host) for of_subject, of_host in keys]
        return [finding for finding in findings if finding]

    def _are_further_conditions_met(self, track: RuleEvaluation, part: Mask) -> bool:
        """Return whether a rule's conditions besides the limit were met in at least half of the judged `part`."""
        judged = np.isfinite(track.values) & np.append(part, [False])[self.parts.places(track.times)]
        return not judged.any() or 2 * int((track.other_conditions_hold & judged).sum()) >= int(judged.sum())

    def level(self, signal: str, which: Literal["low", "high", "full"], default: float) -> float:
        """Return the value below which a signal is low, or from which it is high or full (`which`); else `default`."""
        pressure = self.pressures.get(signal)
        level = getattr(pressure, which) if pressure else None
        if isinstance(level, str):
            return load().rules[level].healthy.limit
        return default if level is None else level

    def documented(self, rule: str, subject: Subject) -> Bound:
        """Return the limit of a shipped rule, multiplied by the host fact in the rule's `scale` (1 if unknown)."""
        shipped = load().rules[rule]
        scale = (self.review.facts.find(subject, shipped.scale) or 1.0) if shipped.scale else 1.0
        return Bound(shipped.healthy.limit * scale, cite_document(shipped))

    @cached_property
    def with_guests(self) -> set[HostKey]:
        """The hosts that run virtual machines."""
        return find_hosts_with_guests(self.review.findings)

    @cached_property
    def pressures(self) -> dict[str, Pressure]:
        """For each signal that shows a capacity or waiting requests, the values from which it does."""
        signals = self.review.question.signals
        return {name: signal.pressure for name, signal in signals.items() if signal.pressure is not None}

    def needed(self, resource: str, host: str) -> str:
        """Return the counters to record to know how near a resource is to its capacity, as text."""
        return list_counters_to_record(resource, host, self.review.applied)

    @cached_property
    def _rules(self) -> dict[str, list[str]]:
        """The ids of the rules on each signal."""
        return group_pairs({(finding.rule.signal, finding.rule.id) for finding in self.review.findings})

    @cached_property
    def _findings(self) -> dict[tuple[str | None, ...], tuple[Finding, RuleEvaluation]]:
        """The judged findings with evaluations, by rule and subject; also the first finding by rule and host."""
        findings: dict[tuple[str | None, ...], tuple[Finding, RuleEvaluation]] = {}
        for finding in self.review.findings:
            if finding.subject is not None and finding.track is not None:
                findings.setdefault((finding.rule.id, *finding.subject.key), (finding, finding.track))
                findings.setdefault((finding.rule.id, make_host_key(finding.subject.host)), (finding, finding.track))
        return findings


def find_capacity_limit(finding: Finding) -> Healthy:
    """Return the limit of a finding; the documented limit if plimsoll.toml has a stricter one."""
    limit, documented = limit_of(finding), finding.documented.healthy
    is_stricter = finding.override and not finding.rule.scale and not limit.holds(np.array(documented.limit))
    return documented if is_stricter else limit


def compute_median_in(values: Values, part: Mask) -> float:
    """Return the median of the values in a part of the run, without NaN; NaN without values."""
    return compute_median(values[part & np.isfinite(values)])


def cite_document(rule: Rule) -> str:
    """Return the title of the first document of a rule, and the place in the document that states the rule."""
    return f"{rule.sources[0].document}, {rule.sources[0].place}"

"""The signals of a run in equal parts of its time, and the values from which they are near a capacity."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import EqualParts, median
from plimsoll.insights.leading_signals import response_times
from plimsoll.model.log import Values
from plimsoll.model.series import HostKey, host_key
from plimsoll.review.findings import Finding
from plimsoll.review.judged_resources import hosts_with_guests, is_linux, needed
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.load import load
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
    """A value from which something is near its capacity, and the document that gives it."""

    limit: float
    document: str


class Measured:
    """A review's signals, as means over equal parts of the run."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.rows = max(len(log.times) for log in review.logs)
        fewest, most = _PARTS
        count = int(np.clip(self.rows // _ROWS_PER_PART, fewest, most))
        self.parts = EqualParts(review.start or 0, review.end or 0, count)
        self._means: dict[str, Mapping[Subject, Values]] = {}

    def of(self, signal: str) -> Mapping[Subject, Values]:
        """Return the means of a signal for each subject."""
        if signal not in self._means:
            recorded = self.review.signals.of(signal)
            self._means[signal] = {subject: self.parts.means(samples) for subject, samples in recorded.items()}
        return self._means[signal]

    def on(self, signal: str, host: str) -> dict[Subject, Values]:
        """Return the same for one host."""
        return {s: values for s, values in self.of(signal).items() if host_key(s.host) == host_key(host)}

    def of_host(self, signal: str, host: str) -> tuple[Subject, Values] | None:
        """Return the means of a signal without instances on a host; None if it was not recorded."""
        return next(iter(self.on(signal, host).items()), None)

    def bound(self, signal: str, subject: Subject) -> Bound | None:
        """From which value on a signal is near its capacity, or waits; None if nothing says."""
        pressure = self._pressures.get(signal)
        if pressure is None:
            return None
        for rule in pressure.rules:
            finding = self._finding(rule, subject)
            if finding is not None and not finding.superseded_by:
                return Bound(limit_of(finding).limit, document_of(finding.rule))
        if pressure.at is not None and not isinstance(pressure.at, str):
            return Bound(pressure.at, pressure.source)
        name = pressure.at or next(iter(pressure.rules), None)
        return self.documented(name, subject) if name and self._is_for(name, subject) else None

    def _is_for(self, rule: str, subject: Subject) -> bool:
        """Return whether the fact is known that a limit is multiplied by, where it is for no host without that."""
        result = load().rules[rule]
        if result.scale is None or result.scale not in result.where:
            return True
        return self.review.facts.find(subject, result.scale) is not None

    def counting(self, signal: str, subject: Subject, part: Mask) -> Bound | None:
        """The limit of the first rule that judged a signal and whose other conditions held in `part` of the run."""
        pressure = self._pressures.get(signal)
        for rule in pressure.rules if pressure else ():
            finding = self._finding(rule, subject)
            if finding is not None and finding.track is not None and self._others_hold(finding.track, part):
                return Bound(limit_of(finding).limit, document_of(finding.rule))
        return None

    def excused(self, signal: str, subject: Subject, part: Mask) -> bool:
        """Whether the rules of a signal judged it in `part` of the run, and their other conditions did not hold."""
        pressure = self._pressures.get(signal)
        judged = [self._finding(rule, subject) for rule in pressure.rules] if pressure else []
        tracks = [finding.track for finding in judged if finding is not None and finding.track is not None]
        return bool(tracks) and not any(self._others_hold(track, part) for track in tracks)

    def is_idle(self, signal: str, subject: Subject, part: Mask) -> bool:
        """Whether nearly all of the time in `part` of the run there were no requests, or too few to tell a latency."""
        pressure = self._pressures.get(signal)
        findings = [self._findings.get((rule, *subject.key)) for rule in pressure.rules] if pressure else []
        track = next((finding.track for finding in findings if finding is not None and finding.track is not None), None)
        if track is None:
            return False
        judged = np.append(part, [False])[self.parts.places(track.times)]
        return bool(judged.any()) and float(np.isfinite(track.values[judged]).mean()) < _HARDLY_EVER

    def _finding(self, rule: str, subject: Subject) -> Finding | None:
        """Return the finding of a rule for a subject, else one for its host."""
        return self._findings.get((rule, *subject.key)) or self._findings.get((rule, host_key(subject.host)))

    def _others_hold(self, track: RuleEvaluation, part: Mask) -> bool:
        """Return whether the other conditions of a rule held for at least half of what was judged of it in `part`."""
        judged = np.isfinite(track.values) & np.append(part, [False])[self.parts.places(track.times)]
        return not judged.any() or 2 * int((track.other_conditions_hold & judged).sum()) >= int(judged.sum())

    def level(self, signal: str, which: Literal["low", "high", "full"], default: float) -> float:
        """Return the value beside a signal below which it is low, or from which on it is high, or full."""
        pressure = self._pressures.get(signal)
        level = getattr(pressure, which) if pressure else None
        if isinstance(level, str):
            return load().rules[level].healthy.limit
        return default if level is None else level

    def documented(self, rule: str, subject: Subject) -> Bound:
        """Return the limit of a shipped rule as it is documented; for a fact that is not known it is that of 1."""
        result = load().rules[rule]
        scale = (self.review.facts.find(subject, result.scale) or 1.0) if result.scale else 1.0
        return Bound(result.healthy.limit * scale, document_of(result))

    @cached_property
    def with_guests(self) -> set[HostKey]:
        """The hosts of virtual machines."""
        return hosts_with_guests(self.review.findings)

    @cached_property
    def near_rules(self) -> frozenset[str]:
        """The rules whose limits resources are near their capacity from."""
        values = self._pressures.values()
        return frozenset(rule for pressure in values if pressure.resource != "software" for rule in pressure.rules)

    @cached_property
    def episodes(self) -> frozenset[str]:
        """The signals whose limits, crossed for a part of the run, show that a resource was short for that time."""
        return frozenset(
            name for name, pressure in self._pressures.items() if pressure.alone and pressure.resource != "software"
        )

    @cached_property
    def inside(self) -> tuple[str, ...]:
        """The signals of what waits inside the software."""
        return tuple(name for name, pressure in self._pressures.items() if pressure.resource == "software")

    @cached_property
    def response_times(self) -> tuple[str, ...]:
        """The signals of how long clients wait."""
        return response_times(self.review.question.signals)

    @cached_property
    def _pressures(self) -> dict[str, Pressure]:
        items = self.review.question.signals.items()
        return {name: signal.pressure for name, signal in items if signal.pressure is not None}

    def is_linux(self, host: str) -> bool:
        """Return whether the host was judged as one of Linux, whose share of time a disk is busy is one."""
        return is_linux(host, self.review.applied)

    def needed(self, resource: str, host: str) -> str:
        """Return the counters that tell how near a resource is to its capacity."""
        return needed(resource, host, self.review.applied)

    @cached_property
    def _findings(self) -> dict[tuple[str | None, ...], Finding]:
        """The finding of each rule and subject; by the host alone, the first of them."""
        findings: dict[tuple[str | None, ...], Finding] = {}
        for finding in self.review.findings:
            if finding.subject is not None and finding.track is not None:
                findings.setdefault((finding.rule.id, *finding.subject.key), finding)
                findings.setdefault((finding.rule.id, host_key(finding.subject.host)), finding)
        return findings


def median_in(values: Values, part: Mask) -> float:
    """Return the median in a part of the run; NaN where nothing was recorded."""
    chosen = values[part & np.isfinite(values)]
    return median(chosen)


def document_of(rule: Rule) -> str:
    """Return the first document of a rule, and the place in it."""
    return f"{rule.sources[0].document}, {rule.sources[0].place}"

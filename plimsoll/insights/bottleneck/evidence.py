"""Everything a conclusion about the limit of a run is drawn from."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.insights.bottleneck.disk import disks, is_exact
from plimsoll.insights.bottleneck.goes_with import GoesWith, goes_with
from plimsoll.insights.bottleneck.inside_software import Waiting, waiting
from plimsoll.insights.bottleneck.load_response import LoadResponse, after_the_peak, busy_part, load_response
from plimsoll.insights.bottleneck.measured import Measured, median_in
from plimsoll.insights.bottleneck.memory import memory
from plimsoll.insights.bottleneck.network import network
from plimsoll.insights.bottleneck.processor import processors
from plimsoll.insights.bottleneck.resource_use import Resource, ResourceUse, UseState
from plimsoll.model.series import host_key
from plimsoll.review.findings import CROSSED, Finding
from plimsoll.review.phases.found_phases import loads
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject, is_total

_CAPACITIES: tuple[tuple[Resource, str], ...] = (
    ("cpu", "cpu.busy"),
    ("cpu", "hyper_v.host_busy"),
    ("memory", "memory.available"),
    ("memory", "memory.available_percent"),
    ("disk", "disk.idle"),
    ("disk", "disk.busy"),
    ("network", "network.sent_utilization"),
    ("network", "network.received_utilization"),
)


@dataclass(frozen=True)
class NearForATime:
    """A signal whose means over parts of the run were past the value from which it is near its capacity.

    `duration` is of those parts together, in ns; `worst` the furthest of the means.
    """

    resource: Resource
    name: str
    signal: Signal
    subject: Subject
    limit: float
    worst: float
    duration: int


_LONGER = 1.25  # our choice: times the response time under low load


_OF_CLIENTS = "client."  # signals of what drives the load, which sees all of a response


# Our choices.
_GREW = 1.5  # times the work under low load
_SMALL_PART = 0.2  # of the run
_RESOURCES = ("cpu", "disk", "memory", "network")
_OTHER_NAMES = {"paging_file": "memory", "process": "cpu", "tcp": "network", "numa": "memory"}


@dataclass(frozen=True, eq=False)
class Evidence:
    """The load of a run, its resources at the highest load, and what waited inside the software."""

    measured: Measured
    load: LoadResponse
    resources: tuple[ResourceUse, ...]
    inside: tuple[Waiting, ...]

    @cached_property
    def used_up(self) -> list[ResourceUse]:
        """The resources that may limit, the nearest to their capacity first.

        Disks that read what memory could not hold are left out, and what was used up under low load too.
        """
        short = {resource.host for resource in self.resources if resource.resource == "memory" and resource.used_up}
        resources = [
            resource
            for resource in self.resources
            if resource.used_up
            and resource not in self.used_up_at_any_load
            and not (resource.resource == "disk" and resource.host in short)
        ]
        return sorted(resources, key=lambda resource_use: (-resource_use.state, resource_use.resource != "memory"))

    @cached_property
    def used_up_at_any_load(self) -> list[ResourceUse]:
        """Resources that were as near their capacity under low load, from which the work could still grow."""
        return [
            resource
            for resource in self.resources
            if resource.used_up and resource.resource != "memory" and resource.at_low_load and self._work_grew
        ]

    @cached_property
    def _work_grew(self) -> bool:
        work, low = self.load.work, self.load.low
        if work is None or low is None:
            return False
        done = self.measured.parts.means(work.samples)
        return median_in(done, self.load.top) >= _GREW * median_in(done, low)

    @cached_property
    def episodes(self) -> list[Finding]:
        """What was near its capacity for a part of the run: the gravest limit of each resource and host."""
        findings: dict[tuple[str, str], Finding] = {}
        for finding in self.measured.review.of(*CROSSED):
            near = finding.rule.severity == "critical" or finding.rule.id in self.measured.near_rules
            if near and finding.severe and finding.subject and finding.rule.signal in self.measured.episodes:
                findings.setdefault((_resource(finding) or finding.rule.signal, finding.subject.host), finding)
        return list(findings.values())

    @property
    def longest_short(self) -> Finding | None:
        """What was near its capacity for longest, and for more than a small part of the run; None if nothing was."""
        whole = self.measured.parts.end - self.measured.parts.start
        longest = max(self.episodes, key=lambda finding: finding.time_crossed, default=None)
        return longest if longest is not None and longest.time_crossed > _SMALL_PART * whole else None

    @property
    def often_short(self) -> bool:
        """Whether something was near its capacity for more than a small part of the run."""
        return self.longest_short is not None

    @property
    def open(self) -> list[ResourceUse]:
        """What is not recorded or not clear."""
        return [resource for resource in self.resources if resource.state <= UseState.UNCLEAR]

    @property
    def mostly_recorded(self) -> bool:
        """Whether nothing but networks is not recorded or not clear."""
        return all(resource_use.resource == "network" for resource_use in self.open)

    @cached_property
    def crossed(self) -> list[Finding]:
        """The warning and critical limits that were crossed, worst first."""
        return [finding for finding in self.measured.review.of(*CROSSED) if finding.severe and finding.subject]

    @cached_property
    def inside_crossed(self) -> list[Finding]:
        """Of these, those of what is no resource of a host: what waited inside the software, or failed there."""
        return [finding for finding in self.crossed if _resource(finding) is None]

    @cached_property
    def near_for_a_time(self) -> tuple[NearForATime, ...]:
        """What came near its capacity in a part of the run, which the medians of the highest load need not show."""
        return near_for_a_time(self.measured)

    @property
    def room(self) -> list[ResourceUse]:
        """What was recorded and far from its capacity throughout, and crossed no limit."""
        crossed = {(_resource(finding), finding.subject.key[0]) for finding in self.crossed if finding.subject}
        crossed |= {
            (near_for_a_time.resource, near_for_a_time.subject.key[0]) for near_for_a_time in self.near_for_a_time
        }
        return [
            resource
            for resource in self.resources
            if resource.state == UseState.ROOM
            and (resource.resource, host_key(resource.host)) not in crossed
            and not any(figure.beyond(figure.value) for figure in resource.figures)
        ]

    @property
    def high(self) -> list[ResourceUse]:
        """What was not near its capacity, and not far from it."""
        return [resource for resource in self.resources if resource.state == UseState.HIGH]

    @property
    def waits(self) -> list[Waiting]:
        """What waited inside the software, if anything did: past its limit, or grown where it has none."""
        return [waiting for waiting in self.inside if waiting.long or (waiting.grew and waiting.figure.limit is None)]

    @cached_property
    def phase(self) -> str | None:
        """The phase in which most of the highest load lies."""
        shares: dict[str, int] = {}
        for part in np.flatnonzero(self.load.top).tolist():
            middle = sum(self.measured.parts.edges(part)) // 2
            for phase in self.measured.review.phases:
                if phase.start <= middle <= phase.end:
                    shares[phase.name] = shares.get(phase.name, 0) + 1
        name = max(shares, key=lambda text: shares[text], default=None)
        return name if name is not None and 2 * shares[name] > int(self.load.top.sum()) else None

    @cached_property
    def goes_with(self) -> GoesWith | None:
        """The counters that response times go with."""
        return goes_with(self.measured, self.load)

    @cached_property
    def why_not_too_small(self) -> str | None:
        """Why it is not known that the load was too small to reach a limit; None if it was."""
        return why_not_too_small(self.measured, self.load)

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The times of the highest load (UTC ns), joined where they follow each other."""
        spans: list[tuple[int, int]] = []
        for part in np.flatnonzero(self.load.top).tolist():
            start, end = self.measured.parts.edges(part)
            if spans and spans[-1][1] >= start:
                spans[-1] = spans[-1][0], end
            else:
                spans.append((start, end))
        return tuple(spans)


def evidence(review: Review) -> Evidence:
    """Return what there is to conclude from.

    Where the load that was asked for is not recorded, and nothing was used up when most was done, the time after that
    is looked at: the work may have fallen because something was used up. Without any load, the busiest part is.
    """
    measured = Measured(review)
    load = load_response(measured, loads(review.signals, review.question.signals))
    result = _at(measured, load)
    if result.used_up:
        return result
    for other in (after_the_peak(measured, load), busy_part(measured, load)):
        if other is not None and (elsewhere := _at(measured, other)).used_up:
            return elsewhere
    return result


def _resource(finding: Finding) -> str | None:
    """The resource that a finding is about, by the name of its signal if nothing else says; None for the software."""
    signal = finding.signal
    if signal.resource:
        return "disk" if signal.resource == "space" else signal.resource
    first, _, _ = finding.rule.signal.partition(".")
    return first if first in _RESOURCES else _OTHER_NAMES.get(first)


def _at(measured: Measured, load: LoadResponse) -> Evidence:
    resources = (
        judge(measured, host, load) for host in measured.review.hosts for judge in (processors, memory, disks, network)
    )
    return Evidence(measured, load, tuple(resources), waiting(measured, load))


def why_not_too_small(measured: Measured, load: LoadResponse) -> str | None:
    """Why it is not known that the load was too small; None if response times stayed as under low load."""
    if load.offered is None:
        return "the connections of clients are not recorded, or hardly changed"
    if not load.follows:
        return "it is not known whether the work followed the load"
    if load.low is None:
        return "there was no low load to compare with"
    answers = list(_answers(measured, load))
    if not answers:
        return "response times are not recorded where the connections are held"
    if any(top > _LONGER * low for low, top in answers):
        return "response times became longer with the load"
    return None


def _answers(measured: Measured, load: LoadResponse) -> Iterator[tuple[float, float]]:
    """Yield each response time of the front, under low and under the highest load."""
    hosts = {host_key(host) for host in load.offered.hosts} if load.offered else set()
    for signal in measured.response_times:
        for subject, values in measured.of(signal).items():
            if host_key(subject.host) not in hosts and not signal.startswith(_OF_CLIENTS):
                continue
            low, top = (median_in(values, part) for part in (load.low, load.top) if part is not None)
            if np.isfinite(low) and np.isfinite(top):
                yield low, top


def near_for_a_time(measured: Measured) -> tuple[NearForATime, ...]:
    """For each resource of a host, the subject that was near its capacity for longest."""
    near_for_a_times: dict[tuple[str, str], NearForATime] = {}
    for item in _near_periods(measured):
        key = item.resource, item.subject.key[0]
        if key not in near_for_a_times or item.duration > near_for_a_times[key].duration:
            near_for_a_times[key] = item
    return tuple(near_for_a_times.values())


def _near_periods(measured: Measured) -> Iterator[NearForATime]:
    start, end = measured.parts.edges(0)
    for resource, name in _CAPACITIES:
        signal = measured.review.question.signals.get(name)
        for subject, values in measured.of(name).items() if signal else ():
            bound = measured.bound(name, subject)
            overlaps = name == "disk.busy" and not is_exact(measured, subject)
            if signal is None or bound is None or overlaps or is_total(subject.instance or ""):
                continue
            lower = signal.worse == "lower"
            past = values <= bound.limit if lower else values >= bound.limit
            if past.any():
                worst = float(np.nanmin(values) if lower else np.nanmax(values))
                yield NearForATime(resource, name, signal, subject, bound.limit, worst, int(past.sum()) * (end - start))

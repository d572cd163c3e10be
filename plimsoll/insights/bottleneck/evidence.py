"""The evidence from which the bottleneck of a run is inferred."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from plimsoll.insights.bottleneck.disk import examine_disks, is_exact
from plimsoll.insights.bottleneck.inside_software import Waiting, find_waits
from plimsoll.insights.bottleneck.load_response import (
    LoadResponse,
    find_busy_part,
    find_response_after_peak,
    load_response,
)
from plimsoll.insights.bottleneck.measured import Measured, compute_median_in, find_capacity_limit
from plimsoll.insights.bottleneck.memory import examine_memory
from plimsoll.insights.bottleneck.network import examine_network
from plimsoll.insights.bottleneck.processor import examine_processors
from plimsoll.insights.bottleneck.resource_use import Resource, ResourceUse, UseState
from plimsoll.insights.leading_signals import list_response_times
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.series import make_host_key
from plimsoll.review.findings import CROSSED, Finding
from plimsoll.review.review import Review
from plimsoll.review.sentences import find_worst_crossed
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
    """A signal that was near its capacity in some parts of the run.

    `duration` is the total length of these parts (ns), and `worst` the mean of the signal in the worst part.
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
    """The load of a run, the use of its resources at the highest load, and the waits `inside` the software."""

    measured: Measured
    load: LoadResponse
    resources: tuple[ResourceUse, ...]
    inside: tuple[Waiting, ...]

    @cached_property
    def used_up(self) -> list[ResourceUse]:
        """The resources that may be the bottleneck, the nearest to their capacity first.

        Left out are resources that are used up even under low load, and disks of hosts that lack memory: such disks
        read what memory could not hold.
        """
        short = {use.host for use in self.resources if use.resource == "memory" and use.used_up}
        uses = [
            use
            for use in self.resources
            if use.used_up
            and use not in self.used_up_at_any_load
            and not (use.resource == "disk" and use.host in short)
        ]
        return sorted(uses, key=lambda use: (-use.state, use.resource != "memory"))

    @cached_property
    def used_up_at_any_load(self) -> list[ResourceUse]:
        """The used-up resources, except memory, that were past their limit even under low load.

        Empty unless the work still grew from low load to the highest load.
        """
        work, low = self.load.work, self.load.low
        if work is None or low is None:
            return []
        done = self.measured.parts.means(work.samples)
        if not compute_median_in(done, self.load.top) >= _GREW * compute_median_in(done, low):  # NaN has not grown
            return []
        uses = [use for use in self.resources if use.used_up and use.resource != "memory" and use.figures]
        return [use for use in uses if use.figures[0].is_beyond and use.figures[0].beyond(use.figures[0].before)]

    @cached_property
    def episodes(self) -> list[Finding]:
        """For each resource of a host, the worst crossed limit that shows that the resource was near its capacity."""
        pressures = {name: of for name, of in self.measured.pressures.items() if of.resource != "software"}
        near_rules = {rule for pressure in pressures.values() for rule in pressure.rules}
        findings: dict[tuple[str, str], Finding] = {}
        for finding in self.crossed:
            pressure, rule = pressures.get(finding.rule.signal), finding.rule
            telling = pressure is not None and pressure.alone
            telling &= not find_capacity_limit(finding).holds(np.array(find_worst_crossed(finding)))
            if telling and finding.subject and (rule.severity == "critical" or rule.id in near_rules):
                findings.setdefault((_find_resource(finding) or rule.signal, finding.subject.host), finding)
        return list(findings.values())

    @property
    def longest_short(self) -> Finding | None:
        """The longest of the `episodes`; None unless the episode lasted for more than a fifth of the run."""
        whole = self.measured.parts.end - self.measured.parts.start
        longest = max(self.episodes, key=lambda finding: finding.time_crossed, default=None)
        return longest if longest is not None and longest.time_crossed > _SMALL_PART * whole else None

    @property
    def open(self) -> list[ResourceUse]:
        """The resources whose use is unknown: not recorded, or recorded by counters that do not show the use."""
        return [resource for resource in self.resources if resource.state <= UseState.UNCLEAR]

    @property
    def mostly_recorded(self) -> bool:
        """Whether the use of every resource, except perhaps of networks, is known."""
        return all(use.resource == "network" for use in self.open)

    @cached_property
    def crossed(self) -> list[Finding]:
        """The findings with a crossed warning or critical limit, worst first."""
        return [finding for finding in self.measured.review.of(*CROSSED) if finding.severe and finding.subject]

    @cached_property
    def inside_crossed(self) -> list[Finding]:
        """The crossed limits that are not on a resource of a host, but on waits or failures inside the software."""
        return [finding for finding in self.crossed if _find_resource(finding) is None]

    @cached_property
    def near_for_a_time(self) -> tuple[NearForATime, ...]:
        """For each resource of a host, the signal that was near its capacity for the longest part of the run."""
        longest: dict[tuple[str, str], NearForATime] = {}
        for period in _find_near_periods(self.measured):
            key = period.resource, period.subject.key[0]
            if key not in longest or period.duration > longest[key].duration:
                longest[key] = period
        return tuple(longest.values())

    @property
    def room(self) -> list[ResourceUse]:
        """The recorded resources that were always far from their capacity and crossed no limit."""
        crossed = {(_find_resource(finding), finding.subject.key[0]) for finding in self.crossed if finding.subject}
        crossed |= {(period.resource, period.subject.key[0]) for period in self.near_for_a_time}
        with_room = [use for use in self.resources if use.state == UseState.ROOM]
        at_rest = [use for use in with_room if not any(figure.is_beyond for figure in use.figures)]
        return [use for use in at_rest if (use.resource, make_host_key(use.host)) not in crossed]

    @property
    def high(self) -> list[ResourceUse]:
        """The resources that were neither near their capacity nor far from it."""
        return [resource for resource in self.resources if resource.state == UseState.HIGH]

    @property
    def waits(self) -> list[Waiting]:
        """The queues and times inside the software that were past their limit, or that grew and have no limit."""
        return [waiting for waiting in self.inside if waiting.long or (waiting.grew and waiting.figure.limit is None)]

    @cached_property
    def phase(self) -> str | None:
        """The phase that contains more than half of the highest load; None if no phase does."""
        middles = [sum(self.measured.parts.edges(part)) // 2 for part in np.flatnonzero(self.load.top).tolist()]
        phases = self.measured.review.phases
        counts = Counter(phase.name for middle in middles for phase in phases if phase.start <= middle <= phase.end)
        return next((name for name, count in counts.most_common(1) if 2 * count > len(middles)), None)

    @cached_property
    def why_not_too_small(self) -> str | None:
        """The reason why the load may not have been too small to reach a limit; None if the load was too small.

        The load was too small if the work followed it, and response times stayed about as short as under low load.
        """
        load, loss = self.load, self.measured.review.throughput_loss
        if loss and loss.offered:
            return "less work was done though as much was offered"
        if load.offered is None:
            return "the connections of clients are not recorded, or hardly changed"
        if not load.follows:
            return "it is not known whether the work followed the load"
        if load.low is None:
            return "there was no low load to compare with"
        answers = list(_list_answers(self.measured, load))
        if not answers:
            return "response times are not recorded where the connections are held"
        longer = any(top > _LONGER * low for low, top in answers)
        return "response times became longer" if longer else None

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The ranges of time with the highest load (start and end, UTC ns); adjacent ranges are joined."""
        spans: list[tuple[int, int]] = []
        for part in np.flatnonzero(self.load.top).tolist():
            start, end = self.measured.parts.edges(part)
            if spans and spans[-1][1] >= start:
                spans[-1] = spans[-1][0], end
            else:
                spans.append((start, end))
        return tuple(spans)


def collect_evidence(review: Review) -> Evidence:
    """Return the evidence of a run at its highest load, or at another time in which a resource was used up.

    If nothing was used up at the highest load, and the load is not recorded, two other times are examined: the time
    after the highest work, as a used-up resource may have lowered the work; then the longest time near a capacity.
    """
    measured = Measured(review)
    load = load_response(measured, review.loads)
    case = _collect_at(measured, load)
    other_parts = () if case.used_up else (find_response_after_peak(measured, load), find_busy_part(measured, load))
    other_cases = (_collect_at(measured, part) for part in other_parts if part is not None)
    return next((other for other in other_cases if other.used_up), case)


def _find_resource(finding: Finding) -> str | None:
    """Return the resource that a finding's signal measures, by its definition or name; None for the software."""
    signal = finding.signal
    if signal.resource:
        return "disk" if signal.resource == "space" else signal.resource
    first, _, _ = finding.rule.signal.partition(".")
    return first if first in _RESOURCES else _OTHER_NAMES.get(first)


def _collect_at(measured: Measured, load: LoadResponse) -> Evidence:
    resources = (
        judge(measured, host, load)
        for host in measured.review.computers
        for judge in (examine_processors, examine_memory, examine_disks, examine_network)
    )
    return Evidence(measured, load, tuple(resources), find_waits(measured, load))


def _list_answers(measured: Measured, load: LoadResponse) -> Iterator[tuple[float, float]]:
    """Yield each response time of the front end as a pair: at low load, and in the slowest third of the top load."""
    at = np.arange(len(load.top))
    thirds = [np.isin(at, third) for third in np.array_split(at[load.top], 3)]
    hosts = {make_host_key(host) for host in load.offered.hosts} if load.offered else set()
    for signal in list_response_times(measured.review.question.signals):
        for subject, values in measured.of(signal).items():
            if make_host_key(subject.host) not in hosts and not signal.startswith(_OF_CLIENTS):
                continue
            tops = [value for third in thirds if np.isfinite(value := compute_median_in(values, third))]
            low = compute_median_in(values, load.low) if load.low is not None else np.nan
            if np.isfinite(low) and tops:
                yield low, max(tops)


def _find_near_periods(measured: Measured) -> Iterator[NearForATime]:
    """Yield each signal and subject of a resource that was near its capacity in some parts of the run."""
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

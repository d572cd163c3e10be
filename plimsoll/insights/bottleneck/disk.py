"""How near the disks of a host were to their capacity."""

from functools import cached_property

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Figure, ResourceUse, UseState, make_figure
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.review.judged_resources import is_linux
from plimsoll.rules.subjects import Subject, is_total

_GROWN = 3.0  # our choice: times the latency under low load
_SLOW = 2.0  # our choice: times the limit of latency, from which it tells enough without a queue or a time busy
_OF_A_DISK = ("disk.idle", "disk.busy", "disk.queue_length", "disk.latency", "disk.read_latency", "disk.write_latency")
_TOTAL = {  # totals, and the figures of a single disk that replace them
    "disk.idle_total": "disk.idle",
    "disk.busy_total": "disk.busy",
    "disk.queue_total": "disk.queue_length",
    "disk.latency_total": "disk.latency",
}


def examine_disks(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return the use of the disk nearest to its capacity; of all disks together if single disks were not recorded."""
    by_disk: dict[Subject, dict[str, Figure]] = {}
    for signal in _OF_A_DISK:
        for subject, values in measured.on(signal, host).items():
            if signal.endswith("latency") and measured.is_idle(signal, subject, load.top):
                continue
            figure = make_figure(measured, load, signal, subject, values)
            if not np.isnan(figure.value) and not is_total(subject.instance or ""):
                by_disk.setdefault(subject, {})[signal] = figure
    needed = measured.needed("disk", host)
    uses = [
        _describe_standing(
            _Disk(host, figures, _find_levels(measured, subject), exact=is_exact(measured, subject)), needed
        )
        for subject, figures in by_disk.items()
    ]
    if not uses:
        totals = {
            single: make_figure(measured, load, signal, *pair)
            for signal, single in _TOTAL.items()
            if (pair := measured.of_host(signal, host)) is not None
        }
        if not totals:
            return ResourceUse("disk", host, UseState.NOT_RECORDED, needed=needed)
        return _describe_standing(
            _Disk(host, totals, _find_levels(measured, Subject(host)), exact=False, together=True), needed
        )
    return max(uses, key=_rank_nearness)


def _rank_nearness(use: ResourceUse) -> tuple[int, int, float]:
    """Return a sort key for how near a disk is to its capacity: the state, then the value of the main figure.

    A slow disk ranks above disks with room, even if its counters do not tell why it is slow.
    """
    slow = use.state == UseState.UNCLEAR and any(figure.is_beyond for figure in use.figures)
    main = use.figures[0]
    busy = 100 - main.value if main.signal.startswith("disk.idle") else main.value
    return UseState.HIGH if slow else use.state, use.state, busy


def is_exact(measured: Measured, subject: Subject) -> bool:
    """Return whether a disk's busy time is a true share of the time: on Linux, or if the busy time never exceeds 100 %.

    On other systems the counter may add up the times of overlapping requests.
    """
    busy = measured.on("disk.busy", subject.host).get(subject)
    on_linux = is_linux(subject.host, measured.review.applied)
    return on_linux or (busy is not None and float(np.nanmax(busy)) <= 100)


@dataclass(frozen=True)
class _Levels:
    """The values with which a disk's figures are compared: busy times (%), a queue length and a latency.

    A disk is hardly busy below `hardly`, busy from `high` on, near its capacity from `near` on, full from `full` on. A
    disk with a queue shorter than `queue` has room; requests faster than `latency` do not wait.
    """

    hardly: float
    high: float
    near: float
    full: float
    queue: float
    latency: float


def _find_levels(measured: Measured, subject: Subject) -> _Levels:
    bound = measured.bound("disk.idle", subject)
    return _Levels(
        hardly=measured.level("disk.busy_total", "low", 0),
        high=100 - measured.level("disk.idle", "high", 100),
        near=100 - (bound.limit if bound else 0.0),
        full=100 - measured.level("disk.idle", "full", 0),
        queue=measured.level("disk.queue_length", "low", 0),
        latency=measured.level("disk.latency", "low", 0),
    )


@dataclass(frozen=True)
class _Disk:
    """The figures of one disk, or (if `together`) of all disks of a host, by signal.

    `exact` means that the busy time is a true share of the time.
    """

    host: str
    figures: dict[str, Figure]
    levels: _Levels
    exact: bool
    together: bool = False

    @property
    def use(self) -> float | None:
        """The share of the time (%) in which the disk had a request; None if unknown."""
        if idle := self.figures.get("disk.idle"):
            return 100 - idle.value
        busy = self.figures.get("disk.busy")
        return busy.value if busy and (self.exact or busy.value < self.levels.high) else None

    @cached_property
    def latency(self) -> Figure | None:
        """The longest latency of the disk; None if none was recorded."""
        latencies = [figure for name, figure in self.figures.items() if name.endswith("latency")]
        return max(latencies, key=lambda figure: figure.value, default=None)

    @property
    def is_slow_alone(self) -> bool:
        """Whether requests take very long while neither a queue nor the busy time is recorded."""
        latency = self.latency
        slow = latency is not None and latency.limit is not None and latency.value >= _SLOW * latency.limit
        return slow and self.use is None and self.queue is None

    @property
    def queue(self) -> Figure | None:
        """The number of unfinished requests; None if it was not recorded."""
        return self.figures.get("disk.queue_length")

    @property
    def waits(self) -> bool | None:
        """Whether requests waited for the disk; None if unknown."""
        latency = self.latency
        if latency is None:
            return _is_past_limit(self.queue) if self.queue else None
        low = self.levels.latency
        grown = bool(latency.before) and latency.value >= max(_GROWN * (latency.before or 0), low)
        return _is_past_limit(latency) or grown or (_is_past_limit(self.queue) and latency.value >= low)

    @property
    def shown(self) -> tuple[Figure, ...]:
        """The recorded figures among use, queue and latency; figures past their limits are first."""
        use = self.figures.get("disk.idle") or self.figures.get("disk.busy")
        figures = [figure for figure in (use, self.queue, self.latency) if figure is not None]
        return tuple(sorted(figures, key=lambda figure: not figure.is_beyond))


def _is_past_limit(figure: Figure | None) -> bool:
    return figure is not None and figure.limit is not None and figure.value > figure.limit


def _describe_standing(disk: _Disk, needed: str) -> ResourceUse:
    state = _find_state(disk)
    needed = needed if state == UseState.UNCLEAR or disk.is_slow_alone else ""
    aspect = "all disks together" if disk.together else ""
    return ResourceUse("disk", disk.host, state, disk.shown, aspect=aspect, needed=needed)


def _find_state(disk: _Disk) -> UseState:
    """Return how near a disk was to its capacity, from its use, queue and latency."""
    use, queue, latency, waits = disk.use, disk.queue, disk.latency, disk.waits
    busy = disk.figures.get("disk.busy")
    if use is not None and not disk.together:
        if use >= disk.levels.near:
            return UseState.HIGH if waits is False else UseState.FULL if use >= disk.levels.full else UseState.NEAR
        return UseState.HIGH if use >= disk.levels.high else UseState.ROOM
    long, queued = _is_past_limit(latency), _is_past_limit(queue)
    if disk.together and use is not None and use >= disk.levels.near and waits is not False:
        return UseState.FULL if use >= disk.levels.full else UseState.NEAR
    overlapping = busy is not None and busy.is_beyond  # a sum over overlapping requests
    if (long and queued) or (overlapping and (long or queued)) or disk.is_slow_alone:
        return UseState.NEAR
    only_silent = queue is not None and not queue.value and use is None and latency is None
    if queue is not None and queue.value < disk.levels.queue and not only_silent:
        return UseState.ROOM
    if latency is not None and not long and not waits and not queued:
        return UseState.ROOM
    if disk.together and use is not None and use < disk.levels.hardly and queue is None and latency is None:
        return UseState.ROOM
    return UseState.UNCLEAR

"""How near the disks of a host were to their capacity."""

from dataclasses import dataclass

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Figure, ResourceUse, UseState, figure_of
from plimsoll.rules.subjects import Subject, is_total

_GROWN = 3.0  # our choice: times the latency under low load
_SLOW = 2.0  # our choice: times the limit of latency, from which it tells enough without a queue or a time busy
_OF_A_DISK = ("disk.idle", "disk.busy", "disk.queue_length", "disk.latency", "disk.read_latency", "disk.write_latency")
_TOTAL = {  # and the figures of a single disk that they stand for
    "disk.idle_total": "disk.idle",
    "disk.busy_total": "disk.busy",
    "disk.queue_total": "disk.queue_length",
    "disk.latency_total": "disk.latency",
}


def disks(measured: Measured, host: str, load: LoadResponse) -> ResourceUse:
    """Return the standing of the disk of a host that is nearest to its capacity."""
    by_disk: dict[Subject, dict[str, Figure]] = {}
    for signal in _OF_A_DISK:
        for subject, values in measured.on(signal, host).items():
            if signal.endswith("latency") and measured.is_idle(signal, subject, load.top):
                continue
            figure = figure_of(measured, load, signal, subject, values)
            if not np.isnan(figure.value) and not is_total(subject.instance or ""):
                by_disk.setdefault(subject, {})[signal] = figure
    needed = measured.needed("disk", host)
    resource_uses = [
        _standing(_Disk(host, figures, _levels(measured, subject), exact=is_exact(measured, subject)), needed)
        for subject, figures in by_disk.items()
    ]
    if not resource_uses:
        totals = {
            known_as: figure_of(measured, load, signal, *pair)
            for signal, known_as in _TOTAL.items()
            if (pair := measured.of_host(signal, host)) is not None
        }
        if not totals:
            return ResourceUse("disk", host, UseState.NOT_RECORDED, needed=needed)
        return _standing(_Disk(host, totals, _levels(measured, Subject(host)), exact=False, together=True), needed)
    return max(resource_uses, key=lambda resource_use: (_rank(resource_use), resource_use.state, _use(resource_use)))


def _rank(use: ResourceUse) -> int:
    """Return a disk that is slow comes before those that have room, though its counters do not tell why it is."""
    slow = use.state == UseState.UNCLEAR and any(figure.beyond(figure.value) for figure in use.figures)
    return UseState.HIGH if slow else use.state


def is_exact(measured: Measured, subject: Subject) -> bool:
    """Whether the time a disk was busy is a share: on Linux, and where the sum of overlapping requests never shows."""
    busy = measured.on("disk.busy", subject.host).get(subject)
    return measured.is_linux(subject.host) or (busy is not None and float(np.nanmax(busy)) <= 100)


def _use(use: ResourceUse) -> float:
    """Return the time a disk was busy, or its queue, to find the busiest of several."""
    first = use.figures[0]
    return 100 - first.value if first.signal.startswith("disk.idle") else first.value


@dataclass(frozen=True)
class _Levels:
    """The % of time busy from which a disk is high, near its capacity and used up, and below which hardly busy.

    `queue` and `latency`: fewer requests and shorter times are none that anyone waits for.
    """

    hardly: float
    high: float
    near: float
    full: float
    queue: float
    latency: float


def _levels(measured: Measured, subject: Subject) -> _Levels:
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
    """The figures of one disk, or of all disks together. `exact`: its share of time busy does not overlap."""

    host: str
    figures: dict[str, Figure]
    levels: _Levels
    exact: bool
    together: bool = False

    @property
    def use(self) -> float | None:
        """The % of the time in which it had a request; None if no counter tells."""
        if idle := self.figures.get("disk.idle"):
            return 100 - idle.value
        busy = self.figures.get("disk.busy")
        return busy.value if busy and (self.exact or busy.value < self.levels.high) else None

    @property
    def overlapping(self) -> bool:
        """Whether it was busy for at least as long as it was there, by a counter that adds up overlapping requests."""
        busy = self.figures.get("disk.busy")
        return busy is not None and busy.limit is not None and busy.value >= busy.limit

    @property
    def latency(self) -> Figure | None:
        """The longest latency."""
        items = [figure for name, figure in self.figures.items() if name.endswith("latency")]
        return max(items, key=lambda figure: figure.value, default=None)

    @property
    def is_slow_alone(self) -> bool:
        """Whether requests take very long, and neither a queue nor the time it was busy is recorded."""
        latency = self.latency
        slow = latency is not None and latency.limit is not None and latency.value >= _SLOW * latency.limit
        return slow and self.use is None and self.queue is None

    @property
    def queue(self) -> Figure | None:
        """The requests it had not finished."""
        return self.figures.get("disk.queue_length")

    @property
    def waits(self) -> bool | None:
        """Whether requests waited for it; None if no counter tells."""
        if self.latency is None and self.queue is None:
            return None
        latency, queue = self.latency, self.queue
        long = latency is not None and latency.limit is not None and latency.value > latency.limit
        grown = (
            latency is not None
            and latency.before
            and latency.value >= max(_GROWN * latency.before, self.levels.latency)
        )
        queued = queue is not None and queue.limit is not None and queue.value > queue.limit
        short = latency is not None and latency.value < self.levels.latency
        return bool(long or grown or (queued and not short))

    @property
    def shown(self) -> tuple[Figure, ...]:
        """The figures that tell most: its use, its queue, its latency; those past their limits first."""
        use = self.figures.get("disk.idle") or self.figures.get("disk.busy")
        figures = [figure for figure in (use, self.queue, self.latency) if figure is not None]
        return tuple(sorted(figures, key=lambda figure: not figure.beyond(figure.value)))


def _standing(disk: _Disk, needed: str) -> ResourceUse:
    state = _state(disk)
    open_ = state == UseState.UNCLEAR or disk.is_slow_alone
    result = "all disks together" if disk.together else ""
    return ResourceUse("disk", disk.host, state, disk.shown, aspect=result, needed=needed if open_ else "")


def _state(disk: _Disk) -> UseState:
    use, queue, latency, waits = disk.use, disk.queue, disk.latency, disk.waits
    if use is not None and not disk.together:
        if use >= disk.levels.near:
            return UseState.HIGH if waits is False else UseState.FULL if use >= disk.levels.full else UseState.NEAR
        return UseState.HIGH if use >= disk.levels.high else UseState.ROOM
    long = latency is not None and latency.limit is not None and latency.value > latency.limit
    queued = queue is not None and queue.limit is not None and queue.value > queue.limit
    if disk.together and use is not None and use >= disk.levels.near and waits is not False:
        return UseState.FULL if use >= disk.levels.full else UseState.NEAR
    if (long and queued) or (disk.overlapping and (long or queued)):
        return UseState.NEAR
    if disk.is_slow_alone:
        return UseState.NEAR
    only_silent = queue is not None and not queue.value and use is None and latency is None
    if queue is not None and queue.value < disk.levels.queue and not only_silent:
        return UseState.ROOM
    if latency is not None and not long and not waits and not queued:
        return UseState.ROOM
    if disk.together and use is not None and use < disk.levels.hardly and queue is None and latency is None:
        return UseState.ROOM
    return UseState.UNCLEAR

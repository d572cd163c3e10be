"""Waits inside the software: queues and times that grew with the load."""

from collections.abc import Iterator

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Figure, make_figure
from plimsoll.insights.leading_signals import find_smallest_change
from plimsoll.model.lazy_dataclass import dataclass

# Our choices.
_GROWN = 2.5  # times the value under low load
_FAR = 5.0  # times the limit; as many where there is none
_MANY_TIMES = 10.0
_COUNTS = ("requests", "messages", "connections", "threads", "processes")
_TIMES = ("ms", "s")


@dataclass(frozen=True)
class Waiting:
    """A queue or waiting time inside the software.

    `grew` means that it is far above its value under low load, `long` that it is above its limit (or, without a limit,
    not about 0).
    """

    figure: Figure
    grew: bool
    long: bool

    @property
    def stands(self) -> bool:
        """Whether the wait is large: grown and above its limit, or far above its limit; without a limit, far grown."""
        value, before = self.figure.value, self.figure.before
        if self.figure.limit is None:
            return self.grew and before is not None and value >= max(_FAR, _MANY_TIMES * before)
        return (self.grew and self.long) or (self.long and value >= _FAR * max(self.figure.limit, 1.0))


def find_waits(measured: Measured, load: LoadResponse) -> tuple[Waiting, ...]:
    """Return the waits inside the software, by whether they grew and are long, then by growth; queues before times."""

    def order(wait: Waiting) -> tuple[int, float, bool]:
        value, before = wait.figure.value, wait.figure.before
        growth = value / max(before, 1e-9) if before is not None else 0.0
        return -(wait.grew + wait.long), -growth, wait.figure.unit not in _COUNTS

    return tuple(sorted(_find_signal_waits(measured, load), key=order))


def _find_signal_waits(measured: Measured, load: LoadResponse) -> Iterator[Waiting]:
    """Yield the waits that are measured by signals of the software."""
    inside = [name for name, pressure in measured.pressures.items() if pressure.resource == "software"]
    for signal in inside:
        for subject, values in measured.of(signal).items():
            figure = make_figure(measured, load, signal, subject, values)
            if np.isnan(figure.value):
                continue
            if measured.excused(signal, subject, load.top):
                yield Waiting(figure, grew=False, long=False)
                continue
            limit, queue = figure.limit or 0.0, figure.unit in _COUNTS
            smallest = max(limit, 1.0) if queue else find_smallest_change(figure.unit) if figure.unit in _TIMES else 0.0
            long = figure.value >= max(limit, 1.0) if queue else figure.value > limit
            grew = figure.before is not None and figure.value >= max(_GROWN * figure.before, smallest)
            yield Waiting(figure, bool(grew), bool(long))

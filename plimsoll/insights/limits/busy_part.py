"""The part of a run in which a resource was near its capacity, for runs of which no load is recorded."""

from collections.abc import Iterator
from dataclasses import replace

from plimsoll.insights.limits.load_response import LoadResponse
from plimsoll.insights.limits.measured import Mask, Measured

_LEAST = 0.2  # our choice: of the run
_FEWEST = 3
_HIGH_IS_NEAR = ("cpu.busy", "disk.busy_total", "network.sent_utilization", "network.received_utilization")
_LOW_IS_NEAR = ("disk.idle", "disk.idle_total", "memory.available", "memory.available_percent")


def busy_part(measured: Measured, load: LoadResponse) -> LoadResponse | None:
    """The same load with the busy part in place of the highest load; None where there is none, or a load tells."""
    if load.offered is not None or (load.work is not None and load.work.kind != "bytes"):
        return None
    part = max(_near(measured), key=lambda one: int(one.sum()), default=None)
    if part is None or part.sum() < _FEWEST or part.mean() < _LEAST:
        return None
    return replace(load, top=part, low=_others(part), follows=None, response=None, busy=True)


def _near(measured: Measured) -> Iterator[Mask]:
    """For each resource, the part of the run in which it was near its capacity."""
    for signal in (*_HIGH_IS_NEAR, *_LOW_IS_NEAR):
        for subject, values in measured.of(signal).items():
            limit = measured.bound(signal, subject).limit
            yield values <= limit if signal in _LOW_IS_NEAR else values >= limit


def _others(part: Mask) -> Mask | None:
    return ~part if (~part).sum() >= _FEWEST else None

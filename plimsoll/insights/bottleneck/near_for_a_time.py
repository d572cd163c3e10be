"""What came near its capacity for a part of a run only, which medians do not show."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.insights.bottleneck.disk import is_exact
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Resource
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


def near_for_a_time(measured: Measured) -> tuple[NearForATime, ...]:
    """For each resource of a host, the subject that was near its capacity for longest."""
    found: dict[tuple[str, str], NearForATime] = {}
    for one in _each(measured):
        key = one.resource, one.subject.key[0]
        if key not in found or one.duration > found[key].duration:
            found[key] = one
    return tuple(found.values())


def _each(measured: Measured) -> Iterator[NearForATime]:
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

"""The values of counters from what was recorded of them: a formula for each type of counter.

The formulas are those Microsoft publishes for each type. A value is missing (NaN) where its sample or the one before
is, where a clock or a base did not go on, and where a count fell: Windows calls that invalid data, and a 32-bit count
that came round cannot be told from one that lost a part (a process that ended, of a total).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.structures import BlgError
from plimsoll.model.log import Values
from plimsoll.model.shipped_tables import shipped_table

_LEAST_ROOM = 256 << 20
_ROOM = 32  # bytes of a log for each byte of its file


@dataclass
class Room:
    """How many cells a log may still have, so that a small file cannot fill the memory."""

    size: int
    taken: int = 0

    def take(self, cells: int, of: str) -> None:
        """Count cells. BlgError if they are too many."""
        self.taken += 8 * cells
        if self.taken > max(_LEAST_ROOM, _ROOM * self.size):
            raise BlgError(
                f"has so many instances that come and go ({of}) that a table of them needs over {_ROOM} times the "
                "bytes of the file"
            )


class ByteRange(NamedTuple):
    """A block of a sample: from where to where it is in the sample's bytes."""

    data: bytes
    start: int
    end: int


class CounterType(NamedTuple):
    """A type of counter. `formula` is empty if its values are no numbers; `clock` is `ticks`, `100ns` or `object`."""

    code: int
    name: str
    formula: str
    clock: str
    base: bool

    @property
    def takes_difference(self) -> bool:
        """Whether a value needs the sample before."""
        return self.formula not in ("count", "fraction", "elapsed")


Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class CounterColumn(NamedTuple):
    """A counter of one instance: its values, NaN where there is none, and whether the instance was there."""

    host: str
    object: str
    instance: str | None
    counter: str
    type: CounterType
    values: Values
    present: Flags


@dataclass(frozen=True)
class RawCounter:
    """What was recorded of one counter: a row for each instance, a column for each sample in the order of time.

    `clock` is the time that its type divides by, and `frequency` that clock's or the timer's ticks per second; arrays
    of one row hold for all instances. `present` is where a sample is.
    """

    value: Counts
    base: Counts
    clock: Counts
    frequency: Counts
    present: Flags


@dataclass(frozen=True)
class _Steps:
    """Differences to the sample before, and where both are there."""

    value: Counts
    base: Counts
    clock: Counts
    frequency: Values
    last_base: Counts


def cooked(type_: CounterType, recorded: RawCounter) -> Values:
    """Return the values of a counter, NaN where there is none; a row for each instance."""
    with np.errstate(all="ignore"):
        if not type_.takes_difference:
            values, valid = _OF_ONE[type_.formula](recorded)
            valid = valid & recorded.present
        else:
            values = np.full(recorded.value.shape, np.nan)
            valid = np.zeros(recorded.value.shape, dtype=bool)
            if recorded.value.shape[1] > 1:
                steps = _steps(recorded)
                values[:, 1:], valid[:, 1:] = _OF_TWO[type_.formula](steps, type_)
                valid[:, 1:] &= recorded.present[:, 1:] & recorded.present[:, :-1]
                if type_.formula != "delta":
                    valid[:, 1:] &= steps.value >= 0
        return np.where(valid & np.isfinite(values), values, np.nan)


def _steps(of: RawCounter) -> _Steps:
    last = of.frequency[:, 1:].astype(np.float64)
    return _Steps(np.diff(of.value), np.diff(of.base), np.diff(of.clock), last, of.base[:, 1:])


Cooked = tuple[Values, Flags | np.bool_]
_ALWAYS = np.True_


def _count(of: RawCounter) -> Cooked:
    return of.value.astype(np.float64), _ALWAYS


def _fraction(of: RawCounter) -> Cooked:
    return np.where(of.base == 0, 0.0, 100.0 * of.value / of.base), _ALWAYS


def _elapsed(of: RawCounter) -> Cooked:
    return (of.clock - of.value) / of.frequency, of.frequency > 0


def _rate(step: _Steps, _: CounterType) -> Cooked:
    return step.value * step.frequency / step.clock, step.clock > 0


def _busy(step: _Steps, _: CounterType) -> Cooked:
    return 100.0 * step.value / step.clock, step.clock > 0


def _idle(step: _Steps, _: CounterType) -> Cooked:
    return np.maximum(100.0 * (step.clock - step.value) / step.clock, 0.0), step.clock > 0


def _precise(step: _Steps, _: CounterType) -> Cooked:
    return 100.0 * step.value / step.base, step.base > 0


def _queue(step: _Steps, _: CounterType) -> Cooked:
    return step.value / step.clock, step.clock > 0


def _average_time(step: _Steps, _: CounterType) -> Cooked:
    return _per_base(step.value / step.frequency, step), (step.base >= 0) & (step.frequency > 0)


def _average(step: _Steps, _: CounterType) -> Cooked:
    return _per_base(step.value, step), step.base >= 0


def _sampled(step: _Steps, _: CounterType) -> Cooked:
    return _per_base(100.0 * step.value, step), step.base >= 0


def _delta(step: _Steps, _: CounterType) -> Cooked:
    return np.maximum(step.value, 0).astype(np.float64), _ALWAYS


def _busy_of_several(step: _Steps, type_: CounterType) -> Cooked:
    return 100.0 * _in_use(step, type_) / step.last_base, (step.clock > 0) & (step.last_base > 0)


def _idle_of_several(step: _Steps, type_: CounterType) -> Cooked:
    idle = 100.0 * (step.last_base - _in_use(step, type_)) / step.last_base
    return np.maximum(idle, 0.0), (step.clock > 0) & (step.last_base > 0)


def _in_use(step: _Steps, type_: CounterType) -> Values:
    scale = step.frequency if type_.clock == "ticks" else 1.0
    return step.value * scale / step.clock


def _per_base(values: NDArray[Any], step: _Steps) -> Values:
    """Values by the step of their base: 0 where nothing was counted."""
    return np.where(step.base == 0, 0.0, values / step.base)


_OF_ONE: dict[str, Callable[[RawCounter], Cooked]] = {"count": _count, "fraction": _fraction, "elapsed": _elapsed}
_OF_TWO: dict[str, Callable[[_Steps, CounterType], Cooked]] = {
    "rate": _rate,
    "busy": _busy,
    "idle": _idle,
    "precise": _precise,
    "queue": _queue,
    "average_time": _average_time,
    "average": _average,
    "sampled": _sampled,
    "delta": _delta,
    "busy_of_several": _busy_of_several,
    "idle_of_several": _idle_of_several,
}


def is_base(code: int) -> bool:
    """Return whether it is the type of a base: of what the counter before it is divided by. Bases are not shown."""
    return code & 0xC00 == 0x400 and code & 0x70000 == 0x30000


def type_of(code: int, of: str) -> CounterType:
    """Return the type with this code. BlgError if it is not known, naming the counter."""
    counter_type = _types().get(code)
    if counter_type is None:
        raise BlgError(f"holds a counter of a type that is not known (0x{code:08X}): {of}")
    return counter_type


@cache
def _types() -> Mapping[int, CounterType]:
    types = shipped_table("plimsoll.ingest.formats.blg", "counter_types.yaml", dict[int, dict[str, Any]])
    return {
        code: CounterType(
            code, entry["name"], entry.get("formula", ""), entry.get("clock", ""), entry.get("base", False)
        )
        for code, entry in types.items()
    }

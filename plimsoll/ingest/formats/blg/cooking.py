"""Computes the values of counters from raw counts, with a formula for each counter type.

The formulas are Microsoft's. A value is missing (NaN) if its sample or the previous sample is missing, if a clock or a
base did not advance, or if a count fell. A fallen count is invalid data, as in Windows: a 32-bit count that wrapped
around cannot be distinguished from a total that fell, for example because a process ended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.structures import BlgError
from plimsoll.model.log import Values
from plimsoll.model.shipped_tables import load_shipped_table

_LEAST_ROOM = 256 << 20
_ROOM = 32  # bytes of a log for each byte of its file


@dataclass
class Room:
    """The memory that tables of values may use, a multiple of the file's `size`; `taken` is in use (both in bytes)."""

    size: int
    taken: int = 0

    def take(self, cells: int, of: str) -> None:
        """Reserve memory for a table of `cells` cells. Raise BlgError, naming counter `of`, beyond the limit."""
        self.taken += 8 * cells
        if self.taken > max(_LEAST_ROOM, _ROOM * self.size):
            raise BlgError(
                f"has so many instances that come and go ({of}) that a table of them needs over {_ROOM} times the "
                "bytes of the file"
            )


class ByteRange(NamedTuple):
    """One block of a sample: the bytes of `data` from `start` to `end`."""

    data: bytes
    start: int
    end: int


class CounterType(NamedTuple):
    """A type of counter. `formula` is empty for text; `base` is True if the formula divides by a base (a second count).

    `clock` is the clock by which the formula divides: `ticks`, `100ns`, `object`, or empty for none.
    """

    code: int
    name: str
    formula: str
    clock: str
    base: bool


Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class CounterColumn(NamedTuple):
    """The values of one counter of one instance (NaN: missing); `present` marks the samples with the instance."""

    host: str
    object: str
    instance: str | None
    counter: str
    type: CounterType
    values: Values
    present: Flags


@dataclass(frozen=True)
class RawCounter:
    """The raw counts of one counter: a row for each instance, a column for each sample in time order.

    `clock` is the time by which the counter type divides, `frequency` the ticks per second of that clock or timer.
    Arrays with one row apply to all instances. `present` is True where a sample has the instance.
    """

    value: Counts
    base: Counts
    clock: Counts
    frequency: Counts
    present: Flags


@dataclass(frozen=True)
class _Steps:
    """The growth of counts from each sample to the next; `frequency` and `last_base` are values of the later sample."""

    value: Counts
    base: Counts
    clock: Counts
    frequency: Values
    last_base: Counts


def cook_values(type_: CounterType, recorded: RawCounter) -> Values:
    """Return the values of a counter, a row for each instance; NaN where a value is missing."""
    with np.errstate(all="ignore"):
        if type_.formula in _OF_ONE:
            values, valid = _OF_ONE[type_.formula](recorded)
            valid = valid & recorded.present
        else:
            values = np.full(recorded.value.shape, np.nan)
            valid = np.zeros(recorded.value.shape, dtype=bool)
            if recorded.value.shape[1] > 1:
                base, frequency = recorded.base, recorded.frequency[:, 1:].astype(np.float64)
                differences = np.diff(recorded.value), np.diff(base), np.diff(recorded.clock)
                steps = _Steps(*differences, frequency, base[:, 1:])
                values[:, 1:], valid[:, 1:] = _OF_TWO[type_.formula](steps, type_)
                valid[:, 1:] &= recorded.present[:, 1:] & recorded.present[:, :-1]
                if type_.formula != "delta":
                    valid[:, 1:] &= steps.value >= 0
        return np.where(valid & np.isfinite(values), values, np.nan)


Cooked = tuple[Values, Flags | np.bool_]
_ALWAYS = np.True_


def _divide_by_base(values: NDArray[Any], step: _Steps) -> Values:
    """Return the values divided by the growth of their base; 0 where the base did not grow."""
    return np.where(step.base == 0, 0.0, values / step.base)


def _count_components(step: _Steps, type_: CounterType) -> Values:
    """Return how many of a counter's components (such as the disks of an array) were in use on average."""
    return step.value * (step.frequency if type_.clock == "ticks" else 1.0) / step.clock


# The formulas by name, as in counter_types.yaml; each returns values, and where they are valid.
_OF_ONE: dict[str, Callable[[RawCounter], Cooked]] = {
    "count": lambda of: (of.value.astype(np.float64), _ALWAYS),
    "fraction": lambda of: (np.where(of.base == 0, 0.0, 100.0 * of.value / of.base), _ALWAYS),
    "elapsed": lambda of: ((of.clock - of.value) / of.frequency, of.frequency > 0),
}
_OF_TWO: dict[str, Callable[[_Steps, CounterType], Cooked]] = {
    "rate": lambda step, _: (step.value * step.frequency / step.clock, step.clock > 0),
    "busy": lambda step, _: (100.0 * step.value / step.clock, step.clock > 0),
    "idle": lambda step, _: (np.maximum(100.0 * (step.clock - step.value) / step.clock, 0.0), step.clock > 0),
    "precise": lambda step, _: (100.0 * step.value / step.base, step.base > 0),
    "queue": lambda step, _: (step.value / step.clock, step.clock > 0),
    "average_time": lambda step, _: (
        _divide_by_base(step.value / step.frequency, step),
        (step.base >= 0) & (step.frequency > 0),
    ),
    "average": lambda step, _: (_divide_by_base(step.value, step), step.base >= 0),
    "sampled": lambda step, _: (_divide_by_base(100.0 * step.value, step), step.base >= 0),
    "delta": lambda step, _: (np.maximum(step.value, 0).astype(np.float64), _ALWAYS),
    "busy_of_several": lambda step, type_: (
        100.0 * _count_components(step, type_) / step.last_base,
        (step.clock > 0) & (step.last_base > 0),
    ),
    "idle_of_several": lambda step, type_: (
        np.maximum(100.0 * (step.last_base - _count_components(step, type_)) / step.last_base, 0.0),
        (step.clock > 0) & (step.last_base > 0),
    ),
}


def is_base(code: int) -> bool:
    """Return whether a type code is that of a base: a count that only divides the counter before it."""
    return code & 0xC00 == 0x400 and code & 0x70000 == 0x30000


def find_counter_type(code: int, of: str) -> CounterType:
    """Return the counter type of a code. Raise BlgError, naming the counter `of`, if the code is unknown."""
    counter_type = _load_types().get(code)
    if counter_type is None:
        raise BlgError(f"holds a counter of a type that is not known (0x{code:08X}): {of}")
    return counter_type


@cache
def _load_types() -> Mapping[int, CounterType]:
    types = load_shipped_table("plimsoll.ingest.formats.blg", "counter_types.yaml", dict[int, dict[str, Any]])
    return {
        code: CounterType(code, kind["name"], kind.get("formula", ""), kind.get("clock", ""), kind.get("base", False))
        for code, kind in types.items()
    }

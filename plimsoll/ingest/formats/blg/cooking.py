"""The values of counters from what was recorded of them: a formula for each type of counter.

The formulas are those Microsoft publishes for each type. A value is missing (NaN) where its sample or the one before
is, where a clock or a base did not go on, and where a count fell: Windows calls that invalid data, and a 32-bit count
that came round cannot be told from one that lost a part (a process that ended, of a total).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.counter_types import CounterType
from plimsoll.model.log import Values

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Recorded:
    """What was recorded of one counter: a row for each instance, a column for each sample in the order of time.

    `clock` is the time that its type divides by, and `frequency` that clock's or the timer's ticks per second; arrays
    of one row hold for all instances. `there` is where a sample is.
    """

    value: Counts
    base: Counts
    clock: Counts
    frequency: Counts
    there: Flags


@dataclass(frozen=True)
class _Steps:
    """Differences to the sample before, and where both are there."""

    value: Counts
    base: Counts
    clock: Counts
    frequency: Values
    last_base: Counts


def cooked(type_: CounterType, recorded: Recorded) -> Values:
    """The values of a counter, NaN where there is none; a row for each instance."""
    with np.errstate(all="ignore"):
        if not type_.takes_difference:
            values, valid = _OF_ONE[type_.formula](recorded)
            valid = valid & recorded.there
        else:
            values = np.full(recorded.value.shape, np.nan)
            valid = np.zeros(recorded.value.shape, dtype=bool)
            if recorded.value.shape[1] > 1:
                steps = _steps(recorded)
                values[:, 1:], valid[:, 1:] = _OF_TWO[type_.formula](steps, type_)
                valid[:, 1:] &= recorded.there[:, 1:] & recorded.there[:, :-1]
                if type_.formula != "delta":
                    valid[:, 1:] &= steps.value >= 0
        return np.where(valid & np.isfinite(values), values, np.nan)


def _steps(of: Recorded) -> _Steps:
    last = of.frequency[:, 1:].astype(np.float64)
    return _Steps(np.diff(of.value), np.diff(of.base), np.diff(of.clock), last, of.base[:, 1:])


Found = tuple[Values, Flags | np.bool_]
_ALWAYS = np.True_


def _count(of: Recorded) -> Found:
    return of.value.astype(np.float64), _ALWAYS


def _fraction(of: Recorded) -> Found:
    return np.where(of.base == 0, 0.0, 100.0 * of.value / of.base), _ALWAYS


def _elapsed(of: Recorded) -> Found:
    return (of.clock - of.value) / of.frequency, of.frequency > 0


def _rate(step: _Steps, _: CounterType) -> Found:
    return step.value * step.frequency / step.clock, step.clock > 0


def _busy(step: _Steps, _: CounterType) -> Found:
    return 100.0 * step.value / step.clock, step.clock > 0


def _idle(step: _Steps, _: CounterType) -> Found:
    return np.maximum(100.0 * (step.clock - step.value) / step.clock, 0.0), step.clock > 0


def _precise(step: _Steps, _: CounterType) -> Found:
    return 100.0 * step.value / step.base, step.base > 0


def _queue(step: _Steps, _: CounterType) -> Found:
    return step.value / step.clock, step.clock > 0


def _average_time(step: _Steps, _: CounterType) -> Found:
    return _per_base(step.value / step.frequency, step), (step.base >= 0) & (step.frequency > 0)


def _average(step: _Steps, _: CounterType) -> Found:
    return _per_base(step.value, step), step.base >= 0


def _sampled(step: _Steps, _: CounterType) -> Found:
    return _per_base(100.0 * step.value, step), step.base >= 0


def _delta(step: _Steps, _: CounterType) -> Found:
    return np.maximum(step.value, 0).astype(np.float64), _ALWAYS


def _busy_of_several(step: _Steps, type_: CounterType) -> Found:
    return 100.0 * _in_use(step, type_) / step.last_base, (step.clock > 0) & (step.last_base > 0)


def _idle_of_several(step: _Steps, type_: CounterType) -> Found:
    idle = 100.0 * (step.last_base - _in_use(step, type_)) / step.last_base
    return np.maximum(idle, 0.0), (step.clock > 0) & (step.last_base > 0)


def _in_use(step: _Steps, type_: CounterType) -> Values:
    scale = step.frequency if type_.clock == "ticks" else 1.0
    return step.value * scale / step.clock


def _per_base(values: NDArray[Any], step: _Steps) -> Values:
    """Values by the step of their base: 0 where nothing was counted."""
    return np.where(step.base == 0, 0.0, values / step.base)


_OF_ONE: dict[str, Callable[[Recorded], Found]] = {"count": _count, "fraction": _fraction, "elapsed": _elapsed}
_OF_TWO: dict[str, Callable[[_Steps, CounterType], Found]] = {
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

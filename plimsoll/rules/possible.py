"""Which values a signal can have. Others are a fault of the recorder, and decide nothing."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values
from plimsoll.rules.schema.field_types import Reduce
from plimsoll.rules.schema.signal import Signal

BELOW_ZERO = -1.0  # values nearer to zero may be rounding errors
_SMALL = {"s": 1e-5, "ms": 0.01, "ratio": 0.01}  # units of which 1 is much; recorders round times to 0.01 ms
_ABOVE = 1.1  # and so may values that are not further above the highest
_NEVER_BELOW_ZERO = frozenset((
    "%", "ratio", "/s", "s", "ms", "ms/s", "bytes", "MB", "bytes/s",
    "connections", "failures", "machines", "messages", "packets", "processes", "requests", "sessions", "tasks",
    "threads",
))  # fmt: skip
_OF_SAMPLES: tuple[Reduce, ...] = ("mean", "min", "max", "last", "median")


def _limits(signal: Signal) -> tuple[float, float]:
    """The values that a signal cannot reach: the highest below zero, and one above which it cannot be."""
    above_zero = not signal.negative and signal.unit in _NEVER_BELOW_ZERO
    low = -_SMALL.get(signal.unit, -BELOW_ZERO) if above_zero else -np.inf
    return low, np.inf if signal.highest is None else _ABOVE * signal.highest


def possible(values: Values, signal: Signal, how: Reduce) -> NDArray[np.bool_]:
    """Which reduced values of a signal can be; True for NaN."""
    return ~impossible(values, signal) if how in _OF_SAMPLES else np.ones(values.shape, dtype=bool)


def impossible(values: Values, signal: Signal) -> NDArray[np.bool_]:
    """Which samples a signal cannot have; False for NaN."""
    low, high = _limits(signal)
    return (values <= low) | (values > high)

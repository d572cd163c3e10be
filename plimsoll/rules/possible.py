"""Which values a signal can have. Others are a fault of the recorder, and decide nothing."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values
from plimsoll.rules.schema.field_types import Reduce
from plimsoll.rules.schema.signal import Signal

BELOW_ZERO = -1  # values nearer to zero may be rounding errors
_ABOVE = 1.1  # and so may values that are not further above the highest
_NEVER_BELOW_ZERO = frozenset((
    "%", "ratio", "/s", "s", "ms", "ms/s", "bytes", "MB", "bytes/s",
    "connections", "failures", "machines", "messages", "packets", "processes", "requests", "sessions", "tasks",
    "threads",
))  # fmt: skip
_OF_SAMPLES: tuple[Reduce, ...] = ("mean", "min", "max", "last", "median")


def possible(values: Values, signal: Signal, how: Reduce) -> NDArray[np.bool_]:
    """Which reduced values of a signal can be; True for NaN."""
    found = np.ones(values.shape, dtype=bool)
    if how in _OF_SAMPLES:
        if not signal.negative and signal.unit in _NEVER_BELOW_ZERO:
            found &= ~(values <= BELOW_ZERO)
        if signal.highest is not None:
            found &= ~(values > _ABOVE * signal.highest)
    return found

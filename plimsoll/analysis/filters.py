"""Filters over the neighbours of each value."""

import math
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from plimsoll.model.log import Values

_AT_ONCE = 4_000_000  # values of all windows together
Ends = Literal["edge", "symmetric"]


def median_filter(values: Values, size: int, ends: Ends) -> Values:
    """The median of the `size` values (odd) around each; beyond the ends the last value repeats, or all mirrored."""
    around = sliding_window_view(np.pad(values, size // 2, mode=ends), size)
    step = max(1, _AT_ONCE // size)
    middle = size // 2
    parts = [np.partition(around[at : at + step], middle)[:, middle] for at in range(0, len(values), step)]
    return np.concatenate(parts) if parts else np.empty(0)


def moving_mean(values: Values, size: int) -> Values:
    """The mean of the `size` values around each, mirrored beyond the ends."""
    padded = np.pad(values, (size // 2, size - size // 2 - 1), mode="symmetric")
    return np.convolve(padded, np.full(size, 1 / size), mode="valid")


def median(values: ArrayLike) -> float:
    """The median of a row of values, as np.median gives it; NaN if there are none, or one is NaN."""
    some = np.asarray(values)
    if not len(some):
        return math.nan
    middle = len(some) // 2
    lower = middle if len(some) % 2 else middle - 1
    ordered = np.partition(some, (lower, middle, -1))
    low, high = float(ordered[lower]), float(ordered[middle])
    return math.nan if math.isnan(ordered[-1]) else (low + high) / 2

"""The median of values: np.median takes three times as long, and imports masked arrays when it is first called."""

import math

import numpy as np
from numpy.typing import ArrayLike


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

"""The lag of one series behind another that drives it: the lag at which a straight line between the two fits best."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

# Our choices.
_EXPLAINED = 0.8  # of the variation, at the best lag: below, the one does not drive the other
_AS_GOOD = 1.5  # times the squares left at the best lag: such lags are possible, too
_LEAST_ROWS = 30
_NEAR, _AROUND = 1, 6  # rows: a lag of none is one that fits best of those around it


@dataclass(frozen=True)
class Lag:
    """The lag at which the fit is best, and the range of lags at which the fit is about as good, in rows."""

    best: int
    low: int
    high: int


def find_lag(cause: Values, effect: Values, most: int) -> Lag | None:
    """Return by how many rows the effect follows its cause (negative: precedes it); None if the values do not tell.

    Args:
        cause: Values in equal steps; without NaN.
        effect: As many values at the same times; NaN for missing values.
        most: The longest lag to try, in rows.
    """
    lags = np.arange(-most, most + 1)
    left = np.array([_compute_unexplained(cause, effect, int(int_)) for int_ in lags])
    isfinite = np.isfinite(left)
    if not isfinite.any():
        return None
    at = int(np.nanargmin(left))
    if left[at] > 1 - _EXPLAINED or at in (0, len(lags) - 1):
        return None
    if abs(int(lags[at])) > _AROUND and _is_good_without_lag(lags, left):
        return None  # a staircase of equal steps fits nearly as well a step later
    possible = lags[isfinite & (left <= _AS_GOOD * max(float(left[at]), 1e-6))]
    if np.any(np.diff(possible) > 1):  # a periodic series fits at several lags
        return None
    return Lag(int(lags[at]), int(possible[0]), int(possible[-1]))


def _is_good_without_lag(lags: NDArray[np.int64], left: Values) -> bool:
    """Return whether the fit at lag 0 is good, and better than at other short lags."""
    near, around = np.abs(lags) <= _NEAR, np.abs(lags) <= _AROUND
    value = float(np.min(left[near], initial=np.inf, where=np.isfinite(left[near])))
    values = left[around & ~near]
    return value <= 1 - _EXPLAINED and value <= float(np.min(values, initial=np.inf, where=np.isfinite(values)))


def _compute_unexplained(cause: Values, effect: Values, by: int) -> float:
    """Return the share of the effect's variance that a line through the cause (`by` rows earlier) does not explain."""
    moved, later = (cause[: len(cause) - by], effect[by:]) if by >= 0 else (cause[-by:], effect[:by])
    filled = np.isfinite(later)
    x, y = moved[filled], later[filled]
    if len(x) < max(_LEAST_ROWS, len(effect) // 2) or not np.ptp(x) or not np.ptp(y):
        return np.nan
    return 1 - float(np.corrcoef(x, y)[0, 1]) ** 2 if np.corrcoef(x, y)[0, 1] > 0 else 1.0

"""Times per request: the value of a window is that of its requests, not of its intervals.

The mean of intervals counts an idle interval as 0 and one slow request of a night as a slow hour.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.rules.fields import Pairs
from plimsoll.rules.schema.field_types import Reduce
from plimsoll.rules.window import bounds_of_pairs, reduce_pairs, reduce_spans

Bounds: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

OCCUPIED = 0.5  # requests outstanding on average from which few requests are slow ones, and no idleness; ours


def of_requests(each: Pairs, rate: Pairs | None) -> tuple[Pairs, Values]:
    """The times per request of the intervals that had requests, and the requests per second in each.

    Without a `rate`, or if it has no sample at any of the times, an interval of exactly 0 had no requests and all
    others count alike.
    """
    per_second = _at(rate, each.later) if rate else np.full(len(each.later), np.nan)
    if np.isnan(per_second).all():
        per_second = np.where(each.values == 0, 0.0, 1.0)
    busy = per_second > 0
    return Pairs(each.earlier[busy], each.later[busy], each.values[busy]), per_second[busy]


def reduce_requests(each: Pairs, rate: Pairs | None, at: Times, window: int, how: Reduce) -> Values:
    """One value per evaluation, NaN for a window without requests. A mean is weighted by the rate, all else is not."""
    busy, per_second = of_requests(each, rate)
    if how != "mean":
        return reduce_pairs(busy, at, window, how)
    return weighed_mean(busy, per_second, bounds_of_pairs(busy, at, window), window)


def weighed_mean(busy: Pairs, per_second: Values, bounds: Bounds, window: int) -> Values:
    """The mean of each window, weighted by the requests per second."""
    weighed = reduce_spans(busy.later, busy.values * per_second, *bounds, window, "sum")
    weights = reduce_spans(busy.later, per_second, *bounds, window, "sum")
    # Rounding must not move a mean outside its samples.
    low, high = (reduce_spans(busy.later, busy.values, *bounds, window, one) for one in ("min", "max"))
    return np.clip(weighed / weights, low, high)


def is_idle(values: Values, rates: Values, least: float | Values) -> NDArray[np.bool_]:
    """Whether the windows have no requests, or fewer per second than `least` and these not slow.

    By Little's law the rate times the time (`values`, in seconds) is how many requests are outstanding: a disk that
    takes seconds for each request does few of them.
    """
    return (rates <= 0) | ((rates < least) & ~(rates * values >= OCCUPIED))


def _at(rate: Pairs, times: Times) -> Values:
    """The rate at each of the times; NaN where it has no sample."""
    if not len(rate.later):
        return np.full(len(times), np.nan)
    rows = np.minimum(np.searchsorted(rate.later, times), len(rate.later) - 1)
    return np.where(rate.later[rows] == times, rate.values[rows], np.nan)

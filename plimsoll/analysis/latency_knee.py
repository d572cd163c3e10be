"""The knee of latency over throughput: the highest rate with a latency as under low load, and the highest of all."""

from dataclasses import dataclass

import numpy as np

from plimsoll.model.log import Values

_BINS = 12
_FLAT = 1.35  # times the latency under low load
_GROWN = 2.0  # times: latency that grew less has no knee
_LOW = 0.5  # of the highest rate
_FEWEST = 2


@dataclass(frozen=True)
class LatencyKnee:
    """`latency` was flat up to `rate`; the highest rate was `highest`, with a latency of `at_highest`."""

    latency: float
    rate: float
    highest: float
    at_highest: float


def latency_knee(rate: Values, latency: Values) -> LatencyKnee | None:
    """The knee, by medians over equal steps of the rate; None if the latency did not grow with it."""
    filled = np.isfinite(rate) & np.isfinite(latency) & (rate > 0) & (latency > 0)
    if filled.sum() < _BINS:
        return None
    rate, latency = rate[filled], latency[filled]
    highest = float(np.percentile(rate, 97))
    low = rate <= _LOW * highest
    if low.sum() < _FEWEST:
        return None
    flat = float(np.median(latency[low]))
    step = np.minimum((rate / highest * _BINS).astype(int), _BINS - 1)
    medians = {k: float(np.median(latency[step == k])) for k in range(_BINS) if (step == k).sum() >= _FEWEST}
    grown = [k for k, one in medians.items() if one > _FLAT * flat and k >= _LOW * _BINS]
    last = medians[max(medians)]
    if not grown or last < _GROWN * flat:
        return None
    below = rate[(step < min(grown)) & (latency <= _FLAT * flat)]
    if not len(below):
        return None
    return LatencyKnee(flat, float(below.max()), highest, last)

"""The knees of a load: where throughput stops to grow with it, and where latency begins to grow with throughput."""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.capacity.queueing import isotonic
from plimsoll.analysis.median import median
from plimsoll.analysis.scalability import FEWEST, akaike
from plimsoll.model.log import Values

# Our choices.
_GAIN = 0.5  # after the knee, load gains less than half as much throughput
_FLAT = 1.35  # times the latency under low load
_GROWN = 2.0  # times: latency that grew less has no knee
_LOW = 0.5  # of the highest rate
_FEWEST_RATES, _FLAT_RATES = 4, 3
_HIGHEST = 97  # percentile that stands for the highest rate, so that one sample out of line does not


@dataclass(frozen=True)
class Knee:
    """Where a curve bends: at which load, and the value there."""

    load: float
    value: float


def throughput_knee(load: Values, throughput: Values) -> Knee | None:
    """Where throughput stops to grow with the load: the corner of two lines that fit better than one line does.

    None if the second line is not less than half as steep as the first.
    """
    order = np.argsort(load)
    x, y = load[order], throughput[order]
    if len(np.unique(x)) < FEWEST:
        return None
    corners = np.linspace(x[1], x[-2], 60)
    fits = [_hinge(x, y, corner) for corner in corners]
    at = int(np.argmin([one[0] for one in fits]))
    squares, before, after, level = fits[at]
    straight = float(((np.polyval(np.polyfit(x, y, 1), x) - y) ** 2).sum())
    floor = 1e-12 * float((y**2).sum())
    better = akaike(straight + floor, len(x), 2) - akaike(squares + floor, len(x), 4)
    bent = before > 0 and after < _GAIN * before
    return Knee(float(corners[at]), level) if bent and better > 0 else None


def _hinge(x: Values, y: Values, corner: float) -> tuple[float, float, float, float]:
    """Squares left by two lines that meet at a corner, the slope before and after it, and the value at it."""
    terms = np.column_stack([np.ones_like(x), x - corner, np.maximum(x - corner, 0)])
    fit = np.linalg.lstsq(terms, y, rcond=None)[0]
    return float(((terms @ fit - y) ** 2).sum()), float(fit[1]), float(fit[1] + fit[2]), float(fit[0])


@dataclass(frozen=True)
class LatencyKnee:
    """Latency was `flat` up to `rate`; the highest rate was `highest`, with a latency of `at_highest`."""

    flat: float
    rate: float
    highest: float
    at_highest: float


def latency_knee(rate: Values, latency: Values) -> LatencyKnee | None:
    """The last rate at which latency is as under low load; None if it does not grow with it, or of too few rates.

    Of means of load steps as of samples at any rates: what is compared is the increasing curve nearest to them
    (isotonic regression; Barlow and others, "Statistical Inference under Order Restrictions", 1972).
    """
    filled = np.isfinite(rate) & np.isfinite(latency) & (rate > 0) & (latency > 0)
    x, at, count = np.unique(rate[filled], return_inverse=True, return_counts=True)
    if len(x) < _FEWEST_RATES:
        return None
    y = isotonic(np.bincount(at, weights=latency[filled]) / count, count.astype(float))
    highest = float(np.percentile(x.repeat(count), _HIGHEST, method="nearest"))
    low = x <= _LOW * highest
    if not low.any():
        return None
    flat, at_highest = median(y[low].repeat(count[low])), float(y[np.searchsorted(x, highest)])
    is_flat = y <= _FLAT * flat
    if at_highest < _GROWN * flat or np.count_nonzero(is_flat) < _FLAT_RATES:
        return None
    return LatencyKnee(flat, float(x[is_flat][-1]), highest, at_highest)

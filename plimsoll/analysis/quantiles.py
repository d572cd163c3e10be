"""Quantiles of samples that depend on each other, with confidence intervals.

Woodruff, "Confidence intervals for medians and other position measures" (1952): the share of samples below the quantile
is a mean, whose error is known; the interval of the share is turned into one of values.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.bootstrap import CONFIDENCE, Interval, estimate
from plimsoll.analysis.distributions import student_quantile
from plimsoll.model.log import Values


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile and its confidence interval."""

    value: float
    interval: Interval


def quantile(values: Values, share: float, weights: Values | None = None) -> Quantile:
    """The value below which a share of the samples lies; at least one sample, in order of time."""
    value = float(np.quantile(values, share))
    below = estimate((values <= value).astype(np.float64), weights)
    half = student_quantile(below.freedom, (1 + CONFIDENCE) / 2) * below.error if below.error else 0.0
    low, high = np.quantile(values, np.clip([share - half, share + half], 0, 1))
    return Quantile(value, Interval(float(low), float(high)))


def difference(first: Quantile, second: Quantile) -> Quantile:
    """The second quantile less the first, of two runs that are independent of each other.

    The interval is made from those of both (MOVER; Zou and Donner, "Construction of confidence limits about effect
    measures", 2008).
    """
    value = second.value - first.value
    down = np.hypot(second.value - second.interval.low, first.interval.high - first.value)
    up = np.hypot(second.interval.high - second.value, first.value - first.interval.low)
    return Quantile(value, Interval(float(value - down), float(value + up)))

"""The uncertainty of means and quantiles of samples that depend on each other: the stationary bootstrap.

Politis and Romano, "The stationary bootstrap" (1994): the series is resampled in blocks of random, geometric length, so
that neighbours stay neighbours. For a mean, the variance over all replicates is known in closed form (lemma 1 of the
paper). The variance is computed here without drawing any replicates, so that results are the same each time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.distributions import compute_student_probability, compute_student_quantile
from plimsoll.analysis.significance import choose_block_lengths, compute_autocovariances, compute_correlation_time
from plimsoll.model.log import Values


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile and its confidence interval."""

    value: float
    interval: Interval


_CERTAIN = float("inf")
CONFIDENCE = 0.95
_HALF = (1 + CONFIDENCE) / 2
_NEGLIGIBLE = np.log(1e-12)  # of the weight of an autocovariance


class Estimate(NamedTuple):
    """A mean and its uncertainty.

    Attributes:
        mean: The mean; a weighted mean if weights are given.
        error: The standard error of the mean.
        samples: The number of samples.
        effective: The number of independent samples that would give this error.
        freedom: Degrees of freedom of the standard error.
        correlation_time: The number of consecutive samples that tell as much as one independent sample.
        variance: The variance of the samples.
    """

    mean: float
    error: float
    samples: int
    effective: float
    freedom: float
    correlation_time: float
    variance: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means: the second less the first.

    Attributes:
        value: The difference.
        error: The standard error of the difference.
        freedom: Degrees of freedom (Welch and Satterthwaite).
    """

    value: float
    error: float
    freedom: float

    @classmethod
    def of(cls, first: Estimate, second: Estimate) -> "Difference":
        """Return the second less the first of two independent means."""
        return _sum_variances(second.mean - first.mean, [(mean.error**2, mean.freedom) for mean in (first, second)])

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the confidence interval of the difference."""
        half = compute_student_quantile(self.freedom, (1 + confidence) / 2) * self.error if self.error else 0.0
        return Interval(self.value - half, self.value + half)

    def is_vaguer_than(self, size: float) -> bool:
        """Return whether half of the 95 % interval is longer than `size`.

        Most often the quantiles at the powers of 2 around the degrees of freedom tell, which are computed once.
        """
        if self.error and math.isfinite(self.freedom):
            power = math.frexp(self.freedom)[1]
            least, most = (compute_student_quantile(2.0**near, _HALF) * self.error for near in (power, power - 1))
            if least > size or most <= size:
                return least > size
        return self.interval().high - self.value > size

    @property
    def chance(self) -> float:
        """The one-sided p-value: the probability of a difference this large if both means are truly equal."""
        if not self.error:
            return 0.0 if self.value else 0.5
        return compute_student_probability(self.freedom, -abs(self.value) / self.error)


def estimate(values: Values, weights: Values | None = None, breaks: Sequence[int] = ()) -> Estimate:
    """Return the mean of samples, which are in order of time, and the uncertainty of the mean.

    Args:
        values: The samples; at least one, without NaN.
        weights: The duration that each sample stands for; None if all durations are equal.
        breaks: The rows that follow a long pause of the recording; no bootstrap block contains a pause.
    """
    return estimate_row_means(values[np.newaxis], weights, breaks)[0]


def estimate_row_means(values: Values, weights: Values | None = None, breaks: Sequence[int] = ()) -> list[Estimate]:
    """Return the mean and uncertainty of each row of samples, as `estimate` does for one row."""
    rows = values.shape[1]
    means = values.mean(axis=1) if weights is None else (values * weights).sum(axis=1) / weights.sum()
    off = values - means[:, np.newaxis]
    influence = off if weights is None else weights * off / weights.mean()
    squares = np.square(off)
    spreads = squares.mean(axis=1) if weights is None else (squares * weights).sum(axis=1) / weights.sum()
    variances = spreads.tolist()
    estimates = [
        Estimate(mean, 0.0, rows, float(rows), _CERTAIN, 1.0, variance)
        for mean, variance in zip(means.tolist(), variances, strict=True)
    ]
    varied = np.flatnonzero(spreads > (1e-12 * np.abs(means)) ** 2) if rows > 1 else np.zeros(0, dtype=np.intp)
    influence = influence[varied]
    covariances = compute_autocovariances(influence) if len(varied) else influence
    lengths = choose_block_lengths(influence, covariances).tolist()
    for row, at in enumerate(varied.tolist()):
        variance = _compute_variance(influence[row], covariances[row], lengths[row], breaks)
        effective = min(float(rows), variances[at] / variance) if variance > 0 else float(rows)
        freedom = max(1.0, rows / lengths[row] - 1)
        error, correlated = math.sqrt(variance), compute_correlation_time(covariances[row])
        estimates[at] = Estimate(estimates[at].mean, error, rows, effective, freedom, correlated, variances[at])
    return estimates


def estimate_independent_mean(values: Values) -> Estimate:
    """Return the mean of independent values, at least one, and the uncertainty of the mean."""
    count = len(values)
    error = float(values.std(ddof=1)) / np.sqrt(count) if count > 1 else 0.0
    figures = float(values.mean()), float(error), count, float(count), max(1.0, count - 1.0), 1.0
    return Estimate(*figures, float(values.var()))


def _compute_variance(influence: Values, covariances: Values, length: float, breaks: Sequence[int]) -> float:
    """Return the variance of the mean over all bootstrap replicates with blocks of the mean length `length`."""
    rows = len(influence)
    if not len(breaks):
        return _compute_long_run_variance(covariances, length) / rows
    off = influence - influence.mean()
    parts = np.split(off, breaks)
    # Each part is resampled around its own mean; the deviation of that mean counts as if drawn by chance.
    total = sum(len(part) * _compute_long_run_variance(compute_autocovariances(part), length) for part in parts)
    between = sum(len(part) * float(part.mean()) ** 2 for part in parts)
    return (total + between * (2 * length - 1)) / rows**2


def _compute_long_run_variance(covariances: Values, length: float) -> float:
    """Return the long-run variance: circular autocovariances, weighted by the chance that a block spans their lag."""
    rows = len(covariances)
    staying = 1 - min(1.0, 1 / length)
    felt = min(rows - 1, int(np.ceil(_NEGLIGIBLE / np.log(staying)))) if staying else 0
    lags = np.arange(1, felt + 1)
    around = covariances[1 : felt + 1] + covariances[: rows - felt - 1 : -1]
    weights = (1 - lags / rows) * np.exp(lags * np.log(staying)) if staying else lags
    return max(0.0, float(covariances[0] + 2 * (weights @ around)))


# The unit of replication is the run (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013): a new mean
# is compared with the prediction interval of earlier ones. What is known beforehand of the variance between runs weighs
# as a number of runs (a scaled inverse chi-squared prior).
def predict_difference(earlier: Sequence[Estimate], new: Estimate, spread: float, weight: float) -> Difference:
    """Return a run's mean less the mean of earlier runs, with the error of predicting a single run.

    Args:
        earlier: The means of at least one run.
        new: The mean of the new run.
        spread: The assumed standard deviation of means between runs.
        weight: The number of runs that `spread` counts as, beside the spread of `earlier`; ignored for one earlier run.
    """
    count = len(earlier)
    of_new = (new.error**2, new.freedom)
    if count == 1:
        [only] = earlier
        parts = [(only.error**2, only.freedom), of_new, (2 * spread**2, _CERTAIN)]
        return _sum_variances(new.mean - only.mean, parts)
    means = np.array([estimate.mean for estimate in earlier])
    within = float(np.mean([estimate.error**2 for estimate in earlier]))
    freedom = weight + count - 1
    total = (weight * (spread**2 + within) + float(means.var(ddof=1)) * (count - 1)) / freedom
    between = max(0.0, total - within)
    # The error of the earlier runs' mean, and the deviation of a single run from the mean of all runs.
    return _sum_variances(new.mean - float(means.mean()), [(total / count + between, freedom), of_new])


def count_runs_to_decide(
    difference: float, spread: float, weight: float, chance: float, counts: tuple[int, int]
) -> int | None:
    """Return how many earlier runs would make a difference significant; None if no number in `counts` would.

    `counts` are the lowest and the highest number to try, and `spread` counts as `weight` runs.
    """
    for count in range(max(2, counts[0]), counts[1] + 1):
        wide = compute_student_quantile(weight + count - 1, 1 - chance) * spread * np.sqrt(1 + 1 / count)
        if abs(difference) > wide:
            return count
    return None


def _sum_variances(value: float, parts: Sequence[tuple[float, float]]) -> Difference:
    """Return a difference whose variance is the sum of `parts`, pairs of a variance and its degrees of freedom.

    The degrees of freedom of the sum are those of Satterthwaite (1946).
    """
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts)
    return Difference(float(value), math.sqrt(variance), variance**2 / spread if spread else _CERTAIN)


# Woodruff, "Confidence intervals for medians and other position measures" (1952): the share below it is a mean.
def estimate_quantile(values: Values, share: float, weights: Values | None = None) -> Quantile:
    """Return the value below which a share of the samples (in order of time) lies, with its confidence interval."""
    value = float(np.quantile(values, share))
    below = estimate((values <= value).astype(np.float64), weights)
    half = compute_student_quantile(below.freedom, (1 + CONFIDENCE) / 2) * below.error if below.error else 0.0
    low, high = np.quantile(values, np.clip([share - half, share + half], 0, 1))
    return Quantile(value, Interval(float(low), float(high)))


def subtract_quantiles(first: Quantile, second: Quantile) -> Quantile:
    """Return the second quantile less the first, for two independent runs.

    The interval combines the intervals of both quantiles (MOVER; Zou and Donner, "Construction of confidence limits
    about effect measures", 2008).
    """
    value = second.value - first.value
    down = np.hypot(second.value - second.interval.low, first.interval.high - first.value)
    up = np.hypot(second.interval.high - second.value, first.value - first.interval.low)
    return Quantile(value, Interval(float(value - down), float(value + up)))

"""Statistical significance: numbers of independent samples, rank tests, corrections for many tests.

The size of an outlier does not affect rank tests.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from plimsoll.analysis.distributions import compute_normal_probability
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

_TIMES = 3  # correlation times in a block: neighbouring means of an AR(1) process are then correlated by 0.09
MOST = 100
LEAST = 5  # blocks of a run; with fewer, ranks cannot show anything
_FEWEST_PAIRS = 8
_Number = TypeVar("_Number", float, Values)
_MOST_NOISE = 3.3  # standard errors: of a few hundred pairs without any relation, one in a thousand gets there


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation (-1 to 1), and the number of independent samples (`effective`; Bartlett, 1935).

    `lag` is the number of samples by which the second series is late.
    """

    coefficient: float
    effective: float
    lag: int = 0

    @property
    def real(self) -> bool:
        """Whether the correlation is too strong for unrelated series."""
        return self.effective > 3 and abs(self.coefficient) >= _MOST_NOISE / float(np.sqrt(self.effective))


@dataclass(frozen=True, slots=True)
class RankTest:
    """The result of a Mann-Whitney rank test (1947): its one-sided p-value, and whether the second set ranks higher."""

    chance: float
    higher: bool


def rank_test(first: Values, second: Values) -> RankTest:
    """Return the rank test of two sets of one or more values: a normal approximation, corrected for ties."""
    # The result of scipy.stats.mannwhitneyu, whose import and argument checks would take half of a comparison's time.
    values, places, ties = np.unique(np.concatenate((second, first)), return_inverse=True, return_counts=True)
    if len(values) == 1:
        return RankTest(0.5, higher=False)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]
    count, pairs = len(places), len(first) * len(second)
    wins = float(ranks[: len(second)].sum()) - len(second) * (len(second) + 1) / 2
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (count * (count - 1))
    deviation = np.sqrt(pairs / 12 * (count + 1 - tied))
    chance = compute_normal_probability(-(max(wins, pairs - wins) - pairs / 2 - 0.5) / deviation)
    return RankTest(min(0.5, chance), wins > pairs / 2)


def shift(first: Values, second: Values) -> float:
    """Return by how much the second set is higher: the median of all differences of pairs (Hodges and Lehmann)."""
    return float(np.median(second[:, None] - first[None, :]))


def correct_by_hochberg(chances: Values) -> Values:
    """Return the p-values of several tests, corrected for testing several at once.

    A level for the corrected p-values is the chance of one or more false alarms in all tests. Tests that rise and fall
    together, as of two figures of one processor, count as one (Hochberg, "A sharper Bonferroni procedure for multiple
    tests of significance", 1988).
    """
    order = np.argsort(chances, kind="stable")[::-1]
    out = np.empty(len(chances))
    out[order] = np.minimum.accumulate(chances[order] * np.arange(1, len(chances) + 1))
    return out


def rank_correlation(first: Values, second: Values, most_lag: int = 0) -> RankCorrelation | None:
    """Return the strongest rank correlation at any lag up to `most_lag` (samples); None with too few samples."""
    lags = sorted(range(-most_lag, most_lag + 1), key=abs)
    pairs = {lag: pair for lag in lags if (pair := _rank_pairs(first, second, lag)) is not None}
    if not pairs:
        return None
    coefficients = {lag: float((x * y).mean()) for lag, (x, y) in pairs.items()}
    best = max(coefficients, key=lambda lag: abs(coefficients[lag]))
    x, y = pairs[best]  # worth as many independent pairs as this
    effective = len(x) / compute_correlation_time(compute_autocovariances(x) * compute_autocovariances(y))
    return RankCorrelation(coefficients[best], effective, best)


def rank_values(values: Values) -> Values:
    """Return the rank of each value; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _rank_pairs(first: Values, second: Values, lag: int) -> tuple[Values, Values] | None:
    """Return the standardised ranks of both series, shifted by `lag`; None with too few pairs or a constant series."""
    count = len(first) - abs(lag)
    x = first[max(-lag, 0) : max(-lag, 0) + count]
    y = second[max(lag, 0) : max(lag, 0) + count]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < _FEWEST_PAIRS:
        return None
    x, y = rank_values(x[both]), rank_values(y[both])
    if x.std() == 0 or y.std() == 0:
        return None
    return (x - x.mean()) / x.std(), (y - y.mean()) / y.std()


def compute_autocovariances(values: Values) -> Values:
    """Return the autocovariances of a series, or of each row of an array, at the lags 0 to n - 1, each divided by n."""
    rows = values.shape[-1]
    off = values - values.mean(axis=-1, keepdims=True)
    # Padded to twice the length, so that nothing wraps around, and to a length with a fast transform.
    size = min(factor << ((2 * rows - 1) // factor).bit_length() for factor in (1, 3, 5))
    spectrum = np.fft.rfft(off, size)
    return np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)[..., :rows] / rows


def choose_block_lengths(values: Values, covariances: Values) -> Values:
    """Return, for each row, the best mean block length (samples) of the stationary bootstrap of the mean; at least 1.

    Politis and White, "Automatic block-length selection for the dependent bootstrap" (2004), with the correction by
    Patton, Politis and White (2009). The `arch` package gives the same from 10 samples on.
    """
    rows = values.shape[1]
    lengths = np.ones(len(values))
    insignificant = max(5, int(np.log10(rows))) if rows else 0
    most = min(int(np.ceil(np.sqrt(rows))) + insignificant, rows - 2)
    if most <= insignificant:
        return lengths
    bandwidths = np.where(covariances[:, 0] > 0, _choose_bandwidths(values, covariances, most, insignificant), 0)
    longest = np.ceil(min(3 * np.sqrt(rows), rows / 3))
    for bandwidth in np.unique(bandwidths[bandwidths > 0]).tolist():
        at = np.flatnonzero(bandwidths == bandwidth)
        lags = np.arange(1, bandwidth + 1)
        flat_top = np.minimum(1.0, 2 * (1 - lags / bandwidth))
        near = covariances[at, 1 : bandwidth + 1]
        slopes = 2 * np.sum(flat_top * lags * near, axis=1)
        long_runs = covariances[at, 0] + 2 * np.sum(flat_top * near, axis=1)
        ratios = np.divide(slopes, long_runs, out=np.zeros(len(at)), where=long_runs != 0)
        lengths[at] = np.clip(np.cbrt(ratios**2 * rows), 1.0, longest)
    return lengths


def _choose_bandwidths(values: Values, covariances: Values, most: int, insignificant: int) -> NDArray[np.intp]:
    """Return, for each row, twice the lag after which autocorrelations are insignificant; at most `most`.

    Autocorrelations are insignificant after a lag if the next `insignificant` autocorrelations are; without such a lag,
    `most` is returned.
    """
    rows = values.shape[1]
    squares = np.cumsum((values - values.mean(axis=1, keepdims=True)) ** 2, axis=1)
    lags = np.arange(most + 1)
    scale = np.sqrt((squares[:, -1:] - squares[:, lags]) * squares[:, rows - 2 - lags])
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.abs(covariances[:, : most + 1]) * rows / scale < 2 * np.sqrt(np.log10(rows) / rows)
    in_a_row = sliding_window_view(small[:, :most], insignificant, axis=1).all(axis=2)
    last = np.where(in_a_row.any(axis=-1), in_a_row.argmax(axis=-1), most)
    return np.minimum(2 * np.maximum(last, 1), most)


def count_effective_samples(count: float, correlation: _Number) -> _Number:
    """Return how many independent samples tell as much about a mean as `count` samples of AR(1) noise.

    The formula (Bartlett, 1935) is for many samples. For few samples use `count_effective_in_window`; for noise that is
    not AR(1) use `correlation_time`, which takes autocovariances.
    """
    return count * (1 - correlation) / (1 + correlation)


def count_effective_in_window(count: int, correlation: float) -> float:
    """Return how many independent samples tell as much about a mean as `count` samples of AR(1) noise, even if few.

    By Bartlett (1946), for series that are hardly longer than their correlation.
    """
    beyond = 2 * correlation * (1 - correlation**count) / (count * (1 - correlation) ** 2)
    return count / ((1 + correlation) / (1 - correlation) - beyond)


def compute_correlation_time(covariances: Values) -> float:
    """Return how many consecutive samples tell as much about the mean as one independent sample; at least 1.

    This is the sum of the autocorrelations, as long as the sum of two neighbours is positive (the initial monotone
    sequence of Geyer, "Practical Markov chain Monte Carlo", 1992). A slow drift makes the correlation time long, as it
    should.
    """
    if covariances[0] <= 0 or len(covariances) < 4:
        return 1.0
    even = len(covariances) // 2 * 2
    pairs = (covariances[0:even:2] + covariances[1:even:2]) / covariances[0]
    negative = np.flatnonzero(pairs <= 0)
    pairs = pairs[: negative[0]] if len(negative) else pairs
    return max(1.0, 2 * float(np.minimum.accumulate(pairs).sum()) - 1) if len(pairs) else 1.0


def compute_independent_means(
    values: Values, correlation_time: float, weights: Values | None = None, breaks: Sequence[int] = ()
) -> Values:
    """Return the means of up to 100 blocks, each of at least three correlation times; no block contains a break.

    If the samples drift slowly, there are few blocks, or only one. `breaks` are the rows that follow a pause.
    """
    value = max(_TIMES * correlation_time, len(values) / MOST)
    edges = [0, *breaks, len(values)]
    values_list = [
        _compute_means(values[start:end], None if weights is None else weights[start:end], int((end - start) // value))
        for start, end in pairwise(edges)
    ]
    means = np.concatenate(values_list)
    return means if len(means) else _compute_means(values, weights, 1)


def compute_block_means(values: Values, blocks: int) -> Values:
    """Return the means of `blocks` consecutive blocks of equal length."""
    return _compute_means(values, None, min(blocks, len(values)))


def _compute_means(values: Values, weights: Values | None, blocks: int) -> Values:
    if not blocks:
        return values[:0]
    starts = (np.arange(blocks) * len(values)) // blocks
    if weights is None:
        return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
    return np.add.reduceat(values * weights, starts) / np.add.reduceat(weights, starts)

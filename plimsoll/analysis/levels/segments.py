"""Segmentation: the best description of a series by pieces that are flat or have a slope.

The best description is found by dynamic programming over all partitions (optimal partitioning: Jackson et al., IEEE
Signal Processing Letters 12, 2005), here with flat and sloping pieces.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median, filter_median
from plimsoll.analysis.significance import count_effective_samples
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

_FLOOR = 0.005  # of the range, for the deviation of noise: stairs of lower steps are a ramp
_POWERS = (0.0, 0.5, 1.0)  # of the level, that noise may grow with
_CORRELATIONS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
_PARAMETERS = 3  # of a flat piece: its level, and its place, which counts twice as it is searched for
_PENALTY, _SLOPE_PENALTY = 3.0, 3.0  # times the logarithm of the effective number of values


@dataclass(frozen=True)
class Piece:
    """A piece of a series, from the index `first` to before `last`, on a straight line from `begins` to `ends`."""

    first: int
    last: int
    begins: float
    ends: float

    @property
    def length(self) -> int:
        """The number of values in the piece."""
        return self.last - self.first

    @property
    def level(self) -> float:
        """The value in the middle of the line."""
        return (self.begins + self.ends) / 2

    @property
    def is_flat(self) -> bool:
        """Whether the line has no slope."""
        return self.begins == self.ends

    def line(self) -> Values:
        """Return the value of the line at each index of the piece."""
        if self.is_flat:
            return np.full(self.length, self.begins)
        return np.linspace(self.begins, self.ends, self.length)


@dataclass(frozen=True)
class Described:
    """The pieces that describe a series best, and the variance of the noise around them at each value.

    The variance is the long-run variance, which includes autocorrelation and decides the error of means. `flat_pieces`
    are the best pieces without a slope. `lowest_information` is the information criterion of `pieces`.
    """

    values: Values
    pieces: list[Piece]
    flat_pieces: list[Piece]
    variance: Values
    lowest_information: float
    _shape: Values

    def error(self, *parts: Piece) -> float:
        """Return the standard error of the sum, or the difference, of the levels of some pieces."""
        return float(np.sqrt(sum(float(self.variance[part.first : part.last].mean()) / part.length for part in parts)))

    def information(self, line: Values, parameters: int) -> float:
        """Return the Bayesian information criterion of a description by `line` and autoregressive noise."""
        return _compute_information(self.values, line, self._shape, parameters)

    @property
    def information_of_walk(self) -> float:
        """The Bayesian information criterion of a second-order autoregressive fit (a smoothed random walk)."""
        values = self.values
        terms = np.column_stack([np.ones(len(values) - 2), values[1:-1], values[:-2]]) / self._shape[2:, None]
        fit = np.linalg.lstsq(terms, values[2:] / self._shape[2:], rcond=None)[0]
        return _compute_criterion(values[2:] / self._shape[2:] - terms @ fit, values, 4)


_SHORTEST_SLOPE = 3


class Partitions:
    """The best partitions of a series, for any penalties."""

    def __init__(self, values: Values, weights: Values) -> None:
        """Take a series, without missing values, and the weight of each value (the inverse variance of its noise)."""
        self._values = values
        self._weights = weights
        self._flat, self._sloping = _compute_costs(values, weights)
        self._pieces: dict[tuple[int, int, bool], Piece] = {}  # those of other penalties are much the same

    def best(self, penalty: float, slope_penalty: float) -> list[Piece]:
        """Return the partition with the smallest sum of weighted squares and penalties.

        Args:
            penalty: The cost of each piece.
            slope_penalty: The additional cost of a piece with a slope.
        """
        count = len(self._values)
        best = np.zeros(count + 1)
        before = np.zeros(count + 1, dtype=np.int64)
        cheapest = np.minimum(self._flat, self._sloping + slope_penalty).T + penalty
        for last in range(1, count + 1):
            reach = best[:last] + cheapest[last, :last]
            before[last] = first = reach.argmin()
            best[last] = reach[first]
        pieces: list[Piece] = []
        last = count
        while last:
            first = int(before[last])
            has_slope = self._sloping[first, last] + slope_penalty < self._flat[first, last]
            pieces.append(self._describe_piece(first, last, has_slope=bool(has_slope)))
            last = first
        return pieces[::-1]

    def _describe_piece(self, first: int, last: int, *, has_slope: bool) -> Piece:
        """Return the piece of the values from `first` to before `last`, flat or with a slope."""
        if (first, last, has_slope) not in self._pieces:
            values, weights = self._values[first:last], self._weights[first:last]
            if has_slope:
                slope, begins = np.polyfit(np.arange(last - first), values, 1, w=np.sqrt(weights)).tolist()
                ends = begins + slope * (last - first - 1)
            else:
                begins = ends = float((values * weights).sum() / weights.sum())
            self._pieces[first, last, has_slope] = Piece(first, last, begins, ends)
        return self._pieces[first, last, has_slope]


def _compute_costs(values: Values, weights: Values) -> tuple[Values, Values]:
    """Return the weighted squares of the values [i, j) around their mean, and around their line, in row i, column j."""
    at = np.arange(len(values)) / len(values)
    centred = values - np.average(values, weights=weights)

    def between(values: Values) -> NDArray[np.float64]:
        sums = np.concatenate(([0.0], np.cumsum(weights * values)))
        return sums[None, :] - sums[:, None]

    weight = between(np.ones_like(at))
    with np.errstate(all="ignore"):
        inverse = 1 / weight
        x, y = between(at), between(centred)
        flat = between(centred**2) - y * y * inverse
        xx = between(at**2) - x * x * inverse
        xy = between(at * centred) - x * y * inverse
        sloping = flat - xy * xy / xx
    start = np.arange(len(values) + 1)
    length = start[None, :] - start[:, None]
    sloping[length < _SHORTEST_SLOPE] = np.inf
    return np.maximum(flat, 0), np.maximum(sloping, 0)


def describe_series(values: Values) -> Described:
    """Return the pieces and the noise of a series, at the autocorrelation of the noise that fits the series best."""
    level = filter_median(values, 9, "edge")
    change = np.diff(values)
    shape = _estimate_noise_shape(change - compute_median(change), level)
    scaled = change / shape[1:]
    spread = 1.4826 * compute_median(np.abs(scaled - compute_median(scaled)))
    value = _find_least_scale(values)
    partitions = Partitions(values, 1 / shape**2)
    best: list[Piece] = []
    lowest = np.inf
    for assumed in _CORRELATIONS:
        long_run = max(spread**2 / 2, value**2) * (1 + assumed) / (1 - assumed) ** 2
        pieces = partitions.best(*_compute_penalties(len(values), assumed, long_run))
        information = _compute_information(values, _draw_line(pieces), shape, _count_parameters(pieces))
        if information < lowest:
            best, lowest = pieces, information
    deviation, correlation = _estimate_noise(values, best, shape)
    long_run = max(deviation, value) ** 2 / count_effective_samples(1, correlation)
    penalty, _ = _compute_penalties(len(values), correlation, long_run)
    return Described(values, best, partitions.best(penalty, np.inf), long_run * shape**2, lowest, shape)


def _compute_penalties(count: int, correlation: float, long_run: float) -> tuple[float, float]:
    """Return the cost of a piece, and the additional cost of a slope, for noise of this autocorrelation."""
    effective = max(count_effective_samples(count, correlation), 10.0)
    cost = float(np.log(effective)) * long_run
    return _PENALTY * cost, _SLOPE_PENALTY * cost


def _draw_line(pieces: Sequence[Piece]) -> Values:
    return np.concatenate([piece.line() for piece in pieces])


def _count_parameters(pieces: Sequence[Piece]) -> int:
    count = sum(_PARAMETERS if piece.is_flat else _PARAMETERS + 1 for piece in pieces)
    for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if before.is_flat and after.is_flat and not piece.is_flat:
            count -= _PARAMETERS  # a ramp between two levels begins and ends with them
    return count


def _compute_information(values: Values, line: Values, shape: Values, parameters: int) -> float:
    rest = (values - line) / shape
    square = float((rest**2).mean())
    correlation = float(np.clip((rest[1:] * rest[:-1]).mean() / square, 0, 1)) if square else 0.0
    error = rest.copy()
    error[1:] -= correlation * rest[:-1]
    return _compute_criterion(error, values, parameters)


def _compute_criterion(error: Values, values: Values, parameters: int) -> float:
    count, variance = len(values), float((error**2).mean()) + _find_least_scale(values) ** 2
    variance = max(variance, float(np.finfo(float).tiny))  # a part of zeros has no noise
    return count * float(np.log(variance)) + parameters * float(np.log(count))


def _estimate_noise(values: Values, pieces: Sequence[Piece], shape: Values) -> tuple[float, float]:
    """Return the standard deviation (where `shape` is 1) and the autocorrelation of the noise around pieces."""
    scaled = (values - _draw_line(pieces)) / shape
    inside = np.ones(len(values), dtype=bool)
    inside[[piece.first for piece in pieces]] = False
    parameters = sum(1 if piece.is_flat else 2 for piece in pieces)
    square = float((scaled**2).sum()) / max(len(values) - parameters, 3)
    product = float((scaled[1:] * scaled[:-1])[inside[1:]].sum()) / max(int(inside.sum()), 1)
    correlation = product / square if square else 0.0
    correlation += (1 + 4 * max(correlation, 0)) * len(pieces) / len(values)  # Kendall's bias of short pieces
    return float(np.sqrt(square)), float(np.clip(correlation, 0, 0.95))


def _find_least_scale(values: Values) -> float:
    return _FLOOR * float(np.ptp(values))


def _estimate_noise_shape(change: Values, level: Values) -> Values:
    """Return the relative size of the noise at each value, which grows with the level, by maximum likelihood.

    The changes from value to value are taken to follow Laplace's distribution.
    """
    top = float(np.max(np.abs(level))) or 1.0
    of = np.maximum(np.abs(level) / top, 0.02)
    at, size = (of[1:] + of[:-1]) / 2, np.abs(change)

    def cost(power: float) -> float:
        mean = max(float((size / at**power).mean()), 1e-12 * top)
        return len(size) * float(np.log(mean)) + power * float(np.log(at).sum())

    return of ** min(_POWERS, key=cost)

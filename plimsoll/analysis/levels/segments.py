"""The best description of a series by pieces that are flat or have a slope.

Dynamic programming over all partitions (optimal partitioning: Jackson et al., IEEE Signal Processing Letters 12, 2005),
with two kinds of piece instead of one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values

_SHORTEST_SLOPE = 3


@dataclass(frozen=True)
class Piece:
    """Values from `first` up to `last`, without it, that lie on a line from `begins` to `ends`."""

    first: int
    last: int
    begins: float
    ends: float

    @property
    def length(self) -> int:
        """How many values it has."""
        return self.last - self.first

    @property
    def level(self) -> float:
        """The middle of its line."""
        return (self.begins + self.ends) / 2

    @property
    def is_flat(self) -> bool:
        """Whether it has no slope."""
        return self.begins == self.ends

    def line(self) -> Values:
        """Its line at each of its values."""
        if self.is_flat:
            return np.full(self.length, self.begins)
        return np.linspace(self.begins, self.ends, self.length)


class Partitions:
    """The best partitions of a series for different penalties."""

    def __init__(self, values: Values, weights: Values) -> None:
        """Take the series, without gaps, and the relative weight of each value: one over the variance of its noise."""
        self._values = values
        self._weights = weights
        self._flat, self._sloping = _costs(values, weights)
        self._pieces: dict[tuple[int, int, bool], Piece] = {}  # those of other penalties are much the same

    def best(self, penalty: float, slope_penalty: float) -> list[Piece]:
        """The partition with the smallest sum of weighted squares and penalties.

        Args:
            penalty: What each piece costs.
            slope_penalty: What a slope costs beyond that.
        """
        count = len(self._values)
        best = np.zeros(count + 1)
        before = np.zeros(count + 1, dtype=np.int64)
        cheapest = np.minimum(self._flat, self._sloping + slope_penalty).T + penalty
        for last in range(1, count + 1):
            reach = best[:last] + cheapest[last, :last]
            before[last] = first = reach.argmin()
            best[last] = reach[first]
        found: list[Piece] = []
        last = count
        while last:
            first = int(before[last])
            has_slope = self._sloping[first, last] + slope_penalty < self._flat[first, last]
            found.append(self._piece(first, last, has_slope=bool(has_slope)))
            last = first
        return found[::-1]

    def _piece(self, first: int, last: int, *, has_slope: bool) -> Piece:
        made = self._pieces.get((first, last, has_slope))
        if made is None:
            made = _piece(self._values[first:last], self._weights[first:last], first, has_slope=has_slope)
            self._pieces[first, last, has_slope] = made
        return made


def _costs(values: Values, weights: Values) -> tuple[Values, Values]:
    """The weighted squares around the mean and around the line of the values [i, j), in row i and column j."""
    at = np.arange(len(values)) / len(values)
    centred = values - np.average(values, weights=weights)

    def between(one: Values) -> NDArray[np.float64]:
        sums = np.concatenate(([0.0], np.cumsum(weights * one)))
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


def _piece(values: Values, weights: Values, first: int, *, has_slope: bool) -> Piece:
    """The piece of these values, of which the first is the value `first` of the series."""
    count = len(values)
    if not has_slope:
        level = float((values * weights).sum() / weights.sum())
        return Piece(first, first + count, level, level)
    slope, begins = np.polyfit(np.arange(count), values, 1, w=np.sqrt(weights))
    return Piece(first, first + count, float(begins), float(begins + slope * (count - 1)))

"""Change points: where the level of a series changed, by E-divisive with a permutation test.

Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate data" (2014). A series
is split where the energy distance of its parts is largest, if few permutations of the series have a larger one; then
each part is split again. Daly et al., "The use of change point detection to identify software performance regressions
in a continuous integration system" (2020), apply it to builds.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plimsoll.analysis.distributions import student, student_quantile
from plimsoll.model.log import Values

FEWEST_VALUES = 8  # values; of fewer no change can be told
_OUTSIDE = 0.005  # the chance of a value beyond the prediction interval of those before, on either side
_LEAST = 3  # values on each side of a change: of fewer none can be told from an outlier
_WORTH_TRYING = 0.3  # the chance of a split that is tried
_TRIES = 199  # permutations of those
_FIRST = 50  # permutations
_SEED = 20140  # permutations are the same each time
_MOST_AT_ONCE = 2**22  # numbers that are held at once


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of level; `first` is the index of the first value of the new level.

    `before` and `after` are the mean levels up to the neighbouring changes. `chance` is the p-value: how likely a split
    this clear is in a series without changes.
    """

    first: int
    before: float
    after: float
    chance: float


def change_points(values: Values, chance: float, permutations: int = 999) -> list[ChangePoint]:
    """Return the changes of a series (without NaN) with a p-value of at most `chance`, in order.

    A level that rises and falls again hides from the first split. So parts are first split at a higher p-value; then
    only changes that pass the test between their neighbours are kept.
    """
    rng = np.random.default_rng(_SEED)
    candidates = _candidates(values, min(permutations, _TRIES), rng)
    while candidates:
        edges = [0, *candidates, len(values)]
        windows = zip(edges, edges[2:], strict=False)
        chances = [_split(values[start:end], permutations, rng, chance)[1] for start, end in windows]
        worst = int(np.argmax(chances))
        if chances[worst] <= chance:
            means = [float(values[start:end].mean()) for start, end in pairwise(edges)]
            return [ChangePoint(*pair) for pair in zip(candidates, means, means[1:], chances, strict=False)]
        del candidates[worst]
    return []


def late_change(values: Values, chance: float, prior: float, weight: float, since: int = _LEAST) -> ChangePoint | None:
    """Return the change between two levels of a series with a p-value of at most `chance`; None if there is none.

    It also finds changes near the end, which a permutation test cannot show, however large they are. Every value of the
    new level must lie outside the prediction interval of those before, and the difference of the means must pass a t
    test, corrected for all places to split. `prior` is an assumed standard deviation that counts as `weight` values.
    The new level has at least `since` values.
    """
    count = len(values)
    points: list[ChangePoint] = []
    for first in range(_LEAST, count - since + 1) if count >= FEWEST_VALUES else ():
        before, after = values[:first], values[first:]
        squares = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
        freedom = weight + count - 2
        deviation = float(np.sqrt((weight * prior**2 + squares) / freedom))
        off = after - before.mean()
        wide = -student_quantile(freedom, _OUTSIDE) * deviation * np.sqrt(1 + 1 / first)
        if not deviation or np.abs(off).min() <= wide or np.ptp(np.sign(off)):
            continue
        score = abs(float(off.mean())) / (deviation * np.sqrt(1 / first + 1 / (count - first)))
        at = min(1.0, 2 * student(freedom, -score) * _places(count))
        if at <= chance:
            points.append(ChangePoint(first, float(before.mean()), float(after.mean()), at))
    return min(points, key=lambda point: point.chance, default=None)


def visible_change(values: Values, chance: float, prior: float, weight: float) -> float:
    """Return the smallest change before the last three values that `late_change` would find; infinite for too few."""
    count = len(values)
    if count < FEWEST_VALUES:
        return float("inf")
    freedom = weight + count - 2
    squares = float(((values - values.mean()) ** 2).sum())
    deviation = np.sqrt((weight * prior**2 + squares) / freedom)
    certain = -student_quantile(freedom, chance / 2 / _places(count))
    return float(certain * deviation * np.sqrt(1 / _LEAST + 1 / (count - _LEAST)))


def _places(count: int) -> int:
    return count - 2 * _LEAST + 1


def _candidates(values: Values, permutations: int, rng: np.random.Generator) -> list[int]:
    """Return the places of possible changes: split at a high p-value, part by part."""
    places: list[int] = []
    parts = [(0, len(values))]
    while parts:
        start, end = parts.pop()
        if end - start < 2 * _LEAST:
            continue
        at, chance = _split(values[start:end], permutations, rng, _WORTH_TRYING)
        if chance <= _WORTH_TRYING:
            places.append(start + at)
            parts += [(start, start + at), (start + at, end)]
    return sorted(places)


def _split(values: Values, permutations: int, rng: np.random.Generator, enough: float) -> tuple[int, float]:
    """Return the best place to split, and its p-value: the share of permutations with a split at least as good.

    Permutations stop as soon as the p-value cannot fall to `enough` (Besag and Clifford, "Sequential Monte Carlo
    p-values", 1991).
    """
    count = len(values)
    best = _statistics(values[None, :])[0]
    at = int(np.argmax(best))
    most = max(1, _MOST_AT_ONCE // count**2)
    better = tried = 0
    while tried < permutations and 1 + better <= enough * (1 + permutations):
        rows = min(most, permutations - tried, max(_FIRST, tried))
        orders = np.argsort(rng.random((rows, count)), axis=1)
        highest = _statistics(values[orders]).max(axis=1)
        # Ties, as of a constant, count as better.
        better += int((highest >= best[at] * (1 - 1e-12)).sum())
        tried += rows
    return at + _LEAST, (1 + better) / (1 + tried)


def _statistics(series: Values) -> Values:
    """Return the scaled energy distance of the two parts, for each series and each place to split it."""
    rows, count = series.shape
    apart = np.abs(series[:, :, None] - series[:, None, :])
    both = np.zeros((rows, count + 1, count + 1))
    both[:, 1:, 1:] = apart.cumsum(axis=1).cumsum(axis=2)
    splits = np.arange(_LEAST, count - _LEAST + 1)
    left, whole = both[:, splits, splits], both[:, -1:, -1]
    upper = both[:, splits, -1] - left
    right = whole - 2 * upper - left
    n, m = splits, count - splits
    within_left, within_right = left / (n * np.maximum(n - 1, 1)), right / (m * np.maximum(m - 1, 1))
    return n * m / (n + m) * (2 * upper / (n * m) - within_left - within_right)

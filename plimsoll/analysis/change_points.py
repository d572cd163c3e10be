"""Change points: where the level of a series changed. Optimal partitioning proposes points, t tests decide.

Jackson et al., "An algorithm for optimal partitioning of data on an interval" (2005): of all partitions, the algorithm
returns the partition with the smallest sum of squares about the means of its parts, plus a penalty for each part. Daly
et al., "The use of change point detection to identify software performance regressions in a continuous integration
system" (2020), look for such changes in builds.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plimsoll.analysis.distributions import compute_student_probability, compute_student_quantile
from plimsoll.model.log import Values

FEWEST_VALUES = 8  # values; of fewer no change can be told
_LEAST = 3  # values on each side of a change: of fewer none can be told from an outlier
_PENALTY = 12.0  # variances, for a part more: four times what a part of noise gains on average; our choice
_MEDIAN_OF_SQUARE = 0.4549  # of a normal variable


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of level; `first` is the index of the first value of the new level.

    `before` and `after` are the means of the levels on either side, up to the neighbouring changes. `chance` is the
    p-value: the probability of a split this clear in a series without changes.
    """

    first: int
    before: float
    after: float
    chance: float


def find_change_points(
    values: Values, chance: float, prior: float, weight: float, since: int = _LEAST
) -> list[ChangePoint]:
    """Return the changes in a series (without NaN) that have a p-value of at most `chance`, in order.

    More points are proposed than there are changes. The weakest point is dropped until all remaining points pass a t
    test of the neighbouring levels, corrected for the number of possible points. `prior` is an assumed standard
    deviation that counts as `weight` values. The last level has at least `since` values.
    """
    candidates = _find_candidates(values, since) if len(values) >= FEWEST_VALUES else []
    while candidates:
        edges = [0, *candidates, len(values)]
        parts = [values[start:end] for start, end in pairwise(edges)]
        freedom = len(values) - len(parts)
        squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
        deviation = float(np.sqrt(max(squares / freedom, (weight * prior**2 + squares) / (weight + freedom))))
        chances = [_compute_p_value(*pair, deviation, freedom) for pair in pairwise(parts)]
        worst = int(np.argmax(chances))
        if chances[worst] <= chance:
            means = [float(part.mean()) for part in parts]
            return [ChangePoint(*point) for point in zip(candidates, means, means[1:], chances, strict=False)]
        del candidates[worst]
    return []


def _compute_p_value(before: Values, after: Values, deviation: float, freedom: float) -> float:
    """Return the p-value of the difference of two neighbouring levels, corrected for the number of possible points."""
    apart = abs(float(after.mean() - before.mean()))
    if not deviation:
        return 0.0 if apart else 1.0
    score = apart / (deviation * float(np.sqrt(1 / len(before) + 1 / len(after))))
    return min(1.0, 2 * compute_student_probability(freedom, -score) * _count_places(len(before) + len(after)))


def compute_visible_change(values: Values, chance: float, prior: float, weight: float) -> float:
    """Return the smallest change before the last three values that `find_change_points` would find.

    Infinite if there are too few values to find any change.
    """
    count = len(values)
    if count < FEWEST_VALUES:
        return float("inf")
    freedom = weight + count - 2
    squares = float(((values - values.mean()) ** 2).sum())
    deviation = np.sqrt((weight * prior**2 + squares) / freedom)
    certain = -compute_student_quantile(freedom, chance / 2 / _count_places(count))
    return float(certain * deviation * np.sqrt(1 / _LEAST + 1 / (count - _LEAST)))


def _count_places(count: int) -> int:
    return count - 2 * _LEAST + 1


def _find_candidates(values: Values, since: int) -> list[int]:
    """Return the indices at which the parts of the best partition begin, without the first part.

    Each part has at least three values, and the last part has at least `since` values.
    """
    off = values - values.mean()
    sums, squares = (np.concatenate([[0.0], np.cumsum(part)]) for part in (off, off**2))
    penalty = _PENALTY * float(np.median(np.diff(values) ** 2)) / (2 * _MEDIAN_OF_SQUARE)
    costs, previous = [0.0], [0]
    for end in range(1, len(values) + 1):
        latest = end - (since if end == len(values) else _LEAST)
        starts = np.array([0, *range(_LEAST, latest + 1)])
        inside = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        totals = np.array(costs)[starts] + inside + penalty
        best = int(np.argmin(totals.round(12)))
        costs.append(float(totals[best]))
        previous.append(int(starts[best]))
    places: list[int] = []
    place = previous[-1]
    while place:
        places.append(place)
        place = previous[place]
    return places[::-1]

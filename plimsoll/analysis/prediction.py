"""Whether the mean of a new run lies where those of earlier runs of the same build let expect it.

Runs of one build differ by more than the noise within them: the unit of replication is the run (Kalibera and Jones,
"Rigorous benchmarking in reasonable time", 2013). The mean of a new run is therefore held against the prediction
interval of earlier ones, whose width has the variance between runs. What is known of that variance beforehand weighs as
a number of runs; the earlier runs themselves do the rest (a scaled inverse chi-squared prior).
"""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.bootstrap import Difference, Estimate
from plimsoll.analysis.distributions import student_quantile

_CERTAIN = float("inf")


def predicted(earlier: Sequence[Estimate], new: Estimate, spread: float, weight: float) -> Difference:
    """The difference of a run's mean from those of earlier runs, with its error as a prediction.

    Args:
        earlier: The means of at least one run.
        new: That of the new run.
        spread: The standard deviation of means between runs, as it is known beforehand.
        weight: As how many runs that counts, where there are several to know it from. Of one run nothing is known.
    """
    means = np.array([one.mean for one in earlier])
    within = float(np.mean([one.error**2 for one in earlier]))
    count = len(earlier)
    own = (new.error**2, new.freedom)
    if count == 1:
        return _difference(new.mean - means[0], [(within, earlier[0].freedom), own, (2 * spread**2, _CERTAIN)])
    freedom = weight + count - 1
    total = (weight * (spread**2 + within) + float(means.var(ddof=1)) * (count - 1)) / freedom
    between = max(0.0, total - within)
    # The error of the mean of the earlier runs, and how far a new run lies from the mean of all runs.
    return _difference(new.mean - float(means.mean()), [(total / count + between, freedom), own])


def runs_to_decide(
    difference: float, spread: float, weight: float, chance: float, counts: tuple[int, int]
) -> int | None:
    """Against how many earlier runs, the fewest and the most of `counts`, a difference of this size would be certain.

    None if the most are too few.
    """
    for count in range(max(2, counts[0]), counts[1] + 1):
        wide = student_quantile(weight + count - 1, 1 - chance) * spread * np.sqrt(1 + 1 / count)
        if abs(difference) > wide:
            return count
    return None


def _difference(value: float, parts: Sequence[tuple[float, float]]) -> Difference:
    """A difference whose variance has several parts, each with its degrees of freedom (Satterthwaite, 1946)."""
    variance = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts)
    return Difference(float(value), float(np.sqrt(variance)), variance**2 / spread if spread else _CERTAIN)

"""Whether one set of independent values lies above another, by ranks, and what many such tests at once show.

Of ranks nothing depends on how far out a value lies.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.distributions import normal
from plimsoll.model.log import Values


@dataclass(frozen=True, slots=True)
class RankTest:
    """The test of Mann and Whitney (1947).

    Attributes:
        chance: The chance of ranks as far apart or further in the direction of `higher`, where nothing differs.
        higher: Whether the second set ranks higher.
    """

    chance: float
    higher: bool


def rank_test(first: Values, second: Values) -> RankTest:
    """Compare two sets of at least one value each, with the normal approximation, corrected for ties."""
    # As scipy.stats.mannwhitneyu, which takes half of a comparison's time: most of it to import, and to look at its
    # arguments a thousand times.
    values, places, ties = np.unique(np.concatenate((second, first)), return_inverse=True, return_counts=True)
    if len(values) == 1:
        return RankTest(0.5, higher=False)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]
    count, pairs = len(places), len(first) * len(second)
    wins = float(ranks[: len(second)].sum()) - len(second) * (len(second) + 1) / 2
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (count * (count - 1))
    deviation = np.sqrt(pairs / 12 * (count + 1 - tied))
    chance = normal(-(max(wins, pairs - wins) - pairs / 2 - 0.5) / deviation)
    return RankTest(min(0.5, chance), wins > pairs / 2)


def shift(first: Values, second: Values) -> float:
    """The median difference between a value of the second set and one of the first (Hodges and Lehmann, 1963)."""
    return float(np.median(second[:, None] - first[None, :]))


def holm(chances: Values) -> Values:
    """The chances of tests, raised so that comparing each with a level keeps the chance of any false alarm below it.

    Holm, "A simple sequentially rejective multiple test procedure" (1979).
    """
    order = np.argsort(chances, kind="stable")
    raised = np.maximum.accumulate(chances[order] * np.arange(len(chances), 0, -1))
    out = np.empty(len(chances))
    out[order] = np.minimum(raised, 1.0)
    return out

"""Whether one set of independent values lies above another, by ranks: nothing depends on how far out a value lies."""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from model.log import Values


@dataclass(frozen=True, slots=True)
class RankTest:
    """The test of Mann and Whitney (1947).

    Attributes:
        shift: The median difference between a value of the second set and one of the first (Hodges and Lehmann, 1963).
        chance: The chance of ranks as far apart or further in the direction of `higher`, where nothing differs.
        higher: Whether the second set ranks higher.
    """

    shift: float
    chance: float
    higher: bool


def rank_test(first: Values, second: Values) -> RankTest:
    """Compare two sets of at least one value each, with the normal approximation, corrected for ties."""
    rows, others = len(first), len(second)
    together = np.concatenate((first, second))
    every = len(together)
    ranks = stats.rankdata(together)
    wins = float(ranks[rows:].sum()) - others * (others + 1) / 2
    _, alike = np.unique(together, return_counts=True)
    ties = float(((alike**3 - alike).sum()) / (every * (every - 1))) if every > 1 else 0.0
    deviation = float(np.sqrt(max(0.0, rows * others / 12 * (every + 1 - ties))))
    beyond = abs(wins - rows * others / 2) - 0.5
    chance = float(special.ndtr(-beyond / deviation)) if deviation and beyond > 0 else 0.5
    shift = float(np.median(second[:, None] - first[None, :]))
    return RankTest(shift, chance, wins > rows * others / 2)

"""Whether one set of independent values lies above another, by ranks: nothing depends on how far out a value lies."""

from dataclasses import dataclass

import numpy as np
from scipy import special

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
    rows, others = len(first), len(second)
    every = rows + others
    _, place, alike = np.unique(np.concatenate((first, second)), return_inverse=True, return_counts=True)
    ranks = np.cumsum(alike) - (alike - 1) / 2
    wins = float(ranks[place[rows:]].sum()) - others * (others + 1) / 2
    ties = float((alike**3 - alike).sum()) / (every * (every - 1))
    deviation = float(np.sqrt(max(0.0, rows * others / 12 * (every + 1 - ties))))
    beyond = abs(wins - rows * others / 2) - 0.5
    chance = float(special.ndtr(-beyond / deviation)) if deviation and beyond > 0 else 0.5
    return RankTest(chance, wins > rows * others / 2)


def shift(first: Values, second: Values) -> float:
    """The median difference between a value of the second set and one of the first (Hodges and Lehmann, 1963)."""
    return float(np.median(second[:, None] - first[None, :]))

"""Whether one set of independent values lies above another, by ranks, and what many such tests at once show.

Of ranks nothing depends on how far out a value lies.
"""

from dataclasses import dataclass

import numpy as np

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
    from scipy.stats import mannwhitneyu  # noqa: PLC0415  half a second, and only comparisons need it

    if np.ptp(np.concatenate((first, second))) == 0:
        return RankTest(0.5, higher=False)
    wins = mannwhitneyu(second, first, method="asymptotic").statistic
    higher = bool(wins > len(first) * len(second) / 2)
    chance = mannwhitneyu(second, first, alternative="greater" if higher else "less", method="asymptotic").pvalue
    return RankTest(min(0.5, float(chance)), higher)


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

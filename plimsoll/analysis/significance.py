"""Whether one set of independent values lies above another, by ranks, and what many such tests at once show.

Of ranks nothing depends on how far out a value lies.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from plimsoll.analysis.dependence import autocovariances, correlation_time
from plimsoll.analysis.distributions import normal
from plimsoll.model.log import Values

_FEWEST_PAIRS = 8
_MOST_NOISE = 3.3  # standard errors: of a few hundred pairs without any relation, one in a thousand gets there


@dataclass(frozen=True)
class RankCorrelation:
    """`coefficient` is from -1 to 1; `effective` is how many independent samples the series are worth (Bartlett, 1935).

    `lag`: by how many samples the second series comes later.
    """

    coefficient: float
    effective: float
    lag: int = 0

    @property
    def real(self) -> bool:
        """Whether it is more than series without any relation show."""
        return self.effective > 3 and abs(self.coefficient) >= _MOST_NOISE / float(np.sqrt(self.effective))


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


def rank_correlation(first: Values, second: Values, most_lag: int = 0) -> RankCorrelation | None:
    """The correlation of the ranks, at the lag up to `most_lag` where it is strongest; None with too few samples."""
    lags = sorted(range(-most_lag, most_lag + 1), key=abs)
    pairs = {lag: pair for lag in lags if (pair := _ranked(first, second, lag)) is not None}
    if not pairs:
        return None
    coefficients = {lag: float((x * y).mean()) for lag, (x, y) in pairs.items()}
    best = max(coefficients, key=lambda lag: abs(coefficients[lag]))
    return RankCorrelation(coefficients[best], _effective(*pairs[best]), best)


def ranks(values: Values) -> Values:
    """Return the rank of each value; equal values have the mean of theirs."""
    return pl.Series(values).rank("average").to_numpy()


def _ranked(first: Values, second: Values, lag: int) -> tuple[Values, Values] | None:
    """The standardised ranks of the pairs at a lag; None if there are too few, or if one of them never changes."""
    count = len(first) - abs(lag)
    x = first[max(-lag, 0) : max(-lag, 0) + count]
    y = second[max(lag, 0) : max(lag, 0) + count]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < _FEWEST_PAIRS:
        return None
    x, y = ranks(x[both]), ranks(y[both])
    if x.std() == 0 or y.std() == 0:
        return None
    return (x - x.mean()) / x.std(), (y - y.mean()) / y.std()


def _effective(x: Values, y: Values) -> float:
    """Return how many independent pairs the two standardised series are worth."""
    return len(x) / correlation_time(autocovariances(x) * autocovariances(y))

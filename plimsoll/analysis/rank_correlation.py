"""Spearman's rank correlation of two series, and how much it is worth where neighbouring samples are alike."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from plimsoll.analysis.dependence import autocovariances, correlation_time
from plimsoll.model.log import Values

_FEWEST = 8
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
    """The rank of each value; equal values have the mean of theirs."""
    return pl.Series(values).rank("average").to_numpy()


def _ranked(first: Values, second: Values, lag: int) -> tuple[Values, Values] | None:
    """The standardised ranks of the pairs at a lag; None if there are too few, or if one of them never changes."""
    count = len(first) - abs(lag)
    x = first[max(-lag, 0) : max(-lag, 0) + count]
    y = second[max(lag, 0) : max(lag, 0) + count]
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < _FEWEST:
        return None
    x, y = ranks(x[both]), ranks(y[both])
    if x.std() == 0 or y.std() == 0:
        return None
    return (x - x.mean()) / x.std(), (y - y.mean()) / y.std()


def _effective(x: Values, y: Values) -> float:
    """How many independent pairs the two standardised series are worth."""
    return len(x) / correlation_time(autocovariances(x) * autocovariances(y))

"""Means of blocks of samples that are long enough to be independent of each other."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from plimsoll.model.log import Values

_TIMES = 3  # correlation times in a block: neighbouring means of an AR(1) process are then correlated by 0.09
MOST = 100
LEAST = 5  # blocks of a run; with fewer, ranks cannot show anything


def independent_means(
    values: Values, correlation_time: float, weights: Values | None = None, breaks: Sequence[int] = ()
) -> Values:
    """The means of blocks of at least three correlation times each, at most 100; blocks do not reach across `breaks`.

    Few, or one, where the samples drift: slow changes within the series leave nothing that is independent.
    """
    least = max(_TIMES * correlation_time, len(values) / MOST)
    edges = [0, *breaks, len(values)]
    found = [
        _means(values[start:end], None if weights is None else weights[start:end], int((end - start) // least))
        for start, end in pairwise(edges)
    ]
    means = np.concatenate(found)
    return means if len(means) else _means(values, weights, 1)


def equal_means(values: Values, blocks: int) -> Values:
    """The means of so many blocks of equal length."""
    return _means(values, None, min(blocks, len(values)))


def _means(values: Values, weights: Values | None, blocks: int) -> Values:
    if not blocks:
        return values[:0]
    starts = (np.arange(blocks) * len(values)) // blocks
    if weights is None:
        return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
    return np.add.reduceat(values * weights, starts) / np.add.reduceat(weights, starts)

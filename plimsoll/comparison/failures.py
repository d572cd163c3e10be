"""Requests that fail in bursts: one burst in a run says hardly anything of its mean, however many of them failed.

The samples of a burst depend on each other, so the error of the mean is about as large as the mean. Two things are told
all the same: that many requests failed for long on end, which does not happen by chance where they seldom fail; and
that the mean is worse by more than matters, and would be for certain if its samples were independent.
"""

import numpy as np

from plimsoll.analysis.bootstrap import Difference, independent
from plimsoll.analysis.median import median
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.shapes import Reshaped
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND

MANY = 20.0  # % of the requests; our choice
_LASTS = 60 * SECOND  # our choice
_TIMES = 10  # those of the baseline: what fails in bursts has longer and shorter ones; our choice
_CHANCE = 0.001  # of a false alarm, of a signal of which there is one in a run


def failures(found: list[Compared]) -> list[Reshaped]:
    """The longest times on end, in seconds, in which many requests failed, where no baseline has one a tenth as long.

    None where the mean says that they became worse.
    """
    hidden = [one for one in found if one.treatment.shape == "failures" and one.outcome != Outcome.REGRESSION]
    return [made for one in hidden if (made := _failures(one))]


def is_gathered(one: Compared) -> bool:
    """Whether failed requests are worse by more than matters, and not for certain only as they came in bursts."""
    if one.treatment.shape != "failures" or not one.is_worse:
        return False
    second = independent(one.second.values)
    return all(Difference.of(independent(level.values), second).chance < _CHANCE for level in one.baselines)


def _failures(one: Compared) -> Reshaped | None:
    rows, after = _longest(one.second.samples)
    most, before = max(_longest(level.samples) for level in one.baselines)
    alike = most > 1 and _TIMES * before > after
    if after < _LASTS or alike or one.difference.value <= 0:
        return None
    usual = np.concatenate([level.values for level in one.baselines])
    share = (np.count_nonzero(usual >= MANY) + 1) / (len(usual) + 1)
    by_chance = len(one.second.values) * share**rows  # that any row begins so many in which many fail
    return Reshaped("failures", one, before / SECOND, after / SECOND) if by_chance < _CHANCE else None


def _longest(samples: Samples) -> tuple[int, float]:
    """The most samples on end in which many failed, and for how long (ns)."""
    if len(samples.times) < 2:
        return 0, 0.0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], samples.values >= MANY, [False])).astype(np.int8)))
    rows = max((end - start for start, end in zip(edges[::2], edges[1::2], strict=True)), default=0)
    return int(rows), float(rows * median(np.diff(samples.times)))

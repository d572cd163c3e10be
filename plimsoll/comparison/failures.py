"""Finds bursts of failed requests, which a comparison of mean shares of failed requests misses.

A run with one burst is one event, not many independent samples: the standard error of its mean share is about as large
as the mean, so the difference between two runs is not significant. Two checks find such bursts:

- `failures`: 20 % or more of the requests failed for a minute or longer without a break, which is improbable by the
  samples of the baseline.
- `is_gathered`: the mean share is worse by more than the tolerance, and would be significantly so if its samples were
  independent of each other.
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
_TIMES = 10  # how much longer it is than the longest burst of the baseline, as bursts vary in length; our choice
_CHANCE = 0.001  # of a false alarm, of a signal of which there is one in a run


def failures(found: list[Compared]) -> list[Reshaped]:
    """For each share of failed requests, the longest burst (s) of the second run, if the baselines make it improbable.

    A share whose mean is a regression is left out: it is reported as that.
    """
    hidden = [one for one in found if one.treatment.shape == "failures" and one.outcome != Outcome.REGRESSION]
    return [made for one in hidden if (made := _failures(one))]


def is_gathered(one: Compared) -> bool:
    """Whether a share of failed requests is worse, and would be significantly so if its samples were independent."""
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
    by_chance = len(one.second.values) * share**rows  # expected number of bursts as long, of independent samples
    return Reshaped("failures", one, before / SECOND, after / SECOND) if by_chance < _CHANCE else None


def _longest(samples: Samples) -> tuple[int, float]:
    """The longest burst: how many samples in a row with many failures, and their duration (ns)."""
    if len(samples.times) < 2:
        return 0, 0.0
    edges = np.flatnonzero(np.diff(np.concatenate(([False], samples.values >= MANY, [False])).astype(np.int8)))
    rows = max((end - start for start, end in zip(edges[::2], edges[1::2], strict=True)), default=0)
    return int(rows), float(rows * median(np.diff(samples.times)))

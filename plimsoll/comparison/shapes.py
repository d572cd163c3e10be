"""What means hide: times in which hardly any work was done, peaks that are higher, and noise that is larger.

Of signals whose kind says so (`shape` in run_to_run.yaml). Each is held against what the baseline did, and what runs of
one build and the load explain of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate
from plimsoll.analysis.significance import holm
from plimsoll.comparison.judging import FALSE_ALARMS, Compared
from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND

Shape = Literal["stalls", "peaks", "noise"]
_STALLED = 0.2  # of the median: a load below it is a stall, if it lasts
_LASTS = 20 * SECOND
_FEWEST_STALLS = 2
_HIGHER = 1.5  # times the 99th percentile of the baseline: what is above it is a peak of another kind
_PEAK = 0.99
_LARGER = 1.25  # times the mean deviation of the baseline; our choice
_FEWEST = 100  # samples


@dataclass(frozen=True, eq=False)
class Reshaped:
    """A signal whose mean may be the same, and that has `what` in the second run more than in the baseline.

    `before` and `after`: stalled time as a share; the 99th percentile; the mean deviation.
    """

    what: Shape
    compared: Compared
    before: float
    after: float


def reshaped(found: list[Compared], loads: list[Compared]) -> list[Reshaped]:
    """What differs for certain, the gravest first."""
    every = [one for one in found if one.treatment.shape and _enough(one)]
    peaking = [one for one in every if one.treatment.shape == "all"]
    stalls = [made for one in loads if _enough(one) and (made := _stalls(one))]
    return [*stalls, *_certain(peaking, "peaks"), *_certain(every, "noise")]


def _enough(one: Compared) -> bool:
    return min(len(level.values) for level in (*one.baselines, one.second)) >= _FEWEST


def _stalls(one: Compared) -> Reshaped | None:
    """Stalls, where no baseline has half as many."""
    after, share = _stalled(one.second.samples.times, one.second.values)
    before = [_stalled(level.samples.times, level.values) for level in one.baselines]
    if after < _FEWEST_STALLS or any(2 * count >= after for count, _ in before):
        return None
    return Reshaped("stalls", one, max(other for _, other in before), share)


def _stalled(times: Times, values: Values) -> tuple[int, float]:
    """How many stalls there are, and the share of samples in them."""
    low = values < _STALLED * float(np.median(values))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], low, [False])).astype(int)))
    step = int(np.median(np.diff(times)))
    long = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if (end - start) * step >= _LASTS]
    return len(long), sum(end - start for start, end in long) / len(values)


def _certain(found: list[Compared], what: Shape) -> Iterator[Reshaped]:
    """Those of which every baseline says so, with chances raised for their number."""
    judge = _peaks if what == "peaks" else _noise
    judged = [(one, [judge(one, level.values) for level in one.baselines]) for one in found]
    chances = np.array([max(chance for _, chance in each) for _, each in judged])
    for (one, each), chance in zip(judged, holm(chances) if len(chances) else chances, strict=True):
        if chance < FALSE_ALARMS:
            made = each[-1][0]
            yield Reshaped(what, one, made.before, made.after)


@dataclass(frozen=True)
class _Pair:
    before: float
    after: float


def _peaks(one: Compared, first: Values) -> tuple[_Pair, float]:
    second = one.second.values
    usual, peak = (float(np.quantile(values, _PEAK)) for values in (first, second))
    limit = _HIGHER * max(1.0, one.expected.high) * usual + one.treatment.least
    shares = [estimate((values > limit).astype(float)) for values in (first, second)]
    return _Pair(usual, peak), _chance(Difference.of(*shares))


def _noise(one: Compared, first: Values) -> tuple[_Pair, float]:
    second = one.second.values
    deviations = [np.abs(values - np.median(values)) for values in (first, second)]
    before, after = (float(one.mean()) for one in deviations)
    larger = _LARGER * max(1.0, one.expected.high) * deviations[0] + one.treatment.least / 2
    return _Pair(before, after), _chance(Difference.of(estimate(larger), estimate(deviations[1])))


def _chance(difference: Difference) -> float:
    return difference.chance if difference.value > 0 else 1.0

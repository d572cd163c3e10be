"""Whether events come at regular intervals: the period, and how sure it is.

Two measures are tried. Both are 1 for a clock and near 0 for events that come by chance:

- Neighbours: the mean of cos(2 pi interval / period), over the intervals between neighbouring events. It also holds for
  a rhythm that drifts, where each beat is counted from the one before.
- Phase: the length of the mean of exp(2 pi i time / period), over the events (Rayleigh's test; Fisher, "Statistical
  Analysis of Circular Data", 1993). It also holds where each beat is early or late on its own, and where a few events
  have nothing to do with the rhythm.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import median
from plimsoll.model.log import Values

FEWEST_BEATS = 4
_SHORTEST, _LONGEST = 0.55, 1.35  # the periods that are tried, in medians of the intervals
_FINEST = 0.01  # step between them for the first measure
_MOST_MISSING = 4  # an interval is at most so many periods
_FEWEST_NEXT = 0.5  # the share of intervals that are a single period
_TOO_CLOSE = 0.2  # of the usual interval: events closer together are one
_SOME_AGREEMENT = 0.3  # of neighbours, before the second measure is tried
_MOST_EVENTS = 400  # for the second measure, whose steps become finer with each event
# What one in a thousand series of events by chance reaches, by the number of intervals: exponential ones after a dead
# time of 0.35 of the mean, as spikes have a width. tests/analysis/test_periods.py simulates it. From 20
# (30) intervals on a rhythm must agree better than that to be worth the name.
_INTERVALS = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_CHANCE_NEIGHBOURS = (0.999, 0.987, 0.965, 0.938, 0.854, 0.784, 0.646, 0.589, 0.589)
_CHANCE_PHASE = (0.9995, 0.995, 0.984, 0.973, 0.932, 0.882, 0.783, 0.711, 0.6)


@dataclass(frozen=True, eq=False)
class Rhythm:
    """A period (in the unit of the times), and the number of the beat of each event that belongs to it.

    `events` are the indices of those events, and `agreement` is 1 for a clock.
    """

    period: float
    beats: NDArray[np.intp]
    events: NDArray[np.intp]
    agreement: float

    @property
    def reach(self) -> float:
        """Two standard errors of the period, from how much the events are scattered around their beats."""
        scatter = math.sqrt(-2 * math.log(min(1.0, self.agreement))) / (2 * math.pi)
        return 2 * scatter * self.period / math.sqrt(len(self.beats))

    @property
    def missing(self) -> int:
        """How many beats between the first and the last have no event."""
        return int(self.beats[-1]) + 1 - len(self.beats)


def rhythm(times: Values, shortest: float) -> Rhythm | None:
    """The rhythm of events at ascending `times`; None if they may come by chance, or with less than `shortest`."""
    events = _apart(times)
    if len(events) < FEWEST_BEATS:
        return None
    at = times[events]
    if median(np.diff(at)) * _LONGEST < shortest:
        return None
    count = len(at) - 1
    period, agreement = by_neighbours(np.diff(at))
    if agreement >= float(np.interp(count, _INTERVALS, _CHANCE_NEIGHBOURS)):
        beats = np.concatenate(([0], np.cumsum(np.rint(np.diff(at) / period)))).astype(np.intp)
        return _long_enough(Rhythm(_mean_period(at, beats), beats, events, agreement), shortest)
    if count >= _MOST_EVENTS or agreement < _SOME_AGREEMENT:
        return None
    period, agreement = by_phase(at)
    if agreement < float(np.interp(count, _INTERVALS, _CHANCE_PHASE)):
        return None
    return _long_enough(_locked(at, events, period, agreement), shortest)


def _long_enough(result: Rhythm, shortest: float) -> Rhythm | None:
    return result if result.period >= shortest and len(result.beats) >= FEWEST_BEATS else None


def _apart(times: Values) -> NDArray[np.intp]:
    """Return the events that are not too close to the one before."""
    if len(times) < 2:
        return np.arange(len(times))
    close = np.diff(times) < _TOO_CLOSE * median(np.diff(times))
    return np.flatnonzero(np.concatenate(([True], ~close)))


def by_neighbours(intervals: Values) -> tuple[float, float]:
    """Return the period with which neighbours agree best, and the agreement."""
    tried = median(intervals) * _factors(_FINEST)
    ratio = intervals / tried[:, np.newaxis]
    whole = np.rint(ratio)
    agreement = np.where((whole >= 1) & (whole <= _MOST_MISSING), np.cos(2 * np.pi * ratio), -0.5).mean(axis=1)
    agreement[(whole == 1).mean(axis=1) < _FEWEST_NEXT] = -1
    best = int(np.argmax(agreement))
    return float(tried[best]), float(agreement[best])


def by_phase(times: Values) -> tuple[float, float]:
    """Return the period with which the phases of events agree best, and the agreement."""
    intervals = np.diff(times)
    tried = median(intervals) * _factors(min(_FINEST, 0.2 / len(times)))
    agreement = np.abs(np.exp(2j * np.pi * times / tried[:, np.newaxis]).mean(axis=1))
    agreement[(np.rint(intervals / tried[:, np.newaxis]) == 1).mean(axis=1) < _FEWEST_NEXT] = -1
    best = int(np.argmax(agreement))
    return float(tried[best]), float(agreement[best])


def _factors(step: float) -> Values:
    return np.exp(np.arange(np.log(_SHORTEST), np.log(_LONGEST), step))


def _locked(at: Values, events: NDArray[np.intp], period: float, agreement: float) -> Rhythm:
    """Return the rhythm with this period: of several events in one beat, the one nearest to it."""
    offset = float(np.angle(np.exp(2j * np.pi * at / period).mean())) / (2 * np.pi)
    place = at / period - offset
    beats = np.rint(place).astype(np.intp)
    order = np.lexsort((np.abs(place - beats), beats))
    kept = np.sort(order[np.concatenate(([True], np.diff(beats[order]) > 0))])
    beats = beats[kept] - beats[kept[0]]
    return Rhythm(_mean_period(at[kept], beats), beats, events[kept], agreement)


def _mean_period(at: Values, beats: NDArray[np.intp]) -> float:
    """The period: the slope of a line through the beats, or the mean interval if each is counted from the one before.

    If each beat is early or late on its own, a long interval is followed by a short one.
    """
    mean = float((at[-1] - at[0]) / beats[-1])
    late = np.diff(at) / mean - np.diff(beats)
    alone = float((late[1:] * late[:-1]).sum()) < -0.25 * float((late * late).sum())
    return float(np.polyfit(beats, at, 1)[0]) if alone else mean

"""Spikes that come at regular intervals.

Two measures tell whether events have a period; each measure is 1 for perfectly regular events.

By neighbours: the mean of cos(2 pi interval / period) over the intervals between neighbouring events. This measure also
works if the rhythm drifts, because each event is compared with the previous event.

By phase: the length of the mean of exp(2 pi i time / period) over the events (Rayleigh's test; Fisher, "Statistical
Analysis of Circular Data", 1993). This measure also works if single events are early or late, or do not belong to the
rhythm.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values

FEWEST_BEATS = 4
_SHORTEST, _LONGEST = 0.55, 1.35  # the periods that are tried, in medians of the intervals
_FINEST = 0.01  # step between them for the first measure
_ROUNDING = 1e-9  # of an agreement
_LONGEST_GAP = 4  # an interval is at most so many periods
_FEWEST_NEXT = 0.5  # the share of intervals that are a single period
_TOO_CLOSE = 0.2  # of the usual interval: events closer together are one
_SOME_AGREEMENT = 0.3  # of neighbours, before the second measure is tried
_MOST_EVENTS = 400  # for the second measure, whose steps become finer with each event
# What one in a thousand series of events by chance reaches, by the number of intervals: exponential ones after a dead
# time of 0.35 of the mean, as spikes have a width. From 20 (30) intervals on a rhythm must agree better than that.
_INTERVALS = (3, 4, 5, 6, 8, 10, 15, 20, 30)
_CHANCE_NEIGHBOURS = (0.999, 0.987, 0.965, 0.938, 0.854, 0.784, 0.646, 0.589, 0.589)
_CHANCE_PHASE = (0.9995, 0.995, 0.984, 0.973, 0.932, 0.882, 0.783, 0.711, 0.6)


@dataclass(frozen=True, eq=False)
class Rhythm:
    """A period (in the unit of the times), and the events that belong to the rhythm.

    `events` are the indices of the events, and `beats` the number of the beat of each; `agreement` is 1 for perfectly
    regular events.
    """

    period: float
    beats: NDArray[np.intp]
    events: NDArray[np.intp]
    agreement: float

    @property
    def reach(self) -> float:
        """Two standard errors of the period, from the scatter of the events around their beats."""
        scatter = math.sqrt(-2 * math.log(min(1.0, self.agreement))) / (2 * math.pi)
        return 2 * scatter * self.period / math.sqrt(len(self.beats))

    @property
    def missing(self) -> int:
        """The number of beats, between the first and the last event, that have no event."""
        return int(self.beats[-1]) + 1 - len(self.beats)


_MOST_PARTS = 12
_FEWEST_PARTS = 2
_FEWEST_EVENTS = 2


@dataclass(frozen=True)
class Raised:
    """The mean during events, the mean between events, and the p-value of the difference."""

    inside: float
    between: float
    chance: float


_MOST_OF_TIME = 0.45  # spikes take up a smaller part of the time than this, with their slopes
_BLOCKS = (6, 20, 60)  # into how many parts the samples are divided for the level
_FEWEST_IN_BLOCK = 12
_DEVIATIONS = 5.0  # a spike is at least this many standard deviations above the level
_NORMAL = 1.4826  # the standard deviation of normal values, in MADs
_PARTS_OF_TOP = (0.0, 0.25, 0.5)  # of the highest spikes; lower ones are then left out
_FEWEST = 4


@dataclass(frozen=True, eq=False)
class Spikes:
    """The first and the last row of each spike, in order of time."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]


_FEWEST_ROWS = 4.5  # samples in a period: with fewer, a spike and the level between cannot be seen
_LONG = 4000  # samples
_MOST_RAISED = 0.3  # of a period, above half the height of a spike
_LOOKED_AT = 20  # periods, for their shape
_MOST_MISSING = 0.4  # of the beats
_MOST_OF_ALIAS = 2  # samples that a spike lasts; longer ones are seen each time, however often they come
_UPDATED_S = 60.0  # programs that keep counters up to date at intervals do so at least this often


@dataclass(frozen=True, eq=False)
class RegularSpikes:
    """Spikes that belong to a rhythm: the first, the highest and the last row of each spike.

    Attributes:
        period_s: The time from one spike to the next.
        reach_s: Two standard errors of the period.
        missing: The number of beats between the first and the last spike that have no spike.
        level: The usual value between spikes.
        tops: The highest value of each spike.
        width_s: The usual duration of a spike.
        agreement: The agreement of the spikes with the rhythm; 1 for perfectly regular spikes.
        step_s: The sampling interval.
    """

    first: NDArray[np.intp]
    peak: NDArray[np.intp]
    last: NDArray[np.intp]
    period_s: float
    reach_s: float
    missing: int
    level: float
    tops: Values
    width_s: float
    agreement: float
    step_s: float

    @property
    def may_be_alias(self) -> bool:
        """Whether spikes may really come more often, at a rhythm that looks slower because samples are too rare.

        Samples miss spikes shorter than a sampling interval, so a rhythm near that interval, or near a fraction of it,
        looks much slower.
        """
        return self.width_s <= _MOST_OF_ALIAS * self.step_s


def find_regular_spikes(seconds: Values, values: Values) -> RegularSpikes | None:
    """Return the regular spikes of evenly sampled values; None if the rhythm of the spikes may be chance.

    Long series are first reduced to the highest value of several samples, so periods shorter than about a thousandth of
    the recording are not found.
    """
    if len(values) < _FEWEST_ROWS * FEWEST_BEATS:
        return None
    step = compute_median(np.diff(seconds[:_LONG]))
    together = -(-len(values) // _LONG)
    if together > 1:
        starts = np.arange(0, len(values), together)
        ways = _list_rhythms(seconds[starts], coarse := np.maximum.reduceat(values, starts), together * step)
        if not any(_select_regular(coarse, *way, together * step) for way in ways):
            return None
    ways = sorted(_list_rhythms(seconds, values, step), key=lambda way: -way[1].agreement * len(way[1].events))
    return next((regular for way in ways if (regular := _select_regular(values, *way, step))), None)


def _list_rhythms(seconds: Values, values: Values, step: float) -> Iterator[tuple[Spikes, Rhythm]]:
    """Yield the spikes of each way to find them, and their rhythm; without spikes that have no rhythm."""
    for spikes in find_spikes(values):
        if rhythm := find_rhythm(seconds[spikes.first], _FEWEST_ROWS * step):
            yield spikes, rhythm


def _select_regular(values: Values, result: Spikes, beat: Rhythm, step: float) -> RegularSpikes | None:
    """Return the spikes that belong to the rhythm `beat`; None if too many are missing, or if spikes are too wide."""
    if beat.missing > _MOST_MISSING * (beat.beats[-1] + 1):
        return None
    first, last = result.first[beat.events], result.last[beat.events]
    peak = np.array([a + int(np.argmax(values[a : b + 1])) for a, b in zip(first, last, strict=True)], dtype=np.intp)
    edges = np.zeros(len(values) + 1, dtype=np.int8)
    edges[result.first] += 1
    edges[result.last + 1] -= 1
    between = values[np.cumsum(edges[:-1]) == 0]
    if not len(between) or _compute_raised_share(values, first, peak) > _MOST_RAISED:
        return None
    if (first == last).all() and _is_artefact(values[peak], between, first, beat):
        return None
    reach_s, width_s = beat.reach + step / len(first), compute_median(last - first + 1) * step
    figures = (beat.period, reach_s, beat.missing, compute_median(between), values[peak], width_s, beat.agreement, step)
    return RegularSpikes(first, peak, last, *figures)


def _is_artefact(tops: Values, between: Values, first: NDArray[np.intp], beat: Rhythm) -> bool:
    """Return whether spikes of one sample come from how the counter is updated, not from the measured quantity.

    A counter that is updated at intervals stands still in between. If the counter is updated slightly more often than
    it is sampled, a sample sometimes contains two updates, which doubles a rate.
    """
    still = bool((between == between[0]).all()) and len(set(np.diff(first).tolist())) == 1
    level = compute_median(between)
    ratio = tops / level if level > 0 else np.full(len(tops), np.inf)
    doubled = abs(compute_median(ratio) - 2) < 0.1 and float(np.ptp(np.quantile(ratio, (0.1, 0.9)))) < 0.4
    return doubled or (still and beat.period <= _UPDATED_S)


def _compute_raised_share(values: Values, first: NDArray[np.intp], peak: NDArray[np.intp]) -> float:
    """Return the usual share of a period that is above half of the spike's height.

    Half is the middle between the lowest quarter of the period and the peak. The share is small for spikes, and about
    half for waves and saw-teeth.
    """
    shares: list[float] = []
    value = max(1, len(first) // _LOOKED_AT)
    for at, (start, end) in list(zip(peak, pairwise(first), strict=False))[::value]:
        period = values[start:end]
        low = len(period) // 4
        middle = (float(np.partition(period, low)[low]) + float(values[at])) / 2
        raised = np.count_nonzero(period > middle) - 0.5  # a spike begins and ends somewhere between samples
        shares.append(raised / len(period))
    return compute_median(shares)


def find_spikes(values: Values) -> Iterator[Spikes]:
    """Yield the spikes of evenly sampled values, once for each way to find spikes; nothing without spikes.

    The ways differ in how fast the level may change, and in how much lower than the highest spike a spike may be.
    """
    results: set[bytes] = set()
    for blocks in _BLOCKS:
        size = len(values) // blocks
        if size < _FEWEST_IN_BLOCK:
            break
        level = _estimate_level(values, size)
        above = values - level
        scatter = _NORMAL * float(_compute_median(np.abs(above)))
        value = max(_DEVIATIONS * scatter, 1e-9 * float(np.abs(values).max()))
        high = np.sort(above[above > value])  # a tenth of it is in the highest spikes
        for part in _PARTS_OF_TOP if len(high) else ():
            runs = _find_runs_above(above, max(value, part * float(high[len(high) * 9 // 10])))
            key, share = runs.first.tobytes() + runs.last.tobytes(), (runs.last - runs.first + 1).sum() / len(values)
            if len(runs.first) >= _FEWEST and key not in results and share < _MOST_OF_TIME:
                results.add(key)
                yield runs


def _estimate_level(values: Values, size: int) -> Values:
    """Return the level at each row: medians of blocks of rows, smoothed by a median of three, and interpolated."""
    blocks = len(values) // size
    medians = _compute_median(values[: blocks * size].reshape(blocks, size))
    padded = np.concatenate((medians[:1], medians, medians[-1:]))
    before, after = padded[:-2], padded[2:]
    smooth = np.maximum(np.minimum(before, after), np.minimum(np.maximum(before, after), medians))
    return np.interp(np.arange(len(values)), (np.arange(blocks) + 0.5) * size - 0.5, smooth)


def _compute_median(values: Values) -> Values:
    """Return the median along the last axis (of two middle values the upper); np.median takes three times as long."""
    at = values.shape[-1] // 2
    return np.partition(values, at, axis=-1)[..., at]


def _find_runs_above(above: Values, value: float) -> Spikes:
    """Return the runs of consecutive rows above half of `value` (above 0) with at least one row above `value`."""
    raised = np.concatenate(([False], above > value / 2, [False]))
    edges = np.flatnonzero(raised[1:] != raised[:-1])
    first, last = edges[::2], edges[1::2] - 1
    # No value between two runs is above it, so each run may extend to the next.
    high = np.maximum.reduceat(above, first) > value if len(first) else np.empty(0, dtype=bool)
    return Spikes(first[high], last[high])


class EventParts(NamedTuple):
    """The time from each event (row) to the next, cut into parts (columns) as long as an event; the first is the event.

    A part contains the samples with the indices from `first` to before `stop`.
    """

    first: NDArray[np.intp]
    stop: NDArray[np.intp]


def split_events(starts: Times, width: int, period: int, times: Times, step: int) -> EventParts | None:
    """Return the parts of events for samples at `times` (every `step`); None if there are too few samples."""
    length = max(width, step)
    parts = min(_MOST_PARTS, period // length)
    if not step or parts < _FEWEST_PARTS or len(times) < parts:
        return None
    begins = starts[:, np.newaxis] + np.arange(parts) * (period // parts)
    first, stop = np.searchsorted(times, begins), np.searchsorted(times, begins + length)
    filled = (stop > first).all(axis=1)
    return EventParts(first[filled], stop[filled]) if np.count_nonzero(filled) >= _FEWEST_EVENTS else None


def compare_during_events(parts: EventParts, values: Values) -> Raised | None:
    """Compare samples during events with samples between events; None if all parts of each event are alike.

    If events had no effect, each part would be equally likely to have the highest mean; van Elteren's test (a rank-sum
    test within blocks) is applied to the ranks of the first parts. So the number of events counts, not that of samples,
    however strongly neighbouring samples depend on each other.
    """
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means = (sums[parts.stop] - sums[parts.first]) / (parts.stop - parts.first)
    first, samples = means[:, :1], means[:, 1:]
    rank = (samples < first).sum() + 0.5 * (samples == first).sum()
    # The variance of the rank of a random part, corrected for ties.
    count = means.shape[1]
    variance = len(means) * (count * count - 1) / 12 - _compute_tie_correction(means) / (12 * count)
    if variance <= 0:
        return None
    z = float(rank - len(means) * (count - 1) / 2) / math.sqrt(variance)
    return Raised(float(first.mean()), float(samples.mean()), math.erfc(z / math.sqrt(2)) / 2)


def _compute_tie_correction(means: Values) -> float:
    """Return the tie correction: the sum of n³ - n over the groups of n equal means in a row."""
    ordered = np.sort(means, axis=1)
    begins = np.ones(ordered.shape, dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    sizes = np.diff(np.flatnonzero(begins), append=ordered.size)
    return float((sizes * (sizes * sizes - 1)).sum())


def find_rhythm(times: Values, shortest: float) -> Rhythm | None:
    """Return the rhythm of events at ascending times; None if a rhythm may be chance or is faster than `shortest`."""
    steps = np.diff(times, prepend=-np.inf)
    events = (
        np.flatnonzero(steps >= _TOO_CLOSE * compute_median(steps[1:])) if len(times) > 1 else np.arange(len(times))
    )
    if len(events) < FEWEST_BEATS:
        return None
    at = times[events]
    if compute_median(np.diff(at)) * _LONGEST < shortest:
        return None
    count = len(at) - 1
    period, agreement = find_period_by_neighbours(np.diff(at))
    if agreement >= float(np.interp(count, _INTERVALS, _CHANCE_NEIGHBOURS)):
        beats = np.concatenate(([0], np.cumsum(np.rint(np.diff(at) / period)))).astype(np.intp)
        beat = Rhythm(_compute_mean_period(at, beats), beats, events, agreement)
    else:
        if count >= _MOST_EVENTS or agreement < _SOME_AGREEMENT:
            return None
        period, agreement = find_period_by_phase(at)
        if agreement < float(np.interp(count, _INTERVALS, _CHANCE_PHASE)):
            return None
        beat = _lock_rhythm(at, events, period, agreement)
    return beat if beat.period >= shortest and len(beat.beats) >= FEWEST_BEATS else None


def find_period_by_neighbours(intervals: Values) -> tuple[float, float]:
    """Return the period that fits the intervals between neighbouring events best, and the agreement (at most 1)."""
    tried = _list_periods(intervals, _FINEST)
    # At an even pace few intervals are different. Periods that agree nearly as well are then compared exactly.
    different, counts = np.unique(intervals, return_counts=True)
    agreement = _compute_agreement(different, tried) @ counts / len(intervals)
    tried = tried[agreement >= agreement.max(initial=-1) - _ROUNDING]
    return _choose_best(tried, _compute_agreement(intervals, tried).mean(axis=1))


def _compute_agreement(intervals: Values, tried: Values) -> Values:
    """Return the agreement of each interval with each period tried; a row for each period."""
    ratio = intervals / tried[:, np.newaxis]
    whole = np.rint(ratio)
    return np.where((whole >= 1) & (whole <= _LONGEST_GAP), np.cos(2 * np.pi * ratio), -0.5)


def find_period_by_phase(times: Values) -> tuple[float, float]:
    """Return the period that fits the phases of the events best, and the agreement (at most 1)."""
    tried = _list_periods(np.diff(times), min(_FINEST, 0.2 / len(times)))
    return _choose_best(tried, np.abs(np.exp(2j * np.pi * times / tried[:, np.newaxis]).mean(axis=1)))


def _choose_best(tried: Values, agreement: Values) -> tuple[float, float]:
    """Return the period with the best agreement, and that agreement; 0 and -1 if no period was tried."""
    best = int(np.argmax(agreement)) if len(tried) else None
    return (0.0, -1.0) if best is None else (float(tried[best]), float(agreement[best]))


def _list_periods(intervals: Values, step: float) -> Values:
    """Return the periods to try, near the usual interval, such that enough intervals are about one period long."""
    usual = compute_median(intervals)
    tried = usual * np.exp(np.arange(np.log(_SHORTEST), np.log(_LONGEST), step))
    different, counts = np.unique(intervals, return_counts=True)
    next_to = (np.rint(different / tried[:, np.newaxis]) == 1) @ counts
    return tried[next_to >= _FEWEST_NEXT * len(intervals)]


def _lock_rhythm(at: Values, events: NDArray[np.intp], period: float, agreement: float) -> Rhythm:
    """Return the rhythm with this period and agreement; of several events in a beat, only the nearest is kept."""
    offset = float(np.angle(np.exp(2j * np.pi * at / period).mean())) / (2 * np.pi)
    place = at / period - offset
    beats = np.rint(place).astype(np.intp)
    order = np.lexsort((np.abs(place - beats), beats))
    kept = np.sort(order[np.concatenate(([True], np.diff(beats[order]) > 0))])
    beats = beats[kept] - beats[kept[0]]
    return Rhythm(_compute_mean_period(at[kept], beats), beats, events[kept], agreement)


def _compute_mean_period(at: Values, beats: NDArray[np.intp]) -> float:
    """Return the period of beats: the mean interval, or the slope of a line through the beats.

    The mean is used if each beat is timed from the previous beat. If each beat is early or late independently, long
    intervals are followed by short intervals, and the slope is used.
    """
    mean = float((at[-1] - at[0]) / beats[-1])
    late = np.diff(at) / mean - np.diff(beats)
    alone = float((late[1:] * late[:-1]).sum()) < -0.25 * float((late * late).sum())
    return float(np.polyfit(beats, at, 1)[0]) if alone else mean

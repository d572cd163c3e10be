"""Finds the crossings of a track, both those that fired and brief ones, and their totals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.rules.evaluations import NOT_JUDGED, RuleEvaluation, spans_of
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.states import EVALUATION_INTERVAL, State, Truth


@dataclass(frozen=True, slots=True)
class Crossing:
    """A maximal run of evaluations with the condition true.

    `start` and `end` are its first and last evaluation (UTC ns). `fired_at` is the first evaluation from `start` on
    at which the rule was firing, None for a brief crossing. An alert that `recover` kept pending may fire after `end`;
    if the condition was true for less than `for` in all while the alert lasted, the crossing is brief all the same.
    `worst` and `mean` are taken over the rule's reduced value. `cut`: it begins or ends where data or judged time does,
    so it may have lasted longer.
    """

    start: int
    end: int
    fired_at: int | None
    worst: float
    mean: float
    cut: bool = False

    @property
    def duration(self) -> int:
        """From the first to the last evaluation, in ns."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class CrossingColumns:
    """The crossings of a track as columns, in time order; most are only counted and compared.

    Attributes:
        starts: Their first evaluations (UTC ns).
        ends: Their last evaluations.
        fired_at: When each fired; 0 for a brief one.
        fired: Whether it fired.
        worst: Their worst values.
        means: Their mean values.
        cut: Whether each begins or ends where data or judged time does.
    """

    starts: Times
    ends: Times
    fired_at: Times
    fired: NDArray[np.bool_]
    worst: Values
    means: Values
    cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def longest_fired(self) -> int:
        """The duration of the longest that fired, in ns; 0 if none did."""
        if not len(self):
            return 0
        return int((self.ends - self.starts)[self.fired].max(initial=0))

    def crossings(self) -> tuple[Crossing, ...]:
        """Return one by one."""
        if not len(self):
            return ()
        columns = (self.starts, self.ends, self.fired_at, self.fired, self.worst, self.means, self.cut)
        return tuple(
            Crossing(start, end, at if fired else None, worst, mean, cut)
            for start, end, at, fired, worst, mean, cut in zip(*(column.tolist() for column in columns), strict=True)
        )


NO_CROSSINGS = CrossingColumns(
    *(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, np.int64, bool, float, float, bool))
)


def find_crossings(track: RuleEvaluation) -> CrossingColumns:
    """Return all crossings of a track, as columns."""
    first, stop = track.runs.between(Truth.TRUE)
    if not len(first):
        return NO_CROSSINGS
    firing, active = track.states == State.FIRING, track.active
    until = _next(~active, stop)
    at = _next(firing, first)
    fired = (at < until) & (_true_in_alert(track, active, first) * EVALUATION_INTERVAL >= track.for_)
    judged = np.concatenate(([False], track.runs.truths >= Truth.FALSE, [False]))
    runs = np.flatnonzero(track.runs.truths == Truth.TRUE) + 1
    return CrossingColumns(
        track.times[first],
        track.times[stop - 1],
        np.where(fired, np.append(track.times, 0)[at], 0),
        fired,
        *_worst_and_mean(track, first, stop),
        ~(judged[runs - 1] & judged[runs + 1]),
    )


def any_fired(track: RuleEvaluation) -> bool:
    """Return whether a crossing of a track fired."""
    return bool((track.states == State.FIRING).any()) and bool(find_crossings(track).fired.any())


def list_crossings(track: RuleEvaluation) -> tuple[Crossing, ...]:
    """Return all crossings of a track, in time order."""
    return find_crossings(track).crossings()


def _true_in_alert(track: RuleEvaluation, active: NDArray[np.bool_], at: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how many evaluations were true while the alerts lasted that are active at some evaluations."""
    true = np.concatenate(([0], np.cumsum(track.truths == Truth.TRUE)))
    begun = np.flatnonzero(active & ~np.concatenate(([False], active[:-1])))
    begin = begun[np.maximum(np.searchsorted(begun, at, "right") - 1, 0)] if len(begun) else at
    return true[_next(~active, at)] - true[begin]


def _next(mask: NDArray[np.bool_], at: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each evaluation the first wanted one from it on; the number of evaluations if there is none."""
    places = np.append(np.flatnonzero(mask), len(mask))
    return places[np.searchsorted(places, at)]


def _worst_and_mean(track: RuleEvaluation, first: NDArray[np.intp], stop: NDArray[np.intp]) -> tuple[Values, Values]:
    """Return the worst and the mean value of each run of true evaluations; the rule has a value at all of them."""
    bounds = np.column_stack((first, stop)).ravel()
    means = np.add.reduceat(np.append(track.values, 0.0), bounds)[::2] / (stop - first)
    neutral = np.inf if track.healthy.worse == "lower" else -np.inf
    values = np.append(np.where(track.telling, track.values, neutral), 0.0)
    match track.healthy.worse:
        case "higher":
            return np.maximum.reduceat(values, bounds)[::2], means
        case "lower":
            return np.minimum.reduceat(values, bounds)[::2], means
        case "either":
            spans = zip(first.tolist(), stop.tolist(), strict=True)
            return np.array([worst_value(track, slice(start, end)) for start, end in spans]), means


def time_crossed(track: RuleEvaluation) -> int:
    """Return how long the condition was true in total (ns): true evaluations times the step of the grid."""
    return track.runs.count(Truth.TRUE) * EVALUATION_INTERVAL


def longest_stretch(track: RuleEvaluation) -> int:
    """Return the longest time judged without a break (ns), which is the longest a crossing can last."""
    first, stop = track.runs.judged()
    return int((track.times[stop - 1] - track.times[first]).max(initial=0))


def longest_alert(track: RuleEvaluation) -> int:
    """Return the longest time (ns) that an alert was active; `recover` makes it longer than its crossings."""
    return max((int(track.times[span][-1] - track.times[span][0]) for span in spans_of(track.active)), default=0)


def gaps_crossed(track: RuleEvaluation) -> NDArray[np.bool_]:
    """Of each crossing, whether nothing but evaluations without data lies between the one before and it."""
    truths = track.runs.truths
    at = np.flatnonzero(truths == Truth.TRUE)
    before = np.concatenate(([NOT_JUDGED, NOT_JUDGED], truths))  # the run before the last, and the last
    return (before[at] == Truth.TRUE) & (before[at + 1] == Truth.NO_DATA)


def worst_value(track: RuleEvaluation, where: slice | NDArray[np.bool_] = slice(None)) -> float:
    """Return the value closest to the limit, or furthest past it, of windows within the data; NaN if there is none."""
    values = track.values[where]
    telling = values[track.telling[where]]
    return worst_of(track.healthy, values if np.isnan(telling).all() else telling)


def worst_of(healthy: Healthy, values: Values) -> float:
    """Return the value closest to a limit, or furthest past it; NaN if there is none."""
    if np.isnan(values).all():
        return float("nan")
    match healthy.worse:
        case "higher":
            return float(np.nanmax(values))
        case "lower":
            return float(np.nanmin(values))
        case "either":
            return float(values[np.nanargmax(np.abs(values - healthy.limit))])


def share_of_time(track: RuleEvaluation) -> float | None:
    """True evaluations divided by evaluations with data; None if there are none."""
    return float(track.runs.count(Truth.TRUE)) / track.judged if track.judged else None

"""Finds the crossings of a track, both those that fired and brief ones, and their totals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values
from plimsoll.rules.evaluate import EVERY, Track
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.states import State, Truth


@dataclass(frozen=True, slots=True)
class Crossing:
    """A maximal run of evaluations with the condition true.

    `start` and `end` are its first and last evaluation (UTC ns). `fired_at` is the first evaluation from `start` on
    at which the rule was firing, None for a brief crossing; an alert that `recover` kept pending may fire after `end`.
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


def crossings(track: Track) -> tuple[Crossing, ...]:
    """All crossings of a track, in time order."""
    true = (track.truths == Truth.TRUE) & (track.states != State.NOT_JUDGED)
    judged = np.concatenate(([False], _judged(track), [False]))
    active = (track.states == State.PENDING) | (track.states == State.FIRING)
    inactive = np.flatnonzero(~active)
    firing = np.flatnonzero(track.states == State.FIRING)
    runs = _runs(true)
    worst, means = _worst_and_mean(track, runs)
    found: list[Crossing] = []
    for at, (first, last) in enumerate(runs):
        until = int(next(iter(inactive[np.searchsorted(inactive, last) :]), len(active)))
        fired = int(next(iter(firing[np.searchsorted(firing, first) :]), until))
        found.append(
            Crossing(
                start=int(track.times[first]),
                end=int(track.times[last - 1]),
                fired_at=int(track.times[fired]) if fired < until else None,
                worst=float(worst[at]),
                mean=float(means[at]),
                cut=not (judged[first] and judged[last + 1]),
            )
        )
    return tuple(found)


def _worst_and_mean(track: Track, runs: Sequence[Sequence[int]]) -> tuple[Values, Values]:
    """The worst and mean value of each run of true evaluations; the rule has a value at all of them."""
    if not runs:
        return np.empty(0), np.empty(0)
    edges = np.array(runs, dtype=np.intp)
    bounds = edges.ravel()
    values = np.append(track.values, 0.0)
    means = np.add.reduceat(values, bounds)[::2] / (edges[:, 1] - edges[:, 0])
    match track.healthy.worse:
        case "higher":
            return np.maximum.reduceat(values, bounds)[::2], means
        case "lower":
            return np.minimum.reduceat(values, bounds)[::2], means
        case "either":
            return np.array([worst_value(track, slice(first, last)) for first, last in runs]), means


def time_crossed(track: Track) -> int:
    """How long the condition was true in total (ns): true evaluations times the step of the grid."""
    return int(np.count_nonzero((track.truths == Truth.TRUE) & (track.states != State.NOT_JUDGED))) * EVERY


def longest_stretch(track: Track) -> int:
    """The longest time judged without a break (ns), which is the longest a crossing can last."""
    return max((int(track.times[last - 1] - track.times[first]) for first, last in _runs(_judged(track))), default=0)


def worst_value(track: Track, where: slice | NDArray[np.bool_] = slice(None)) -> float:
    """The value closest to the limit, or furthest past it; NaN if there is none."""
    return worst_of(track.healthy, track.values[where])


def worst_of(healthy: Healthy, values: Values) -> float:
    """The value closest to a limit, or furthest past it; NaN if there is none."""
    if np.isnan(values).all():
        return float("nan")
    match healthy.worse:
        case "higher":
            return float(np.nanmax(values))
        case "lower":
            return float(np.nanmin(values))
        case "either":
            return float(values[np.nanargmax(np.abs(values - healthy.limit))])


def share_of_time(track: Track) -> float | None:
    """True evaluations divided by evaluations with data; None if there are none."""
    true = np.count_nonzero((track.truths == Truth.TRUE) & (track.states != State.NOT_JUDGED))
    return float(true) / track.judged if track.judged else None


def _judged(track: Track) -> NDArray[np.bool_]:
    return (track.truths != Truth.NO_DATA) & (track.states != State.NOT_JUDGED)


def _runs(mask: NDArray[np.bool_]) -> list[list[int]]:
    """The start and the end (exclusive) of each run of true values."""
    return np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8))).reshape(-1, 2).tolist()

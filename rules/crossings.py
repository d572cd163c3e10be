"""What a track amounts to: crossings, those that fired and those that were brief."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.log import Values
from rules.evaluate import EVERY, Track
from rules.states import State, Truth


@dataclass(frozen=True, slots=True)
class Crossing:
    """A maximal run of evaluations with the condition true.

    `start` and `end` are its first and last evaluation (UTC ns), `fired_at` the first from `start` on at
    which it was firing, None for a brief crossing; an alert that `recover` kept pending may fire after `end`.
    `worst` and `mean` are of the rule's reduced value.
    It is `cut` where it reaches the first or last evaluation there is before or after a time that
    was not judged or had no data: it may have lasted longer.
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
    """Of each run of true evaluations; the rule's own value is there at all of them."""
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
    """How long the condition was true in total, in ns: its evaluations times the distance between them."""
    return int(np.count_nonzero((track.truths == Truth.TRUE) & (track.states != State.NOT_JUDGED))) * EVERY


def longest_stretch(track: Track) -> int:
    """The longest time, in ns, that was judged without a break: no crossing can last longer."""
    return max((int(track.times[last - 1] - track.times[first]) for first, last in _runs(_judged(track))), default=0)


def worst_value(track: Track, where: slice | NDArray[np.bool_] = slice(None)) -> float:
    """The value furthest towards, or past, the limit; NaN where there is none."""
    values = track.values[where]
    if np.isnan(values).all():
        return float("nan")
    match track.healthy.worse:
        case "higher":
            return float(np.nanmax(values))
        case "lower":
            return float(np.nanmin(values))
        case "either":
            return float(values[np.nanargmax(np.abs(values - track.healthy.limit))])


def share_of_time(track: Track) -> float | None:
    """True evaluations over evaluations with data; None without any."""
    true = np.count_nonzero((track.truths == Truth.TRUE) & (track.states != State.NOT_JUDGED))
    return float(true) / track.judged if track.judged else None


def _judged(track: Track) -> NDArray[np.bool_]:
    return (track.truths != Truth.NO_DATA) & (track.states != State.NOT_JUDGED)


def _runs(mask: NDArray[np.bool_]) -> list[list[int]]:
    """Where each maximal run of true begins, and where it has ended."""
    return np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8))).reshape(-1, 2).tolist()

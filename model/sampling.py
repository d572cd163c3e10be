"""How far apart a recorder took its samples, and where it paused."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.times import SECOND

Times: TypeAlias = NDArray[np.int64]

_MUCH = 2.5  # intervals
_ALIKE = 1.5  # times as long, at most
_END_OF_TIME = 2**63 - 1
_KEPT_UP = 5  # distances in a row; of fewer that are alike, chance may be the reason


class Stretch(NamedTuple):
    """A part of a recording, from its first sample to its last (UTC ns), at an interval (ns) of its own.

    `before` is the last sample before it, or its own first one; `until` the first one after it, or the end of time.
    """

    start: int
    end: int
    interval: int
    before: int
    until: int

    @property
    def span(self) -> tuple[int, int]:
        """The times that belong to it: from the first up to the second."""
        return self.start, self.until

    def borders(self, interval: int) -> list[tuple[int, int]]:
        """The times between its first or last sample and the one beside it, if there is no pause.

        `interval` (ns) is that of the rest of the recording.
        """
        ahead = (self.before + 1, self.start)
        paused = self.until - self.end > _MUCH * max(interval, self.interval)
        return [ahead] if paused else [ahead, (self.end + 1, self.until)]


def within(times: Times, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which of the times lie in one of the spans, each from its first up to its second, however many there are."""
    starts, ends = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2).T
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    at = np.searchsorted(starts, times, side="right") - 1
    return (at >= 0) & (times < np.maximum.accumulate(ends)[at])


def sampling_interval(times: Times) -> int | None:
    """The median distance of neighbouring times that differ, in ns; None where no two do.

    Of an even number of distances the lower middle one counts: the mean of two would be an interval
    at which nothing was sampled. A recorder's timer runs a little late at every sample; a median
    within 2 % of a whole number of seconds is that number.
    """
    steps = np.diff(times)
    steps = steps[steps > 0]
    return _median(steps) if len(steps) else None


def pauses(times: Times) -> NDArray[np.bool_]:
    """Whether the recorder paused between each time and the next: they are over two and a half intervals apart.

    Where it went on at a longer interval there is none.
    """
    steps, interval = np.diff(times), sampling_interval(times)
    paused = steps > _MUCH * (interval or np.inf)
    for run in _runs(steps, paused):
        paused[run] = False
    return paused


def other_intervals(times: Times) -> list[Stretch]:
    """Where the interval was less than two fifths, or over two and a half times, that of most of the recording."""
    steps, interval = np.diff(times), sampling_interval(times)
    if interval is None:
        return []
    runs = _runs(steps, (steps > _MUCH * interval) | ((_MUCH * steps < interval) & (steps > 0)))
    return [_stretch(times, run, _median(steps[run])) for run in runs]


def _stretch(times: Times, run: slice, interval: int) -> Stretch:
    # The sample before the first of these distances tells of the time before, unless nothing was sampled then.
    start = run.start + 1 if run.start else 0
    until = int(times[run.stop + 1]) if run.stop + 1 < len(times) else _END_OF_TIME
    return Stretch(int(times[start]), int(times[run.stop]), interval, int(times[run.start]), until)


def _median(steps: Times) -> int:
    middle = (len(steps) - 1) // 2
    median = int(np.partition(steps, middle)[middle])
    whole = round(median / SECOND) * SECOND
    return whole if whole and abs(median - whole) <= 0.02 * whole else median


def _runs(steps: Times, chosen: NDArray[np.bool_]) -> list[slice]:
    """Where several of the chosen distances follow each other and are alike."""
    at = np.flatnonzero(chosen)
    apart = np.diff(at) > 1
    first, second = steps[at[:-1]], steps[at[1:]]
    apart |= (second > _ALIKE * first) | (first > _ALIKE * second)
    runs = np.split(at, np.flatnonzero(apart) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs if len(run) >= _KEPT_UP]

"""Finds the sampling interval of a recording, its pauses, and parts with another interval."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.times import SECOND

Times: TypeAlias = NDArray[np.int64]

_MUCH = 2.5  # intervals: a longer step is a pause, or another interval
_ALIKE = 1.5  # largest ratio between neighbouring steps of one interval
_END_OF_TIME = 2**63 - 1
_KEPT_UP = 5  # steps in a row that make an interval; fewer may be chance


class Stretch(NamedTuple):
    """A part of a recording, from its first to its last sample (UTC ns), with its own interval (ns).

    `before` is the last sample before it, or its own first one; `until` is the first sample after it, or the end of
    time.
    """

    start: int
    end: int
    interval: int
    before: int
    until: int

    @property
    def span(self) -> tuple[int, int]:
        """The times that belong to it: from the first to before the second."""
        return self.start, self.until

    def borders(self, interval: int) -> list[tuple[int, int]]:
        """Return the spans between the part and the samples next to it, without pauses.

        `interval` (ns) is that of the rest of the recording.
        """
        ahead = (self.before + 1, self.start)
        paused = self.until - self.end > _MUCH * max(interval, self.interval)
        return [ahead] if paused else [ahead, (self.end + 1, self.until)]


def within(times: Times, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which times lie in any of the spans; a span includes its start but not its end."""
    starts, ends = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2).T
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    at = np.searchsorted(starts, times, side="right") - 1
    return (at >= 0) & (times < np.maximum.accumulate(ends)[at])


def merge_times(recordings: Sequence[Times]) -> Times:
    """Return the times of several recordings in order, each once. Sorting is faster than what numpy.unique does."""
    times = np.sort(np.concatenate(recordings))
    return times[np.append(True, times[1:] != times[:-1])[: len(times)]]


def sampling_interval(times: Times) -> int | None:
    """Return the median of the steps above zero (ns); None if there are none.

    With an even number of steps, the lower of the two middle ones counts: their mean may be an interval that never
    occurred. Timers of recorders run slightly late, so a median within 2 % of whole seconds is rounded to them.
    """
    steps = np.diff(times)
    steps = steps[steps > 0]
    return _median(steps) if len(steps) else None


def pauses(times: Times) -> NDArray[np.bool_]:
    """Return whether the recorder paused after each time: the step is over 2.5 intervals.

    A longer interval that is kept up is not a pause.
    """
    steps, interval = np.diff(times), sampling_interval(times)
    paused = steps > _MUCH * (interval or np.inf)
    for run in _runs(steps, paused):
        paused[run] = False
    return paused


def other_intervals(times: Times) -> list[Stretch]:
    """Return the parts with an interval below 2/5 or above 5/2 of that of the whole recording."""
    steps, interval = np.diff(times), sampling_interval(times)
    if interval is None:
        return []
    runs = _runs(steps, (steps > _MUCH * interval) | ((_MUCH * steps < interval) & (steps > 0)))
    return [_stretch(times, run, _median(steps[run])) for run in runs]


def _stretch(times: Times, run: slice, interval: int) -> Stretch:
    # The sample that begins the first step belongs to the part before, unless there is none.
    start = run.start + 1 if run.start else 0
    until = int(times[run.stop + 1]) if run.stop + 1 < len(times) else _END_OF_TIME
    return Stretch(int(times[start]), int(times[run.stop]), interval, int(times[run.start]), until)


def _median(steps: Times) -> int:
    middle = (len(steps) - 1) // 2
    median = int(np.partition(steps, middle)[middle])
    whole = round(median / SECOND) * SECOND
    return whole if whole and abs(median - whole) <= 0.02 * whole else median


def _runs(steps: Times, chosen: NDArray[np.bool_]) -> list[slice]:
    """Runs of chosen steps that are consecutive and of similar length."""
    at = np.flatnonzero(chosen)
    apart = np.diff(at) > 1
    first, second = steps[at[:-1]], steps[at[1:]]
    apart |= (second > _ALIKE * first) | (first > _ALIKE * second)
    runs = np.split(at, np.flatnonzero(apart) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs if len(run) >= _KEPT_UP]

"""The newest samples of series that have the same times: a matrix to which columns are appended."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import sampling_interval
from plimsoll.model.series import Series

_KEPT_UP = 5  # steps in a row that make an interval; fewer may be chance
_ALIKE = 1.5  # largest ratio between the steps of one interval
_ROOM = 1.25  # times the columns that are held
_LEAST_ROOM = 16


class SampleRow:
    """The samples of a series: a row of the matrix of a clock."""

    __slots__ = ("clock", "row", "series")

    def __init__(self, series: Series) -> None:
        self.series = series
        self.clock = NONE
        self.row: Values = _EMPTY

    @property
    def samples(self) -> Samples:
        """The samples."""
        clock = self.clock
        return Samples(clock.times, self.row[clock.first : clock.end], clock.interval)


class SampleMatrix:
    """Series that have the same times from their reach (ns) on, and the sampling interval that these show.

    Columns `first` to before `end` are held; `number` is its place among the others.
    """

    def __init__(self, windows: Sequence[SampleRow], times: Times, rows: Sequence[Values], reach: int) -> None:
        self.windows = windows
        self.reach = reach
        self.number = 0
        self.interval: int | None = None
        self.first, self.end = 0, len(times)
        self._make(times, rows)

    def _make(self, times: Times, rows: Sequence[Values]) -> None:
        """Have these columns, and room for more."""
        room = int(_ROOM * len(times)) + _LEAST_ROOM
        self.columns = np.empty(room, dtype=np.int64)
        self._matrix = np.empty((len(self.windows), room))
        self.columns[: len(times)] = times
        self.times = self.columns[: len(times)]
        for window, row, values in zip(self.windows, self._matrix, rows, strict=True):
            row[: len(times)] = values
            window.clock, window.row = self, row

    def extend(self, times: Times, values: Values, since: int, start: int) -> None:
        """Have these samples in place of those from `since` on, and forget those before `start`."""
        held = self.times
        kept = int(held.searchsorted(since))
        was_empty = not len(held)
        if len(times) or kept < len(held):
            self.end = self.first + kept
            if self.end + len(times) > len(self.columns):
                self._make_room(len(times), start)
            end = self.end + len(times)
            self.columns[self.end : end] = times
            self._matrix[:, self.end : end] = values
            self.end = end
            self.interval = _interval(self.columns[self.first : end], None if was_empty else self.interval)
        self.first += int(self.columns[self.first : self.end].searchsorted(start))
        self.times = self.columns[self.first : self.end]

    def _make_room(self, more: int, start: int) -> None:
        held = self.columns[self.first : self.end]
        # The newest steps show the interval, however long ago they were.
        first = self.first + max(0, min(int(held.searchsorted(start)), len(held) - _KEPT_UP - 1))
        columns = slice(first, self.end)
        kept = self.end - first
        if _ROOM * (kept + more) <= len(self.columns):
            self.columns[:kept] = self.columns[columns].copy()
            self._matrix[:, :kept] = self._matrix[:, columns].copy()
        else:
            room = int(_ROOM * (kept + more)) + _LEAST_ROOM
            times, matrix = np.empty(room, dtype=np.int64), np.empty((len(self.windows), room))
            times[:kept], matrix[:, :kept] = self.columns[columns], self._matrix[:, columns]
            self.columns, self._matrix = times, matrix
            for window, row in zip(self.windows, matrix, strict=True):
                window.row = row
        self.first, self.end = 0, kept


def _interval(times: Times, known: int | None) -> int | None:
    """The interval that the newest steps show if these are alike, else the known one."""
    newest = times[-_KEPT_UP - 1 :]
    steps = newest[1:] - newest[:-1]
    if len(steps) == _KEPT_UP:
        if known and (steps == known).all():
            return known
        if steps.max() <= _ALIKE * steps.min():
            return sampling_interval(newest)
    return known or sampling_interval(times)


_EMPTY: Values = np.empty(0)
NONE = SampleMatrix((), np.empty(0, dtype=np.int64), (), 0)

"""Samples of one series, gathered from all the recordings that hold it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model.log import Log, Times, Values
from model.sampling import Stretch, other_intervals, sampling_interval
from model.series import Series


@dataclass(frozen=True, eq=False)
class Samples:
    """Times (UTC ns, strictly ascending) and values of one series; NaN where a row had no sample."""

    times: Times
    values: Values

    @cached_property
    def interval(self) -> int | None:
        """The sampling interval in ns: the median distance of the rows, whether filled or not."""
        return sampling_interval(self.times)

    @cached_property
    def other_intervals(self) -> list[Stretch]:
        """Where they were taken at another interval than elsewhere."""
        return other_intervals(self.times)

    @cached_property
    def present(self) -> "Samples":
        """Only the rows that hold a finite value."""
        filled = np.isfinite(self.values)
        return self if filled.all() else Samples(self.times[filled], self.values[filled])

    def between(self, start: int | None, end: int | None) -> "Samples":
        """The rows from `start` to `end`, both included; None leaves that end open."""
        first = 0 if start is None else int(np.searchsorted(self.times, start, side="left"))
        last = len(self.times) if end is None else int(np.searchsorted(self.times, end, side="right"))
        return Samples(self.times[first:last], self.values[first:last])

    def chosen(self, wanted: Callable[[Times], NDArray[np.bool_]]) -> "Samples":
        """The rows at the times that are wanted."""
        rows = wanted(self.times)
        return Samples(self.times[rows], self.values[rows])


class Recorded:
    """The series of several recordings of one run, each read as one whatever file it lies in.

    Where two recordings hold the same series at the same time, the first one's value counts, or
    the second's where the first has none.
    """

    def __init__(self, logs: Sequence[Log]) -> None:
        self._logs = logs
        self._places: dict[object, list[tuple[int, int]]] = defaultdict(list)
        self.series: list[Series] = []
        for at, log in enumerate(logs):
            for column, series in enumerate(log.series):
                places = self._places[series.key]
                if not places:
                    self.series.append(series)
                places.append((at, column))

    def samples(self, series: Series) -> Samples:
        """All samples of a series. KeyError if no recording holds it."""
        places = self._places[series.key]
        if not places:
            raise KeyError(series)
        parts = [Samples(self._logs[at].times, self._logs[at].column(column)) for at, column in places]
        return parts[0] if len(parts) == 1 and self._logs[places[0][0]].times_differ else joined(parts)


def joined(parts: Sequence[Samples]) -> Samples:
    """Parts of one series as one: in the order of time, and where several hold a time the first with a value."""
    if not parts:
        return Samples(np.empty(0, dtype=np.int64), np.empty(0))
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.lexsort((np.isnan(values), times))
    times, values = times[order], values[order]
    first = np.ones(len(times), dtype=bool)
    first[1:] = times[1:] != times[:-1]
    return Samples(times[first], values[first])

"""The samples of one series, joined from all recordings that contain it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Stretch, Times, Values, find_other_intervals, find_sampling_interval
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND

_SHORTEST_BREAK = 60 * SECOND  # as long as the shortest window of a rule
_LOST = 2.5  # intervals, as in the pauses of a log
_FIRST = 100  # rows, nearly always enough to see whether there are any values


@dataclass(frozen=True, eq=False)
class Samples:
    """Times (UTC ns, strictly ascending) and values of one series; NaN in rows without a sample.

    `declared` is the sampling interval (ns) if it is known from elsewhere, as for live series. `timed_as` are other
    samples with identical times, so that intervals are computed only once. `whole` are the samples from which `chosen`
    selected these rows.
    """

    times: Times
    values: Values
    declared: int | None = None
    timed_as: "Samples | None" = None
    whole: "Samples | None" = None

    @cached_property
    def interval(self) -> int | None:
        """The sampling interval (ns): `declared`, or the median step between rows, including rows without a sample."""
        if self.timed_as:
            return self.timed_as.interval
        return self.declared or find_sampling_interval(self.times)

    @cached_property
    def other_intervals(self) -> list[Stretch]:
        """The parts whose sampling interval differs from the rest; none if the interval is declared."""
        if self.timed_as:
            return self.timed_as.other_intervals
        return [] if self.declared else find_other_intervals(self.times)

    @cached_property
    def valid_until(self) -> Times:
        """The time (UTC ns) to which each sample counts as the newest (staleness): see `compute_validity`."""
        if self.timed_as:
            return self.timed_as.valid_until
        usual = compute_validity(self.interval or 0)
        until = self.times + usual
        for part in self.other_intervals:
            first, last = self.times.searchsorted((part.before, part.end)).tolist()
            until[first : last + 1] = self.times[first : last + 1] + compute_validity(part.interval)
            until[[first, last]] = self.times[[first, last]] + max(usual, compute_validity(part.interval))
        return until

    @cached_property
    def sampled(self) -> "Samples":
        """The times, without values, of the rows that hold a value; `self` if at most the first row lacks a value."""
        if self.whole:
            return self.whole.sampled
        return self if np.isfinite(self.values[1:]).all() else self._filled_rows

    @cached_property
    def any_present(self) -> bool:
        """Whether any row holds a finite value."""
        return any(bool(np.isfinite(values).any()) for values in (self.values[:_FIRST], self.values[_FIRST:]))

    @property
    def present(self) -> "Samples":
        """Only the rows that hold a finite value. Not cached: a copy of every series would double the memory."""
        rows = self._filled_rows
        return self if rows is self else Samples(rows.times, self.values[self._filled], timed_as=rows)

    @property
    def present_times(self) -> Times:
        """The times of the rows that hold a finite value."""
        return self._filled_rows.times

    @cached_property
    def _filled_rows(self) -> "Samples":
        """The times, without values, of the rows that hold a finite value; `self` if all rows do.

        Counters of one recording often lack values in the same rows, and then share one array of times.
        """
        filled = self._filled
        key = (filled.start, filled.stop) if isinstance(filled, slice) else np.packbits(filled).tobytes()
        if key == (0, len(self.values)):
            return self
        timed = self._by_filled_rows.get(key)
        if timed is None:
            timed = self._by_filled_rows[key] = Samples(self.times[filled], np.empty(0))
        return timed

    @property
    def _filled(self) -> slice | NDArray[np.bool_]:
        """The rows that hold a finite value: a slice, which copies nothing, if they are consecutive, else a mask."""
        filled = np.isfinite(self.values)
        rows = slice(int(filled.argmax()), len(filled) - int(filled[::-1].argmax())) if len(filled) else slice(0, 0)
        return rows if filled[rows].all() else filled

    @cached_property
    def _by_filled_rows(self) -> "WeakValueDictionary[object, Samples]":
        """The cache of `_filled_rows` that all samples with these times share, by the filled rows."""
        return self.timed_as._by_filled_rows if self.timed_as else WeakValueDictionary()

    def between(self, start: int | None, end: int | None) -> "Samples":
        """Return the rows from `start` to `end`, both included; None leaves the start or the end open."""
        first = 0 if start is None else int(self.times.searchsorted(start, side="left"))
        last = len(self.times) if end is None else int(self.times.searchsorted(end, side="right"))
        if not first and last == len(self.times) and not self.declared:
            return self
        return Samples(self.times[first:last], self.values[first:last])

    def chosen(self, condition: Callable[[Times], NDArray[np.bool_]]) -> "Samples":
        """Return the rows whose times fulfil a condition."""
        rows = condition(self.times)
        return Samples(self.times[rows], self.values[rows], whole=self)


class Recorded:
    """The series of all recordings of one run, joined; at equal times the first value that is not missing counts."""

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
        """Return all samples of a series. Raise KeyError if no recording has it."""
        places = self._places[series.key]
        if not places:
            raise KeyError(series)
        parts = [_share_samples(self._logs[at], column) for at, column in places]
        return parts[0] if len(parts) == 1 and self._logs[places[0][0]].times_differ else join_samples(parts)


_columns: WeakKeyDictionary[Log, WeakValueDictionary[int, Samples]] = WeakKeyDictionary()


def _share_samples(log: Log, column: int) -> Samples:
    """Return the samples of a column: the same object for all callers, as long as a caller keeps it."""
    by_column = _columns.get(log)
    if by_column is None:
        by_column = _columns[log] = WeakValueDictionary()
    samples = by_column.get(column)
    if samples is None:
        timed = by_column.get(-1) or Samples(log.times, np.empty(0))
        samples = by_column[column] = Samples(log.times, log.column(column), timed_as=timed)
        by_column[-1] = timed
    return samples


def compute_validity(interval: int) -> int:
    """Return how long (ns) a sample counts as the newest: a longer step is a break, in which nothing was recorded."""
    return max(_SHORTEST_BREAK, round(_LOST * interval))


def join_samples(parts: Sequence[Samples]) -> Samples:
    """Merge the parts of a series in order of time; at equal times the first value that is not missing is used."""
    if not parts:
        return Samples(np.empty(0, dtype=np.int64), np.empty(0))
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.values for part in parts])
    order = np.lexsort((np.isnan(values), times))
    times, values = times[order], values[order]
    first = np.ones(len(times), dtype=bool)
    first[1:] = times[1:] != times[:-1]
    return Samples(times[first], values[first])

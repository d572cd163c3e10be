"""The newest samples of live series, as far back as any rule needs them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Times, Values, find_sampling_interval
from plimsoll.model.samples import Samples, compute_validity
from plimsoll.model.series import Series
from plimsoll.rules.window import Arrays, Breaks, Cut, Together, WindowBounds, find_breaks
from plimsoll.store.protocol import SampleReader

_KEPT_UP = 5  # this many equal steps in a row make an interval; fewer may be chance
_ALIKE = 1.5  # largest ratio between the steps of one interval
_ROOM = 1.25  # times the columns that are held
_LEAST_ROOM = 16


class SampleRow:
    """The samples of a series: row `place` of the matrix `clock`."""

    __slots__ = ("clock", "place", "series")

    def __init__(self, series: Series) -> None:
        self.series = series
        self.clock = NONE
        self.place = 0

    @property
    def samples(self) -> Samples:
        """The samples of the row, with their sampling interval."""
        return Samples(self.clock.times, self.values, self.clock.interval)

    @property
    def values(self) -> Values:
        """The values of the row."""
        return self.clock.matrix[self.place, self.clock.first : self.clock.end]


class SampleMatrix:
    """The samples of series with equal times: a row for each series, a column for each time.

    `reach` is how far back (ns) samples are kept. Columns from `first` to before `end` are in use. `number` is the
    position of this matrix among all matrices, from 1.
    """

    def __init__(self, windows: Sequence[SampleRow], times: Times, rows: Sequence[Values], reach: int) -> None:
        self.windows = windows
        self.reach = reach
        self.number = 0
        self.interval: int | None = None
        self.first, self.end = 0, len(times)
        room = int(_ROOM * len(times)) + _LEAST_ROOM
        self.columns = np.empty(room, dtype=np.int64)
        self.matrix = np.empty((max(1, len(self.windows)), room))
        self.columns[: len(times)] = times
        self.times = self.columns[: len(times)]
        for place, (window, values) in enumerate(zip(self.windows, rows, strict=True)):
            self.matrix[place, : len(times)] = values
            window.clock, window.place = self, place

    def extend(self, times: Times, values: Values, since: int, start: int) -> None:
        """Replace the samples from `since` on by these, and forget samples before `start` (UTC ns)."""
        kept, count = int(self.times.searchsorted(since)), len(self.times)
        if len(times) or kept < count:
            self.end = self.first + kept
            if self.end + len(times) > len(self.columns):
                self._make_room(len(times), start)
            end = self.end + len(times)
            self.columns[self.end : end] = times
            self.matrix[:, self.end : end] = values
            self.end = end
            self.interval = _find_interval(self.columns[self.first : end], self.interval if count else None)
        self.first += int(self.columns[self.first : self.end].searchsorted(start))
        self.times = self.columns[self.first : self.end]

    def _make_room(self, more: int, start: int) -> None:
        """Make room for `more` columns, and forget columns before `start`."""
        values = self.columns[self.first : self.end]
        # The newest steps show the interval, however long ago they were.
        first = self.first + max(0, min(int(values.searchsorted(start)), len(values) - _KEPT_UP - 1))
        columns = slice(first, self.end)
        kept = self.end - first
        if _ROOM * (kept + more) <= len(self.columns):
            self.columns[:kept] = self.columns[columns].copy()
            self.matrix[:, :kept] = self.matrix[:, columns].copy()
        else:
            room = int(_ROOM * (kept + more)) + _LEAST_ROOM
            times, matrix = np.empty(room, dtype=np.int64), np.empty((len(self.windows), room))
            times[:kept], matrix[:, :kept] = self.columns[columns], self.matrix[:, columns]
            self.columns, self.matrix = times, matrix
        self.first, self.end = 0, kept


NONE = SampleMatrix((), np.empty(0, dtype=np.int64), (), 0)
_NOTHING = Samples(np.empty(0, dtype=np.int64), np.empty(0))
_APART = 2  # with this many times more matrices, those with equal times again are joined
_FEW = 100


class RecentSamples:
    """The recent samples of the judged series. Each `read` reads the last `overlap` ns again, for late samples."""

    def __init__(self, store: SampleReader, overlap: int) -> None:
        self._store = store
        self._overlap = overlap
        self._reach: Mapping[Series, int] = {}
        self._rows: dict[Series, SampleRow] = {}
        self._again: set[Series] = set()
        self._clocks: list[SampleMatrix] = []
        self.arrangement = 0  # a number that changes with the numbers of the clocks
        self._arranged = 0  # clocks
        self._order: list[Series] = []
        self._end: int | None = None
        self._spans: dict[tuple[bytes, int], _Spans] = {}
        self._widest_change = 0

    def read(self, reach: Mapping[Series, int], start: int, end: int) -> None:
        """Read each series from its reach (ns) before `start` up to `end`. `reach` must not be changed afterwards."""
        # If the last step ended before `start`, the samples between are needed, too.
        since = (start if self._end is None else min(start, self._end + 1)) - self._overlap
        new: list[Series] = []
        if reach is not self._reach or self._again or len(self._clocks) > _APART * self._arranged + _FEW:
            new = [series for series in reach if series not in self._rows or series in self._again]
            self._arrange(reach)
        if self._order:
            self._extend(self._store.read(self._order, since, end), since, start)
        if new:
            furthest = start - max(reach[series] for series in new)
            self._begin(new, self._store.read(new, furthest, end), start)
        self._spans.clear()
        self._end = end

    def samples(self, series: Series) -> Samples:
        """Return the samples of a series; empty if the series was not read."""
        sample_row = self._rows.get(series)
        return sample_row.samples if sample_row else _NOTHING

    def together(self, series: Sequence[Series]) -> Together:
        """Return a view of the samples of several series; it also shows samples that are read later."""
        return _Rows(self, [self._rows.get(series) or SampleRow(series) for series in series])

    def forget(self, series: Collection[Series]) -> None:
        """At the next `read`, read these series again over their whole reach, as late samples were written."""
        self._again |= self._rows.keys() & series

    def widest_change(self) -> int:
        """Return twice the longest sampling interval (ns) that changed since the last call; 0 if none did.

        Windows longer than this are still valid.
        """
        value, self._widest_change = self._widest_change, 0
        return value

    def intervals(self) -> Iterable[tuple[Series, int]]:
        """Yield each series whose sampling interval is known, with that interval (ns)."""
        for clock in self._clocks:
            if clock.interval:
                yield from ((window.series, clock.interval) for window in clock.windows)

    @property
    def size(self) -> int:
        """The number of samples in memory."""
        return sum(len(clock.times) * len(clock.windows) for clock in self._clocks)

    def spans(self, at: Times, window: int, clocks: NDArray[np.intp]) -> "_Spans":
        """Return the columns in the window of each evaluation, for the matrices numbered `clocks`."""
        key = at.tobytes(), window
        span = self._spans.get(key)
        if span is None:
            span = self._spans[key] = _Spans.of(len(self._clocks), len(at))
        missing = np.unique(clocks[~span.computed[clocks]]).tolist()
        for number in missing:
            clock = self._clocks[number - 1]
            begin = clock.times.searchsorted(at - window, side="left")
            span.first[number], span.last[number] = (
                begin + clock.first,
                clock.times.searchsorted(at, "right") + clock.first,
            )
            times = clock.times[max(int(begin[0]) - 1, 0) :]
            span.inside[number], since = find_breaks(times, times + compute_validity(clock.interval or 0), at)
            span.since[number], span.resumed[number] = since, clock.times.searchsorted(since) + clock.first
        span.computed[missing] = True
        return _Spans(*(column[clocks] for column in vars(span).values()))

    def _arrange(self, reach: Mapping[Series, int]) -> None:
        """Keep only the series of `reach`, and join matrices with equal times."""
        alike: dict[object, list[SampleRow]] = {}
        for clock in self._clocks:
            times = clock.times.tobytes()
            for window in clock.windows:
                if window.series in reach and window.series not in self._again:
                    alike.setdefault((reach[window.series], clock.interval, times), []).append(window)
        self._rows = {series: sample_row for series, sample_row in self._rows.items() if series in reach}
        self._clocks = [_join_windows(windows, reach[windows[0].series]) for windows in alike.values()]
        self._arranged = len(self._clocks)
        self._reach, self._again = reach, set()
        self._number()

    def _begin(self, series: Sequence[Series], samples_list: Sequence[Samples], start: int) -> None:
        """Add the samples of series that are new, or whose whole reach was read again."""
        alike = group_pairs(
            ((self._reach[pair[0]], pair[1].times.tobytes()), pair) for pair in zip(series, samples_list, strict=True)
        )
        for pairs in alike.values():
            reach, times = self._reach[pairs[0][0]], pairs[0][1].times
            windows = [self._rows.setdefault(series, SampleRow(series)) for series, _ in pairs]
            before = {window.clock.interval for window in windows}
            clock = SampleMatrix(windows, times[:0], [samples.values[:0] for _, samples in pairs], reach)
            clock.extend(times, np.stack([samples.values for _, samples in pairs]), start - reach, start - reach)
            self._clocks.append(clock)
            for interval in before:
                self._note_change(interval, clock.interval)
        self._arranged += len(alike)
        self._number()

    def _extend(self, samples_list: Sequence[Samples], since: int, start: int) -> None:
        """Append the samples just read, given in the order of `_order`."""
        lengths = np.array([len(samples.times) for samples in samples_list])
        ends = np.cumsum(lengths).tolist()
        times = np.concatenate([samples.times for samples in samples_list])
        values = np.concatenate([samples.values for samples in samples_list])
        at, begin, is_split = 0, 0, False
        clocks: list[SampleMatrix] = []
        for clock in self._clocks:
            part = slice(at, at + len(clock.windows))
            at, count = part.stop, int(lengths[part.start])
            span = slice(begin, ends[at - 1])
            begin = span.stop
            if (lengths[part] == count).all():
                table = times[span].reshape(len(clock.windows), count)
                if (table == table[:1]).all():
                    self._grow(clock, table[0], values[span].reshape(table.shape), since, start)
                    clocks.append(clock)
                    continue
            is_split = True
            clocks += self._split(clock, samples_list[part], since, start)
        self._clocks = clocks
        if is_split:
            self._number()

    def _grow(self, clock: SampleMatrix, times: Times, values: Values, since: int, start: int) -> None:
        before = clock.interval
        clock.extend(times, values, since, start - clock.reach)
        self._note_change(before, clock.interval)

    def _split(
        self, clock: SampleMatrix, samples_list: Sequence[Samples], since: int, start: int
    ) -> list[SampleMatrix]:
        """Divide a matrix whose series no longer have equal times; return the new matrices."""
        alike = group_pairs((pair[1].times.tobytes(), pair) for pair in zip(clock.windows, samples_list, strict=True))
        clocks: list[SampleMatrix] = []
        for pairs in alike.values():
            joined = _join_windows([window for window, _ in pairs], clock.reach)
            self._grow(joined, pairs[0][1].times, np.stack([samples.values for _, samples in pairs]), since, start)
            clocks.append(joined)
        return clocks

    def _number(self) -> None:
        self.arrangement += 1
        for number, clock in enumerate(self._clocks, 1):
            clock.number = number
        self._order = [window.series for window in chain.from_iterable(clock.windows for clock in self._clocks)]

    def _note_change(self, before: int | None, after: int | None) -> None:
        if before != after:
            self._widest_change = max(self._widest_change, 2 * max(before or 0, after or 0))


def _join_windows(windows: Sequence[SampleRow], reach: int) -> SampleMatrix:
    """Join series that now have equal times and intervals into one matrix."""
    samples_list = [window.samples for window in windows]
    clock = SampleMatrix(windows, samples_list[0].times, [samples.values for samples in samples_list], reach)
    clock.interval = samples_list[0].declared
    return clock


@dataclass(frozen=True, slots=False)
class _Spans:
    """The columns of matrices in the window of each evaluation: from `first` to before `last`, and the breaks.

    Each array has a row for each matrix. `resumed` is the first column after the last break; for `inside` and `since`
    see `Breaks`. Matrix number 0 has no columns.
    """

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    resumed: NDArray[np.intp]
    inside: NDArray[np.bool_]
    since: Times
    computed: NDArray[np.bool_]

    @classmethod
    def of(cls, clocks: int, evaluations: int) -> "_Spans":
        """Return empty spans, to be filled in, for this number of matrices (`clocks`) and evaluations."""
        shape = clocks + 1, evaluations
        first, last, resumed = np.zeros((3, *shape), dtype=np.intp)
        computed = np.zeros(clocks + 1, dtype=np.bool_)
        computed[0] = True
        return cls(first, last, resumed, np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.int64), computed)

    def rows(self, *, anew: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return first and end column of each window: none in a break; with `anew`, none before the last break."""
        first = np.maximum(self.first, self.resumed) if anew else self.first
        return first, np.where(self.inside, first, np.maximum(first, self.last))


class _Rows:
    """Several series that are reduced together, as rows of matrices."""

    def __init__(self, buffers: RecentSamples, windows: Sequence[SampleRow]) -> None:
        self._buffers = buffers
        self._windows = windows
        self._clocks: tuple[int, NDArray[np.intp]] = -1, np.empty(0, np.intp)  # by the arrangement that they are of
        # The rows of each matrix, and their places in it.
        self._groups: list[tuple[NDArray[np.intp], SampleMatrix, NDArray[np.intp]]] = []

    def arrays(self) -> Arrays:
        """Return the times and the values of each series."""
        windows = self._windows
        return [window.clock.times for window in windows], [window.values for window in windows]

    def _find_spans(self, bounds: WindowBounds) -> "_Spans":
        arrangement = self._buffers.arrangement
        if self._clocks[0] != arrangement:
            numbers = [window.clock.number for window in self._windows]
            self._clocks = arrangement, np.array(numbers, np.intp)
            alike = group_pairs((number, row) for row, number in enumerate(numbers))
            self._groups = [
                (np.array(rows), self._windows[rows[0]].clock, np.array([self._windows[row].place for row in rows]))
                for rows in alike.values()
            ]
        return self._buffers.spans(bounds.at, bounds.window, self._clocks[1])

    def breaks(self, bounds: WindowBounds) -> Breaks:
        """Return the breaks in the series, seen at the evaluations, a row for each series."""
        spans = self._find_spans(bounds)
        return Breaks(spans.inside, spans.since)

    def cut(self, bounds: WindowBounds, *, anew: bool) -> Cut:
        """Return the samples that lie in the windows; with `anew`, a window has no samples before its last break."""
        first, last = self._find_spans(bounds).rows(anew=anew)
        begin, end = first[:, 0], last.max(axis=1)
        # Rows of one matrix have the same columns, so they are cut together.
        parts = [(rows, clock, places, int(begin[rows[0]]), int(end[rows[0]])) for rows, clock, places in self._groups]
        order = np.concatenate([rows for rows, *_ in parts])
        ends = np.cumsum((end - begin)[order])
        shift = np.empty((len(order), 1), dtype=np.intp)
        shift[order, 0] = ends - end[order]
        return Cut(
            np.concatenate([clock.matrix[places, first:last].ravel() for _, clock, places, first, last in parts]),
            lambda: np.concatenate([np.tile(c.columns[first:last], len(at)) for _, c, at, first, last in parts]),
            first + shift,
            last + shift,
            ends,
        )


def _find_interval(times: Times, value: int | None) -> int | None:
    """Return the interval (ns) of the newest samples if they are evenly spaced, else the earlier interval `value`."""
    newest = times[-_KEPT_UP - 1 :]
    steps = newest[1:] - newest[:-1]
    if len(steps) == _KEPT_UP:
        if value and (steps == value).all():
            return value
        if steps.max() <= _ALIKE * steps.min():
            return find_sampling_interval(newest)
    return value or find_sampling_interval(times)

"""A log: what a reader returns for one recording, with its sampling intervals and pauses."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.remark import Remark
from plimsoll.model.series import Series, list_hosts
from plimsoll.model.times import SECOND, Zone

Times: TypeAlias = NDArray[np.int64]
_MUCH = 2.5  # intervals: a longer step is a pause, or another interval
_ALIKE = 1.5  # largest ratio between neighbouring steps of one interval
_END_OF_TIME = 2**63 - 1
_KEPT_UP = 5  # steps in a row that make an interval; fewer may be chance


class Stretch(NamedTuple):
    """A part of a recording, from its first to its last sample (UTC ns), with its own sampling interval (ns).

    `before` is the time of the last sample before the part, or of the part's first sample if there is none. `until` is
    the time of the first sample after the part, or the end of time.
    """

    start: int
    end: int
    interval: int
    before: int
    until: int

    @property
    def span(self) -> tuple[int, int]:
        """The times from the first sample of the part to the first sample after it, which is not included."""
        return self.start, self.until

    def borders(self, interval: int) -> list[tuple[int, int]]:
        """Return the spans between the part and its neighbouring samples, except a pause after the part.

        `interval` (ns) is the sampling interval of the rest of the recording.
        """
        ahead = (self.before + 1, self.start)
        paused = self.until - self.end > _MUCH * max(interval, self.interval)
        return [ahead] if paused else [ahead, (self.end + 1, self.until)]


Values: TypeAlias = NDArray[np.float64]


class CounterFacts(NamedTuple):
    """Properties of a counter that some formats record besides its values.

    `type` is Windows' name of the counter's type (`PERF_COUNTER_COUNTER`). The counter's instance existed in `samples`
    rows, from the time `first` to `last` (UTC ns); without such rows, `first` and `last` are 0.
    """

    type: str
    samples: int
    first: int
    last: int


class PartlyRead(Sequence[Values]):
    """The columns of a log, of which only `in_memory` were read; when another column is needed, `read` reads all."""

    def __init__(self, count: int, in_memory: Mapping[int, Values], read: Callable[[], Sequence[Values]]) -> None:
        self._count = count
        self._read = read
        self.in_memory = in_memory

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        """Return a column, or the columns of a slice as a tuple."""
        if isinstance(at, slice):
            return tuple(self)[at]
        at = range(self._count)[at]
        if at not in self.in_memory:
            self.in_memory = {**dict(enumerate(self._read())), **self.in_memory}
        return self.in_memory[at]


@dataclass(frozen=True, eq=False)
class Log:
    """One recording: rows of times, and a column of values for each series.

    `times` are UTC instants (int64 ns), ascending. `columns` holds the values of each of `series`, NaN where there was
    no sample (infinities are no samples either). `remarks` hold everything the reader skipped, repaired or guessed.
    `path` names the log for people. `file` is the file on disk, if that differs from `path` (an archive). `sha256` is
    the hash of bytes that cannot be read again, empty if there never was a file, None if the hash is computed on
    demand. `unread` names columns of which all or many values were left out because the name or the cells could not be
    read. `facts` are the facts of counters by the keys of their series, where the format has them.
    """

    path: Path
    format: str
    times: Times
    columns: Sequence[Values]
    series: tuple[Series, ...]
    zone: Zone
    remarks: tuple[Remark, ...] = ()
    file: Path | None = None
    sha256: str | None = None
    unread: tuple[str, ...] = ()
    facts: Mapping[object, CounterFacts] = field(default_factory=dict[object, CounterFacts])

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.series) or set(map(len, self.in_memory.values())) - {len(self.times)}:
            raise ValueError(f"each of {len(self.series)} series needs a column of {len(self.times)} values")

    @property
    def in_memory(self) -> Mapping[int, Values]:
        """The columns in memory, by their indices; columns that are read only when needed are left out."""
        return self.columns.in_memory if isinstance(self.columns, PartlyRead) else dict(enumerate(self.columns))

    @property
    def is_of_server(self) -> bool:
        """Whether the log was read from a server, so that there never was a file."""
        return self.sha256 == "" and self.file is None

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The recorded computers in order of appearance, each spelled as it first appears."""
        return list_hosts(self.series)

    @cached_property
    def interval(self) -> int | None:
        """The sampling interval in ns, or None with fewer than two rows."""
        return find_sampling_interval(self.times)

    @cached_property
    def gaps(self) -> list[tuple[int, int]]:
        """The time before and the time after each pause of the recorder."""
        at = np.flatnonzero(find_pauses(self.times))
        return list(zip(self.times[at].tolist(), self.times[at + 1].tolist(), strict=True))

    @cached_property
    def intervals(self) -> tuple[int, ...]:
        """The sampling interval (ns), then the interval of each part that differs; empty with fewer than two rows."""
        return (self.interval, *(part.interval for part in self.other_intervals)) if self.interval else ()

    @cached_property
    def other_intervals(self) -> list[Stretch]:
        """The parts with a sampling interval that differs from the rest."""
        return find_other_intervals(self.times)

    @cached_property
    def times_differ(self) -> bool:
        """Whether all rows have different times."""
        return bool((np.diff(self.times) > 0).all())

    @property
    def missing(self) -> int:
        """The number of cells without a sample."""
        return len(self.columns) * len(self.times) - self.present

    @property
    def is_empty(self) -> bool:
        """Whether no cell has a sample."""
        return not any(map(count_samples, self.in_memory.values())) and not self.present

    @cached_property
    def present(self) -> int:
        """The number of cells with a sample."""
        return sum(map(count_samples, self.columns))

    @cached_property
    def digest(self) -> str | None:
        """The SHA-256 of the file; None if there never was a file. Raise OSError if the file can no longer be read."""
        if self.sha256 is not None:
            return self.sha256 or None
        with (self.file or self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self, start: int, stop: int) -> "Log":
        """Return a log of the rows from `start` to before `stop`."""
        columns = tuple(column[start:stop] for column in self.columns)
        return replace(self, times=self.times[start:stop], columns=columns)

    def column(self, index: int) -> Values:
        """Return the values of one column; NaN for a missing sample."""
        return self.columns[index]


def count_samples(values: Values) -> int:
    """Return how many values are samples (not NaN)."""
    return len(values) - int(np.count_nonzero(np.isnan(values)))


def mark_within(times: Times, spans: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which times lie in any of the spans; a span includes its start but not its end."""
    starts, ends = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2).T
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    at = np.searchsorted(starts, times, side="right") - 1
    return (at >= 0) & (times < np.maximum.accumulate(ends)[at])


def merge_times(recordings: Sequence[Times]) -> Times:
    """Return the distinct times of several recordings in order. Sorting is faster than numpy.unique."""
    times = np.sort(np.concatenate(recordings))
    return times[np.append(True, times[1:] != times[:-1])[: len(times)]]


def find_sampling_interval(times: Times) -> int | None:
    """Return the median of the positive steps between times (ns); None if there are none.

    With an even number of steps, the lower of the two middle steps is used, as their mean may be an interval that never
    occurred. Timers of recorders are slightly late, so a median within 2 % of whole seconds is rounded.
    """
    steps = np.diff(times)
    steps = steps[steps > 0]
    return _compute_median(steps) if len(steps) else None


def find_pauses(times: Times) -> NDArray[np.bool_]:
    """Return, for each time but the last, whether the recorder paused after it: the step is over 2.5 intervals.

    A longer interval that lasts for several steps is not a pause.
    """
    steps, interval = np.diff(times), find_sampling_interval(times)
    paused = steps > _MUCH * (interval or np.inf)
    for run in _find_runs(steps, paused):
        paused[run] = False
    return paused


def find_other_intervals(times: Times) -> list[Stretch]:
    """Return the parts whose interval is below 2/5 or above 5/2 of the interval of the whole recording."""
    steps, interval = np.diff(times), find_sampling_interval(times)
    if interval is None:
        return []
    runs = _find_runs(steps, (steps > _MUCH * interval) | ((_MUCH * steps < interval) & (steps > 0)))
    stretches: list[Stretch] = []
    for run in runs:
        # The first sample of the first step belongs to the previous part, if there is one.
        start = run.start + 1 if run.start else 0
        until = int(times[run.stop + 1]) if run.stop + 1 < len(times) else _END_OF_TIME
        ends = int(times[start]), int(times[run.stop])
        stretches.append(Stretch(*ends, _compute_median(steps[run]), int(times[run.start]), until))
    return stretches


def _compute_median(steps: Times) -> int:
    middle = (len(steps) - 1) // 2
    usual = steps[middle]  # the median if most steps are equal, as of most logs; np.partition takes long on these
    is_even = 2 * np.count_nonzero(steps == usual) > len(steps)
    median = int(usual if is_even else np.partition(steps, middle)[middle])
    whole = round(median / SECOND) * SECOND
    return whole if whole and abs(median - whole) <= 0.02 * whole else median


def _find_runs(steps: Times, chosen: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of five or more consecutive chosen steps of similar length, as slices."""
    at = np.flatnonzero(chosen)
    apart = np.diff(at) > 1
    first, second = steps[at[:-1]], steps[at[1:]]
    apart |= (second > _ALIKE * first) | (first > _ALIKE * second)
    runs = np.split(at, np.flatnonzero(apart) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs if len(run) >= _KEPT_UP]

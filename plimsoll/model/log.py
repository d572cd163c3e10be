"""A log: what a reader returns for one recording."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.model.remark import Remark
from plimsoll.model.sampling import Stretch, Times, other_intervals, pauses, sampling_interval
from plimsoll.model.series import Series, hosts_of
from plimsoll.model.times import Zone

Values: TypeAlias = NDArray[np.float64]


class CounterFacts(NamedTuple):
    """What some formats record of a counter besides its values.

    `type` is Windows' name of its type (`PERF_COUNTER_COUNTER`). Its instance was there in `samples` rows, from the
    time `first` to `last` (UTC ns); where that is none, both are 0.
    """

    type: str
    samples: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Log:
    """One recording: rows of times, and a column of values for each series.

    `times` are UTC instants (int64 ns), ascending. `columns` holds a Float64 column for each of
    `series`, null where there was no sample (NaN and infinities are no samples).
    `remarks` hold everything the reader skipped, repaired or guessed. `path` names the log for people. `file` is the
    file on disk, if that differs from `path` (an archive). `sha256` is the hash of the bytes if they cannot be read
    again, empty if there never was a file. `unread` names columns of which all or many values were left out because
    the name or the cells could not be read. `facts` are those of series by their keys, where the format has them.
    """

    path: Path
    format: str
    times: Times
    columns: tuple[pl.Series, ...]
    series: tuple[Series, ...]
    zone: Zone
    remarks: tuple[Remark, ...] = ()
    file: Path | None = None
    sha256: str | None = None
    unread: tuple[str, ...] = ()
    facts: Mapping[object, CounterFacts] = field(default_factory=dict[object, CounterFacts])

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.series) or set(map(pl.Series.len, self.columns)) - {len(self.times)}:
            raise ValueError(f"each of {len(self.series)} series needs a column of {len(self.times)} values")

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The recorded computers in order of appearance, each spelled as it first appears."""
        return hosts_of(self.series)

    @cached_property
    def interval(self) -> int | None:
        """The sampling interval in ns, or None with fewer than two rows."""
        return sampling_interval(self.times)

    @cached_property
    def gaps(self) -> list[tuple[int, int]]:
        """The last time before and the first time after each pause of the recorder."""
        at = np.flatnonzero(pauses(self.times))
        return list(zip(self.times[at].tolist(), self.times[at + 1].tolist(), strict=True))

    @cached_property
    def intervals(self) -> tuple[int, ...]:
        """The sampling interval and those of parts sampled at another one, in ns; empty with fewer than two rows."""
        return (self.interval, *(part.interval for part in self.other_intervals)) if self.interval else ()

    @cached_property
    def other_intervals(self) -> list[Stretch]:
        """The parts that were sampled at another interval than the rest."""
        return other_intervals(self.times)

    @cached_property
    def times_differ(self) -> bool:
        """Whether all rows have different times."""
        return bool((np.diff(self.times) > 0).all())

    @cached_property
    def missing(self) -> int:
        """How many cells hold no sample."""
        return sum(column.null_count() for column in self.columns)

    @property
    def present(self) -> int:
        """How many cells hold a sample."""
        return len(self.columns) * len(self.times) - self.missing

    @cached_property
    def digest(self) -> str | None:
        """The SHA-256 of its bytes; None if there never was a file. OSError if the file cannot be read any more."""
        if self.sha256 is not None:
            return self.sha256 or None
        with (self.file or self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def rows(self, start: int, stop: int) -> "Log":
        """Return the rows from `start` to before `stop`, as a log."""
        columns = tuple(column.slice(start, stop - start) for column in self.columns)
        return replace(self, times=self.times[start:stop], columns=columns)

    def column(self, index: int) -> Values:
        """Return the values of one column; NaN for a missing sample."""
        return self.columns[index].to_numpy()

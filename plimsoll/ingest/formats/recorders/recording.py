"""Collects the samples of a recorder whose output is tables of columns, and returns them as a log.

A YAML file for each recorder (`nmon.yaml`) gives the series of each column: the series of sysstat, which rules read
from sadf as well. A value below 0 counts as missing, as recorders write -1 for an unknown value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.sadf import drop_unknown_utilization
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared import clock
from plimsoll.ingest.shared.same_time import MOST_LEFT_OUT
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks, format_count, join_names, shorten
from plimsoll.model.series import UNNAMED, Series
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import SECOND, Zone

_TARGET = re.compile(r"(?:(\w+)(?:\((\w*)\))? )?([\w-]+)(?: \* ([\d.e-]+))?( / s)?")
_SHARES_OFF = 5.0  # percentage points; our choice, as for sadf
_MOST_NAMED = 5


@dataclass(frozen=True)
class RecorderTable:
    """One table of a recorder: the measurement of its series, and the target of each column.

    A target is `[MEASUREMENT[(INSTANCE)] ]FIELD[ * FACTOR][ / s]`; with `/ s`, values are counts since the last sample.
    `whole` are columns that add up to 100 %; with `ticks`, each value becomes its share of the sum of these columns.
    `total` names the instance of columns without an instance, `keep` is a regular expression for the instances to read.
    """

    measurement: str
    columns: Mapping[str, str]
    tag: str = "device"
    whole: tuple[str, ...] = ()
    ticks: bool = False
    total: str = ""
    keep: str = ".*"


@dataclass(frozen=True)
class Recorder:
    """A recorder's tables by name. `skipped` are tables that are left out without a remark.

    `names` are patterns of column names that contain the table and the instance.
    """

    tables: Mapping[str, RecorderTable]
    names: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@cache
def load_recorder(name: str) -> Recorder:
    """Return a recorder's tables, from the file `recorders/NAME.yaml`."""
    return load_shipped_table("plimsoll.ingest.formats.recorders", f"{name}.yaml", Recorder)


@dataclass
class RecordedColumn:
    """The values of a column, and for each value the index of its sample (`rows`).

    `parts` are further (rows, values) as arrays: one pair for each batch of rows that was parsed together.
    """

    rows: list[int] = field(default_factory=list[int])
    values: list[float] = field(default_factory=list[float])
    parts: list[tuple[NDArray[np.int64], Values]] = field(default_factory=list[tuple[NDArray[np.int64], Values]])

    def extend(self, rows: NDArray[np.int64], values: Values) -> None:
        """Add the finite values, with the indices of their samples."""
        finite = np.isfinite(values)
        if finite.any():
            self.parts.append((rows[finite], values[finite]))


class HostRecording:
    """The samples of one host: `begin` each sample, then `put` its values.

    Times are ns in UTC, or in the recorder's local time as if it were UTC.
    """

    def __init__(self, text: Text, tool: str) -> None:
        self.text = text
        self.tool = tool
        self.remarks = Remarks(str(text.path))
        self.host = UNNAMED
        self.headers: list[int] = []
        self._tables = load_recorder(tool).tables
        self._stamps: list[int] = []
        self._lines: list[int] = []
        self._seconds: list[float] = []
        self._columns: dict[tuple[str, str, str], RecordedColumn] = {}
        self._read: dict[tuple[str, str, str], RecordedColumn | None] = {}
        self._left_out: list[int] = []
        self._unread: set[str] = set()
        self._processors = 0

    def lines(self) -> Iterator[tuple[int, str]]:
        """Return the number and text of each line; leave out a last line without a line end, which may be cut short."""
        *lines, unended = self.text.data[:].decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n")
        if unended:
            self.leave_out(len(lines) + 1)
        return enumerate(lines, 1)

    def begin(self, stamp: int, line: int, seconds: float = np.nan) -> None:
        """Begin a sample at a time (ns). Raise Unusable if the time is implausible.

        `seconds` is the length of the sample's interval, NaN if the recorder does not state it.
        """
        if not clock.EARLIEST <= stamp <= clock.LATEST:
            raise Unusable(f"{self.text.path}:{line}: the time of this sample is damaged; delete the sample")
        self._stamps.append(stamp)
        self._lines.append(line)
        self._seconds.append(seconds)

    def samples_at(self, lines: Sequence[int]) -> NDArray[np.int64]:
        """Return, for each of these line numbers, the index of the last sample that begins at or before the line."""
        return np.searchsorted(self._lines, lines, side="right") - 1

    def put(self, table: str, instance: str, values: Iterable[tuple[str, str | float]]) -> None:
        """Add values to the current sample, as (column, cell); ignore columns that the recorder's tables lack."""
        for column, cell in values:
            if (stored := self.column(table, instance, column)) is not None:
                self.add(stored, cell)

    def column(self, table: str, instance: str, column: str) -> RecordedColumn | None:
        """Return the column to which `add` adds values; None if the recorder's tables lack it."""
        key = table, instance, column
        if key not in self._read:
            columns_of_table = self._tables.get(table)
            if columns_of_table is None:
                self._unread.add(table)
            named = instance or (columns_of_table.total if columns_of_table else "")
            is_read = (
                columns_of_table is not None
                and column in columns_of_table.columns
                and re.fullmatch(columns_of_table.keep, named)
            )
            self._read[key] = self._columns.setdefault((table, named, column), RecordedColumn()) if is_read else None
        return self._read[key]

    def add(self, column: RecordedColumn, cell: str | float) -> None:
        """Add a cell of the current sample to a column, unless the cell is not a number, or is below 0."""
        value = number(cell)
        if value is not None and value >= 0:
            column.rows.append(len(self._stamps) - 1)
            column.values.append(value)

    def put_columns(self, table: str, instance: str, rows: NDArray[np.int64], columns: Mapping[str, Values]) -> None:
        """Add the values of several columns; `rows` are the indices of their samples, NaN values are missing."""
        for column, values in columns.items():
            if column in self._tables[table].columns:
                self._columns[(table, instance, column)] = stored = RecordedColumn()
                stored.extend(rows, values)

    def set_processors(self, count: int) -> None:
        """Set the number of processors of the host; of several numbers the largest counts."""
        self._processors = max(count, self._processors)

    def leave_out(self, line: int) -> None:
        """Count a damaged line, which is not read; `log` adds a remark on such lines."""
        self._left_out.append(line)

    def log(self, options: ReadOptions, advice: str, *, in_utc: bool = False) -> Log:
        """Return the log, with times in UTC if `in_utc`. Raise Unusable, with `advice`, if no value was read."""
        self._columns = {key: column for key, column in self._columns.items() if column.rows or column.parts}
        if not self._columns:
            raise Unusable(f"{self.text.path}: holds no sample of {self.tool} that is read; {advice}")
        self._remark_left_out()
        stamps = np.array(self._stamps, dtype=np.int64)
        zone = Zone.parse("UTC") if in_utc else options.zone
        if zone is None:
            zone = Zone.unknown()
            text = "the times do not say their zone: they are the log's own clock's; name it with"
            self.remarks.add(Kind.GUESSED, f"{text} {Parameter.ZONE}")
        if not in_utc:
            stamps = clock.convert_to_utc(stamps, zone, self._lines, self.remarks, self.headers)
        between = np.diff(stamps, prepend=stamps[:1]) / SECOND
        seconds = np.where(np.isnan(self._seconds), between, self._seconds)
        columns = self._make_columns(np.where(seconds > 0, seconds, np.nan))
        drop_unknown_utilization(columns)
        times, order = clock.sort_times(stamps, self._lines, self.headers, self.remarks)
        values = tuple(columns.values()) if order is None else tuple(column[order] for column in columns.values())
        return Log(self.text.path, self.tool, times, values, tuple(columns), zone, tuple(self.remarks))

    def _make_columns(self, seconds: Values) -> dict[Series, Values]:
        """Return the values of each series; `seconds` is the length of each sample's interval, NaN if unknown."""
        single = {table for table, instance, _ in self._columns if instance not in ("", "total")}
        filled = {
            key: self._fill_column(column)
            for key, column in self._columns.items()
            if key[1] != "total" or key[0] not in single  # a total would count its parts twice
        }
        self._check_shares(filled)
        columns: dict[Series, Values] = {}
        for (table, instance, column), read in filled.items():
            layout = self._tables[table]
            match = _TARGET.fullmatch(layout.columns[column])
            if match is None:
                raise ValueError(f"{self.tool}.yaml: {layout.columns[column]} is no target")
            measurement, of, name, factor, counts = match.groups()
            values = read * float(factor or 1) / (seconds if counts else 1)
            measurement, of = measurement or layout.measurement, instance if of is None else of
            series = self._make_series(measurement, layout.tag, of, name, f"{table} {column}")
            columns.setdefault(series, values)
        if self._processors:
            path = f"{self.tool} processors"
            counts = np.full(len(self._stamps), float(self._processors))
            columns[Series(self.host, "system", (), "n_cpus", path)] = counts
        return columns

    def _make_series(self, measurement: str, tag: str, instance: str, name: str, shown: str) -> Series:
        tags = ((tag, instance),) if instance else ()
        if measurement == "cpu_util" and instance != "all":
            measurement, tags = "per_cpu", ((tag, f"cpu{instance}" if instance.isdecimal() else instance),)
        table, column = shown.split(" ", 1)
        shown = f"{table}({instance})" if instance else table
        return Series(self.host, measurement, tags, name, f"{self.tool} {shown} {column}")

    def _fill_column(self, column: RecordedColumn) -> Values:
        values = np.full(len(self._stamps), np.nan)
        # Of several values for one sample the first counts.
        values[column.rows[::-1]] = column.values[::-1]
        for rows, read in reversed(column.parts):
            values[rows[::-1]] = read[::-1]
        return values

    def _check_shares(self, filled: dict[tuple[str, str, str], Values]) -> None:
        """Replace ticks by shares (%), and shares that do not add up to 100 by NaN, with a remark.

        On KVM, all shares of a processor can be 0.
        """
        wrong: Times = np.zeros(len(self._stamps), dtype=np.int64)
        for table, instance in dict.fromkeys((table, instance) for table, instance, _ in filled):
            layout = self._tables[table]
            parts = [(table, instance, column) for column in layout.whole if (table, instance, column) in filled]
            if not parts:
                continue
            if layout.ticks and len(parts) < len(layout.whole):
                for key in parts:
                    del filled[key]
                continue
            total = np.sum([np.nan_to_num(filled[key]) for key in parts], axis=0)
            bad = total <= 0 if layout.ticks else np.abs(total - 100) > _SHARES_OFF
            bad &= ~np.isnan(filled[parts[0]])
            wrong += bad
            for key in [key for key in filled if key[:2] == (table, instance) and key[2] in layout.whole]:
                share = 100 * filled[key] / np.where(total > 0, total, np.nan) if layout.ticks else filled[key]
                filled[key] = np.where(bad, np.nan, share)
        if wrong.any():
            text = (
                "the shares of a processor do not add up to 100 %: no sample "
                f"({format_count(int(wrong.sum()), 'time')})"
            )
            line = self._lines[int(wrong.argmax())]
            self.remarks.add(Kind.SKIPPED, text, line=line, count=int(wrong.sum()))

    def _remark_left_out(self) -> None:
        if self._left_out:
            count = len(self._left_out)
            kind = Kind.CUT if count > max(MOST_LEFT_OUT * (count + len(self._stamps)), 1) else Kind.SKIPPED
            text = f"{format_count(count, 'line')} left out: cut short, damaged, or not of {self.tool}"
            self.remarks.add(kind, text, line=self._left_out[0], count=count)
        if unread := [name for name in self._unread if name not in load_recorder(self.tool).skipped]:
            text = f"not read: {join_names([shorten(name) for name in sorted(unread)], _MOST_NAMED)}"
            self.remarks.add(Kind.SKIPPED, text, count=len(unread))


def number(cell: str | float) -> float | None:
    """Return the finite number in a cell, with decimal point or comma; None for other text."""
    try:
        value = float(cell.replace(",", ".") if isinstance(cell, str) and "," in cell else cell)
    except (ValueError, TypeError):
        return None
    return value if isfinite(value) else None


def parse_wide_columns(tool: str, header: Sequence[str]) -> list[tuple[str, str, str] | None]:
    """Return the (table, instance, column) in each name of a header; None for a name in another form."""
    patterns = [re.compile(pattern) for pattern in load_recorder(tool).names]
    matches = [next(filter(None, (pattern.fullmatch(name) for pattern in patterns)), None) for name in header]
    return [match and (match["table"], match["instance"] or "", match["column"]) for match in matches]

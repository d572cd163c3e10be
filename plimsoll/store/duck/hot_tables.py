"""The tables with the live samples of days that are not yet in files.

New samples are appended to an *open* table in order of arrival. When the table is full or an hour old, it is closed,
and its samples are moved to the *raw* table of their day. A past day is written to files (`duck.day_files`), sorted by
series and time, so that a series is read from a few places; late samples of that day stay in tables until they are
written to files as well. After some days, minimum, maximum, mean and count of each minute replace the samples.
`duck.compaction` does all this, some series at a time. *Thin* tables, of an earlier version, have minutes of days.

No series has two samples at one time in the open and raw tables together. A sample in a table takes precedence over one
in a file.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import duckdb
import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values

Cursor: TypeAlias = duckdb.DuckDBPyConnection
Numbers: TypeAlias = NDArray[np.int32]
DAY = 86_400 * 1_000_000_000
HOUR = 3600 * 1_000_000_000
MINUTE = 60 * 1_000_000_000
EARLIEST = -(2**63)


class TableKind(StrEnum):
    """The kind of a table or day file: samples in order of arrival, samples of one day, or minutes of one day."""

    OPEN = "open"
    RAW = "raw"
    THIN = "thin"


COLUMNS = {
    TableKind.OPEN: "series INTEGER, time BIGINT, value DOUBLE",
    TableKind.RAW: "series INTEGER, time BIGINT, value DOUBLE",
    TableKind.THIN: "series INTEGER, time BIGINT, minimum DOUBLE, maximum DOUBLE, mean DOUBLE, amount INTEGER",
}


class HotTable(NamedTuple):
    """A table of live samples. `day` (days since 1970, UTC) is meaningless for an open table.

    Samples of series numbered below `above` are already in a day file, and are ignored.
    """

    name: str
    kind: TableKind
    day: int
    above: int

    @property
    def rows(self) -> str:
        """SQL for FROM: the rows of the table that are not yet in a day file."""
        return f"(FROM {self.name} WHERE series >= {self.above})" if self.above else self.name


def list_tables(cursor: Cursor, start: int | None = None, end: int | None = None) -> list[HotTable]:
    """Return the tables that may have samples in a range (by default at any time), in order of creation."""
    first, last = (-(2**31) if start is None else start // DAY), (2**31 - 1 if end is None else end // DAY)
    # There are few: selecting and sorting them in DuckDB takes four times as long.
    rows = sorted(cursor.execute("SELECT number, name, kind, day, above FROM part").fetchall())
    tables = [HotTable(name, TableKind(kind), day, above) for _, name, kind, day, above in rows]
    return [table for table in tables if table.kind is TableKind.OPEN or first <= table.day <= last]


def open_tables(cursor: Cursor) -> list[HotTable]:
    """Return the closed tables whose samples were not yet moved to raw tables, then the open table."""
    return [table for table in list_tables(cursor) if table.kind is TableKind.OPEN]


def list_tables_of_day(cursor: Cursor, day: int) -> list[HotTable]:
    """Return the raw and thin tables of a day."""
    return [table for table in list_tables(cursor, day * DAY, day * DAY) if table.kind is not TableKind.OPEN]


def add_table(cursor: Cursor, kind: TableKind, day: int = 0) -> HotTable:
    """Create an empty table."""
    number = take_next_number(cursor)
    table = HotTable(f"{kind}_{number}", kind, day, 0)
    cursor.execute(f"CREATE TABLE {table.name} ({COLUMNS[kind]})")
    cursor.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", [number, table.name, kind, day, 0])
    return table


def take_next_number(cursor: Cursor) -> int:
    """Return a number that no table or file has had."""
    (number,) = cursor.execute("SELECT nextval('part_number')").fetchone() or (0,)
    return number


def drop_table(cursor: Cursor, table: HotTable) -> None:
    """Remove a table with its samples."""
    cursor.execute(f"DROP TABLE {table.name}")
    cursor.execute("DELETE FROM part WHERE name = ?", [table.name])


def round_down(column: str, width: int) -> str:
    """Return the SQL of a time rounded down to a multiple of `width` ns; `%` alone rounds times before 1970 up."""
    return f"({column} - (({column} % {width}) + {width}) % {width})"


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples with finite values, as arrays: series numbers, times (UTC ns) and values."""

    series: Numbers
    times: Times
    values: Values

    def last_of_each(self) -> "Batch":
        """Return the samples sorted by series and time; of samples with equal series and time, only the last."""
        order = np.lexsort((self.times, self.series))
        ordered = self.chosen(order)
        last = np.ones(len(order), dtype=bool)
        last[:-1] = np.diff(ordered.series).astype(bool) | np.diff(ordered.times).astype(bool)
        return ordered if last.all() else ordered.chosen(last)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "Batch":
        """Return the samples selected by a mask or indices."""
        return Batch(self.series[rows], self.times[rows], self.values[rows])

    def insert(self, cursor: Cursor, table: HotTable) -> None:
        """Append the samples to a table."""
        self._register(cursor)
        cursor.execute(f"INSERT INTO {table.name} SELECT series, time, value FROM batch")
        cursor.unregister("batch")

    def delete(self, cursor: Cursor, table: HotTable) -> None:
        """Delete the table's samples with a series and time in this batch, whatever their values."""
        name = table.name
        self._register(cursor)
        cursor.execute(
            f"DELETE FROM {name} USING batch WHERE {name}.series = batch.series AND {name}.time = batch.time "
            f"AND {name}.time BETWEEN {int(self.times.min())} AND {int(self.times.max())}"
        )
        cursor.unregister("batch")

    def _register(self, cursor: Cursor) -> None:
        cursor.register("batch", {"series": self.series, "time": self.times, "value": self.values})

    def __len__(self) -> int:
        return len(self.series)

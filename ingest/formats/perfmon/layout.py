"""How the rows of a delimited log are written, and what reading them gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import polars as pl

from model.times import instant

TIME = "time"
BLANK = " "
_EARLIEST, LATEST = (instant(datetime(year, 1, 1, tzinfo=UTC)) // 1000 for year in (1980, 2201))  # us, as parsed
_WRITTEN = "%m/%d/%Y %H:%M:%S%.f"
_LONGEST = len("MM/DD/YYYY HH:MM:SS.nnnnnnnnn")
_SPACES = " \t\r\v\f"


@dataclass(frozen=True)
class Layout:
    """How the rows are written: where they begin, what separates cells, how many there are."""

    file: str
    offset: int
    first_line: int
    separator: str
    width: int
    header: bytes
    counters: Sequence[str]

    @cached_property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """The columns of a row: its time as it is written, and numbers."""
        return {TIME: pl.String, **dict.fromkeys(map(str, range(self.width - 1)), pl.Float64)}


@dataclass(frozen=True)
class Table:
    """Rows as read: wall-clock times (Datetime, ns), a column per counter (null: no sample), the line of each row.

    Behind each line of `headers`, where the header stands again, a recording of its own begins. Of `unread` columns
    a good part of the cells are no numbers.
    """

    local: pl.Series
    columns: list[pl.Series]
    lines: Sequence[int]
    headers: Sequence[int] = ()
    unread: Sequence[int] = ()


@dataclass(frozen=True)
class Rows:
    """The rows of a part of a log: as in a table, with the counters' columns in a frame."""

    local: pl.Series
    numbers: pl.DataFrame
    lines: Sequence[int]


def wall_clock(cells: pl.Series) -> pl.Series:
    """The first cells of rows as times; null where one is none, or is of a year no recorder is of."""
    written = pl.col(cells.name).str.strip_chars(_SPACES)
    # Parts of two rows, which a parser of times would take for one where a line end is between them.
    is_one = (written.str.len_bytes() <= _LONGEST) & ~written.str.contains("\n", literal=True)
    time = pl.when(is_one).then(written).str.to_datetime(_WRITTEN, strict=False, time_unit="us")
    local = cells.to_frame().select(time).to_series()
    # A clock that was never set counts from 1601, which nanoseconds from 1970 do not reach.
    since_1970 = local.cast(pl.Int64)
    if local.null_count() < len(local) and not since_1970.is_between(_EARLIEST, LATEST).all():
        local = local.set(~since_1970.is_between(_EARLIEST, LATEST), None)
    return local.cast(pl.Datetime("ns"))

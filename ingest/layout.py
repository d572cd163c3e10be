"""How the rows of a delimited log are written, and what reading them gives."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

TIME = "time"
BLANK = " "
_FIRST_YEAR, _LAST_YEAR = 1980, 2200
_WRITTEN = "%m/%d/%Y %H:%M:%S%.f"


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


@dataclass(frozen=True)
class Table:
    """Rows as read: wall-clock times (Datetime, ns), a column per counter (null: no sample), the line of each row."""

    local: pl.Series
    columns: list[pl.Series]
    lines: Sequence[int]


def wall_clock(cells: pl.Series) -> pl.Series:
    """The first cells of rows as times; null where one is none, or is of a year no recorder is of."""
    local = cells.str.strip_chars().str.to_datetime(_WRITTEN, strict=False, time_unit="us")
    # A clock that was never set counts from 1601, which nanoseconds from 1970 do not reach.
    years = local.dt.year()
    return local.set((years < _FIRST_YEAR) | (years > _LAST_YEAR), None).cast(pl.Datetime("ns"))

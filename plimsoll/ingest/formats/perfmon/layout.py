"""How the rows of a log are written, and what reading them gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from plimsoll.ingest.shared.clock_rules import EARLIEST, LATEST

TIME = "time"
_WRITTEN = "%m/%d/%Y %H:%M:%S%.f"
_LONGEST = len("MM/DD/YYYY HH:MM:SS.nnnnnnnnn")
_SPACES = " \t\r\v\f"


@dataclass(frozen=True)
class Layout:
    """Where the rows begin, and the cells of each: a time and a number, or a blank, for each of `counters`."""

    file: str
    header: bytes
    offset: int
    first_line: int
    separator: str
    counters: Sequence[str]

    @property
    def width(self) -> int:
        """The number of cells in a row."""
        return len(self.counters) + 1

    @property
    def quoted(self) -> int:
        """The number of quoted cells in a quoted row: a last separator makes a column without a name."""
        return self.width - (self.counters[-1] == "")

    @cached_property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """The columns of a row: its time as text, then numbers."""
        return {TIME: pl.String, **dict.fromkeys(map(str, range(self.width - 1)), pl.Float64)}


@dataclass(frozen=True)
class Rows:
    """Rows: wall-clock times (Datetime, ns), a column per counter (null: no sample), and the line of each row."""

    local: pl.Series
    numbers: pl.DataFrame
    lines: Sequence[int]


def wall_clock(cells: pl.Series) -> pl.Series:
    """Parse the first cells of rows; null for text that is not a time, or has a year in which nobody recorded."""
    written = pl.col(cells.name).str.strip_chars(_SPACES)
    # The parser of times would accept a line end within a time, where parts of two rows have run together.
    is_one = (written.str.len_bytes() <= _LONGEST) & ~written.str.contains("\n", literal=True)
    time = pl.when(is_one).then(written).str.to_datetime(_WRITTEN, strict=False, time_unit="us")
    local = cells.to_frame().select(time).to_series()
    # Microseconds, as years such as 1601 (a clock that was never set) do not fit into nanoseconds since 1970.
    is_recent = local.cast(pl.Int64).is_between(EARLIEST // 1000, LATEST // 1000)
    if not is_recent.all():
        local = local.set(~is_recent, None)
    return local.cast(pl.Datetime("ns"))

"""Reads, with polars, the rows of a log that is exactly as Performance Monitor wrote it."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from plimsoll.ingest.formats.perfmon.header import TableLayout
from plimsoll.ingest.formats.perfmon.plain import TIME_LENGTH, parse_times
from plimsoll.ingest.shared.clock import EARLIEST, LATEST

# polars warns on stderr about a quote around a line end; here the number of rows shows that.
warnings.filterwarnings("ignore", "CSV malformed", UserWarning)

TIME = "time"
_WRITTEN = "%m/%d/%Y %H:%M:%S%.f"
_LONGEST = len("MM/DD/YYYY HH:MM:SS.nnnnnnnnn")
_SPACES = " \t\r\v\f"


@dataclass(frozen=True)
class Rows:
    """Rows of a log: wall-clock times (Datetime, ns), a column per counter (null: no sample), and line numbers."""

    local: pl.Series
    numbers: list[pl.Series]
    lines: Sequence[int]


def make_schema(layout: TableLayout) -> dict[str, type[pl.DataType]]:
    """Return the polars types of a row's columns: its time as text, then numbers."""
    return {TIME: pl.String, **dict.fromkeys(map(str, range(layout.width - 1)), pl.Float64)}


def parse_wall_clock(cells: pl.Series) -> pl.Series:
    """Return the times in the first cells of rows; null for other text and for years outside 1980 to 2200."""
    if (cells.str.len_bytes() == TIME_LENGTH).sum() == len(cells) > 0:
        times = parse_times(cells.str.join().item().encode())
        if times is not None:
            return pl.Series(times).cast(pl.Datetime("ns"))
    written = pl.col(cells.name).str.strip_chars(_SPACES)
    # The parser of times would accept a line end within a time, where parts of two rows are joined.
    is_one = (written.str.len_bytes() <= _LONGEST) & ~written.str.contains("\n", literal=True)
    time = pl.when(is_one).then(written).str.to_datetime(_WRITTEN, strict=False, time_unit="us")
    local = cells.to_frame().select(time).to_series()
    # Microseconds, as years such as 1601 (a clock that was never set) do not fit into nanoseconds since 1970.
    is_recent = local.cast(pl.Int64).is_between(EARLIEST // 1000, LATEST // 1000)
    if not is_recent.all():
        local = local.set(~is_recent, None)
    return local.cast(pl.Datetime("ns"))


def read_regular(rows: bytes, line: int, layout: TableLayout, needed: Sequence[int] | None = None) -> Rows | None:
    """Return the rows of complete lines; None if a row is irregular. `line` is the number of the first line.

    `needed` are the indices of the columns to read, ascending; None means all.
    """
    # Count first: polars is slow on an unclosed quote, and accepts a row that lacks cells.
    expected = _estimate_rows(rows, layout)
    if not expected.is_integer():
        return None
    separator, schema = layout.separator, make_schema(layout)
    try:
        scan = pl.scan_csv(rows, has_header=False, separator=separator, schema=schema)
        frame = (scan if needed is None else scan.select(TIME, *map(str, needed))).collect()
    except (PolarsError, PanicException):
        return None
    if len(frame) != expected:
        return None
    local = parse_wall_clock(frame.drop_in_place(TIME))
    return None if local.null_count() else Rows(local, frame.get_columns(), range(line, line + len(local)))


def are_numbers(rows: bytes, count: int, layout: TableLayout) -> bool:
    """Return whether `count` rows consist only of times, numbers and separators, judged by their characters."""
    letters = np.count_nonzero(np.frombuffer(rows, np.uint8) > ord("9"))
    exponents, colons, slashes, separators = _count_bytes(rows, f"e:/{layout.separator}".encode())
    is_whole = letters == exponents + colons and colons == slashes == 2 * count
    return is_whole and separators == count * (layout.width - 1)


def _estimate_rows(rows: bytes, layout: TableLayout) -> float:
    """Return the number of rows, computed from separators or quotes.

    The number is fractional if a row lacks cells, NaN if a line may be cut.
    """
    (quotes,) = _count_bytes(rows, b'"')
    if quotes:
        return quotes / (2 * layout.quoted)
    separators, returns, line_ends = _count_bytes(rows, f"{layout.separator}\r\n".encode())
    # A line without a carriage return may be cut within its last number.
    return math.nan if returns not in (0, line_ends) else separators / (layout.width - 1)


def _count_bytes(rows: bytes, characters: bytes) -> list[int]:
    """Return how often each byte of `characters` occurs."""
    text = np.frombuffer(rows, np.uint8)
    return [int(np.count_nonzero(text == byte)) for byte in characters]

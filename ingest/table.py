"""The rows of a delimited log: a time in the first cell, a number or a blank in each other one.

Polars parses them at once, which takes for granted that every row has the header's cells and every cell
is a number. Where the outcome shows otherwise, lines are looked at, so that each row and cell that is
left out is told with its place. Large files are gone through in pieces, and so are damaged ones.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import polars as pl
from polars.exceptions import PolarsError

from ingest.by_line import read_by_line
from ingest.layout import TIME, Layout, Rows, Table, wall_clock
from ingest.numbers import columns_of
from ingest.pieces import PIECE, QUOTE, Data, count, ends_in_a_bare_cell, pieces
from ingest.tally import Tally
from ingest.text import Text
from model.remark import Kind, Remarks

# Files up to here are left to polars whole: it is faster for that, and holds them in memory meanwhile.
WHOLE = 128 << 20
# Counting what so many bytes are made of takes little time beside parsing them in vain.
_SOON_COUNTED = 2 * PIECE
_HEAD = 100
_WORTH_A_THREAD = 1_000_000  # cells


def parse(text: Text, layout: Layout, remarks: Remarks, begun: Event) -> Table:
    """Read all rows. Unusable if the rows do not have the cells of the header.

    `begun` is set as soon as others that need Python do not keep the parser waiting.
    """
    tried = len(text.data) <= WHOLE
    if tried and (rows := _whole(text, layout, begun)):
        return _table([rows], layout, remarks)
    begun.set()
    tally = Tally()
    parts: list[Rows] = []
    line = layout.first_line
    regular = True  # damage seldom comes alone: behind a damaged piece the next is not tried at once
    for piece in pieces(text.data, layout.offset, layout.separator):
        rows = None
        alone = piece.last and not parts  # the whole file, which was tried already
        if regular and not (tried and alone) and not piece.bare:
            rows = _at_once(piece.data, piece.data, 0, line, layout, begun)
        if rows:
            tally.add_rows(rows)
        else:
            before = tally.faults, len(remarks.items)
            rows = read_by_line(piece, line, layout, tally, remarks)
            regular = before == (tally.faults, len(remarks.items))
        if rows is None:
            break
        parts.append(rows)
        line += piece.lines
    tally.tell(layout, remarks)
    return _table(parts, layout, remarks)


def _whole(text: Text, layout: Layout, begun: Event) -> Rows | None:
    """All rows of a file, or None where it is not as regular as that needs."""
    first = text.data[layout.offset : layout.offset + _HEAD]
    if not first.strip() or ends_in_a_bare_cell(text.data):
        return None
    return _at_once(text.source, text.data, layout.offset, layout.first_line, layout, begun)


def _at_once(source: Path | bytes, data: Data, offset: int, line: int, layout: Layout, begun: Event) -> Rows | None:
    """All lines in one go, or None where they are not as regular as that needs."""
    is_quoted = b'"' in data[offset : offset + _HEAD]
    full = _full_rows(data, offset, layout) if len(data) <= _SOON_COUNTED or not is_quoted else None
    if full is not None and not full.is_integer():
        return None
    begun.set()
    frame = columns_of(source, layout, skip_lines=line - 1 if offset else 0, strict=True, tail=True)
    if frame is None:
        return None
    tail = frame[layout.last]
    # No row has more cells than the header; one that has fewer lacks the last.
    if (tail == "").any() and len(frame) != (full or _full_rows(data, offset, layout)):
        return None
    local = wall_clock(frame.drop_in_place(TIME))
    try:
        frame.replace_column(frame.width - 1, tail.str.strip_chars_start().cast(pl.Float64))
    except PolarsError:
        return None
    return None if local.null_count() else Rows(local, frame, range(line, line + len(local)))


def _full_rows(data: Data, offset: int, layout: Layout) -> float:
    """How many rows there would be if all had the header's cells: no whole number where one surely has not."""
    if quotes := count(data, QUOTE, offset):
        return quotes / (2 * layout.width)
    # A line without its carriage return may be cut within its last number.
    if (returns := count(data, ord("\r"), offset)) and returns != count(data, ord("\n"), offset):
        return math.nan
    return count(data, ord(layout.separator), offset) / (layout.width - 1)


def _table(parts: Sequence[Rows], layout: Layout, remarks: Remarks) -> Table:
    if not parts:
        empty = pl.Series([], dtype=pl.Float64)
        return Table(pl.Series([], dtype=pl.Datetime("ns")), [empty] * (layout.width - 1), [])
    first, *others = parts
    local, numbers, lines = first.local, first.numbers, first.lines
    if others:
        local = pl.concat([part.local for part in parts])
        numbers = pl.concat([part.numbers for part in parts])
        lines = [line for part in parts for line in part.lines]
    return Table(local, _finite(numbers.get_columns(), layout, remarks), lines)


def _finite(columns: list[pl.Series], layout: Layout, remarks: Remarks) -> list[pl.Series]:
    """NaN and infinities become missing, with a remark."""
    for at, (counter, column, total) in enumerate(zip(layout.counters, columns, _sums(columns), strict=True)):
        if math.isfinite(total):
            continue
        infinite = ~column.is_finite()
        if count := int(infinite.sum() or 0):
            more = f", and {count - 1:,} more in this column" if count > 1 else ""
            remarks.add(Kind.SKIPPED, f"NaN or infinite: no sample{more}", counter=counter, count=count)
            columns[at] = column.set(infinite, None)
    return columns


def _sums(columns: Sequence[pl.Series]) -> Iterator[float]:
    """The sum of each column: finite only if all its values are."""
    if len(columns) * len(columns[0]) < _WORTH_A_THREAD:
        yield from (float(column.sum()) for column in columns)
        return
    half = len(columns) // 2
    with ThreadPoolExecutor() as pool:
        for sums in pool.map(lambda part: [column.sum() for column in part], (columns[:half], columns[half:])):
            yield from sums

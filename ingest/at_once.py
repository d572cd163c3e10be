"""Many rows parsed at once, which takes for granted that each has the header's cells, and a number in each of them.

Where the outcome shows otherwise, the rows before the damage are given, or none.
"""

import math
from collections.abc import Iterable, Iterator
from threading import Event

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from ingest.layout import TIME, Layout, Rows, wall_clock
from ingest.lines import Counts
from ingest.numbers import columns_of, nulls_of_rows
from ingest.pieces import BLANK_CELL, PIECE, QUOTE, Data, count, ends_in_a_bare_cell
from ingest.text import Text

# Counting what so many bytes are made of takes little time beside parsing them in vain.
_SOON_COUNTED = 2 * PIECE
_HEAD = 100
_SAMPLE = 1 << 17


def whole(text: Text, layout: Layout, begun: Event) -> tuple[Rows | None, int]:
    """The rows of a file as far as they are regular, and where the next one would begin. `begun`: see `read_pdh`."""
    data, offset, line = text.data, layout.offset, layout.first_line
    first = data[offset : offset + _HEAD]
    if not first.strip() or ends_in_a_bare_cell(data):
        return None, offset
    full = _full_rows(data, offset, layout) if len(data) <= _SOON_COUNTED or b'"' not in first else None
    if not (full.is_integer() if full is not None else _ends_in_a_row(data, offset, layout)):
        return None, offset
    if full is None and not _holds_blanks(data, offset):
        return _up_to_damage(text, layout, begun)
    frame = columns_of(text.source, layout, skip_lines=line - 1, strict=True, tail=True, begun=begun)
    if full is None and frame is not None and _lacks_last(frame, layout):
        full = _full_rows(data, offset, layout)
    rows = _regular(frame, full, line, layout)
    return rows, len(data) if rows else offset


def at_once(piece: bytes, line: int, layout: Layout) -> Rows | None:
    """The rows of a piece, the first of which is that line of the file; None where they are not regular."""
    full = _full_rows(piece, 0, layout)
    frame = columns_of(piece, layout, strict=True, tail=True) if full.is_integer() else None
    return _regular(frame, full, line, layout)


def _regular(frame: pl.DataFrame | None, full: float | None, line: int, layout: Layout) -> Rows | None:
    if frame is None or (_lacks_last(frame, layout) and len(frame) != full):
        return None
    local = wall_clock(frame.drop_in_place(TIME))
    tail = frame.to_series(frame.width - 1)
    try:
        frame.replace_column(frame.width - 1, tail.str.strip_chars_start(" \t").cast(pl.Float64))
    except PolarsError:
        return None
    return None if local.null_count() else Rows(local, frame, range(line, line + len(local)))


def _lacks_last(frame: pl.DataFrame, layout: Layout) -> bool:
    """Whether a row seems to have fewer cells than the header; none that was parsed has more."""
    return bool((frame[layout.last] == "").any())


def _full_rows(data: Data, offset: int, layout: Layout) -> float:
    """How many rows there would be if all had the header's cells: no whole number where one surely has not."""
    if quotes := count(data, QUOTE, offset):
        return quotes / (2 * layout.width)
    # A line without its carriage return may be cut within its last number.
    if (returns := count(data, ord("\r"), offset)) and returns != count(data, ord("\n"), offset):
        return math.nan
    return count(data, ord(layout.separator), offset) / (layout.width - 1)


def _ends_in_a_row(data: Data, offset: int, layout: Layout) -> bool:
    """Whether the last line is a whole row: of a quote that nothing closes polars takes what it can."""
    end = len(data)
    while end > offset and data[end - 1] in b"\r\n":
        end -= 1
    line = data[data.rfind(b"\n", offset, end) + 1 or offset : end]
    return Counts.of(line, layout.separator.encode()).regular(line, layout.width)


def _holds_blanks(data: Data, offset: int) -> bool:
    """Whether a large log seems to hold blanks in other rows than the first.

    Without them what polars takes for no number tells of damage. With them a strict parser tells sooner of cells
    that are none; of a quote that is left open it says all that follows, in more time than it takes to read.
    """
    second = data.find(b"\n", offset) + 1
    last = len(data) - _SAMPLE
    return any(BLANK_CELL in data[at : at + _SAMPLE] for at in (second, (second + last) // 2, last))


def _up_to_damage(text: Text, layout: Layout, begun: Event) -> tuple[Rows | None, int]:
    """The rows before the first that lacks what is no blank, and where it begins: each that lacks any is looked at."""
    offset, first = layout.offset, layout.first_line
    frame = columns_of(text.source, layout, skip_lines=first - 1, begun=begun)
    if frame is None:
        return None, offset
    local = wall_clock(frame.drop_in_place(TIME))
    lacking = _lacking(frame, local)
    for row, start in zip(lacking, _starts(text, offset, lacking), strict=True):
        line = text.line_at(start)
        found = Counts.of(line, layout.separator.encode())
        if found.blanks != lacking[row] or not found.regular(line, layout.width):
            rows = Rows(local[:row], frame[:row], range(first, first + row))
            return rows if row else None, start
    return Rows(local, frame, range(first, first + len(local))), len(text.data)


def _lacking(frame: pl.DataFrame, local: pl.Series) -> dict[int, float]:
    """Which rows lack numbers, and how many; more than there can be where the time is missing."""
    of_first = sum(value is None for value in frame.row(0)) if len(frame) else 0
    lacking = {0: float(of_first)} if of_first else {}
    if sum(frame.null_count().row(0)) > of_first:
        some = frame[1:, [at for at, column in enumerate(frame.get_columns()) if column.null_count()]]
        counts = nulls_of_rows(some)
        lacking |= {row + 1: float(counts[row]) for row in np.flatnonzero(counts).tolist()}
    lacking |= dict.fromkeys(local.is_null().arg_true().to_list(), math.inf)
    return dict(sorted(lacking.items()))


def _starts(text: Text, offset: int, rows: Iterable[int]) -> Iterator[int]:
    """Where these rows begin, if each is a line from `offset` on."""
    done = 0
    for row in rows:
        for _ in range(row - done):
            offset = text.data.find(b"\n", offset) + 1
        done = row
        yield offset

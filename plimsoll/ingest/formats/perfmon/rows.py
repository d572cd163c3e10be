"""Reads the rows of a log of any size in pieces; irregular pieces are read line by line."""

import math
import mmap
import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.perfmon.by_line import ByLine, LinePiece
from plimsoll.ingest.formats.perfmon.header import TableLayout
from plimsoll.ingest.formats.perfmon.left_out import LeftOut
from plimsoll.ingest.formats.perfmon.plain import CounterTable
from plimsoll.ingest.formats.perfmon.regular import Rows, are_numbers, read_regular
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import PartlyRead, Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count, format_more

_PIECE = 16 << 20  # a file read at once is completely in memory
_TAIL = 1 << 16
_LINE = re.compile(rb"\S[^\n]*\n")  # a line that is not blank


def read_rows(text: Text, layout: TableLayout, remarks: Remarks) -> CounterTable:
    """Return all rows of a log; add remarks on the rows and cells that are left out.

    Raise Unusable if most rows or cells cannot be read, or if another log begins in the file.
    """
    data = text.data
    left_out = LeftOut(layout)
    by_line = ByLine(layout, left_out)
    parts: list[Rows] = []
    line = layout.first_line
    end = _end(data, layout.offset)
    for piece in _split_pieces(data, layout.offset, end):
        rows = None if piece.is_open else read_regular(piece.data, line, layout)
        if rows:
            left_out.count(rows)
        else:
            rows = by_line.read(piece, line)
        parts.append(rows)
        if left_out.is_hopeless:
            break
        line += piece.data.count(b"\n")
    if zeros := data[end:].count(b"\0"):
        name = f"the file ends with {format_count(zeros, 'zero byte')}, as after a crash: left out"
        remarks.add(Kind.SKIPPED, name, line=line - (data[end - 1 : end] != b"\n"))
    left_out.tell(remarks, len(data))
    local = np.concatenate([_compute_nanoseconds(part) for part in parts] or [np.zeros(0, dtype=np.int64)])
    columns = _join_columns(parts, layout.counters, remarks)
    lines = [line for part in parts for line in part.lines]
    return CounterTable(local, columns, lines, by_line.headers, left_out.unread(columns, local, lines))


def read_needed(text: Text, layout: TableLayout, needed: Sequence[int], remarks: Remarks) -> CounterTable | None:
    """Return all rows of a log, with only the columns at the indices `needed` in memory.

    Return None if a row is irregular, or a cell of any column is not a number.
    """
    data, line, parts = text.data, layout.first_line, list[Rows]()
    end = _end(data, layout.offset)
    for piece in _split_pieces(data, layout.offset, end):
        read = not piece.is_open and read_regular(piece.data, line, layout, needed)
        if not read or not are_numbers(piece.data, len(read.local), layout):
            return None
        parts.append(read)
        line += piece.data.count(b"\n")
    if not parts or b"\0" in data[end:]:
        return None
    columns = _join_columns(parts, [layout.counters[at] for at in needed], remarks)
    local = np.concatenate([_compute_nanoseconds(part) for part in parts])
    whole = PartlyRead(
        len(layout.counters),
        dict(zip(needed, columns, strict=True)),
        lambda: read_rows(text, layout, Remarks(remarks.file)).columns,
    )
    return CounterTable(local, whole, [line for part in parts for line in part.lines])


def _compute_nanoseconds(rows: Rows) -> Times:
    return rows.local.cast(pl.Int64).to_numpy()


def _join_columns(parts: Sequence[Rows], counters: Sequence[str], remarks: Remarks) -> list[Values]:
    """Return the column of each counter; NaN for missing samples and for infinities.

    Columns are removed from `parts` when they are joined, so that only one column at a time is in memory twice.
    """
    columns: list[Values] = []
    for counter in counters:
        pieces = [part.numbers.pop(0) for part in parts]
        if not math.isfinite(sum(piece.sum() or 0 for piece in pieces)):  # finite only if all values are
            infinite = [~piece.is_finite() for piece in pieces]
            if count := sum(int(where.sum() or 0) for where in infinite):
                text = f"NaN or infinite: no sample{format_more(count)}"
                remarks.add(Kind.SKIPPED, text, counter=counter, count=count)
                pieces = [piece.set(where, None) for piece, where in zip(pieces, infinite, strict=True)]
        arrays = [piece.to_numpy() for piece in pieces]
        columns.append(arrays[0] if len(arrays) == 1 else np.concatenate(arrays or [np.zeros(0)]))
    return columns


def _split_pieces(data: Data, start: int, end: int) -> Iterator[LinePiece]:
    """Yield the lines between two offsets of the file, in pieces of about `_PIECE` bytes; an open last line alone."""
    while start < end:
        line_end = data.find(b"\n", min(start + _PIECE, end - 1), end)
        stop = line_end + 1 or data.rfind(b"\n", start, end) + 1 or end
        body = data[start:stop]
        if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            # Give the pages back to the system, so that memory does not grow with the file.
            first = start - start % mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, first, stop - first)
        is_open = not body.endswith(b"\n")
        following = _LINE.search(data, stop, end)
        next_has_return = following is None or following[0].endswith(b"\r\n")
        yield LinePiece(body + b"\n" if is_open else body, stop == end, is_open, next_has_return)
        start = stop


def _end(data: Data, start: int) -> int:
    """Return the end offset of the last line that is neither blank nor all zero bytes."""
    end = len(data)
    while end > start:
        tail = data[max(start, end - _TAIL) : end]
        if written := len(tail.rstrip(b" \t\r\n\0")):
            end += written - len(tail)
            line_end = data.find(b"\n", end)
            blank = data[end : len(data) if line_end < 0 else line_end]
            if b"\0" in blank:
                return end
            return len(data) if line_end < 0 else line_end + 1
        end -= len(tail)
    return start

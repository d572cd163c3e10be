"""The three formats of Performance Monitor: PDH-CSV, PDH-TSV, and what typeperf prints."""

import math
import mmap
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.perfmon.by_line import ByLine, Piece
from plimsoll.ingest.formats.perfmon.columns import columns_of, tell_columns, tell_twins, unread_columns
from plimsoll.ingest.formats.perfmon.header import no_paths, read_header, zone_of
from plimsoll.ingest.formats.perfmon.layout import Layout, Rows
from plimsoll.ingest.formats.perfmon.left_out import LeftOut
from plimsoll.ingest.formats.perfmon.regular import ends_in_a_bare_cell, read_regular
from plimsoll.ingest.formats.perfmon.typeperf import with_blanks_for_no_data
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.clock import in_order, to_utc
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log, Times
from plimsoll.model.remark import Kind, Remarks, and_more, counted
from plimsoll.model.times import Zone

# Larger files are read in pieces only: a file that is read at once is held in memory meanwhile.
_AT_ONCE = 128 << 20
_PIECE = 4 << 20
_LARGE_PIECE = 32 << 20
_TAIL = 1 << 16
_LINE = re.compile(rb"\S[^\n]*\n")  # a line that is not blank


@dataclass(frozen=True)
class Table:
    """All rows of a log.

    Behind each line of `headers`, where the header is repeated, another recording begins. In the columns of `unread`
    many cells are not numbers.
    """

    local: pl.Series
    columns: list[pl.Series]
    lines: Sequence[int]
    headers: Sequence[int] = ()
    unread: Sequence[int] = ()


@dataclass(frozen=True)
class _Format:
    """One of the formats: how its header begins, after a quote, and what separates cells."""

    NAME: str
    signs: tuple[bytes, ...]
    separator: str

    def sniff(self, text: Text) -> bool:
        """Whether the first line is a header of this format."""
        return text.header.lstrip(b'"').startswith(self.signs)

    def read(self, text: Text, how: Reading) -> Log:
        """Read the log. Unusable if its header, rows or times cannot be read for certain."""
        remarks = Remarks(str(text.path))
        log = read_pdh(with_blanks_for_no_data(text, remarks), self.NAME, self.separator, how)
        return replace(log, remarks=(*remarks, *log.remarks))


CSV = _Format("PDH-CSV", (b"(PDH-CSV 4.0) (", b"(PDH-CSV 4.0)("), ",")
TSV = _Format("PDH-TSV", (b"(PDH-TSV 4.0)",), "\t")
# typeperf writes no time zone.
TYPEPERF = _Format("typeperf", (b'(PDH-CSV 4.0)"', b"(PDH-CSV 4.0),"), ",")


def read_pdh(text: Text, format_: str, separator: str, how: Reading) -> Log:
    """Read a log whose first line is a PDH header."""
    file = str(text.path)
    remarks, of_rows = Remarks(file), Remarks(file)
    header = read_header(text, separator, remarks)
    zone = zone_of(header.cells[0], how.zone, remarks)
    counters = header.cells[1:]
    layout = Layout(file, text.header, header.offset, header.line, separator, counters)
    # polars parses the rows outside of Python, while Python looks up the names of the counters.
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(read_rows, text, layout, of_rows)
        columns = columns_of(file, counters, how.names)
        if columns is None:
            raise no_paths(text)
        table = rows.result()
    tell_columns(columns, counters, table.columns, remarks)
    remarks.items += of_rows
    times, order = _times(table, zone, remarks)
    values = tuple(table.columns[at] for at in columns.kept)
    if order is not None:
        values = tuple(pl.DataFrame(values)[order].get_columns())
    tell_twins(columns, values, times, remarks)
    unread = tuple(counters[at] for at in unread_columns(columns, table.columns, table.unread))
    return Log(text.path, format_, times, values, columns.series, zone, tuple(remarks), unread=unread)


def _times(table: Table, zone: Zone, remarks: Remarks) -> tuple[Times, NDArray[np.intp] | None]:
    """UTC instants in ascending order, and the order of the rows if that had to change."""
    instants = to_utc(table.local.cast(pl.Int64).to_numpy(), zone, table.lines, remarks, table.headers)
    return in_order(instants, table.lines, table.headers, remarks)


def read_rows(text: Text, layout: Layout, remarks: Remarks) -> Table:
    """Read all rows; remark each row and cell that is left out.

    Unusable if most rows or cells cannot be read, or if another log begins in the file.
    """
    data = text.data
    is_small = len(data) <= _AT_ONCE
    if is_small and not ends_in_a_bare_cell(data):
        rows = read_regular(text.source, layout.offset, len(data), layout.first_line, layout)
        if rows:
            return Table(rows.local, _finite(rows.numbers, layout, remarks), rows.lines)
    left_out = LeftOut(layout)
    by_line = ByLine(layout, left_out)
    parts: list[Rows] = []
    line = layout.first_line
    end = _end(data, layout.offset)
    size = _PIECE if is_small else _LARGE_PIECE
    for piece in _pieces(data, layout.offset, end, size):
        rows = None
        if not piece.is_open and (not is_small or len(piece.data) < end - layout.offset):
            rows = read_regular(piece.data, 0, len(piece.data), line, layout)
        if rows:
            left_out.count(rows)
        else:
            rows = by_line.read(piece, line)
        parts.append(rows)
        if left_out.is_hopeless:
            break
        line += piece.data.count(b"\n")
    if zeros := data[end:].count(b"\0"):
        told = f"the file ends with {counted(zeros, 'zero byte')}, as after a crash: left out"
        remarks.add(Kind.SKIPPED, told, line=line - (data[end - 1 : end] != b"\n"))
    left_out.tell(remarks)
    local = pl.concat([part.local for part in parts]) if parts else pl.Series([], dtype=pl.Datetime("ns"))
    numbers = pl.concat([part.numbers for part in parts]) if parts else pl.DataFrame(schema=layout.schema).drop("time")
    lines = [line for part in parts for line in part.lines]
    columns = _finite(numbers, layout, remarks)
    return Table(local, columns, lines, by_line.headers, left_out.unread(columns, local, lines))


def _finite(numbers: pl.DataFrame, layout: Layout, remarks: Remarks) -> list[pl.Series]:
    """The columns, with NaN and infinities as missing."""
    columns = numbers.get_columns()
    for at, total in enumerate([column.sum() for column in columns]):  # a third of what a frame's sum takes
        if math.isfinite(total or 0):  # the sum is finite only if all values are
            continue
        infinite = ~columns[at].is_finite()
        if count := int(infinite.sum() or 0):
            told = f"NaN or infinite: no sample{and_more(count)}"
            remarks.add(Kind.SKIPPED, told, counter=layout.counters[at], count=count)
            columns[at] = columns[at].set(infinite, None)
    return columns


def _pieces(data: Data, start: int, end: int, size: int) -> Iterator[Piece]:
    """The lines of a part of the file, in pieces of about that size."""
    while start < end:
        line_end = data.find(b"\n", min(start + size, end), end)
        stop = end if line_end < 0 else line_end + 1
        body = data[start:stop]
        if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            # Give the pages back to the system, so that memory does not grow with the file.
            first = start - start % mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, first, stop - first)
        is_open = not body.endswith(b"\n")
        following = _LINE.search(data, stop, end)
        next_has_return = following is None or following[0].endswith(b"\r\n")
        yield Piece(body + b"\n" if is_open else body, stop == end, is_open, next_has_return)
        start = stop


def _end(data: Data, start: int) -> int:
    """Where the last line ends that is not blank or made of zero bytes."""
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

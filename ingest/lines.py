"""The rows of a log that is not as regular as it should be, each line on its own terms.

Regular lines are parsed together; of the others each is told with its place.
"""

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

import numpy as np
import polars as pl

from ingest.cells import split
from ingest.layout import BLANK, TIME, Layout, Table, wall_clock
from ingest.text import Text
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

_MOST_TOLD = 20
_HOPELESS = 50
_HEAD = 64
_NOT_ASCII = 0x80
_BLANK_CELL = b'" "'
_LONG = 2000  # from here on counting by numpy is the faster way
_TRAILERS = (b"Exiting, please wait", b"The command completed successfully")
_TIME_LIKE = re.compile(rb'"?\s*\d\d/\d\d/\d{4} \d\d:\d\d:\d\d')
_DAY_FIRST = re.compile(rb'"?\s*(?:1[3-9]|2\d|3[01])/(?:0\d|1[0-2])/\d{4} ')


@dataclass
class _Lines:
    """The lines of a file, sorted by what can be made of them.

    `kept` are the rows: where in the file they stand, or their text where it had to be rewritten;
    `blanks` says how many of a row's cells are blank.
    """

    data: bytes | mmap.mmap
    kept: list[tuple[int, int] | bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    blanks: list[int] = field(default_factory=list)
    uneven: list[tuple[int, int]] = field(default_factory=list)
    timeless: list[tuple[int, str]] = field(default_factory=list)
    day_first: list[tuple[int, str]] = field(default_factory=list)

    def keep(self, number: int, line: tuple[int, int] | bytes, blanks: int) -> None:
        """A line with as many cells as the header; it is a row if its first one is a time."""
        head = (line if isinstance(line, bytes) else self.data[line[0] : min(line[1], line[0] + _HEAD)])[:_HEAD]
        if _DAY_FIRST.match(head):
            self.day_first.append((number, _first_cell(head)))
        if _TIME_LIKE.match(head):
            self.kept.append(line)
            self.numbers.append(number)
            self.blanks.append(blanks)
        else:
            self.timeless.append((number, _first_cell(head)))

    def text(self, row: int) -> bytes:
        """One row as it is parsed."""
        line = self.kept[row]
        return line if isinstance(line, bytes) else self.data[line[0] : line[1]]

    def body(self) -> bytes:
        """All rows, one below the other."""
        with memoryview(self.data) as view:
            parts = [view[piece[0] : piece[1]] if isinstance(piece, tuple) else piece for piece in self._pieces()]
            try:
                return b"\n".join(parts)
            finally:
                for part in parts:
                    if isinstance(part, memoryview):
                        part.release()

    def _pieces(self) -> Iterator[tuple[int, int] | bytes]:
        """Rows that follow each other in the file taken as one."""
        start = end = -1
        for line in self.kept:
            if not isinstance(line, bytes) and line[0] == end + 1:
                end = line[1]
                continue
            if end > start:
                yield start, end
            start = end = -1
            if isinstance(line, bytes):
                yield line
            else:
                start, end = line
        if end > start:
            yield start, end


def read_by_line(text: Text, layout: Layout, remarks: Remarks) -> Table:
    """Read all rows. Unusable if they do not have the cells of the header, or their times are no times."""
    lines = _Lines(text.data)
    spans = list(_spans(text.data, layout.offset))
    opening, separator = _opening(layout.header), layout.separator.encode()
    for number, (start, end) in enumerate(spans, layout.first_line):
        head = text.data[start : min(end, start + _HEAD)]
        if head.lstrip(b'"').startswith(opening):
            _tell_second_header(text.data[start:end], number, layout, remarks)
            continue
        counts = _counts(text.data, start, end, separator)
        bare = end == len(text.data) and ends_in_a_bare_cell(text.data)
        if counts.regular(head, text.data[end - 2 : end], layout.width) and not bare:
            line = (start, end) if counts.ascii else _mended(text.data[start:end])
            lines.keep(number, line, counts.blanks)
        else:
            last = number == layout.first_line + len(spans) - 1
            _take_irregular(text.data[start:end], number, last, lines, layout, remarks)
            if len(lines.uneven) == _HOPELESS and not lines.kept:
                break  # the header is another's: reading on tells no more
    _tell(lines, layout, remarks)
    if not lines.kept:
        return Table(pl.Series([], dtype=pl.Datetime("ns")), [pl.Series([], dtype=pl.Float64)] * (layout.width - 1), [])
    times, columns = _numbers(lines, layout, remarks)
    return _dated(times, columns, lines.numbers, layout, remarks)


def _spans(data: bytes | mmap.mmap, start: int) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, without its line end; blank lines at the end of the file are none."""
    size = len(data)
    while size > start and data[size - 1 : size].isspace():
        size -= 1
    while start < size:
        end = data.find(b"\n", start, size)
        end = size if end < 0 else end
        yield start, end
        start = end + 1


class _Counts(NamedTuple):
    """What a line is made of; `separators` are all of them where nothing is quoted, `between` those between quotes."""

    quotes: int
    between: int
    separators: int
    blanks: int
    ascii: bool

    def regular(self, head: bytes, tail: bytes, width: int) -> bool:
        """Whether there are as many cells as there should be, all of them quoted or none."""
        if not self.quotes:
            return self.separators == width - 1
        enclosed = head[:1] == b'"' and tail.rstrip(b"\r")[-1:] == b'"'
        return enclosed and self.quotes == 2 * width and self.between == width - 1


def _counts(data: bytes | mmap.mmap, start: int, end: int, separator: bytes) -> _Counts:
    if end - start < _LONG or data[start : start + 1] != b'"':
        line = data[start:end]
        quotes = line.count(b'"')
        between, separators = line.count(b'"' + separator + b'"'), 0 if quotes else line.count(separator)
        blanks = line.count(_BLANK_CELL) if quotes else sum(not cell.strip() for cell in line.split(separator))
        return _Counts(quotes, between, separators, blanks, line.isascii())
    cells = np.frombuffer(data, np.uint8, end - start, start)
    quote = cells == ord('"')
    enclosed = quote[:-2] & quote[2:]
    between = int(np.count_nonzero(enclosed & (cells[1:-1] == ord(separator))))
    blanks = int(np.count_nonzero(enclosed & (cells[1:-1] == ord(BLANK))))
    return _Counts(int(np.count_nonzero(quote)), between, 0, blanks, int(cells.max()) < _NOT_ASCII)


def _mended(line: bytes) -> bytes:
    return line.decode("utf-8", errors="replace").encode()


def _take_irregular(line: bytes, number: int, last: bool, to: _Lines, layout: Layout, remarks: Remarks) -> None:
    """A line that is not quoted throughout or not at all, or has too many or too few cells."""
    cells = split(line.rstrip(b"\r").decode("utf-8", errors="replace"), layout.separator)
    if len(cells) == layout.width and not (last and (_is_cut(line) or b'"' not in line)):
        to.keep(number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    elif last and (whole := _whole_cells(line, cells, layout)):
        said = f"the last row is cut short: kept its first {len(whole)} of {layout.width} cells"
        remarks.add(Kind.SKIPPED, said, line=number)
        cells = [*whole, *repeat(BLANK, layout.width - len(whole))]
        to.keep(number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    elif not _is_chatter(line, number, remarks):
        to.uneven.append((number, len(cells)))


def ends_in_a_bare_cell(data: bytes | mmap.mmap) -> bool:
    """Whether a file ends within a line, in a cell without quotes: nobody can tell whether its number is whole."""
    return data[len(data) - 1 :] not in (b"\n", b"\r", b'"', b" ", b"\0")


def _is_cut(line: bytes) -> bool:
    return line.count(b'"') % 2 == 1


def _whole_cells(line: bytes, cells: list[str], layout: Layout) -> list[str]:
    """The cells of a last row that were written to their end; none where that leaves no value."""
    whole = cells[:-1] if _is_cut(line) or b'"' not in line or len(cells) == layout.width else cells
    return whole if 2 <= len(whole) < layout.width else []


def _rewritten(cells: Sequence[str], separator: str) -> bytes:
    return separator.join('"' + cell.replace('"', "'").replace(separator, " ") + '"' for cell in cells).encode()


def _first_cell(line: bytes) -> str:
    return _short(line[:60].decode("utf-8", errors="replace").lstrip('"').partition('"')[0])


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _is_chatter(line: bytes, number: int, remarks: Remarks) -> bool:
    """Lines that are no rows and carry no data: blank ones, and what typeperf says at its end."""
    text = line.strip()
    if not text:
        return True
    if text.startswith(_TRAILERS):
        said = text.decode("utf-8", errors="replace")
        remarks.add(Kind.SKIPPED, f'typeperf\'s closing line "{said}"', line=number)
        return True
    return False


def _opening(header: bytes) -> bytes:
    """How a header of this format begins, up to where hosts, zones and counters come in."""
    return header.lstrip(b'"').partition(b" ")[0]


def _tell_second_header(line: bytes, number: int, layout: Layout, remarks: Remarks) -> None:
    if line.strip() != layout.header.strip():
        raise Unusable(
            f"{layout.file}:{number}: another log with a header of its own begins here; split the file before this line"
        )
    remarks.add(Kind.SKIPPED, "the header stands here again", line=number)


def _tell(lines: _Lines, layout: Layout, remarks: Remarks) -> None:
    """Refuse what cannot be read for certain; remark each row that is left out."""
    rows = len(lines.kept) + len(lines.timeless)
    if len(lines.uneven) > rows:
        number, cells = lines.uneven[0]
        raise Unusable(
            f"{layout.file}:{number}: the header has {layout.width} cells but the row has {cells}, so values cannot "
            "be told apart by their counter; record the log again, or mend the header"
        )
    if len(lines.timeless) > len(lines.kept):
        number, said = lines.timeless[0]
        raise Unusable(_no_time(layout, number, said))
    if len(lines.day_first) > 1:
        number, said = lines.day_first[0]
        raise Unusable(
            f'{layout.file}:{number}: "{said}" has the day before the month, and of other rows it cannot be told; '
            "export the log again with relog"
        )
    width = layout.width
    reasons = [(at, f"the row has {n} cells where the header has {width}: left out") for at, n in lines.uneven]
    reasons += [(at, f'"{said}" is not a time: the row is left out') for at, said in lines.timeless]
    for at, reason in sorted(reasons)[:_MOST_TOLD]:
        remarks.add(Kind.SKIPPED, reason, line=at)
    if (more := len(reasons) - _MOST_TOLD) > 0:
        remarks.add(Kind.SKIPPED, f"{counted(more, 'more row')} like these: left out", count=more)


def _no_time(layout: Layout, number: int, said: str) -> str:
    return (
        f'{layout.file}:{number}: "{said}" is not a time as Perfmon writes it (MM/DD/YYYY HH:MM:SS.mmm); '
        "a spreadsheet may have cut it: export the log again with relog"
    )


def _numbers(lines: _Lines, layout: Layout, remarks: Remarks) -> tuple[pl.Series, list[pl.Series]]:
    """The first cells of regular rows, and the others as numbers; a cell that is none is told, and no sample."""
    names = [str(at) for at in range(layout.width - 1)]
    times, *columns = pl.read_csv(
        lines.body(),
        has_header=False,
        separator=layout.separator,
        schema={TIME: pl.String, **dict.fromkeys(names, pl.Float64)},
        null_values=BLANK,
        ignore_errors=True,
    ).get_columns()
    mended, strange = _strange(columns, lines, layout)
    for at, values in mended.items():
        columns[at] = columns[at].scatter(list(values), list(values.values()))
    present = sum(len(column) - column.null_count() for column in columns)
    if (count := sum(map(len, strange.values()))) > present:
        raise Unusable(
            f"{layout.file}: {count:,} cells are not numbers and {present:,} are; Perfmon writes numbers with a "
            "decimal point: export the log again as it was recorded (relog, not a spreadsheet)"
        )
    for at, cells in sorted(strange.items()):
        row, said = cells[0]
        more = f", and {len(cells) - 1:,} more in this column" if len(cells) > 1 else ""
        told = f'"{_short(said)}" is not a number: no sample{more}'
        remarks.add(Kind.SKIPPED, told, line=lines.numbers[row], counter=layout.counters[at], count=len(cells))
    return times, columns


def _strange(
    columns: Sequence[pl.Series], lines: _Lines, layout: Layout
) -> tuple[dict[int, dict[int, float]], dict[int, list[tuple[int, str]]]]:
    """Cells that were not read though they are not blank, by column: numbers with spaces around them, and no numbers.

    A row has some where it lacks more numbers than it has blanks; only such rows are looked at.
    """
    if sum(column.null_count() for column in columns) == sum(lines.blanks):
        return {}, {}
    lacking = -np.array(lines.blanks, dtype=np.int64)
    for column in columns:
        if column.null_count():
            lacking += np.isnan(column.to_numpy())
    mended: dict[int, dict[int, float]] = {}
    strange: dict[int, list[tuple[int, str]]] = {}
    for row in np.flatnonzero(lacking).tolist():
        cells = split(lines.text(row).rstrip(b"\r").decode("utf-8", errors="replace"), layout.separator)[1:]
        for at, cell in enumerate(cells):
            if (text := cell.strip()) and columns[at][row] is None:
                number = _number(text)
                if number is None:
                    strange.setdefault(at, []).append((row, text))
                else:
                    mended.setdefault(at, {})[row] = number
    return mended, strange


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _dated(times: pl.Series, columns: list[pl.Series], lines: Sequence[int], layout: Layout, remarks: Remarks) -> Table:
    """The rows whose first cell is a day and an hour that exist."""
    local = wall_clock(times)
    bad = np.flatnonzero(local.is_null().to_numpy()).tolist()
    if 2 * len(bad) > len(local):
        raise Unusable(_no_time(layout, lines[bad[0]], _short(times[bad[0]] or "")))
    for at in bad[:_MOST_TOLD]:
        said = f'"{_short(times[at] or "")}" is not a time: the row is left out'
        remarks.add(Kind.SKIPPED, said, line=lines[at])
    if (more := len(bad) - _MOST_TOLD) > 0:
        remarks.add(Kind.SKIPPED, f"{counted(more, 'more row')} like these: left out", count=more)
    if not bad:
        return Table(local, columns, lines)
    good = np.flatnonzero(local.is_not_null().to_numpy())
    local, *columns = pl.DataFrame([local, *columns])[good].get_columns()
    return Table(local, columns, [lines[at] for at in good.tolist()])

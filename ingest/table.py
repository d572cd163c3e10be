"""The rows of a delimited log: a time in the first cell, a number or a blank in each other one.

Whole files are parsed by polars at once. That takes for granted that every row has the header's
cells and every cell is a number; where the outcome shows otherwise, the lines are looked at one by
one, so that each row and cell that is left out is told with its place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from ingest.cells import split
from ingest.text import Text
from model.errors import Unusable
from model.remark import Kind, Remarks

BLANK = " "
_TIME = "time"
_QUOTE = ord('"')
_PIECE = 1 << 18  # fits a processor's cache
_TRAILERS = ("Exiting, please wait", "The command completed successfully")


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
    """Rows as read: the text of each time cell, a column per counter (null: no sample), the line of each row."""

    times: pl.Series
    columns: list[pl.Series]
    lines: Sequence[int]


def parse(text: Text, layout: Layout, remarks: Remarks) -> Table:
    """Read all rows. Unusable if the rows do not have the cells of the header."""
    table = _at_once(text, layout) or _by_line(text, layout, remarks)
    return Table(table.times, _finite(table.columns, layout, remarks), table.lines)


def _at_once(text: Text, layout: Layout) -> Table | None:
    """The whole file in one go, or None where it is not as regular as that needs."""
    if not text.data[layout.offset : layout.offset + 100].strip() or _quotes(text, layout) % (2 * layout.width):
        return None
    names = [str(at) for at in range(layout.width - 1)]
    # The last column is read as text: a row that is too short has a null there, a blank has none.
    dtypes = {_TIME: pl.String, **dict(zip(names, repeat(pl.Float64), strict=False)), names[-1]: pl.String}
    try:
        frame = pl.read_csv(
            text.source,
            has_header=False,
            skip_lines=layout.first_line - 1,
            separator=layout.separator,
            schema=dtypes,
            null_values=dict(zip(names[:-1], repeat(BLANK), strict=False)),
        )
        times, *columns, last = frame.get_columns()
        if last.null_count() or times.null_count():
            return None
        columns.append(last.replace(BLANK, None).cast(pl.Float64))
    except (PolarsError, PanicException):
        return None
    return Table(times, columns, range(layout.first_line, layout.first_line + len(times)))


def _quotes(text: Text, layout: Layout) -> int:
    """How many quotes the rows hold; polars panics at a cell that is a single one."""
    data = np.frombuffer(text.data, np.uint8, offset=layout.offset)
    return sum(int(np.count_nonzero(data[at : at + _PIECE] == _QUOTE)) for at in range(0, len(data), _PIECE))


def _by_line(text: Text, layout: Layout, remarks: Remarks) -> Table:
    """Each line on its own terms: regular ones go to polars together, the others are told."""
    lines = text.data[layout.offset :].split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    kept: list[bytes] = []
    numbers: list[int] = []
    odd: list[tuple[int, list[str]]] = []
    separator = layout.separator.encode()
    for number, line in enumerate(lines, layout.first_line):
        if line.lstrip(b'"').startswith(_opening(layout.header)):
            _tell_second_header(line, number, layout, remarks)
            continue
        if _is_regular(line, separator, layout.width):
            kept.append(line if line.isascii() else line.decode("utf-8", errors="replace").encode())
            numbers.append(number)
            continue
        cells = split(line.rstrip(b"\r").decode("utf-8", errors="replace"), layout.separator)
        last = number == layout.first_line + len(lines) - 1
        if len(cells) == layout.width and not (last and _is_cut(line)):
            kept.append(_rewritten(cells, layout.separator))
            numbers.append(number)
        elif last and (whole := _whole_cells(line, cells, layout)):
            remarks.add(
                Kind.SKIPPED,
                f"the last row is cut short: kept its first {len(whole)} of {layout.width} cells",
                line=number,
            )
            kept.append(_rewritten([*whole, *repeat(BLANK, layout.width - len(whole))], layout.separator))
            numbers.append(number)
        elif not _is_chatter(line, number, layout, remarks):
            odd.append((number, cells))
    _tell_odd(odd, len(kept), layout, remarks)
    if not kept:
        return Table(pl.Series(_TIME, [], pl.String), _no_rows(layout), [])
    return _numbers(b"\n".join(kept), numbers, layout, remarks)


def _is_regular(line: bytes, separator: bytes, width: int) -> bool:
    """Whether a line has as many cells as it should, all of them quoted or none."""
    quotes = line.count(b'"')
    if not quotes:
        return line.count(separator) == width - 1
    between = line.count(b'"' + separator + b'"')
    return quotes == 2 * width and between == width - 1 and line[:1] == b'"' and line.rstrip(b"\r")[-1:] == b'"'


def _is_cut(line: bytes) -> bool:
    return line.count(b'"') % 2 == 1


def _rewritten(cells: Sequence[str], separator: str) -> bytes:
    return separator.join('"' + cell.replace('"', "'").replace(separator, " ") + '"' for cell in cells).encode()


def _whole_cells(line: bytes, cells: list[str], layout: Layout) -> list[str]:
    """The cells of a last row that were written to their end; none where that leaves no value."""
    whole = cells[:-1] if _is_cut(line) or b'"' not in line or len(cells) == layout.width else cells
    return whole if 2 <= len(whole) < layout.width else []


def _is_chatter(line: bytes, number: int, layout: Layout, remarks: Remarks) -> bool:
    """Lines that are no rows and carry no data: blank ones, and what typeperf says at its end."""
    text = line.strip()
    if not text:
        return True
    if text.startswith(tuple(trailer.encode() for trailer in _TRAILERS)):
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


def _tell_odd(odd: Sequence[tuple[int, list[str]]], kept: int, layout: Layout, remarks: Remarks) -> None:
    if not odd:
        return
    line, cells = odd[0]
    if len(odd) > kept:
        raise Unusable(
            f"{layout.file}:{line}: the header has {layout.width} cells but the row has {len(cells)}, so values cannot "
            "be told apart by their counter; record the log again, or mend the header"
        )
    for line, cells in odd[:20]:
        remarks.add(
            Kind.SKIPPED, f"the row has {len(cells)} cells where the header has {layout.width}: left out", line=line
        )
    if len(odd) > 20:
        remarks.add(
            Kind.SKIPPED, f"{len(odd) - 20} more rows with another number of cells: left out", count=len(odd) - 20
        )


def _numbers(body: bytes, lines: Sequence[int], layout: Layout, remarks: Remarks) -> Table:
    """Regular rows as numbers; a cell that is none becomes no sample, and is told."""
    names = [str(at) for at in range(layout.width - 1)]

    def read(dtype: type[pl.DataType], *, lenient: bool) -> pl.DataFrame:
        return pl.read_csv(
            body,
            has_header=False,
            separator=layout.separator,
            schema={_TIME: pl.String, **dict.fromkeys(names, dtype)},
            null_values=BLANK if lenient or dtype is pl.Float64 else None,
            empty_string_is_null=dtype is pl.Float64,
            ignore_errors=lenient,
        )

    try:
        times, *columns = read(pl.Float64, lenient=False).get_columns()
        return Table(times.fill_null(""), columns, lines)
    except (PolarsError, PanicException):
        times, *columns = read(pl.Float64, lenient=True).get_columns()
    cells = read(pl.String, lenient=False)
    blanks = cells.select((pl.col(names).str.strip_chars() == "").sum()).row(0)
    strange = 0
    for at, (column, blank) in enumerate(zip(columns, blanks, strict=True)):
        if column.null_count() > blank:
            columns[at], count = _told(cells.get_column(names[at]), layout.counters[at], lines, remarks)
            strange += count
    present = sum(len(column) - column.null_count() for column in columns)
    if strange > present:
        raise Unusable(
            f"{layout.file}: {strange:,} cells are not numbers and {present:,} are; Perfmon writes numbers with a "
            "decimal point: export the log again as it was recorded (relog, not a spreadsheet)"
        )
    return Table(cells.get_column(_TIME), columns, lines)


def _told(cells: pl.Series, counter: str, lines: Sequence[int], remarks: Remarks) -> tuple[pl.Series, int]:
    """A column in which some cells are no numbers, as far as they are, and how many are not."""
    text = cells.str.strip_chars()
    values = text.cast(pl.Float64, strict=False)
    bad = np.flatnonzero((values.is_null() & (text != "")).to_numpy()).tolist()
    if bad:
        said = f'"{_short(text[bad[0]])}" is not a number: no sample{_and_more(len(bad))}'
        remarks.add(Kind.SKIPPED, said, line=lines[bad[0]], counter=counter, count=len(bad))
    return values, len(bad)


def _finite(columns: list[pl.Series], layout: Layout, remarks: Remarks) -> list[pl.Series]:
    """NaN and infinities become missing, with a remark."""
    for at, (counter, column) in enumerate(zip(layout.counters, columns, strict=True)):
        if math.isfinite(column.sum()):
            continue
        infinite = ~column.is_finite()
        if count := int(infinite.sum() or 0):
            remarks.add(Kind.SKIPPED, f"NaN or infinite: no sample{_and_more(count)}", counter=counter, count=count)
            columns[at] = column.set(infinite, None)
    return columns


def _no_rows(layout: Layout) -> list[pl.Series]:
    return [pl.Series(str(at), [], pl.Float64) for at in range(layout.width - 1)]


def _and_more(count: int) -> str:
    return f", and {count - 1:,} more in this column" if count > 1 else ""


def _short(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= 40 else text[:37] + "..."

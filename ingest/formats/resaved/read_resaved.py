"""PDH logs that were re-saved, mostly by spreadsheets: other separators, decimal commas, dates in another order.

Only what can be told for certain is read, and what it was taken for is remarked; the rest is refused.
The log is rewritten line by line as Windows would have written it, and that is read.
"""

import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ingest.formats.perfmon.lines import is_closing
from ingest.formats.perfmon.pieces import ends_in_a_bare_cell
from ingest.formats.perfmon.read_pdh import TWO_BESIDE, another_beside, bias_of, read_pdh
from ingest.formats.perfmon.sign import own_separator
from ingest.formats.resaved.numbers import JOINT, decimal_mark
from ingest.formats.resaved.times import Dates, evenly_spaced, is_as_windows_writes, is_time
from ingest.reading import Reading
from ingest.shared.cells import split
from ingest.shared.code_pages import read_as
from ingest.shared.text import Text
from model.errors import Unusable
from model.log import Log
from model.remark import Kind, Remarks, counted
from model.times import offset_text

NAME = "PDH-resaved"
_HINT = re.compile(rb'"?sep=(.)"?')
_BEFORE_PATH = re.compile(rb'([,;\t|])( *)("*)\\')
_SPACED = re.compile(r'([,;\t|]) +(?=")')
_ESXTOP = re.compile(rb'"?\(PDH-CSV 4\.0\) \(UTC\)\(0\)')
_ESX_TIME = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d")
# No cell but a number that has a decimal comma; where others have points, a comma is damage.
_QUOTED_COMMA = re.compile(rb'"-?\d+,\d+"')
_QUOTED_POINT = re.compile(rb'"-?\d+\.\d+"')
_DIGIT = re.compile(r"\d")
_WITHIN_TIME = re.compile(r'"+|"*\d[\d/.: TAPMZapmdeu\u0080-\uffff+-]*"*')
_HEAD = 1 << 16
_MANY_QUOTES = 400
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class _Shape:
    """How the lines of a re-saved log are written.

    `line` is the number of the header. `wrapped` are lines whose cells, commas and all, were put
    into one cell by a spreadsheet that expected another separator; in `spaced` ones spaces follow it.
    """

    line: int
    start: int
    header: bytes
    separator: str
    wrapped: bool
    spaced: bool
    usual: bool

    def cells(self, line: str) -> list[str]:
        """The cells of one line."""
        if self.spaced:
            return [cell.strip() for cell in split(_SPACED.sub(r"\1", line), self.separator)]
        if not self.wrapped:
            return split(line, self.separator)
        outer = split(line, ";")
        return split(outer[0], self.separator) if outer and not any(cell.strip() for cell in outer[1:]) else outer


def sniff(text: Text) -> bool:
    """Whether the file has the header of a PDH log, and its separators, times or decimal marks are not Windows' own."""
    shape = _shape(text)
    if shape is None:
        return False
    if not shape.usual:
        return True
    end = shape.start + len(shape.header)
    body = text.data[end : end + _HEAD]
    if _has_decimal_commas(body):
        return True
    first = next((line for line in body.splitlines() if line.strip()), b"")
    time = next(iter(shape.cells(first.decode("utf-8", errors="replace"))), "").strip()
    # Times without milliseconds are esxtop's own; in a log of Windows somebody took them off.
    return (
        is_time(evenly_spaced(time))
        and not is_as_windows_writes(time)
        and not (_ESXTOP.match(shape.header) and _ESX_TIME.fullmatch(time))
    )


def _has_decimal_commas(body: bytes) -> bool:
    """Whether quoted numbers have them. A single one among many numbers is damage and tells nothing of the others."""
    found = len(list(islice(_QUOTED_COMMA.finditer(body), 2)))
    is_told = found > 1 or (found and body.count(b'"') < _MANY_QUOTES)
    return bool(is_told) and not _QUOTED_POINT.search(body)


def read(text: Text, how: Reading) -> Log:
    """Read the log. Unusable where its dates or numbers can be read in more than one way, or have lost a part."""
    path, shape = text.path, _shape(text)
    if shape is None:
        raise Unusable(f"{path}: is not a re-saved PDH log")
    remarks = Remarks(str(path))
    header, guessed = text.decode(shape.header)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: {read_as(guessed)}")
    if not shape.usual:
        shaped = (
            "each line was put into one cell"
            if shape.wrapped
            else f"cells are separated by {_NAMES[shape.separator]}{' and spaces' * shape.spaced}"
        )
        remarks.add(Kind.REPAIRED, f"the log was re-saved: {shaped}", line=shape.line)
    cells = shape.cells(header.rstrip(" "))
    if beside := another_beside(cells):
        raise Unusable(f"{path}:{shape.line}: {TWO_BESIDE.format(beside[0] + 1)}")
    rows = _rows(text, shape, remarks)
    mark = decimal_mark(path, rows.values, rows.lines, shape.separator, remarks)
    dates = Dates.of(path, rows.times, rows.lines, mark == ",", remarks)
    if dates.offset is not None:
        cells[0] = _zoned(path, cells[0], rows, dates.offset, remarks)
    lines = [*([""] * (shape.line - 1)), _quoted(cells), *rows.others]
    for number, time, values in zip(rows.lines, rows.times, rows.values, strict=True):
        numbers = values.replace(",", ".") if mark == "," else values
        lines[number - 1] = _quoted([dates.rewritten(time, number), *(n.strip() or " " for n in numbers.split(JOINT))])
    if rows.is_cut:
        lines[-1] += ","
    log = read_pdh(Text(path, "\n".join(lines).encode(), "utf-8"), NAME, ",", how)
    return replace(log, remarks=(*remarks, *log.remarks))


def _zoned(path: Path, cell: str, rows: "_Rows", offset: int, remarks: Remarks) -> str:
    """The first cell of a header over times that say so many minutes ahead of UTC. Unusable if it says otherwise."""
    time, line = rows.times[0], rows.lines[0]
    zone = f"({f'UTC{offset_text(offset)}' if offset else 'UTC'})({-offset})"
    bias = bias_of(cell)
    if bias is not None and bias != -offset:
        raise Unusable(
            f'{path}:{line}: "{time}" is UTC{offset_text(offset)}, but by the header UTC{offset_text(-bias)}; take the '
            f"offset off all times if they are the recorder's own clock's, else write {zone} into the header"
        )
    told = f'times say how far they are from UTC ("{time}" is UTC{offset_text(offset)}): taken as the zone'
    remarks.add(Kind.REPAIRED, told, line=line)
    return f"(PDH-CSV 4.0) {zone}"


def _shape(text: Text) -> _Shape | None:
    number, start, stop = text.first_line
    header = text.header
    hint = _HINT.fullmatch(header)
    if hint:
        number, start = number + 1, stop + 1
        header = text.line_at(start).rstrip(b"\r")
    usual_separator = own_separator(header)
    path = _BEFORE_PATH.search(header) if usual_separator else None
    if not path:
        return None
    wrapped, spaced = len(path[3]) > 1, bool(path[2])
    usual = not (wrapped or spaced or hint) and path[1] == usual_separator
    return _Shape(number, start, header, path[1].decode(), wrapped, spaced, usual)


def _lines(text: Text, shape: _Shape) -> list[str]:
    """The lines from the header on. What is not UTF-8 in them is no number or time."""
    return [line.rstrip("\r") for line in text.data[shape.start :].decode("utf-8", errors="replace").split("\n")]


@dataclass(frozen=True)
class _Rows:
    """The rows of samples: their times, their other cells joined, and where in the file each stands.

    `others` has all lines after the header that are not rows, as they are to be read, and an empty
    one for each row. `is_cut` is whether the last one was cut short within its last cell.
    """

    times: list[str]
    values: list[str]
    lines: list[int]
    others: list[str]
    is_cut: bool


def _rows(text: Text, shape: _Shape, remarks: Remarks) -> _Rows:
    empty: list[int] = []
    lines = _lines(text, shape)
    is_cut = ends_in_a_bare_cell(text.data) and shape.separator in lines[-1] and bool(_DIGIT.search(lines[-1]))
    if is_cut:
        lines[-1] = lines[-1].rpartition(shape.separator)[0]
    if _WITHIN_TIME.fullmatch(lines[-1]):
        last = shape.line + len(lines) - 1
        remarks.add(Kind.SKIPPED, "the last row is cut short before its first value: left out", line=last)
        lines[-1], is_cut = "", False
    rows = _Rows([], [], [], [], is_cut)
    width = len(shape.cells(lines[0]))
    for number, line in enumerate(lines[1:], shape.line + 1):
        # Another row may go on behind zero bytes: read_pdh tells it.
        if "\0" in line.rstrip("\0"):
            rows.others.append(line)
            continue
        cells = shape.cells(line) if line.strip() else []
        if cells and own_separator(cells[0].encode()):
            rows.others.append(_quoted(cells))  # another header: read_pdh tells what of it
            continue
        if len(cells) < 2 or _is_remark(line, cells, width):
            rows.others.append(line)
            continue
        rows.others.append("")
        if not any(cell.strip() for cell in cells):
            empty.append(number)
        else:
            rows.times.append(evenly_spaced(cells[0]))
            rows.values.append(JOINT.join(cells[1:]))
            rows.lines.append(number)
    if empty:
        remarks.add(Kind.SKIPPED, f"{counted(len(empty), 'empty row')}: left out", line=empty[0], count=len(empty))
    return rows


def _is_remark(line: str, cells: list[str], width: int) -> bool:
    """Whether a line is words, such as what typeperf says when it ends; they may have commas."""
    said = cells[0].strip()
    return bool(said) and not _DIGIT.search(said) and (len(cells) != width or is_closing(line.encode()))


def _quoted(cells: list[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)

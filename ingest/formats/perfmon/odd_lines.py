"""What can be made of lines that are unlike a row of their log: each is looked at on its own terms."""

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat

from ingest.formats.perfmon.layout import BLANK, Layout
from ingest.formats.perfmon.lines import DAY_FIRST, HEAD, TIME_LIKE, Counts, Lines, empty_cells, is_closing, is_words
from ingest.formats.perfmon.pieces import ends_in_a_bare_cell
from ingest.formats.perfmon.tally import HOPELESS, Tally
from ingest.shared.cells import split
from ingest.shared.shorten import short
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

# A time that ends anywhere, and what may come after it.
_CUT_TIME = re.compile(rb'"?[\d/]{1,10}( [\d:.]*)?("|$)|"$')
# A cell that ends, goes on and ends again: as part of another row, where what was between is lost. So does a number
# behind a quote: read as one it would be another.
_JOINT = re.compile(r'(?:(?<=[^,\t "])"|" +") *[^,\t "][^,\t"]*"|(?<=\d)"[\d.eE][^,\t"]*')
# Two cells in one, for want of what separates them.
_TWO_CELLS = re.compile(r'[^,\t]""[^,\t]')
# A last cell that begins with a quote and does not end with one.
_OPEN = re.compile(r'[,\t]"[^"]*$')
# A counter of a computer, where a cell begins.
_COUNTER = re.compile(rb'[,;\t"]\\\\[^\\"]+\\[^\\"]')
# Wide spaces of Shift JIS, of GBK and EUC, and of Big5: where a row ends, typeperf wiped "please wait" off the console.
_WIPED = re.compile(rb'(?<=")[ \t]*(?:(?:\x81\x40|\xa1\xa1|\xa1\x40)[ \t]*)+(?=\r?$)')
_UNCLOSED = "the last cell is not closed, so that its value may be cut: no sample"
_TORN = "the line ends otherwise than those around it, so that its last value may be cut: no sample"


@dataclass
class Looked:
    """Lines that were looked at. `kept` are rows, as they are to be parsed; the others are left out.

    What is left out is in `tally`, or told in `remarks`.
    """

    seen: Sequence[int]
    layout: Layout
    tally: Tally
    remarks: Remarks
    kept: dict[int, bytes] = field(default_factory=dict)
    blanks: dict[int, int] = field(default_factory=dict)
    is_hopeless: bool = False

    def keep(self, at: int, number: int, line: bytes, blanks: int) -> None:
        """A line with as many cells as the header; it is a row if its first one may be a time."""
        if DAY_FIRST.match(line):
            self.tally.day_first.append((number, first_cell(line, self.layout.separator)))
        if TIME_LIKE.match(line):
            self.kept[at] = line
            self.blanks[at] = blanks
        elif not _is_chatter(line, number, self.tally):
            _refuse_another(line, number, self.layout)
            self.tally.timeless.append((number, first_cell(line, self.layout.separator)))


def look_at(chosen: Sequence[int], lines: Lines, layout: Layout, before: Tally, *, rewrite: bool = False) -> Looked:
    """What can be made of the lines that were chosen, in ascending order; all others are rows.

    With `rewrite`, lines that have the header's cells are written anew as well. Hopeless once there have been
    many lines of other than the header's cells, and no row.

    Raises:
        Unusable: If another log begins at one of them.
    """
    found = Looked(chosen, layout, Tally(), Remarks(layout.file))
    separator, width = layout.separator.encode(), layout.width
    last = len(lines) - 1 if lines.piece.last else None
    for place, at in enumerate(chosen):
        line, number = _without_wiped(lines.text(at)), lines.number(at)
        if lines.is_header(line):
            _take_second_header(line, number, found)
            continue
        line = line.removeprefix(BOM_UTF8)
        if at == last:
            line = _without_tail(line, number, found.remarks)
        if b"\0" in line:
            found.tally.zeroed.append(number)
            continue
        counts, is_open = Counts.of(line, separator), at == last and lines.piece.is_open
        if counts.regular(line, width) and not (is_open and ends_in_a_bare_cell(line)) and not rewrite:
            if at in lines.torn and at != last:
                _take_torn(line, at, number, found)
            else:
                found.keep(at, number, line if counts.ascii else _mended(line), counts.blanks)
            continue
        # Behind a row whose columns have shifted nobody knows whose the cells of one that is cut are.
        is_shifted = any(
            one == number - 1 and cells > 1 for one, cells, _ in (found.tally.uneven or before.uneven)[-1:]
        )
        whole = _written(line, layout, is_open=is_open) if at == last and not is_shifted else None
        if whole is None or not _take_cut(line, whole, at, number, found):
            _take_irregular(line, counts, at, number, found)
        if sum(len(tally.words) + len(tally.uneven) for tally in (before, found.tally)) >= HOPELESS:
            found.is_hopeless = not (before.kept or at - place or found.kept)
            if found.is_hopeless:
                break
    return found


def _mended(line: bytes) -> bytes:
    return line.decode("utf-8", errors="replace").encode()


def _without_wiped(line: bytes) -> bytes:
    """A row without wide spaces behind its last quote."""
    return line if line[-2:].rstrip(b"\r")[-1:] == b'"' or line.isascii() else _WIPED.sub(b"", line)


def _without_tail(line: bytes, number: int, remarks: Remarks) -> bytes:
    """The last line without zero bytes at the end of the file."""
    written = line.rstrip(b"\0")
    if tail := len(line) - len(written):
        said = f"the file ends with {counted(tail, 'zero byte')}, as where the recorder's machine went down: left out"
        remarks.add(Kind.SKIPPED, said, line=number)
    return written


def _take_torn(line: bytes, at: int, number: int, to: Looked) -> None:
    """A row whose last cell may be cut."""
    start, separator, _ = line.rpartition(to.layout.separator.encode())
    to.tally.partial.append((number, _TORN))
    row = start + separator + BLANK.encode()
    to.keep(at, number, row, empty_cells(row, separator))


def _take_cut(line: bytes, whole: list[str], at: int, number: int, to: Looked) -> bool:
    """The last row of a file, where it was cut short behind these whole cells; False where it was not."""
    layout = to.layout
    if len(whole) >= layout.width:
        return False
    if len(whole) > 1:
        said = f"the last row is cut short: kept its first {len(whole)} of {layout.width} cells"
        if line.rstrip(b"\r") == _rewritten(whole, layout.separator):
            said += "; if it lost one between instead, those behind that are under the wrong counters"
        cells = [*whole, *repeat(BLANK, layout.width - len(whole))]
        to.keep(at, number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    elif _CUT_TIME.match(line) or TIME_LIKE.match(line):
        said = "the last row is cut short before its first value: left out"
    else:
        return False
    to.remarks.add(Kind.SKIPPED, said, line=number)
    return True


def _written(line: bytes, layout: Layout, *, is_open: bool) -> list[str] | None:
    """The cells of a file's last row that were written to their end; None where that is not certain.

    A row that has its line end, or is quoted to its end, was not cut short unless it is cut within quotes.
    """
    text = line.rstrip(b"\r").decode("utf-8", errors="replace")
    if text[:1] == '"':
        *whole, rest = text[1:].split(f'"{layout.separator}"')
        is_trailing = rest.endswith(f'"{layout.separator}') and (is_open or bool(layout.counters[-1].strip()))
        closed = rest.removesuffix(layout.separator).removesuffix('"') if is_trailing or rest.endswith('"') else None
        if not any('"' in cell for cell in (*whole, closed or rest)):
            if closed is None:
                return whole
            return [*whole, closed] if is_open or is_trailing else None
    if not is_open:
        return None
    cells = split(text, layout.separator)
    whole = cells if text.endswith('"') else cells[:-1]
    return None if any('"' in cell for cell in whole) else whole


def _take_irregular(line: bytes, counts: Counts, at: int, number: int, to: Looked) -> None:
    """A line that is not quoted throughout or not at all, or has too many or too few cells."""
    layout = to.layout
    if counts.quotes and counts.regular(line, counts.between + 1) and counts.between + 1 != layout.width:
        first = line[1 : line.find(b'"', 1)].decode("utf-8", errors="replace")
        _leave_out(line, number, counts.between + 1, first, to)
        return
    text = line.rstrip(b"\r").decode("utf-8", errors="replace")
    cells = split(text, layout.separator)
    count = len(cells)
    if count == layout.width:
        # Each makes a row seem shorter than it is: of the right length, it has a cell elsewhere that is not its own.
        count += len(_TWO_CELLS.findall(text)) + sum('"' in cell and layout.separator in cell for cell in cells)
    if count == layout.width:
        joint = _JOINT.search(text)
        whole = len(split(text[: joint.start()], layout.separator)) - 1 if joint else layout.width
        if 0 < whole < layout.width:
            cell = text[: joint.end()].rpartition(layout.separator)[2].strip(' "') if joint else ""
            to.tally.partial.append((number, run_together(whole + 1, cell)))
            cells[whole:] = repeat(BLANK, layout.width - whole)
        elif layout.header.endswith(b'"') and _OPEN.search(text):
            to.tally.partial.append((number, _UNCLOSED))
            cells[-1] = BLANK
        to.keep(at, number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    else:
        _leave_out(line, number, count, cells[0] if cells else "", to)


def _leave_out(line: bytes, number: int, cells: int, first: str, to: Looked) -> None:
    """A line of other than the header's cells."""
    if _is_chatter(line, number, to.tally):
        return
    _refuse_another(line, number, to.layout)
    if is_words(line):
        to.tally.words.append((number, cells, short(line.decode("utf-8", errors="replace").strip())))
    else:
        to.tally.uneven.append((number, cells, short(first)))


def _rewritten(cells: Sequence[str], separator: str) -> bytes:
    return separator.join('"' + cell.replace('"', "'").replace(separator, " ") + '"' for cell in cells).encode()


def run_together(column: int, cell: str) -> str:
    """What is said of a row that goes on as another within a cell."""
    return f'"{short(cell)}" in column {column} may be where another row goes on: no samples from there on'


def first_cell(line: bytes, separator: str) -> str:
    """What stands first in a line, as it is quoted in remarks."""
    end = '"' if line[:1] == b'"' else separator
    return short(line[:HEAD].decode("utf-8", errors="replace").lstrip('"').partition(end)[0])


def _is_chatter(line: bytes, number: int, tally: Tally) -> bool:
    """Lines that are no rows and carry no data: blank ones, and what typeperf says at its end."""
    text = line.strip()
    if not text:
        return True
    if is_closing(text):
        said = text.decode("utf-8", errors="replace")
        tally.between.append((number, f'typeperf\'s closing line "{said}"'))
        return True
    return False


def _take_second_header(line: bytes, number: int, to: Looked) -> None:
    if line.removeprefix(BOM_UTF8).strip() != to.layout.header.strip():
        raise _another(to.layout, number, "here")
    to.tally.headers.append(number)
    to.tally.between.append((number, "the header stands here again"))


def _refuse_another(line: bytes, number: int, layout: Layout) -> None:
    """Refuse a line that is no row and names counters, unless they are this log's."""
    if b"\\\\" in line and _COUNTER.search(line) and layout.header.strip() not in line:
        raise _another(layout, number, "here" if _COUNTER.search(line[:HEAD]) else "within this line")


def _another(layout: Layout, number: int, place: str) -> Unusable:
    return Unusable(
        f"{layout.file}:{number}: another log with a header of its own begins {place}; split the file before "
        f"{'this line' if place == 'here' else 'its header'}"
    )

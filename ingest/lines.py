"""The lines of a piece of a log, each on its own terms: what it is made of, and what can be made of it."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.cells import split
from ingest.layout import BLANK, Layout
from ingest.pieces import QUOTE, Piece, count, ends_in_a_bare_cell, places
from ingest.shorten import short
from ingest.tally import HOPELESS, Tally
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

_HEAD = 64
_BLOCK = 1 << 16
_BLANK_CELL = b'" "'
_SPACES = b" \t\r\v\f"
_LONG = 2000  # from here on counting by numpy is the faster way
_NOT_ASCII = 0x80
_TRAILERS = (b"Exiting, please wait", b"The command completed successfully", b"^C")
# What may be a time; whether it is one turns out when all are parsed.
_TIME_LIKE = re.compile(rb'"?\s*\d\d?\s*/\s*\d\d?\s*/\s*\+?\d{4}\s*\d\d?\s*:\s*\d\d?\s*:\s*\d([\d.",\s]|$)')
# A time that ends anywhere, and what may come after it.
_CUT_TIME = re.compile(rb'"?[\d/]{1,10}( [\d:.]*)?("|$)|"$')
# A counter of a computer, where a cell begins.
_COUNTER = re.compile(rb'[,;\t"]\\\\[^\\"]+\\[^\\"]')
_DAY_FIRST = re.compile(rb'"?\s*(?:1[3-9]|2\d|3[01])/(?:0\d|1[0-2])/\d{4} ')


class Counts(NamedTuple):
    """What a line is made of; `separators` are all of them where nothing is quoted, `between` those between quotes."""

    quotes: int
    between: int
    separators: int
    blanks: int
    ascii: bool

    @classmethod
    def of(cls, line: bytes, separator: bytes) -> "Counts":
        """Count them in one line."""
        if len(line) >= _LONG and line[:1] == b'"':
            return cls._of_long(np.frombuffer(line, np.uint8), ord(separator))
        if b'"' in line:
            quotes, between = line.count(b'"'), line.count(b'"' + separator + b'"')
            return cls(quotes, between, 0, line.count(_BLANK_CELL), line.isascii())
        return cls(0, 0, line.count(separator), _empty_cells(line, separator), line.isascii())

    @classmethod
    def _of_long(cls, line: NDArray[np.uint8], separator: int) -> "Counts":
        quote = line == ord('"')
        enclosed = quote[:-2] & quote[2:]
        between = int(np.count_nonzero(enclosed & (line[1:-1] == separator)))
        blanks = int(np.count_nonzero(enclosed & (line[1:-1] == ord(BLANK))))
        return cls(int(np.count_nonzero(quote)), between, 0, blanks, int(line.max()) < _NOT_ASCII)

    def regular(self, line: bytes, width: int) -> bool:
        """Whether there are as many cells as there should be, all of them quoted or none."""
        if not self.quotes:
            return self.separators == width - 1
        enclosed = line[:1] == b'"' and line[-2:].rstrip(b"\r")[-1:] == b'"'
        return enclosed and self.quotes == 2 * width and self.between == width - 1


def _empty_cells(line: bytes, separator: bytes) -> int:
    """How many cells of a line without quotes hold nothing but spaces."""
    written = separator + line.translate(None, _SPACES.replace(separator, b"")) + separator
    cells = np.frombuffer(written, np.uint8) == ord(separator)
    return int(np.count_nonzero(cells[1:] & cells[:-1]))


class Lines:
    """The lines of a piece."""

    def __init__(self, piece: Piece, first_line: int, layout: Layout) -> None:
        self.piece = piece
        self._first_line = first_line
        self._layout = layout
        self._separator = layout.separator.encode()
        self._opening = _opening(layout.header)
        data = np.frombuffer(piece.data, np.uint8)
        # Where each line begins, and where the next one would.
        self.starts = np.concatenate([[0], places(data, ord("\n")) + 1])
        self.is_quoted = 4 * count(piece.data, QUOTE) > layout.width * len(self)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def text(self, at: int) -> bytes:
        """One line without its line feed."""
        return self.piece.data[self.starts[at] : self.starts[at + 1] - 1]

    def number(self, at: int) -> int:
        """Where in the file a line stands."""
        return self._first_line + at

    @cached_property
    def blanks(self) -> NDArray[np.int64]:
        """How many blank cells each line has, if it has all its quotes or none has any."""
        if self.is_quoted:
            lines = np.searchsorted(self.starts, self.piece.blanks(), side="right") - 1
            return np.bincount(lines, minlength=len(self))
        return np.array([_empty_cells(self.text(at), self._separator) for at in range(len(self))], dtype=np.int64)

    def is_ordinary(self, at: int) -> bool:
        """Whether a line has the header's cells, the first of which may be a time."""
        line = self.text(at)
        if self.is_header(line) or _DAY_FIRST.match(line) or not _TIME_LIKE.match(line):
            return False
        counts = Counts.of(line, self._separator)
        return counts.ascii and b"\0" not in line and counts.regular(line, self._layout.width)

    def is_header(self, line: bytes) -> bool:
        """Whether a line begins like a header of this format."""
        return line[:_HEAD].removeprefix(BOM_UTF8).lstrip(b' "').startswith(self._opening)

    @cached_property
    def torn(self) -> set[int]:
        """Lines without quotes that alone among their neighbours lack a carriage return: cut, nobody knows where."""
        if self.is_quoted:
            return set()
        data = np.frombuffer(self.piece.data, np.uint8)
        has_return = np.pad(data[np.maximum(self.starts[1:] - 2, 0)] == ord("\r"), 1, constant_values=True)
        return (
            set(np.flatnonzero(~has_return[1:-1] & has_return[:-2] & has_return[2:]).tolist())
            if len(self) > 1
            else set()
        )

    def apart(self) -> set[int]:
        """Lines to be looked at even where all counts are right: headers, torn ones, and the last one of the file."""
        data = np.frombuffer(self.piece.data, np.uint8)
        first, second = data[self.starts[:-1]], data[np.minimum(self.starts[:-1] + 1, len(data) - 1)]
        quote, opening = ord('"'), self._opening[0]
        may_be = (first == opening) | ((first == quote) & ((second == opening) | (second == quote)))
        found = {at for at in np.flatnonzero(may_be).tolist() if self.is_header(self.text(at))}
        if self.piece.last and (self.piece.bare or not self.is_ordinary(len(self) - 1)):
            found.add(len(self) - 1)
        return found | self.torn

    def unlike(self) -> Iterator[int]:
        """Lines whose quotes (cells, where nothing is quoted) are not as many as they should be, or not ASCII."""
        step = max(1, len(self) * _BLOCK // len(self.piece.data))
        for first in range(0, len(self), step):
            yield from self._unlike(first, min(first + step, len(self)))

    def unlike_each(self) -> set[int]:
        """The same lines without exception: of several counted together, one may lack what another has too many."""
        data, starts, width = np.frombuffer(self.piece.data, np.uint8), self.starts[:-1], self._layout.width
        quotes = np.add.reduceat(data == QUOTE, starts, dtype=np.int64)
        odd = np.maximum.reduceat(data, starts) >= _NOT_ASCII
        if self.is_quoted:
            odd |= quotes != 2 * width
        else:
            separators = np.add.reduceat(data == self._separator[0], starts, dtype=np.int64)
            odd |= (quotes > 0) | (separators != width - 1)
        return set(np.flatnonzero(odd).tolist())

    def _unlike(self, first: int, stop: int) -> Iterator[int]:
        if self._is_like(first, stop):
            return
        if stop - first == 1:
            yield first
            return
        middle = (first + stop) // 2
        yield from self._unlike(first, middle)
        yield from self._unlike(middle, stop)

    def _is_like(self, first: int, stop: int) -> bool:
        data = self.piece.data[self.starts[first] : self.starts[stop]]
        if not data.isascii():
            return False
        quotes = count(data, QUOTE)
        if self.is_quoted:
            return quotes == 2 * self._layout.width * (stop - first)
        return not quotes and count(data, ord(self._separator)) == (self._layout.width - 1) * (stop - first)


@dataclass
class Sorted:
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
        if _DAY_FIRST.match(line):
            self.tally.day_first.append((number, first_cell(line, self.layout.separator)))
        if _TIME_LIKE.match(line):
            self.kept[at] = line
            self.blanks[at] = blanks
        elif not _is_chatter(line, number, self.remarks):
            _refuse_another(line, number, self.layout)
            self.tally.timeless.append((number, first_cell(line, self.layout.separator)))


def look_at(chosen: Sequence[int], lines: Lines, layout: Layout, before: Tally, *, rewrite: bool = False) -> Sorted:
    """What can be made of the lines that were chosen, in ascending order; all others are rows.

    With `rewrite`, lines that have the header's cells are written anew as well. Hopeless once there have been
    many lines of other than the header's cells, and no row.

    Raises:
        Unusable: If another log begins at one of them.
    """
    found = Sorted(chosen, layout, Tally(), Remarks(layout.file))
    separator, width = layout.separator.encode(), layout.width
    last = len(lines) - 1 if lines.piece.last else None
    for place, at in enumerate(chosen):
        line, number = lines.text(at), lines.number(at)
        if lines.is_header(line):
            _tell_second_header(line, number, layout, found.remarks)
            continue
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
        whole = _written(line, layout, is_open=is_open) if at == last else None
        if whole is None or not _take_cut(line, whole, at, number, found, layout):
            _take_irregular(line, at, number, found, layout)
        if len(before.uneven) + len(found.tally.uneven) >= HOPELESS:
            found.is_hopeless = not (before.kept or at - place or found.kept)
            if found.is_hopeless:
                break
    return found


def _mended(line: bytes) -> bytes:
    return line.decode("utf-8", errors="replace").encode()


def _without_tail(line: bytes, number: int, remarks: Remarks) -> bytes:
    """The last line without zero bytes at the end of the file."""
    written = line.rstrip(b"\0")
    if tail := len(line) - len(written):
        said = f"the file ends with {counted(tail, 'zero byte')}, as where the recorder's machine went down: left out"
        remarks.add(Kind.SKIPPED, said, line=number)
    return written


def _take_torn(line: bytes, at: int, number: int, to: Sorted) -> None:
    """A row whose last cell may be cut."""
    start, separator, _ = line.rpartition(to.layout.separator.encode())
    said = "the line ends otherwise than those around it, so that its last value may be cut: no sample"
    to.remarks.add(Kind.SKIPPED, said, line=number)
    row = start + separator + BLANK.encode()
    to.keep(at, number, row, _empty_cells(row, separator))


def _take_cut(line: bytes, whole: list[str], at: int, number: int, to: Sorted, layout: Layout) -> bool:
    """The last row of a file, where it was cut short behind these whole cells; False where it was not."""
    if len(whole) >= layout.width:
        return False
    if len(whole) > 1:
        said = f"the last row is cut short: kept its first {len(whole)} of {layout.width} cells"
        cells = [*whole, *repeat(BLANK, layout.width - len(whole))]
        to.keep(at, number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    elif _CUT_TIME.match(line) or _TIME_LIKE.match(line):
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


def _take_irregular(line: bytes, at: int, number: int, to: Sorted, layout: Layout) -> None:
    """A line that is not quoted throughout or not at all, or has too many or too few cells."""
    cells = split(line.rstrip(b"\r").decode("utf-8", errors="replace"), layout.separator)
    if len(cells) == layout.width:
        to.keep(at, number, _rewritten(cells, layout.separator), sum(not cell.strip() for cell in cells))
    elif not _is_chatter(line, number, to.remarks):
        _refuse_another(line, number, layout)
        to.tally.uneven.append((number, len(cells), short(cells[0] if cells else "")))


def _rewritten(cells: Sequence[str], separator: str) -> bytes:
    return separator.join('"' + cell.replace('"', "'").replace(separator, " ") + '"' for cell in cells).encode()


def first_cell(line: bytes, separator: str) -> str:
    """What stands first in a line, as it is quoted in remarks."""
    end = '"' if line[:1] == b'"' else separator
    return short(line[:_HEAD].decode("utf-8", errors="replace").lstrip('"').partition(end)[0])


def is_closing(line: bytes) -> bool:
    """Whether a line is what typeperf says when it ends."""
    return line.startswith(_TRAILERS)


def _is_chatter(line: bytes, number: int, remarks: Remarks) -> bool:
    """Lines that are no rows and carry no data: blank ones, and what typeperf says at its end."""
    text = line.strip()
    if not text:
        return True
    if is_closing(text):
        said = text.decode("utf-8", errors="replace")
        remarks.add(Kind.SKIPPED, f'typeperf\'s closing line "{said}"', line=number)
        return True
    return False


def _opening(header: bytes) -> bytes:
    """How a header of this format begins, up to where hosts, zones and counters come in."""
    return header.lstrip(b'"').partition(b" ")[0]


def _tell_second_header(line: bytes, number: int, layout: Layout, remarks: Remarks) -> None:
    if line.removeprefix(BOM_UTF8).strip() != layout.header.strip():
        raise _another(layout, number, "here")
    remarks.add(Kind.SKIPPED, "the header stands here again", line=number)


def _refuse_another(line: bytes, number: int, layout: Layout) -> None:
    """Refuse a line that is no row and names counters, unless they are this log's."""
    if _COUNTER.search(line) and layout.header.strip() not in line:
        raise _another(layout, number, "here" if _COUNTER.search(line[:_HEAD]) else "within this line")


def _another(layout: Layout, number: int, place: str) -> Unusable:
    return Unusable(
        f"{layout.file}:{number}: another log with a header of its own begins {place}; split the file before "
        f"{'this line' if place == 'here' else 'its header'}"
    )

"""The lines of a piece of a log: what each is made of, and which of them are to be looked at."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingest.formats.perfmon.layout import BLANK, Layout
from ingest.formats.perfmon.pieces import BLANK_CELL, QUOTE, Piece, count, places

HEAD = 64
_BLOCK = 1 << 16
_SPACES = b" \t\r\v\f"
_LONG = 2000  # from here on counting by numpy is the faster way
_NOT_ASCII = 0x80
# What no part of a row is, as far as one can be torn: it has neither quotes nor paths, nor numbers behind separators.
_WORDS = re.compile(rb"""\s*[^\s\d"(\\.:/+-](?!.*(?:["\0]|\\\\|[,;\t] *[\d.-]))""")
_TRAILERS = (b"Exiting, please wait", b"The command completed successfully", b"^C")
# What may be a time; whether it is one turns out when all are parsed.
TIME_LIKE = re.compile(rb'"?\s*\d\d?\s*/\s*\d\d?\s*/\s*\+?\d{4}\s*\d\d?\s*:\s*\d\d?\s*:\s*\d([\d.",\s]|$)')
DAY_FIRST = re.compile(rb'"?\s*(?:1[3-9]|2\d|3[01])/(?:0\d|1[0-2])/\d{4} ')


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
            return cls(quotes, between, 0, line.count(BLANK_CELL), line.isascii())
        return cls(0, 0, line.count(separator), empty_cells(line, separator), line.isascii())

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


def empty_cells(line: bytes, separator: bytes) -> int:
    """How many cells of a line without quotes hold nothing but spaces, behind the first, which is no number."""
    written = line.translate(None, _SPACES.replace(separator, b"")) + separator
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
        return np.array([empty_cells(self.text(at), self._separator) for at in range(len(self))], dtype=np.int64)

    def is_ordinary(self, at: int) -> bool:
        """Whether a line has the header's cells, the first of which may be a time."""
        line = self.text(at)
        if self.is_header(line) or DAY_FIRST.match(line) or not TIME_LIKE.match(line):
            return False
        counts = Counts.of(line, self._separator)
        return counts.ascii and b"\0" not in line and counts.regular(line, self._layout.width)

    def is_header(self, line: bytes) -> bool:
        """Whether a line begins like a header of this format."""
        return line[:HEAD].removeprefix(BOM_UTF8).lstrip(b' "').startswith(self._opening)

    @cached_property
    def torn(self) -> set[int]:
        """Lines without quotes that alone among their neighbours lack a carriage return: cut, nobody knows where."""
        if self.is_quoted:
            return set()
        data = np.frombuffer(self.piece.data, np.uint8)
        has_return = data[np.maximum(self.starts[1:] - 2, 0)] == ord("\r")
        before, behind = self.piece.returns
        around = np.concatenate([[before], has_return, [behind]])
        if 2 * np.count_nonzero(around) < len(around):
            return set()
        return set(np.flatnonzero(~has_return & around[:-2] & around[2:]).tolist())

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
        """Lines with other than ASCII, zero bytes, or not as many quotes (cells, where none is quoted) as a row."""
        step = max(1, len(self) * _BLOCK // len(self.piece.data))
        for first in range(0, len(self), step):
            yield from self._unlike(first, min(first + step, len(self)))

    def unlike_each(self) -> set[int]:
        """The same lines without exception: of several counted together, one may lack what another has too many."""
        data, starts, width = np.frombuffer(self.piece.data, np.uint8), self.starts[:-1], self._layout.width
        quote, separator = data == QUOTE, data == self._separator[0]
        odd = np.maximum.reduceat(data, starts) >= _NOT_ASCII
        if self.is_quoted:
            separator[1:-1] &= quote[:-2] & quote[2:]
            odd |= np.add.reduceat(quote, starts, dtype=np.uint32) != 2 * width
        else:
            odd |= np.logical_or.reduceat(quote, starts)
        odd |= np.add.reduceat(separator, starts, dtype=np.uint32) != width - 1
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
        if not data.isascii() or b"\0" in data:
            return False
        quotes = count(data, QUOTE)
        if self.is_quoted:
            return quotes == 2 * self._layout.width * (stop - first)
        return not quotes and count(data, ord(self._separator)) == (self._layout.width - 1) * (stop - first)


def is_closing(line: bytes) -> bool:
    """Whether a line is what typeperf says when it ends."""
    return line.startswith(_TRAILERS)


def is_words(line: bytes) -> bool:
    """Whether a line is text that is no row, nor a part of one."""
    return bool(_WORDS.match(line))


def _opening(header: bytes) -> bytes:
    """How a header of this format begins, up to where hosts, zones and counters come in."""
    return header.lstrip(b'"').partition(b" ")[0]

"""Splits line protocol into lines. Line ends in quotes, and after a backslash, are part of a line."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_PIECE = 1 << 16
_LONGEST_LINE = 1 << 20  # some thousand fields; what is read of a line takes many times its length
_SPECIAL = re.compile(rb'\\.|[ =,"]', re.DOTALL)


class TooMany(Exception):
    """A body has more values or lines than are taken at once, or a longer line."""


class Piece(NamedTuple):
    """Some lines, the number of the first, and whether it is certain that none has a quote or a backslash."""

    first: int
    lines: list[bytes]
    plain: bool


def pieces(body: bytes) -> Iterator[Piece]:
    """The lines of a body, some hundreds at a time, so that those of a long body are never all in memory.

    A carriage return before a line end is left out, which InfluxDB would refuse. TooMany if a line is too long.
    """
    start = before = 0
    open_line: _OpenLine | None = None
    while start < len(body):
        end = body.rfind(b"\n", start, start + _PIECE) + 1 or body.find(b"\n", start) + 1 or len(body)
        if end - start > _LONGEST_LINE:
            raise TooMany
        text = body[start:end]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        lines = text.removesuffix(b"\n").split(b"\n")
        first = before + 1 - (len(open_line.held) if open_line else 0)
        if open_line or b'"' in text or b"\\" in text:
            joined, open_line = _joined(lines, open_line)
            yield Piece(first, joined, plain=False)
        else:
            yield Piece(first, lines, plain=True)
        start = end
        before += len(lines)
    if open_line:
        yield Piece(before + 1 - len(open_line.held), [open_line.text], plain=False)


class _OpenLine:
    """A line of which some pieces were seen, as InfluxDB scans for its end."""

    def __init__(self) -> None:
        self.held: list[bytes] = []
        self._length = 0
        self._in_fields = self._quoted = False
        self._equals = self._commas = 0

    @property
    def text(self) -> bytes:
        """The line as far as it was seen."""
        return b"\n".join(self.held)

    def ends_after(self, piece: bytes) -> bool:
        """Add the text up to the next line end. Whether the line ends there. TooMany if it is too long."""
        self.held.append(piece)
        self._length += 1 + len(piece)
        if self._length > _LONGEST_LINE:
            raise TooMany
        for found in _SPECIAL.finditer(piece):
            what = found[0]
            if what == b" ":
                self._in_fields = True
            elif not self._in_fields or what[:1] == b"\\":
                continue
            elif what == b'"':
                self._quoted ^= self._equals > self._commas
            elif not self._quoted:
                self._equals += what == b"="
                self._commas += what == b","
        escaped = (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1
        return not (self._quoted or escaped)


def _joined(lines: list[bytes], open_line: _OpenLine | None) -> tuple[list[bytes], _OpenLine | None]:
    """The lines with those joined that belong together, and the one that is not complete."""
    joined: list[bytes] = []
    for line in lines:
        if open_line is None:
            if b'"' not in line and not line.endswith(b"\\"):
                joined.append(line)
                continue
            open_line = _OpenLine()
        if open_line.ends_after(line):
            joined.append(open_line.text)
            open_line = None
    return joined, open_line

"""A log in pieces of whole lines, so that no more of its text than one of them is held at a time."""

import mmap
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.open import Data

# So much memory is handed on from one piece to the next; much more is taken from the system each time.
PIECE = 30 << 20
_TAIL = 1 << 16
_BLOCK = 1 << 18  # fits a processor's cache
_COUNTED = 1 << 20  # smaller ones make two threads wait for each other
_WORTH_A_THREAD = 16 << 20
BLANK_CELL = b'" "'
QUOTE, _SPACE, _LINE_END, _RETURN = b'" \n\r'


@dataclass(frozen=True)
class Piece:
    """Whole lines, each with its line end.

    The `last` piece ends with the last line of the file that is not blank; `is_open` is whether that
    line has no line end in the file. `returns` are whether the lines before and behind the piece end in a
    carriage return; where there are none they are taken to.
    """

    data: bytes
    separator: str
    last: bool = True
    is_open: bool = False
    returns: tuple[bool, bool] = (True, True)

    @property
    def bare(self) -> bool:
        """Whether the file ends within a cell without quotes."""
        return self.is_open and ends_in_a_bare_cell(self.data[:-1])

    @cached_property
    def lines(self) -> int:
        """How many lines there are."""
        return count(self.data, _LINE_END)

    def blanks(self) -> NDArray[np.intp]:
        """Where quoted blanks are that follow a separator, and are whole cells."""
        data = np.frombuffer(self.data, np.uint8)
        at = places(data, _SPACE)
        at = at[(at >= 2) & (at < len(data) - 2)]
        is_blank = (data[at - 2] == ord(self.separator)) & (data[at - 1] == QUOTE) & (data[at + 1] == QUOTE)
        at = at[is_blank]
        return at[np.isin(data[at + 2], (ord(self.separator), *b"\r\n"))] - 2


def places(text: NDArray[np.uint8], byte: int) -> NDArray[np.intp]:
    """Where a byte stands in the text."""
    found = [np.flatnonzero(text[at : at + _BLOCK] == byte) + at for at in range(0, len(text), _BLOCK)]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)


def count(data: bytes, byte: int) -> int:
    """How often a byte stands in the text."""
    (times,) = counts(data, bytes([byte]), 0, len(data))
    return times


def counts(source: Path | bytes, wanted: bytes, start: int, stop: int) -> list[int]:
    """How often each of some bytes stands in a text, or in the file of that name, from `start` on and before `stop`."""
    if stop - start <= _WORTH_A_THREAD:
        return _counts(source, wanted, start, stop)
    parts = [(at, min(at + _WORTH_A_THREAD, stop)) for at in range(start, stop, _WORTH_A_THREAD)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda part: _counts(source, wanted, *part), parts)
        return [sum(times) for times in zip(*found, strict=True)]


def _counts(source: Path | bytes, wanted: bytes, start: int, stop: int) -> list[int]:
    found = np.empty(min(_COUNTED, stop - start), dtype=bool)
    times = [0] * len(wanted)
    for block in _blocks(source, start, stop):
        for at, byte in enumerate(wanted):
            times[at] += int(np.count_nonzero(np.equal(block, byte, out=found[: len(block)])))
    return times


def _blocks(source: Path | bytes, start: int, stop: int) -> Iterator[NDArray[np.uint8]]:
    """The text in blocks; those of a file stand in the same memory, one after the other.

    To copy them takes less time than pages of a mapped file take to come and go.
    """
    if isinstance(source, bytes):
        text = np.frombuffer(source, np.uint8)[:stop]
        yield from (text[at : at + _COUNTED] for at in range(start, stop, _COUNTED))
        return
    room = bytearray(min(_COUNTED, stop - start))
    view, text = memoryview(room), np.frombuffer(room, np.uint8)
    with source.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (copied := file.readinto(view[: stop - start])):
            yield text[:copied]
            start += copied


def pieces(data: Data, start: int, separator: str) -> Iterator[Piece]:
    """The lines from `start` on, in pieces of about equal size, up to the last that is not blank."""
    end = _end(data, start)
    left = -(-(end - start) // PIECE)
    while start < end:
        line_end = data.find(b"\n", start + (end - start) // left, end) if left > 1 else -1
        stop = end if line_end < 0 else line_end + 1
        body = data[start:stop]
        behind = data.find(b"\n", stop, end)
        returns = (start < 2 or data[start - 2] == _RETURN, behind < 0 or data[behind - 1] == _RETURN)
        if isinstance(data, mmap.mmap):
            _let_go(data, start, stop)
        is_open = not body.endswith(b"\n")
        yield Piece(body + b"\n" if is_open else body, separator, stop == end, is_open, returns)
        start, left = stop, left - 1


def ends_in_a_bare_cell(data: Data) -> bool:
    """Whether a file that is not empty ends within a line, in a cell without quotes.

    Nobody can tell whether its number is whole.
    """
    return data[len(data) - 1 :] not in (b"\n", b"\r", b'"', b" ", b"\0")


def _end(data: Data, start: int) -> int:
    """Where the last line that is not blank ends."""
    end = len(data)
    while end > start:
        tail = data[max(start, end - _TAIL) : end]
        if written := len(tail.rstrip()):
            line_end = data.find(b"\n", end - len(tail) + written)
            return len(data) if line_end < 0 else line_end + 1
        end -= len(tail)
    return start


def _let_go(data: mmap.mmap, start: int, stop: int) -> None:
    """Give pages that were read back to the system; they come again where they are looked at again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        first = start - start % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, first, stop - first)

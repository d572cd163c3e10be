"""The fast way to read rows: polars parses many at once, if each has all its cells and a number or blank in each."""

import math
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PanicException, PolarsError

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.perfmon.layout import TIME, Layout, Rows, wall_clock

# polars warns on stderr of a quote that encloses a line end. Here that shows as a wrong number of rows.
warnings.filterwarnings("ignore", "CSV malformed", UserWarning)
_BLOCK = 1 << 20
_PER_THREAD = 16 << 20


def read_regular(source: Path | bytes, start: int, stop: int, line: int, layout: Layout) -> Rows | None:
    """The rows between two places of a file or of bytes, the first of which is on that line; None if irregular."""
    if start >= stop:
        return None
    # Counted first: polars takes long over a quote that is never closed, and accepts a row that lacks cells.
    expected = _expected_rows(source, start, stop, layout)
    if not expected.is_integer():
        return None
    skipped = line - 1 if isinstance(source, Path) else 0
    plan = pl.scan_csv(
        source,
        glob=False,
        has_header=False,
        skip_lines=skipped,
        separator=layout.separator,
        schema=layout.schema,
    )
    try:
        frame = plan.collect()
    except (PolarsError, PanicException):
        return None
    if len(frame) != expected:
        return None
    local = wall_clock(frame.drop_in_place(TIME))
    return None if local.null_count() else Rows(local, frame, range(line, line + len(local)))


def ends_in_a_bare_cell(data: Data) -> bool:
    """Whether text ends within a line, in a cell without quotes, so that its last number may be cut short."""
    return data[len(data) - 1 :] not in (b"\n", b"\r", b'"', b" ", b"\0")


def _expected_rows(source: Path | bytes, start: int, stop: int, layout: Layout) -> float:
    """The number of rows if each has all its cells; not a whole number if one has not."""
    (quotes,) = _counts(source, b'"', start, stop)
    if quotes:
        return quotes / (2 * layout.quoted)
    separators, returns, line_ends = _counts(source, f"{layout.separator}\r\n".encode(), start, stop)
    # A line without its carriage return may be cut within its last number.
    return math.nan if returns not in (0, line_ends) else separators / (layout.width - 1)


def _counts(source: Path | bytes, wanted: bytes, start: int, stop: int) -> list[int]:
    """How often each of some bytes occurs."""
    parts = [(at, min(at + _PER_THREAD, stop)) for at in range(start, stop, _PER_THREAD)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda part: _counts_of_part(source, wanted, *part), parts)
        return [sum(times) for times in zip(*found, strict=True)]


def _counts_of_part(source: Path | bytes, wanted: bytes, start: int, stop: int) -> list[int]:
    times = [0] * len(wanted)
    for block in _blocks(source, start, stop):
        for at, byte in enumerate(wanted):
            times[at] += int(np.count_nonzero(block == byte))
    return times


def _blocks(source: Path | bytes, start: int, stop: int) -> Iterator[NDArray[np.uint8]]:
    """The text in blocks. Reading a file into the same memory again is faster than mapping its pages."""
    if isinstance(source, bytes):
        text = np.frombuffer(source, np.uint8)[:stop]
        yield from (text[at : at + _BLOCK] for at in range(start, stop, _BLOCK))
        return
    room = bytearray(min(_BLOCK, stop - start))
    view, text = memoryview(room), np.frombuffer(room, np.uint8)
    with source.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (copied := file.readinto(view[: stop - start])):
            yield text[:copied]
            start += copied

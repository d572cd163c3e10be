"""Many rows parsed at once, where each has the header's cells and a number or a blank in each of them."""

import math
from pathlib import Path
from threading import Event

from ingest.formats.perfmon.layout import TIME, Layout, Rows, wall_clock
from ingest.formats.perfmon.numbers import columns_of
from ingest.formats.perfmon.pieces import QUOTE, counts, ends_in_a_bare_cell
from ingest.shared.text import Text

_HEAD = 100


def whole(text: Text, layout: Layout, begun: Event) -> Rows | None:
    """All rows of a file; None where they are not regular, or there are none. `begun`: see `read_pdh`."""
    data, offset = text.data, layout.offset
    if not data[offset : offset + _HEAD].strip() or ends_in_a_bare_cell(data):
        return None
    return _regular(text.source, offset, len(data), layout.first_line, layout, begun)


def at_once(piece: bytes, line: int, layout: Layout) -> Rows | None:
    """The rows of a piece, the first of which is that line of the file; None where they are not regular."""
    rows = _regular(piece, 0, len(piece), 1, layout)
    return rows and Rows(rows.local, rows.numbers, range(line, line + len(rows.lines)))


def _regular(
    source: Path | bytes, start: int, stop: int, line: int, layout: Layout, begun: Event | None = None
) -> Rows | None:
    # Counted first, since of a quote that nothing closes polars says all that follows, and takes its time.
    full = _full_rows(source, start, stop, layout)
    if not full.is_integer():
        return None
    frame = columns_of(source, layout, skip_lines=line - 1, strict=True, begun=begun)
    if frame is None or len(frame) != full:
        return None
    local = wall_clock(frame.drop_in_place(TIME))
    return None if local.null_count() else Rows(local, frame, range(line, line + len(local)))


def _full_rows(source: Path | bytes, start: int, stop: int, layout: Layout) -> float:
    """How many rows there would be if all had the header's cells: no whole number where one surely has not."""
    (quotes,) = counts(source, bytes([QUOTE]), start, stop)
    if quotes:
        return quotes / (2 * layout.width)
    separators, returns, line_ends = counts(source, f"{layout.separator}\r\n".encode(), start, stop)
    # A line without its carriage return may be cut within its last number.
    return math.nan if returns not in (0, line_ends) else separators / (layout.width - 1)

"""The rows of a delimited log: a time in the first cell, a number or a blank in each other one.

Whole files are parsed by polars at once. That takes for granted that every row has the header's
cells and every cell is a number; where the outcome shows otherwise, the lines are looked at one by
one, so that each row and cell that is left out is told with its place.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import numpy as np
import polars as pl
from polars.exceptions import PanicException, PolarsError

from ingest.layout import BLANK, TIME, Layout, Table, wall_clock
from ingest.lines import ends_in_a_bare_cell, read_by_line
from ingest.quiet import panics_unheard
from ingest.text import Text
from model.remark import Kind, Remarks

_QUOTE = ord('"')
_PIECE = 1 << 18  # fits a processor's cache
_SHARE = 1 << 24  # is worth a thread


def parse(text: Text, layout: Layout, remarks: Remarks) -> Table:
    """Read all rows. Unusable if the rows do not have the cells of the header."""
    table = _at_once(text, layout) or read_by_line(text, layout, remarks)
    return Table(table.local, _finite(table.columns, layout, remarks), table.lines)


def _at_once(text: Text, layout: Layout) -> Table | None:
    """The whole file in one go, or None where it is not as regular as that needs."""
    if not text.data[layout.offset : layout.offset + 100].strip() or _quotes(text, layout) % (2 * layout.width):
        return None
    if ends_in_a_bare_cell(text.data):
        return None
    names = [str(at) for at in range(layout.width - 1)]
    # The last column is read as text: a row that is too short has a null there, a blank has none.
    dtypes = {TIME: pl.String, **dict(zip(names, repeat(pl.Float64), strict=False)), names[-1]: pl.String}
    try:
        with panics_unheard():
            frame = pl.read_csv(
                text.source,
                glob=False,
                has_header=False,
                skip_lines=layout.first_line - 1,
                separator=layout.separator,
                schema=dtypes,
                null_values=dict(zip(names[:-1], repeat(BLANK), strict=False)),
            )
        times, *columns, last = frame.get_columns()
        local = wall_clock(times)
        if last.null_count() or local.null_count():
            return None
        columns.append(last.replace(BLANK, None).cast(pl.Float64))
    except (PolarsError, PanicException):
        return None
    return Table(local, columns, range(layout.first_line, layout.first_line + len(local)))


def _quotes(text: Text, layout: Layout) -> int:
    """How many quotes the rows hold. One that is not closed would make polars take lines for cells."""
    data = np.frombuffer(text.data, np.uint8, offset=layout.offset)

    def count(first: int) -> int:
        pieces = range(first, min(first + _SHARE, len(data)), _PIECE)
        return sum(int(np.count_nonzero(data[at : min(at + _PIECE, len(data))] == _QUOTE)) for at in pieces)

    with ThreadPoolExecutor() as pool:
        return sum(pool.map(count, range(0, len(data), _SHARE)))


def _finite(columns: list[pl.Series], layout: Layout, remarks: Remarks) -> list[pl.Series]:
    """NaN and infinities become missing, with a remark."""
    for at, (counter, column, total) in enumerate(zip(layout.counters, columns, _sums(columns), strict=True)):
        if math.isfinite(total):
            continue
        infinite = ~column.is_finite()
        if count := int(infinite.sum() or 0):
            more = f", and {count - 1:,} more in this column" if count > 1 else ""
            remarks.add(Kind.SKIPPED, f"NaN or infinite: no sample{more}", counter=counter, count=count)
            columns[at] = column.set(infinite, None)
    return columns


def _sums(columns: Sequence[pl.Series]) -> Iterator[float]:
    """The sum of each column: finite only if all its values are."""
    half = len(columns) // 2
    with ThreadPoolExecutor() as pool:
        for sums in pool.map(lambda part: [column.sum() for column in part], (columns[:half], columns[half:])):
            yield from sums

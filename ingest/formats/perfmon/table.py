"""The rows of a delimited log: a time in the first cell, a number or a blank in each other one.

They are parsed at once as far as they are as regular as that needs. Damaged files and the largest are
gone through in pieces, so that each row and cell that is left out is told with its place.
"""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import polars as pl

from ingest.formats.perfmon.at_once import at_once, whole
from ingest.formats.perfmon.by_line import read_by_line
from ingest.formats.perfmon.layout import Layout, Rows, Table
from ingest.formats.perfmon.pieces import pieces
from ingest.formats.perfmon.tally import Tally
from ingest.shared.text import Text
from model.remark import Kind, Remarks, and_more

# Files up to here are left to polars whole: it is faster for that, and holds them in memory meanwhile.
WHOLE = 128 << 20
_WORTH_A_THREAD = 250_000  # cells
_MOST_STRANGE = 0.1


def parse(text: Text, layout: Layout, remarks: Remarks, begun: Event) -> Table:
    """Read all rows. `begun`: see `read_pdh`.

    Unusable if most rows do not have the cells of the header or no time of Perfmon's, if most cells are no
    numbers, if several rows have the day first, or if another log begins in the file.
    """
    tried = len(text.data) <= WHOLE
    if tried and (rows := whole(text, layout, begun)):
        return _table([rows], layout, remarks)
    begun.set()
    tally = Tally()
    parts: list[Rows] = []
    line = layout.first_line
    regular = True  # damage seldom comes alone: behind a damaged piece the next is not tried at once
    for piece in pieces(text.data, layout.offset, layout.separator):
        rows = None
        alone = piece.last and not parts  # the whole file, which was tried already
        if regular and not (tried and alone) and not piece.bare:
            rows = at_once(piece.data, line, layout)
        if rows:
            tally.add_rows(rows)
        else:
            before = tally.faults, len(remarks.items)
            rows = read_by_line(piece, line, layout, tally, remarks)
            regular = before == (tally.faults, len(remarks.items))
        if rows is None:  # hopeless: the tally refuses the file
            break
        parts.append(rows)
        line += piece.lines
    tally.tell(layout, remarks)
    table = _table(parts, layout, remarks)
    return replace(table, headers=tally.headers, unread=_unread(table.columns, tally))


def _unread(columns: Sequence[pl.Series], tally: Tally) -> list[int]:
    """The columns of which too many cells are no numbers for what is left to tell of them all."""
    return [
        at
        for at, found in sorted(tally.strange.items())
        if found.count > _MOST_STRANGE * (found.count + len(columns[at]) - columns[at].null_count())
    ]


def _table(parts: Sequence[Rows], layout: Layout, remarks: Remarks) -> Table:
    if not parts:
        empty = pl.Series([], dtype=pl.Float64)
        return Table(pl.Series([], dtype=pl.Datetime("ns")), [empty] * (layout.width - 1), [])
    first, *others = parts
    local, numbers, lines = first.local, first.numbers, first.lines
    if others:
        local = pl.concat([part.local for part in parts])
        numbers = pl.concat([part.numbers for part in parts])
        lines = [line for part in parts for line in part.lines]
    return Table(local, _finite(numbers.get_columns(), layout, remarks), lines)


def _finite(columns: list[pl.Series], layout: Layout, remarks: Remarks) -> list[pl.Series]:
    """NaN and infinities become missing, with a remark."""
    for at, (counter, column, total) in enumerate(zip(layout.counters, columns, _sums(columns), strict=True)):
        if math.isfinite(total):
            continue
        infinite = ~column.is_finite()
        if count := int(infinite.sum() or 0):
            told = f"NaN or infinite: no sample{and_more(count)}"
            remarks.add(Kind.SKIPPED, told, counter=counter, count=count)
            columns[at] = column.set(infinite, None)
    return columns


def _sums(columns: Sequence[pl.Series]) -> Iterator[float]:
    """The sum of each column: finite only if all its values are."""
    step = max(_WORTH_A_THREAD // max(len(columns[0]), 1), 1)
    if len(columns) <= step:
        yield from (float(column.sum()) for column in columns)
        return
    parts = [columns[at : at + step] for at in range(0, len(columns), step)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for sums in pool.map(lambda part: [column.sum() for column in part], parts):
            yield from sums

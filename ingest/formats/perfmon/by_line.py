"""The rows of a piece of a log that is not as regular as it should be.

Lines that counts of what they are made of show to be odd are looked at one by one; all others are
parsed together, and what comes of that may show more of them to be odd.
"""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import compress

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.formats.perfmon.layout import TIME, Layout, Rows, wall_clock
from ingest.formats.perfmon.lines import Lines
from ingest.formats.perfmon.numbers import columns_of, nulls_of_rows
from ingest.formats.perfmon.odd_lines import Looked, first_cell, look_at, run_together
from ingest.formats.perfmon.pieces import Piece
from ingest.formats.perfmon.tally import HOPELESS, Tally
from ingest.shared.cells import split
from model.errors import Unusable
from model.remark import Remarks

# What is left where a part of a log was lost or overwritten: the end of one row's number with a time or a number of
# another, or what no text is made of, for longer than a number.
_JOINT = re.compile(
    r"\d/\d\d/\d{4} \d|\d:\d\d\.\d{3}|\d\.\d{6,}\.\d|(?=.*[\x01-\x08\x0e-\x1f]).{40}|([^-])\1{15}", re.DOTALL
)
_SEEN = 200  # of a cell, as the longest take long to search
_FEW = 500  # looking at so many lines takes less time than parsing them once more
_SMALL = 4 << 20  # bytes in which counting line by line takes less time than parsing them once more


def read_by_line(piece: Piece, first_line: int, layout: Layout, tally: Tally, remarks: Remarks) -> Rows | None:
    """The rows of a piece; None once reading on is hopeless. Unusable if another log begins in it."""
    lines = Lines(piece, first_line, layout)
    if len(lines) <= _FEW:
        chosen = {at for at in range(len(lines)) if not lines.is_ordinary(at)} | lines.apart()
    else:
        chosen = lines.apart() | (lines.unlike_each() if len(piece.data) < _SMALL else _unlike(lines, layout, tally))
    rewrite, rows, odd = False, None, set[int]()
    while True:
        found = look_at(sorted(chosen), lines, layout, tally, rewrite=rewrite)
        if found.is_hopeless:
            tally.take(found.tally)
            return None
        rows = (rows and _parsed_anew(rows, odd, lines, found, layout)) or _parsed(lines, found, layout)
        if rows is None:
            if rewrite:
                place = f"{layout.file}:{first_line}"
                raise Unusable(f"{place}: the rows from here on cannot be parsed; export the log again with relog")
            odd = lines.unlike_each()
            if odd <= chosen:
                odd = {at for at in range(len(lines)) if not lines.is_ordinary(at)}
            rewrite = odd <= chosen
            chosen = set(range(len(lines))) if rewrite else chosen | odd
            continue
        odd = {at for at in rows.lines[rows.odd].tolist() if at not in chosen and not lines.is_ordinary(at)}
        if not odd:
            break
        chosen |= odd
    remarks.items += found.remarks
    numbers = _numbers(rows, lines, found, layout)
    tally.take(found.tally)
    return numbers


def _unlike(lines: Lines, layout: Layout, tally: Tally) -> set[int]:
    """The lines that are unlike a row, or the first of them where those are enough to tell that all are."""
    found: list[int] = []
    tried = HOPELESS
    for at in lines.unlike():
        found.append(at)
        if len(found) == tried and at == len(found) - 1 and not tally.kept:
            if look_at(found, lines, layout, tally).is_hopeless:
                break
            tried *= 2  # so that many lines that are unlike and yet rows are looked at twice, not each time
    return set(found)


@dataclass
class _Parsed:
    """The rows of a piece as they were parsed, with the line each is of."""

    frame: pl.DataFrame
    local: pl.Series
    lines: NDArray[np.int64]
    is_odd: NDArray[np.bool_]

    @property
    def odd(self) -> NDArray[np.intp]:
        """Which rows lack a number or a time."""
        return np.flatnonzero(self.is_odd)


def _parsed(lines: Lines, found: Looked, layout: Layout) -> _Parsed | None:
    """All lines that were not left out, parsed; None if they cannot be, or not to as many rows."""
    kept = np.ones(len(lines), dtype=bool)
    kept[[at for at in found.seen if at not in found.kept]] = False
    return _rows(_body(lines, found), np.flatnonzero(kept), lines, found, layout)


def _parsed_anew(rows: _Parsed, odd: Set[int], lines: Lines, found: Looked, layout: Layout) -> _Parsed | None:
    """The rows with those lines as they were found since to be, or without them."""
    kept = [at for at in sorted(odd) if at in found.kept]
    body = b"".join(found.kept[at] + b"\n" for at in kept)
    some = _rows(body, np.array(kept, dtype=np.int64), lines, found, layout)
    if some is None:
        return None
    others = np.flatnonzero(~np.isin(rows.lines, list(odd)))
    at = np.concatenate([rows.lines[others], some.lines])
    order = np.argsort(at)
    return _Parsed(
        pl.concat([rows.frame[others], some.frame])[order],
        pl.concat([rows.local[others], some.local])[order],
        at[order],
        np.concatenate([rows.is_odd[others], some.is_odd])[order],
    )


def _rows(body: bytes, at: NDArray[np.int64], lines: Lines, found: Looked, layout: Layout) -> _Parsed | None:
    """The text of these lines, parsed; None if it cannot be, or not to as many rows."""
    frame = columns_of(body, layout) if len(at) else pl.DataFrame(schema=layout.schema)
    if frame is None or len(frame) != len(at):
        return None
    local = wall_clock(frame.drop_in_place(TIME))
    is_odd = local.is_null().to_numpy()
    if nulls := sum(column.null_count() for column in frame.get_columns()):
        blanks = lines.blanks.copy()
        blanks[list(found.blanks)] = list(found.blanks.values())
        # A blank is always a null: there are other nulls where these are more.
        if blanks[at].sum() != nulls:
            is_odd = is_odd | (blanks[at] != nulls_of_rows(frame))
    return _Parsed(frame, local, at, is_odd)


def _body(lines: Lines, found: Looked) -> bytes:
    """The lines that were not left out, one below the other."""
    if not found.seen:
        return lines.piece.data
    parts: list[bytes | memoryview] = []
    data, starts = memoryview(lines.piece.data), lines.starts
    done = 0
    for at in found.seen:
        parts.append(data[starts[done] : starts[at]])
        if (line := found.kept.get(at)) is not None:
            parts += (line, b"\n")
        done = at + 1
    parts.append(data[starts[done] :])
    return b"".join(parts)


def _numbers(rows: _Parsed, lines: Lines, found: Looked, layout: Layout) -> Rows:
    """The rows whose time is one. Cells that are no number and rows without a time are put to the tally."""
    mended: dict[int, dict[int, float]] = {}
    joints: dict[int, int] = {}
    tally = found.tally
    for row in rows.odd.tolist():
        at = int(rows.lines[row])
        line = found.kept.get(at) or lines.text(at)
        cells = split(line.rstrip(b"\r").decode("utf-8", errors="replace"), layout.separator)[1:]
        is_null = (value is None for value in rows.frame.row(row))
        for column, cell in compress(enumerate(cells), is_null):
            if text := cell.strip():
                number = _number(text)
                if number is not None:
                    mended.setdefault(column, {})[row] = number
                    continue
                tally.add_strange(column, lines.number(at), text)
                if row not in joints and _is_joint(column, text, layout):
                    joints[row] = column
                    tally.partial.append((lines.number(at), run_together(column + 2, text)))
    frame = rows.frame
    for column, values in mended.items():
        frame.replace_column(column, frame.to_series(column).scatter(list(values), list(values.values())))
    if joints:
        rows.frame = frame = _without_other_rows(frame, joints)
    tally.add_rows(Rows(rows.local, frame, ()))
    return _dated(rows, lines, layout.separator, tally)


def _is_joint(column: int, text: str, layout: Layout) -> bool:
    """Whether another row may go on there; a column that is no counter's may hold anything."""
    return column < layout.width - 2 and layout.counters[column].startswith("\\") and bool(_JOINT.search(text[:_SEEN]))


def _without_other_rows(frame: pl.DataFrame, joints: Mapping[int, int]) -> pl.DataFrame:
    """The numbers without those of some rows that stand behind a column, as another row may go on there."""
    others = np.ones(len(frame), dtype=bool)
    others[list(joints)] = False
    of_column: dict[int, list[int]] = {}
    for row, column in joints.items():
        of_column.setdefault(column, []).append(row)
    parts = [frame[rows, : column + 1] for column, rows in of_column.items()]
    order = np.argsort(np.concatenate([np.flatnonzero(others), *of_column.values()]))
    return pl.concat([frame[np.flatnonzero(others)], *parts], how="diagonal")[order]


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _dated(rows: _Parsed, lines: Lines, separator: str, tally: Tally) -> Rows:
    numbers = (rows.lines + lines.number(0)).tolist()
    if not rows.local.null_count():
        return Rows(rows.local, rows.frame, numbers)
    good = rows.local.is_not_null().to_numpy()
    tally.not_days += [
        (numbers[row], first_cell(lines.text(int(rows.lines[row])), separator))
        for row in np.flatnonzero(~good).tolist()
    ]
    return Rows(rows.local.drop_nulls(), rows.frame[np.flatnonzero(good)], list(compress(numbers, good)))

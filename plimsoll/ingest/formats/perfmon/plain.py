"""Reads a small log that is exactly as Performance Monitor wrote it, without the slow import of polars."""

import re
from collections.abc import Sequence

import numpy as np

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.perfmon.header import TableLayout
from plimsoll.ingest.shared.clock import EARLIEST, LATEST
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values

_SMALL = 1 << 20
_EARLIEST, _LATEST = (np.datetime64(time // 1_000_000, "ms") for time in (EARLIEST, LATEST))
_TIME = r'"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d{3}"'
_NUMBER = r'"(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?| )"'


@dataclass(frozen=True)
class CounterTable:
    """All rows of a log: wall-clock times (ns, as if they were UTC), a column for each counter, and line numbers.

    Missing samples are NaN. `headers` are the lines that repeat the header; after each, another recording begins.
    `unread` are the indices of columns that lack many values.
    """

    local: Times
    columns: Sequence[Values]
    lines: Sequence[int]
    headers: Sequence[int] = ()
    unread: Sequence[int] = ()


def read_plain(data: Data, layout: TableLayout) -> CounterTable | None:
    """Return the rows of a small log; None if it is too large, or not exactly as Performance Monitor writes logs."""
    if not layout.offset < len(data) <= _SMALL:
        return None
    text = data[layout.offset :].decode("latin-1").replace("\r\n", "\n").removesuffix("\n")
    is_row = re.compile(f"{_TIME}(?:{layout.separator}{_NUMBER}){{{layout.quoted - 1}}}", re.ASCII | re.IGNORECASE)
    lines = text.split("\n")
    if layout.quoted != layout.width or not all(map(is_row.fullmatch, lines)):
        return None
    rows = [line[1:-1].split(f'"{layout.separator}"') for line in lines]
    try:
        local = np.array([f"{time[6:10]}-{time[:2]}-{time[3:5]}T{time[11:]}" for time, *_ in rows], "datetime64[ms]")
    except ValueError:  # a time does not exist
        return None
    values = np.array([[float(cell if cell != " " else "nan") for cell in cells] for _, *cells in rows]).T
    # Years such as 1601 (a clock that was never set) do not fit into nanoseconds since 1970.
    is_recent = (local >= _EARLIEST).all() and (local <= _LATEST).all()
    if np.isinf(values).any() or not is_recent:
        return None
    numbers = range(layout.first_line, layout.first_line + len(rows))
    return CounterTable(local.astype("datetime64[ns]").astype(np.int64), list(np.ascontiguousarray(values)), numbers)


def ends_in_a_bare_cell(data: Data) -> bool:
    """Return whether a file ends within a cell without quotes, so that its last number may be cut short."""
    return data[len(data) - 1 :] not in (b"\n", b"\r", b'"', b" ", b"\0")

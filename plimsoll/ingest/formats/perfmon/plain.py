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
_FORM = "00/00/0000 00:00:00.000"
_ZEROS = np.frombuffer(_FORM.encode(), np.uint8)
_HIGHEST = np.array([9 * (character == "0") for character in _FORM], np.uint8)
_AS_ISO = [6, 7, 8, 9, 2, 0, 1, 2, 3, 4, *range(10, 23)]
TIME_LENGTH = len(_FORM)
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
    row = f'"[^"]{{{TIME_LENGTH}}}"(?:{layout.separator}{_NUMBER}){{{layout.quoted - 1}}}'
    is_row = re.compile(row, re.ASCII | re.IGNORECASE)
    lines = text.split("\n")
    if layout.quoted != layout.width or not all(map(is_row.fullmatch, lines)):
        return None
    rows = [line[1:-1].split(f'"{layout.separator}"') for line in lines]
    local = parse_times("".join(time for time, *_ in rows).encode("latin-1"))
    values = np.array([[float(cell if cell != " " else "nan") for cell in cells] for _, *cells in rows]).T
    if local is None or np.isinf(values).any():
        return None
    numbers = range(layout.first_line, layout.first_line + len(rows))
    return CounterTable(local, list(np.ascontiguousarray(values)), numbers)


def parse_times(cells: bytes) -> Times | None:
    """Return times (ns) from joined cells such as `03/31/2024 08:05:00.123`.

    Return None if a cell is written in another way, or if its time does not exist or is outside 1980 to 2200.
    """
    text = np.frombuffer(cells, np.uint8).reshape(-1, TIME_LENGTH)
    if (text - _ZEROS > _HIGHEST).any():
        return None
    as_iso = np.take(text, _AS_ISO, axis=1)
    as_iso[:, [4, 7]] = ord("-")
    try:
        local = as_iso.view(f"S{TIME_LENGTH}").ravel().astype("datetime64[ms]")
    except ValueError:
        return None
    # Years such as 1601 (a clock that was never set) do not fit into nanoseconds since 1970.
    is_recent = (local >= _EARLIEST).all() and (local <= _LATEST).all()
    return local.astype("datetime64[ns]").astype(np.int64) if is_recent else None

"""Reads samples from the tables of the embedded store. A recorded value counts before a live one of the same time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.samples import Samples, joined
from store.duck_file import Cursor
from store.duck_tables import Asked, parts
from store.protocol import Buckets

_AT_ONCE = 500


def samples(cursor: Cursor, numbers: Sequence[int], start: int, end: int) -> dict[int, Samples]:
    """The samples of the series that have any in a range, by their numbers."""
    found: dict[int, list[Samples]] = {}
    for asked in _groups(numbers, start, end):
        for query, values in _queries(cursor, asked):
            rows = cursor.execute(f"SELECT series, time, value FROM ({query}) ORDER BY series, time", values)
            for number, columns in _by_series(rows.fetchnumpy()):
                found.setdefault(number, []).append(Samples(columns["time"], columns["value"]))
    return {number: some[0] if len(some) == 1 else joined(some) for number, some in found.items()}


def buckets(cursor: Cursor, numbers: Sequence[int], start: int, end: int, width: int) -> dict[int, Buckets]:
    """Minimum, maximum and mean of the series that have samples in a range, by their numbers."""
    found: dict[int, Buckets] = {}
    for asked in _groups(numbers, start, end):
        query, values = _united(cursor, asked)
        rows = cursor.execute(
            "SELECT series, time - ((time % $1) + $1) % $1 AS time, min(value) AS minimum, max(value) AS maximum, "
            f"avg(value) AS mean FROM ({query}) GROUP BY ALL ORDER BY ALL".replace("$1", str(int(width))),
            values,
        )
        for number, columns in _by_series(rows.fetchnumpy()):
            found[number] = Buckets(columns["time"], columns["minimum"], columns["maximum"], columns["mean"])
    return found


def counts(cursor: Cursor, numbers: Sequence[int], start: int, end: int) -> dict[int, int]:
    """How many samples the series have in a range, by their numbers."""
    found: dict[int, int] = {}
    for asked in _groups(numbers, start, end):
        query, values = _united(cursor, asked)
        found |= dict(cursor.execute(f"SELECT series, count(*) FROM ({query}) GROUP BY series", values).fetchall())
    return found


def present(cursor: Cursor, start: int, end: int) -> list[int]:
    """The numbers of the series with a sample in a range."""
    tables = ["recorded", *(part.name for part in parts(cursor, start, end))]
    query = " UNION ALL ".join(f"SELECT series FROM {name} WHERE time BETWEEN ? AND ?" for name in tables)
    rows = cursor.execute(f"SELECT DISTINCT series FROM ({query})", [start, end] * len(tables)).fetchall()
    return [number for (number,) in rows]


def _groups(numbers: Sequence[int], start: int, end: int) -> list[Asked]:
    every = sorted(set(numbers))
    return [Asked(every[at : at + _AT_ONCE], start, end) for at in range(0, len(every), _AT_ONCE)]


def _queries(cursor: Cursor, asked: Asked) -> list[tuple[str, list[int]]]:
    """Queries for the recorded samples and for the live ones, with their parameters."""
    recorded = (f"SELECT series, time, value FROM recorded WHERE {asked.where}", asked.values)
    tables = parts(cursor, asked.start, asked.end)
    live = " UNION ALL ".join(f"SELECT series, time, value FROM {part.name} WHERE {asked.where}" for part in tables)
    return [recorded, (live, asked.values * len(tables))] if tables else [recorded]


def _united(cursor: Cursor, asked: Asked) -> tuple[str, list[int]]:
    """One query for all samples, in which live ones do not hide recorded ones."""
    (recorded, values), *live = _queries(cursor, asked)
    if not live:
        return recorded, values
    ((query, others),) = live
    some = cursor.execute(f"SELECT 1 FROM recorded WHERE {asked.where} LIMIT 1", asked.values).fetchone()
    if some is None:
        return query, others
    rest = f"SELECT * FROM ({query}) AS live ANTI JOIN ({recorded}) AS held USING (series, time)"
    return f"{recorded} UNION ALL {rest}", [*values, *others, *values]


def _by_series(columns: Mapping[str, NDArray[Any]]) -> list[tuple[int, dict[str, NDArray[Any]]]]:
    """The columns of each series, of an answer that is sorted by series."""
    series = columns["series"]
    if not len(series):
        return []
    first = np.flatnonzero(np.diff(series, prepend=series[0] - 1))
    ends = [*first[1:].tolist(), len(series)]
    return [
        (int(series[at]), {name: np.asarray(column[at:end]) for name, column in columns.items() if name != "series"})
        for at, end in zip(first.tolist(), ends, strict=True)
    ]

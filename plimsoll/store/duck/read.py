"""Reads samples from the tables and day files of the embedded store."""

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.samples import Samples, join_samples
from plimsoll.store.duck.day_files import DayFile, DayFolder, list_files, query_rows
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.hot_tables import DAY, MINUTE, Cursor, HotTable, TableKind, list_tables, round_down
from plimsoll.store.m4 import Drawn, compute_bucket_width, join_corners
from plimsoll.store.protocol import Buckets

_MOST_IN_LIST = 50
_HALF = MINUTE // 2
_ROWS_TOGETHER = 100  # of one series, in a row: enough to copy them together


class Columns(NamedTuple):
    """The SQL columns to select from raw samples (`raw`), from minutes (`thin`), and for an empty result (`empty`)."""

    raw: str
    thin: str
    empty: str


MEAN = Columns(
    "series, time, value",
    "series, time, mean AS value",
    "0 AS series, 0::BIGINT AS time, 0.0::DOUBLE AS value",
)
# The times of the lowest and highest value within a minute are unknown.
_RANGE = Columns(
    f"{MEAN.raw}, 1 AS amount",
    f"series, unnest([time, time + {_HALF}]) AS time, unnest([minimum, maximum]) AS value, "
    "unnest([amount, 0]) AS amount",
    f"{MEAN.empty}, 0 AS amount",
)
# Time and value of the first sample of a bucket, the lowest, the highest, and the last.
_CORNERS = (
    "min(time) AS time_0, arg_min(value, time) AS value_0, arg_min(time, value) AS time_1, min(value) AS value_1, "
    "arg_max(time, value) AS time_2, max(value) AS value_2, max(time) AS time_3, arg_max(value, time) AS value_3"
)
_WEIGHED = Columns(
    "series, time, value AS minimum, value AS maximum, value AS mean, 1 AS amount",
    "series, time, minimum, maximum, mean, amount",
    "0 AS series, 0::BIGINT AS time, 0.0 AS minimum, 0.0 AS maximum, 0.0 AS mean, 0 AS amount",
)


class StoredRange(NamedTuple):
    """Series numbers, the SQL condition `named` for these series, a range (both ends included), and a cursor."""

    cursor: Cursor
    days: DayFolder
    numbers: NDArray[np.int32]
    named: str
    start: int
    end: int

    @property
    def where(self) -> str:
        """The SQL condition for the series and the range."""
        return f"{self.named} AND time BETWEEN {self.start} AND {self.end}"

    def query(self, columns: Columns) -> str:
        """Return the SQL query for all samples, earlier days first; if there can be none, a query without rows."""
        tables = sorted(
            list_tables(self.cursor, self.start, self.end), key=lambda table: (table.kind is TableKind.OPEN, table.day)
        )
        queries = [
            f"SELECT {columns.thin if table.kind is TableKind.THIN else columns.raw} "
            f"FROM {table.rows} WHERE {self.where}"
            for table in tables
        ]
        return (
            " UNION ALL ".join([*self._query_files(columns, tables), *queries]) or f"SELECT {columns.empty} WHERE false"
        )

    def _query_files(self, columns: Columns, tables: Sequence[HotTable]) -> Iterator[str]:
        """Yield the SQL queries for the samples in day files, earlier days first."""
        files = list_files(self.cursor, self.start, self.end)
        before = np.searchsorted(self.numbers, [file.first for file in files])
        until = np.searchsorted(self.numbers, [file.last for file in files], side="right")
        files = _list_readable(self.days, [file for file, has in zip(files, before < until, strict=True) if has])
        thin, raw = ([file for file in files if file.kind is kind] for kind in (TableKind.THIN, TableKind.RAW))
        if thin:
            rows = query_rows(self.days, thin, self.start, self.end)
            yield f"SELECT {columns.thin} FROM {rows} WHERE {self.named}"
        if raw:
            rows = f"(FROM {query_rows(self.days, raw, self.start, self.end)} WHERE {self.named})"
            if late := self._query_late((raw[-1].day + 1) * DAY, tables):
                rows += f" ANTI JOIN ({late}) USING (series, time)"
            yield f"SELECT {columns.raw} FROM {rows}"

    def _query_late(self, end: int, tables: Sequence[HotTable]) -> str:
        """Return the SQL query for series and time of the tables' samples before `end`; empty if there are none.

        A sample in a table takes precedence over a sample of that series and time in a day file.
        """
        query = " UNION ALL ".join(
            f"SELECT series, time FROM {table.rows} WHERE {self.where} AND time < {end}"
            for table in tables
            if table.kind is not TableKind.THIN
        )
        return query if query and self.cursor.execute(f"{query} LIMIT 1").fetchall() else ""


@contextmanager
def open_range(file: HotFile, numbers: Sequence[int], start: int, end: int) -> Generator[StoredRange]:
    """Yield a StoredRange of series numbers from `start` to `end` (UTC ns), with a cursor on the committed state."""
    with file.reading() as cursor:
        if len(numbers) > _MOST_IN_LIST:
            cursor.register("chosen", {"series": np.array(numbers, np.int32)})
        named = ", ".join(map(str, numbers)) if len(numbers) <= _MOST_IN_LIST else "SELECT series FROM chosen"
        where = f"series IN ({named})" if named else "false"
        yield StoredRange(cursor, file.days, np.sort(np.array(numbers, np.int32)), where, int(start), int(end))


def read_samples(span: StoredRange) -> dict[int, Samples]:
    """Return samples by series number, without empty series; where raw samples are gone, the means of minutes."""
    rows = span.cursor.execute(span.query(MEAN)).fetchnumpy()
    series, times, values = (np.asarray(rows[name]) for name in ("series", "time", "value"))
    if np.count_nonzero(series[1:] != series[:-1]) > len(series) // _ROWS_TOGETHER:
        # Tables are mostly sorted, so this is much faster than sorting everything in DuckDB.
        order = np.argsort(series, kind="stable")
        series, times, values = series[order], times[order], values[order]
    spans = group_pairs(_list_spans(series))
    columns = ([np.concatenate([column[s] for s in of_one]) for column in (times, values)] for of_one in spans.values())
    read = dict(zip(spans, itertools.starmap(Samples, columns), strict=True))
    return {
        number: samples if (np.diff(samples.times) > 0).all() else join_samples([samples])
        for number, samples in read.items()
    }


def read_drawn(span: StoredRange, buckets: int) -> dict[int, Drawn]:
    """Return the samples that draw each series: the first, lowest, highest and last of each bucket.

    Of a minute whose raw samples are gone, the lowest and the highest value are used as two samples.
    """
    bucket = f"(time - {span.start}) // {compute_bucket_width(span.start, span.end, buckets)}"
    query = (
        f"SELECT series, {bucket} AS bucket, sum(amount) AS amount, {_CORNERS} "
        f"FROM ({span.query(_RANGE)}) GROUP BY ALL ORDER BY series, bucket"
    )
    lines: dict[int, Drawn] = {}
    for number, columns in _split_by_series(span.cursor.execute(query).fetchnumpy()):
        times, values = (np.stack([columns[f"{name}_{at}"] for at in range(4)], axis=1) for name in ("time", "value"))
        lines[number] = Drawn(join_corners(times, values), int(columns["amount"].sum()))
    return lines


def read_buckets(span: StoredRange, width: int) -> dict[int, Buckets]:
    """Return minimum, maximum and mean of buckets of `width` ns by series number, without empty series."""
    rows = span.cursor.execute(
        f"SELECT series, {round_down('time', int(width))} AS start, min(minimum) AS minimum, max(maximum) AS maximum, "
        f"sum(mean * amount) / sum(amount) AS mean FROM ({span.query(_WEIGHED)}) GROUP BY ALL ORDER BY ALL"
    )
    return {
        number: Buckets(columns["start"], columns["minimum"], columns["maximum"], columns["mean"])
        for number, columns in _split_by_series(rows.fetchnumpy())
    }


def count_samples(span: StoredRange) -> dict[int, int]:
    """Return the number of samples by series number; a minute whose raw samples are gone counts as one sample."""
    query = f"SELECT series, count(*) FROM ({span.query(MEAN)}) GROUP BY series"
    return dict(span.cursor.execute(query).fetchall())


def list_present(file: HotFile, start: int, end: int) -> tuple[NDArray[np.int32], list[str]]:
    """Return the numbers of series with a sample in a range, and the names of unreadable day files; both sorted."""
    with file.reading() as cursor:
        within = f"time BETWEEN {int(start)} AND {int(end)}"
        tables = list_tables(cursor, start, end)
        opened = [table.name for table in tables if table.kind is TableKind.OPEN]
        queries = [f"SELECT series FROM {name} WHERE {within}" for name in opened]
        # A series with samples before and after the range on a day may have none within.
        surely = f"first BETWEEN {int(start)} AND {int(end)} OR last BETWEEN {int(start)} AND {int(end)}"
        queries.append(f"SELECT series FROM held WHERE day BETWEEN {start // DAY} AND {end // DAY} AND ({surely})")
        listed = list_files(cursor, start, end)
        files = _list_readable(file.days, listed)
        if start // DAY == end // DAY:
            queries += [
                f"SELECT series FROM {table.rows} WHERE {within}" for table in tables if table.name not in opened
            ]
            for kind in (TableKind.RAW, TableKind.THIN):
                if of_kind := [file for file in files if file.kind is kind]:
                    queries.append(f"SELECT series FROM {query_rows(file.days, of_kind, int(start), int(end))}")
        numbers = np.sort(np.asarray(cursor.execute(" UNION ".join(queries)).fetchnumpy()["series"], np.int32))
        return numbers, sorted({file.name for file in listed} - {file.name for file in files})


def _list_readable(days: DayFolder, files: Sequence[DayFile]) -> list[DayFile]:
    sound = days.readable(file.name for file in files)
    return [file for file in files if file.name in sound]


def _split_by_series(columns: Mapping[str, NDArray[Any]]) -> list[tuple[int, dict[str, NDArray[Any]]]]:
    """Return the number and the columns of each series in a result sorted by series."""
    series = np.asarray(columns["series"])
    return [
        (number, {name: np.asarray(column[span]) for name, column in columns.items()})
        for number, span in _list_spans(series)
    ]


def _list_spans(series: NDArray[Any]) -> Iterator[tuple[int, slice]]:
    """Yield each series number in a sorted column, with the slice of the number's rows."""
    first = np.flatnonzero(np.concatenate(([True], series[1:] != series[:-1]))) if len(series) else series
    ends = [*first[1:].tolist(), len(series)]
    for number, at, end in zip(series[first].tolist(), first.tolist(), ends, strict=False):
        yield number, slice(at, end)

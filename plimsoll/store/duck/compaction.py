"""Compaction and retention: writes past days to files, reduces old days to minutes, and drops the oldest days.

A day file has some of the series of a day. If the process is killed, each sample is still in exactly one place: the
final name of a file is first recorded as a name to remove; then one transaction lists the file, removes its samples
from the tables, and removes the files that it replaces from the list.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.store.duck.day_files import DayFile, add_file, list_files, query_rows, quote_sql, unlist_files
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.hot_tables import (
    DAY,
    HOUR,
    MINUTE,
    Cursor,
    HotTable,
    TableKind,
    add_table,
    drop_table,
    list_tables,
    list_tables_of_day,
    open_tables,
    round_down,
    take_next_number,
)
from plimsoll.store.duck.live_writer import LiveWriter
from plimsoll.store.duck.series_index import StoredSeriesIndex

_CHECKED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long live samples are kept.

    Samples are kept unchanged for `raw_days`, then as minutes until they are `days` old. While more than `size_limit`
    bytes are in use, the oldest day is dropped, but never the last day.
    """

    raw_days: int
    days: int
    size_limit: int


_ROWS_A_FILE = 2_000_000
_ALL = 2**31 - 1
_FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 30720, RETURN_STATS"
_VALUES = {TableKind.RAW: "value", TableKind.THIN: "minimum, maximum, mean, amount"}
_NAMES = ("host", "measurement", "tags", "field")


class _Piece(NamedTuple):
    """A day file to write: day, kind, series numbers (`first` to `last`), and the tables and files with the samples."""

    day: int
    kind: TableKind
    first: int
    last: int
    tables: Sequence[HotTable]
    files: Sequence[DayFile]


class Retention:
    """Compaction and retention of a hot file and its day files, in short pieces of work.

    No piece is done while another thread holds `turn`.
    """

    def __init__(self, file: HotFile, live: LiveWriter, index: StoredSeriesIndex, keeping: Keeping) -> None:
        self._file, self._live, self._index, self._keeping = file, live, index, keeping
        self.turn = threading.Lock()
        self._hour = 0  # the last in which the open table was closed
        self._written_day: int | None = None  # the samples of days before it are in files
        self._unfreed = False

    def piece(self, now: int) -> bool:
        """Do one short piece of compaction or retention, at `now` (UTC ns); return False if none was due."""
        with self.turn:
            with self._file.lock:
                if now // HOUR != self._hour:
                    self._live.close_table()
                    self._hour = now // HOUR
                is_done = self._drop(now) or self._move_closed_table()
            # Compaction takes longer, and must not block writes.
            if is_done or self._write_file(now):
                self._unfreed = True
                return True
            self._file.sweep()
            # A checkpoint frees the space of dropped tables.
            if self._unfreed:
                self._unfreed = not self._file.checkpoint()
            with self._file.reading() as cursor:
                names = [file.name for file in list_files(cursor)]
            self._file.days.check(names, _CHECKED_BYTES)
            return False

    def _drop(self, now: int) -> bool:
        """Drop the oldest day if it is too old, or if the store is too large; return whether a day was dropped."""
        with self._file.reading() as cursor:
            days = [
                table.day for table in (*list_tables(cursor), *list_files(cursor)) if table.kind is not TableKind.OPEN
            ]
        oldest = min(days, default=now // DAY)
        if oldest >= (now - self._keeping.days * DAY) // DAY:
            limit, file = self._keeping.size_limit, self._file
            if oldest >= now // DAY - 1 or not (file.used > limit and file.checkpoint() and file.used > limit):
                return False
        with self._file.writing() as cursor:
            for table in list_tables_of_day(cursor, oldest):
                drop_table(cursor, table)
            unlist_files(cursor, [file.name for file in list_files(cursor, oldest * DAY, oldest * DAY)])
            cursor.execute("DELETE FROM held WHERE day = ?", [oldest])
        return True

    def _move_closed_table(self) -> bool:
        """Move the oldest closed table's samples to raw tables of their days; return False if no table is closed."""
        with self._file.reading() as cursor:
            opened = open_tables(cursor)
        if len(opened) < 2:
            return False
        table = opened[0]
        with self._file.writing() as cursor:
            day = f"{round_down('time', DAY)} // {DAY}"
            for (number,) in cursor.execute(f"SELECT DISTINCT {day} FROM {table.name}").fetchall():
                of_day = list_tables_of_day(cursor, number)
                raw = next((table for table in of_day if table.kind is TableKind.RAW and not table.above), None)
                raw = raw or add_table(cursor, TableKind.RAW, number)
                within = f"FROM {table.name} WHERE time >= {number * DAY} AND time < {(number + 1) * DAY}"
                cursor.execute(f"INSERT INTO {raw.name} {within} ORDER BY series, time")
                _save_presence(cursor, number, within)
            drop_table(cursor, table)
        return True

    def _write_file(self, now: int) -> bool:
        """Write one day file; return False if none was due.

        The files of a day are written an hour after the end of the day. Samples that arrive later wait in tables until
        the next day is over. Only one thread at a time may call this method or `_move_closed_table`.
        """
        with self._file.reading() as cursor:
            piece = self._find_late(cursor, now) or self._find_old(cursor, now)
        if piece is None or not self._file.has_room:
            return False
        try:
            partial = self._file.days.partial(piece.day)
            try:
                self._list(piece, partial, *self._write(piece, partial))
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            raise Unusable(f"{self._file.days.folder}: cannot be written: {error.strerror or error}") from None
        return True

    def _find_late(self, cursor: Cursor, now: int) -> _Piece | None:
        """Return the next day file to write from tables of past days; None if none is due."""
        today = (now - HOUR) // DAY
        if self._written_day == today:
            return None
        tables = [table for table in list_tables(cursor) if table.kind is not TableKind.OPEN and table.day < today]
        for day in sorted({table.day for table in tables}):
            files = list_files(cursor, day * DAY, day * DAY)
            if self._is_whole(files):
                return self._choose_next_piece(cursor, now, day, [table for table in tables if table.day == day], files)
        self._written_day = today
        return None

    def _choose_next_piece(
        self, cursor: Cursor, now: int, day: int, tables: Sequence[HotTable], files: Sequence[DayFile]
    ) -> _Piece:
        """Return the file to write for the lowest series in a day's tables: its existing file, else a new one."""
        rows = cursor.execute(f"SELECT min(series) FROM ({_join_tables(tables, 'series')})").fetchone()
        first = _ALL if rows is None or rows[0] is None else int(rows[0])
        is_thin = self._is_old(day, now) or any(table.kind is TableKind.THIN for table in (*tables, *files))
        kind = TableKind.THIN if is_thin else TableKind.RAW
        same = [file for file in files if file.first <= first <= file.last]
        if same:
            return _Piece(day, kind, same[0].first, same[0].last, tables, same)
        before_next = min((file.first for file in files if file.first > first), default=_ALL + 1) - 1
        return _Piece(day, kind, first, min(before_next, _find_last_series(cursor, day, first, tables)), tables, [])

    def _find_old(self, cursor: Cursor, now: int) -> _Piece | None:
        """Return the next file to reduce to minutes, of a day that is older than `raw_days`; None if there is none."""
        files = list_files(cursor)
        for file in files:
            is_due = file.kind is TableKind.RAW and self._is_old(file.day, now)
            if is_due and self._is_whole([other for other in files if other.day == file.day]):
                return _Piece(file.day, TableKind.THIN, file.first, file.last, [], [file])
        return None

    def _is_old(self, day: int, now: int) -> bool:
        return day < (now - self._keeping.raw_days * DAY) // DAY

    def _is_whole(self, files: Sequence[DayFile]) -> bool:
        """Return whether all files of a day can be read.

        A day with a damaged file is not changed, as somebody may repair the file.
        """
        return len(self._file.days.readable(file.name for file in files)) == len(files)

    def _write(self, piece: _Piece, partial: Path) -> tuple[int, int, int]:
        """Write a day file as `partial`; return the number of its samples, and its first and last series number."""
        rows, within = self._query_rows(piece), f"series BETWEEN {piece.first} AND {piece.last}"
        with self._file.reading() as cursor:
            numbers = cursor.execute(f"SELECT DISTINCT series FROM ({rows}) WHERE {within}").fetchall()
            cursor.register("named", self._name_numbers([number for (number,) in numbers]))
            for name in _NAMES:
                cursor.execute(f"CREATE TEMP TYPE {name}_of_day AS ENUM (SELECT DISTINCT {name} FROM named)")
            # Parquet writes each value of an enumeration only once, which is also much faster.
            names = ", ".join(f"{name}::{name}_of_day AS {name}" for name in _NAMES)
            (_, samples, _, _, columns, *_) = cursor.execute(
                f"COPY (SELECT make_timestamp_ns(time) AS time, {names}, {_VALUES[piece.kind]}, series "
                f"FROM ({rows}) JOIN named USING (series) WHERE {within} ORDER BY series, time) "
                f"TO {quote_sql(str(partial))} ({_FORMAT})"
            ).fetchone() or (None, 0, 0, 0, {})
        series = columns['"series"'] if samples else {"min": 0, "max": 0}
        return samples, int(series["min"]), int(series["max"])

    def _query_rows(self, piece: _Piece) -> str:
        """Return the SQL query for the rows in a piece's tables and files.

        The rows may include series that are not in the piece.
        """
        thin, raw = ([file for file in piece.files if file.kind is kind] for kind in (TableKind.THIN, TableKind.RAW))
        late = _join_tables([table for table in piece.tables if table.kind is TableKind.RAW], "*")
        values = [late] if late else []
        if raw:
            filed = f"SELECT series, time, value FROM {query_rows(self._file.days, raw)}"
            values.append(f"SELECT * FROM ({filed}) ANTI JOIN ({late}) USING (series, time)" if late else filed)
        if piece.kind is TableKind.RAW:
            return " UNION ALL ".join(values)
        minute_rows = [table.rows for table in piece.tables if table.kind is TableKind.THIN]
        minute_rows += [query_rows(self._file.days, thin)] if thin else []
        minutes = " UNION ALL ".join(
            f"SELECT series, time, {_VALUES[TableKind.THIN]} FROM {rows}" for rows in minute_rows
        )
        if not values:
            return minutes
        new = (
            f"SELECT series, {round_down('time', MINUTE)} AS time, min(value) AS minimum, max(value) AS maximum, "
            f"avg(value) AS mean, count(*)::INTEGER AS amount FROM ({' UNION ALL '.join(values)}) GROUP BY ALL"
        )
        return f"{minutes} UNION ALL FROM ({new}) ANTI JOIN ({minutes}) USING (series, time)" if minute_rows else new

    def _name_numbers(self, numbers: Sequence[int]) -> dict[str, object]:
        series = [self._index.series[number] for number in numbers]
        columns = {
            "host": [s.host for s in series],
            "measurement": [s.measurement for s in series],
            "tags": [json.dumps(dict(s.tags), ensure_ascii=False) for s in series],
            "field": [s.field for s in series],
        }
        texts = {name: np.array(column, dtype=object) for name, column in columns.items()}
        return {"series": np.array(numbers, np.int32), **texts}

    def _list(self, piece: _Piece, partial: Path, samples: int, first: int, last: int) -> None:
        """Rename a written file and list it; unlist the files that it replaces, and remove its samples from tables."""
        days, size, name = self._file.days, partial.stat().st_size, ""
        if samples:
            with self._file.writing() as cursor:
                name = days.name(partial, piece.kind, take_next_number(cursor))
                unlist_files(cursor, [name])
            days.publish(partial, name)
        with self._file.writing() as cursor:
            if samples:
                add_file(cursor, DayFile(name, piece.kind, piece.day, first, last, samples, size))
            unlist_files(cursor, [file.name for file in piece.files])
            # Drop the tables that have no other series.
            tables = {table.name: table for table in list_tables_of_day(cursor, piece.day)}
            for table in (tables[table.name] for table in piece.tables):
                if cursor.execute(f"SELECT 1 FROM {table.name} WHERE series > {piece.last} LIMIT 1").fetchone():
                    above = max(table.above, piece.last + 1)
                    cursor.execute("UPDATE part SET above = ? WHERE name = ?", [above, table.name])
                else:
                    drop_table(cursor, table)


def _join_tables(tables: Sequence[HotTable], columns: str) -> str:
    return " UNION ALL ".join(f"SELECT {columns} FROM {table.rows}" for table in tables)


def _find_last_series(cursor: Cursor, day: int, first: int, tables: Sequence[HotTable]) -> int:
    """Return the last series number of a file from series `first` on with about `_ROWS_A_FILE` rows."""
    rows = cursor.execute(
        "SELECT sum(estimated_size), (SELECT count(*) FROM held WHERE day = ?) FROM duckdb_tables() "
        "WHERE list_contains(?, table_name)",
        [day, [table.name for table in tables]],
    ).fetchone()
    amount, series = (int(row or 0) for row in rows or (0, 0))
    step = max(1, series * _ROWS_A_FILE // max(1, amount))
    last = cursor.execute(
        "SELECT series FROM held WHERE day = ? AND series >= ? ORDER BY series LIMIT 1 OFFSET ?", [day, first, step - 1]
    ).fetchone()
    return last[0] if last else _ALL


def _save_presence(cursor: Cursor, day: int, within: str) -> None:
    """Record each series with samples on a day, with its first and last time; `within` is the FROM clause."""
    rows = cursor.execute(
        "SELECT series, min(first) AS first, max(last) AS last FROM "
        f"(SELECT series, first, last FROM held WHERE day = {day} UNION ALL SELECT series, time, time {within}) "
        "GROUP BY series ORDER BY series"
    ).fetchnumpy()
    cursor.register("holding", rows)
    cursor.execute("DELETE FROM held WHERE day = ?", [day])
    cursor.execute("INSERT INTO held SELECT ?, series, first, last FROM holding", [day])
    cursor.unregister("holding")

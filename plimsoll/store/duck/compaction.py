"""Writes the days that are over to files, with what came late for them, and by the minute once they are old.

That is done some series at a time. A file gets its name before it is listed: until then it is among those to be
removed. The transaction that lists it also takes what is in it from the tables, and from the files that it replaces: a
process that is killed leaves each sample in one place.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.store.duck.day_files import DayFile, add_file, list_files, quoted, rows_of, unlist_files
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
    floor,
    list_tables,
    next_number,
    open_tables,
    tables_of_day,
)
from plimsoll.store.duck.live_writer import LiveWriter
from plimsoll.store.duck.series_index import StoredSeriesIndex

_CHECKED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long live samples are kept.

    For `raw_days` as they came, after that by the minute; days after `days` are dropped, and the oldest ones while
    more than `size_limit` bytes are in use, but never the last day.
    """

    raw_days: int
    days: int
    size_limit: int


class Retention:
    """The work that is left to do in a file. It is done while `turn` is held."""

    def __init__(self, file: HotFile, live: LiveWriter, index: StoredSeriesIndex, keeping: Keeping) -> None:
        self._file, self._live, self._keeping = file, live, keeping
        self._compaction = Compaction(file, index, keeping)
        self.turn = threading.Lock()
        self._closed = 0
        self._unfreed = False

    def piece(self, now: int) -> bool:
        """Do one piece; whether there was any."""
        with self.turn:
            if self._is_done(now):
                self._unfreed = True
                return True
            self._file.sweep()
            # What was dropped is free after a checkpoint.
            if self._unfreed:
                self._unfreed = not self._file.checkpoint()
            with self._file.reading() as cursor:
                names = [file.name for file in list_files(cursor)]
            self._file.days.check(names, _CHECKED_BYTES)
            return False

    def _is_done(self, now: int) -> bool:
        with self._file.lock:
            if now // HOUR != self._closed:
                self._live.close_table()
                self._closed = now // HOUR
            if self._drop(now) or self._move_closed_table():
                return True
        # What takes longer does not keep samples from being written.
        return self._compaction.piece(now)

    def _drop(self, now: int) -> bool:
        """Drop the oldest day if it is too old, or if the file is too large."""
        with self._file.reading() as cursor:
            days = [
                table.day for table in (*list_tables(cursor), *list_files(cursor)) if table.kind is not TableKind.OPEN
            ]
        oldest = min(days, default=now // DAY)
        too_old = oldest < (now - self._keeping.days * DAY) // DAY
        if not too_old and not (oldest < now // DAY - 1 and self._too_large()):
            return False
        with self._file.writing() as cursor:
            for table in tables_of_day(cursor, oldest):
                drop_table(cursor, table)
            unlist_files(cursor, [file.name for file in list_files(cursor, oldest * DAY, oldest * DAY)])
            cursor.execute("DELETE FROM held WHERE day = ?", [oldest])
        return True

    def _too_large(self) -> bool:
        limit = self._keeping.size_limit
        return self._file.used > limit and self._file.checkpoint() and self._file.used > limit

    def _move_closed_table(self) -> bool:
        """Move the samples of the oldest closed table to the raw tables of their days."""
        with self._file.reading() as cursor:
            opened = open_tables(cursor)
        if len(opened) < 2:
            return False
        table = opened[0]
        with self._file.writing() as cursor:
            day = f"{floor('time', DAY)} // {DAY}"
            for (number,) in cursor.execute(f"SELECT DISTINCT {day} FROM {table.name}").fetchall():
                raw = [
                    table for table in tables_of_day(cursor, number) if table.kind is TableKind.RAW and not table.above
                ]
                place = raw[0] if raw else add_table(cursor, TableKind.RAW, number)
                within = f"FROM {table.name} WHERE time >= {number * DAY} AND time < {(number + 1) * DAY}"
                cursor.execute(f"INSERT INTO {place.name} {within} ORDER BY series, time")
                _hold(cursor, number, within)
            drop_table(cursor, table)
        return True


_ROWS_A_FILE = 2_000_000
_ALL = 2**31 - 1
_FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 30720, RETURN_STATS"
_VALUES = {TableKind.RAW: "value", TableKind.THIN: "minimum, maximum, mean, amount"}
_NAMES = ("host", "measurement", "tags", "field")


class _Piece(NamedTuple):
    """What is in tables and files of some series of a day, and as what it is to be in a file."""

    day: int
    kind: TableKind
    first: int
    last: int
    tables: Sequence[HotTable]
    files: Sequence[DayFile]


class _WrittenFile(NamedTuple):
    """A file that has no name yet, and what is in it."""

    partial: Path
    samples: int
    first: int
    last: int


class Compaction:
    """The days of a store that are to be written to files."""

    def __init__(self, file: HotFile, index: StoredSeriesIndex, keeping: Keeping) -> None:
        self._file, self._index, self._keeping = file, index, keeping
        self._closed: int | None = None

    def piece(self, now: int) -> bool:
        """Write a file; whether there was anything to write. Only one thread may call it, and move samples to tables.

        It is done with a day when that is over by an hour. What comes later is left until the next day is over.
        """
        with self._file.reading() as cursor:
            piece = self._late(cursor, now) or self._old(cursor, now)
        if piece is None or not self._file.has_room:
            return False
        try:
            partial = self._file.days.partial(piece.day)
            try:
                self._listed(piece, self._written(piece, partial))
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            raise Unusable(f"{self._file.days.folder}: cannot be written: {error.strerror or error}") from None
        return True

    def _late(self, cursor: Cursor, now: int) -> _Piece | None:
        """Return what lies in tables of a day that is over."""
        today = (now - HOUR) // DAY
        if self._closed == today:
            return None
        tables = [table for table in list_tables(cursor) if table.kind is not TableKind.OPEN and table.day < today]
        for day in sorted({table.day for table in tables}):
            files = list_files(cursor, day * DAY, day * DAY)
            if self._is_whole(files):
                return self._next(cursor, now, day, [table for table in tables if table.day == day], files)
        self._closed = today
        return None

    def _next(self, cursor: Cursor, now: int, day: int, tables: Sequence[HotTable], files: Sequence[DayFile]) -> _Piece:
        """Return the first series that lie in tables; if these have a file already, all that are in it."""
        rows = cursor.execute(f"SELECT min(series) FROM ({_union(tables, 'series')})").fetchone()
        first = _ALL if rows is None or rows[0] is None else int(rows[0])
        is_thin = self._is_old(day, now) or any(table.kind is TableKind.THIN for table in (*tables, *files))
        kind = TableKind.THIN if is_thin else TableKind.RAW
        same = [file for file in files if file.first <= first <= file.last]
        if same:
            return _Piece(day, kind, same[0].first, same[0].last, tables, same)
        before_next = min((file.first for file in files if file.first > first), default=_ALL + 1) - 1
        return _Piece(day, kind, first, min(before_next, _last(cursor, day, first, tables)), tables, [])

    def _old(self, cursor: Cursor, now: int) -> _Piece | None:
        """Return a file of samples as they came, of a day of which minutes are enough."""
        files = list_files(cursor)
        for day in sorted({file.day for file in files if file.kind is TableKind.RAW and self._is_old(file.day, now)}):
            of_day = [file for file in files if file.day == day]
            if self._is_whole(of_day):
                file = next(file for file in of_day if file.kind is TableKind.RAW)
                return _Piece(day, TableKind.THIN, file.first, file.last, [], [file])
        return None

    def _is_old(self, day: int, now: int) -> bool:
        return day < (now - self._keeping.raw_days * DAY) // DAY

    def _is_whole(self, files: Sequence[DayFile]) -> bool:
        """Return whether all can be read. Of a day that is damaged nothing is changed: somebody may mend it."""
        return len(self._file.days.readable(file.name for file in files)) == len(files)

    def _written(self, piece: _Piece, partial: Path) -> _WrittenFile:
        rows, within = self._rows(piece), f"series BETWEEN {piece.first} AND {piece.last}"
        with self._file.reading() as cursor:
            numbers = cursor.execute(f"SELECT DISTINCT series FROM ({rows}) WHERE {within}").fetchall()
            cursor.register("named", self._named([number for (number,) in numbers]))
            names = ", ".join(_as_dictionary(cursor, name) for name in _NAMES)
            (_, samples, _, _, columns, *_) = cursor.execute(
                f"COPY (SELECT make_timestamp_ns(time) AS time, {names}, {_VALUES[piece.kind]}, series "
                f"FROM ({rows}) JOIN named USING (series) WHERE {within} ORDER BY series, time) "
                f"TO {quoted(str(partial))} ({_FORMAT})"
            ).fetchone() or (None, 0, 0, 0, {})
        series = columns['"series"'] if samples else {"min": 0, "max": 0}
        return _WrittenFile(partial, samples, int(series["min"]), int(series["max"]))

    def _rows(self, piece: _Piece) -> str:
        """Return the query for what is to be in the file, of these series and of others."""
        thin, raw = ([file for file in piece.files if file.kind is kind] for kind in (TableKind.THIN, TableKind.RAW))
        late = _union([table for table in piece.tables if table.kind is TableKind.RAW], "*")
        values = [late] if late else []
        if raw:
            filed = f"SELECT series, time, value FROM {rows_of(self._file.days, raw)}"
            values.append(f"SELECT * FROM ({filed}) ANTI JOIN ({late}) USING (series, time)" if late else filed)
        if piece.kind is TableKind.RAW:
            return " UNION ALL ".join(values)
        minute_rows = [table.rows for table in piece.tables if table.kind is TableKind.THIN]
        minute_rows += [rows_of(self._file.days, thin)] if thin else []
        minutes = " UNION ALL ".join(
            f"SELECT series, time, {_VALUES[TableKind.THIN]} FROM {rows}" for rows in minute_rows
        )
        if not values:
            return minutes
        new = (
            f"SELECT series, {floor('time', MINUTE)} AS time, min(value) AS minimum, max(value) AS maximum, "
            f"avg(value) AS mean, count(*)::INTEGER AS amount FROM ({' UNION ALL '.join(values)}) GROUP BY ALL"
        )
        return f"{minutes} UNION ALL FROM ({new}) ANTI JOIN ({minutes}) USING (series, time)" if minute_rows else new

    def _named(self, numbers: Sequence[int]) -> dict[str, object]:
        series = [self._index.series[number] for number in numbers]
        columns = {
            "host": [s.host for s in series],
            "measurement": [s.measurement for s in series],
            "tags": [json.dumps(dict(s.tags), ensure_ascii=False) for s in series],
            "field": [s.field for s in series],
        }
        texts = {name: np.array(column, dtype=object) for name, column in columns.items()}
        return {"series": np.array(numbers, np.int32), **texts}

    def _listed(self, piece: _Piece, written: _WrittenFile) -> None:
        """List a file in place of what it was made from."""
        new = self._placed(piece, written) if written.samples else None
        with self._file.writing() as cursor:
            if new:
                add_file(cursor, new)
            unlist_files(cursor, [file.name for file in piece.files])
            _leave(cursor, piece)

    def _placed(self, piece: _Piece, written: _WrittenFile) -> DayFile:
        days, size = self._file.days, written.partial.stat().st_size
        with self._file.writing() as cursor:
            name = days.name(written.partial, piece.kind, next_number(cursor))
            unlist_files(cursor, [name])
        days.publish(written.partial, name)
        return DayFile(name, piece.kind, piece.day, written.first, written.last, written.samples, size)


def _as_dictionary(cursor: Cursor, name: str) -> str:
    """Return the SQL of a name, of which Parquet then writes each only once; that is much faster, too."""
    cursor.execute(f"CREATE TEMP TYPE {name}_of_day AS ENUM (SELECT DISTINCT {name} FROM named)")
    return f"{name}::{name}_of_day AS {name}"


def _union(tables: Sequence[HotTable], columns: str) -> str:
    return " UNION ALL ".join(f"SELECT {columns} FROM {table.rows}" for table in tables)


def _last(cursor: Cursor, day: int, first: int, tables: Sequence[HotTable]) -> int:
    """Return the last series of those that fill a file."""
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


def _leave(cursor: Cursor, piece: _Piece) -> None:
    """Save that the series of a piece were written; drop the tables in which no others are left."""
    tables = {table.name: table for table in tables_of_day(cursor, piece.day)}
    for table in (tables[table.name] for table in piece.tables):
        left = cursor.execute(f"SELECT 1 FROM {table.name} WHERE series > {piece.last} LIMIT 1").fetchone()
        if left is None:
            drop_table(cursor, table)
        else:
            cursor.execute("UPDATE part SET above = ? WHERE name = ?", [max(table.above, piece.last + 1), table.name])


def _hold(cursor: Cursor, day: int, within: str) -> None:
    """Save which series have samples on a day, and the times of their first and last."""
    rows = cursor.execute(
        "SELECT series, min(first) AS first, max(last) AS last FROM "
        f"(SELECT series, first, last FROM held WHERE day = {day} UNION ALL SELECT series, time, time {within}) "
        "GROUP BY series ORDER BY series"
    ).fetchnumpy()
    cursor.register("holding", rows)
    cursor.execute("DELETE FROM held WHERE day = ?", [day])
    cursor.execute("INSERT INTO held SELECT ?, series, first, last FROM holding", [day])
    cursor.unregister("holding")

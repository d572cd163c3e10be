"""Keeps the live samples of the embedded store in order and within their limits, one bounded piece at a time.

Each piece can be interrupted anywhere, and is small enough not to hold up writes.
"""

import threading

from plimsoll.store.duck.compaction import Compaction, Keeping
from plimsoll.store.duck.day_files import list_files, unlist_files
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.hot_tables import (
    DAY,
    HOUR,
    Cursor,
    Kind,
    add_table,
    drop_table,
    floor,
    list_tables,
    open_tables,
    tables_of_day,
)
from plimsoll.store.duck.live_writer import LiveWriter
from plimsoll.store.duck.series_index import SeriesIndex

_CHECKED_BYTES = 64 << 20


class Retention:
    """The work that is left to do in a file. It is done while `turn` is held."""

    def __init__(self, file: HotFile, live: LiveWriter, index: SeriesIndex, keeping: Keeping) -> None:
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
                names = [one.name for one in list_files(cursor)]
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
            days = [one.day for one in (*list_tables(cursor), *list_files(cursor)) if one.kind is not Kind.OPEN]
        oldest = min(days, default=now // DAY)
        too_old = oldest < (now - self._keeping.days * DAY) // DAY
        if not too_old and not (oldest < now // DAY - 1 and self._too_large()):
            return False
        with self._file.writing() as cursor:
            for table in tables_of_day(cursor, oldest):
                drop_table(cursor, table)
            unlist_files(cursor, [one.name for one in list_files(cursor, oldest * DAY, oldest * DAY)])
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
                raw = [one for one in tables_of_day(cursor, number) if one.kind is Kind.RAW and not one.above]
                place = raw[0] if raw else add_table(cursor, Kind.RAW, number)
                within = f"FROM {table.name} WHERE time >= {number * DAY} AND time < {(number + 1) * DAY}"
                cursor.execute(f"INSERT INTO {place.name} {within} ORDER BY series, time")
                _hold(cursor, number, within)
            drop_table(cursor, table)
        return True


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

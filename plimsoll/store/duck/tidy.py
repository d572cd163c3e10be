"""Keeps the live samples of the embedded store in order and within their limits, one bounded piece at a time.

Each piece is one transaction, so that it can be interrupted anywhere, and is small enough not to hold up writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.store.duck.file import DuckFile
from plimsoll.store.duck.live import LiveWriter
from plimsoll.store.duck.parts import DAY, MINUTE, Cursor, Kind, Part, add_part, drop_part, floor, live_parts

_ROWS_A_PIECE = 1_000_000
_HOUR = 3600 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long live samples are kept.

    For `raw_days` as they came, after that by the minute; days after `days` are dropped, and the oldest ones while the
    file has more than `size_limit` bytes in use. Recorded samples count, but are never dropped, nor is the last day.
    """

    raw_days: int
    days: int
    size_limit: int


class Tidying:
    """The work that is left to do in a file."""

    def __init__(self, file: DuckFile, live: LiveWriter, keeping: Keeping) -> None:
        self._file, self._live, self._keeping = file, live, keeping
        self._closed = 0
        self._unfreed = False

    def piece(self, now: int) -> bool:
        """Do one piece; whether there was any."""
        with self._file.lock:
            if now // _HOUR != self._closed:
                self._live.close_part()
                self._closed = now // _HOUR
            if self._drop(now) or self._move_closed_part() or self._thin(now) or self._order(now):
                self._unfreed = True
                return True
            # What was dropped is free after a checkpoint.
            if self._unfreed:
                self._unfreed = not self._file.checkpoint()
            return False

    def _drop(self, now: int) -> bool:
        """Drop the oldest day if it is too old, or if the file is too large."""
        with self._file.reading() as cursor:
            days = [part.day for part in live_parts(cursor) if part.kind is not Kind.OPEN]
        oldest = min(days, default=now // DAY)
        too_old = oldest < (now - self._keeping.days * DAY) // DAY
        if not too_old and not (oldest < now // DAY - 1 and self._too_large()):
            return False
        with self._file.writing() as cursor:
            for part in _of_day(cursor, oldest):
                drop_part(cursor, part)
            cursor.execute("DELETE FROM held WHERE day = ?", [oldest])
        return True

    def _too_large(self) -> bool:
        limit = self._keeping.size_limit
        return self._file.used > limit and self._file.checkpoint() and self._file.used > limit

    def _move_closed_part(self) -> bool:
        """Move the samples of the oldest closed part to the raw parts of their days."""
        with self._file.reading() as cursor:
            opened = [part for part in live_parts(cursor) if part.kind is Kind.OPEN]
        if len(opened) < 2:
            return False
        part = opened[0]
        with self._file.writing() as cursor:
            day = f"{floor('time', DAY)} // {DAY}"
            for (number,) in cursor.execute(f"SELECT DISTINCT {day} FROM {part.name}").fetchall():
                raw = next((one for one in _of_day(cursor, number) if one.kind is Kind.RAW and not one.above), None)
                raw = raw or add_part(cursor, Kind.RAW, number)
                within = f"FROM {part.name} WHERE time >= {number * DAY} AND time < {(number + 1) * DAY}"
                cursor.execute(f"INSERT INTO {raw.name} {within} ORDER BY series, time")
                _hold(cursor, number, within)
            drop_part(cursor, part)
        return True

    def _thin(self, now: int) -> bool:
        """Replace samples of the oldest day that is old enough by minutes, except those that are there already."""
        with self._file.reading() as cursor:
            raw = [part for part in live_parts(cursor) if part.kind is Kind.RAW]
        day = min((part.day for part in raw), default=0)
        if not raw or day >= (now - self._keeping.raw_days * DAY) // DAY:
            return False
        sources = [part for part in raw if part.day == day]
        with self._file.writing() as cursor:
            thin = next((part for part in _of_day(cursor, day) if part.kind is Kind.THIN), None)
            thin = thin or add_part(cursor, Kind.THIN, day)
            first, last = _next_piece(cursor, day, sources)
            within = f"series BETWEEN {first} AND {last}"
            minutes = (
                f"SELECT series, {floor('time', MINUTE)} AS time, min(value), max(value), avg(value), count(*) "
                f"FROM ({_union(sources)}) WHERE {within} GROUP BY ALL"
            )
            known = f"SELECT series, time FROM {thin.name} WHERE {within}"
            cursor.execute(
                f"INSERT INTO {thin.name} SELECT * FROM ({minutes}) ANTI JOIN ({known}) USING (series, time) "
                "ORDER BY series, time"
            )
            _leave(cursor, sources, last)
        return True

    def _order(self, now: int) -> bool:
        """Sort samples of the oldest day that is over and not sorted."""
        with self._file.reading() as cursor:
            raw = [part for part in live_parts(cursor) if part.kind is Kind.RAW and not part.ordered]
        day = min((part.day for part in raw), default=0)
        if not raw or (day + 1) * DAY + _HOUR > now:
            return False
        sources = [part for part in raw if part.day == day]
        with self._file.writing() as cursor:
            target = next((part for part in _of_day(cursor, day) if part.ordered), None)
            target = target or add_part(cursor, Kind.RAW, day, ordered=True)
            first, last = _next_piece(cursor, day, sources)
            cursor.execute(
                f"INSERT INTO {target.name} FROM ({_union(sources)}) WHERE series BETWEEN {first} AND {last} "
                "ORDER BY series, time"
            )
            _leave(cursor, sources, last)
        return True


def _of_day(cursor: Cursor, day: int) -> list[Part]:
    return [part for part in live_parts(cursor, day * DAY, day * DAY) if part.kind is not Kind.OPEN]


def _union(parts: Sequence[Part]) -> str:
    return " UNION ALL ".join(f"SELECT series, time, value FROM {part.rows}" for part in parts)


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


def _next_piece(cursor: Cursor, day: int, sources: Sequence[Part]) -> tuple[int, int]:
    """The first and last series of the next piece of a day."""
    first = min(part.above for part in sources)
    names = [part.name for part in sources]
    rows = cursor.execute(
        "SELECT sum(estimated_size), (SELECT count(*) FROM held WHERE day = ?) FROM duckdb_tables() "
        "WHERE list_contains(?, table_name)",
        [day, names],
    ).fetchone()
    amount, series = (int(one or 0) for one in rows or (0, 0))
    step = max(1, series * _ROWS_A_PIECE // max(1, amount))
    found = cursor.execute(
        "SELECT series FROM held WHERE day = ? AND series >= ? ORDER BY series LIMIT 1 OFFSET ?", [day, first, step - 1]
    ).fetchone()
    return first, found[0] if found else 2**31 - 1


def _leave(cursor: Cursor, sources: Sequence[Part], last: int) -> None:
    """Save that the series up to `last` were moved; drop the parts in which no others are left."""
    for part in sources:
        left = cursor.execute(f"SELECT 1 FROM {part.name} WHERE series > {last} LIMIT 1").fetchone()
        if left is None:
            drop_part(cursor, part)
        else:
            cursor.execute("UPDATE part SET above = ? WHERE name = ?", [max(part.above, last + 1), part.name])

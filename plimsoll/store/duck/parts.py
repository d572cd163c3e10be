"""The tables that hold live samples in the embedded store.

New samples are appended to an *open* part, in the order in which they come. When it is full or an hour old it is
closed, and its samples are moved to the *raw* part of their day. A day that is over is written to files
(`duck.days`), sorted by series and time, so that a series is read from a few places; what comes late for it lies in
parts until it is written to the files as well. After some days its samples are replaced by minimum, maximum, mean and
count of each minute. `duck.tidy` does all this, some series at a time. *Thin* parts have the minutes of days that an
earlier version kept.

In all open and raw parts together, no series has two samples at one time. A sample in a part counts before one in a
file.
"""

from enum import StrEnum
from typing import NamedTuple, TypeAlias

import duckdb

Cursor: TypeAlias = duckdb.DuckDBPyConnection

DAY = 86_400 * 1_000_000_000
MINUTE = 60 * 1_000_000_000
EARLIEST = -(2**63)


class Kind(StrEnum):
    """What the samples of a part are."""

    OPEN = "open"
    RAW = "raw"
    THIN = "thin"


COLUMNS = {
    Kind.OPEN: "series INTEGER, time BIGINT, value DOUBLE",
    Kind.RAW: "series INTEGER, time BIGINT, value DOUBLE",
    Kind.THIN: "series INTEGER, time BIGINT, minimum DOUBLE, maximum DOUBLE, mean DOUBLE, amount INTEGER",
}


class Part(NamedTuple):
    """A table. `day` counts from 1970 (UTC), and is not used for an open part.

    The samples of series below `above` were moved to a file.
    """

    name: str
    kind: Kind
    day: int
    above: int

    @property
    def rows(self) -> str:
        """The part with its visible rows, for FROM."""
        return f"(FROM {self.name} WHERE series >= {self.above})" if self.above else self.name


def live_parts(cursor: Cursor, start: int | None = None, end: int | None = None) -> list[Part]:
    """The parts that may hold samples of a range, or all; in the order in which they were made."""
    first, last = (-(2**31) if start is None else start // DAY), (2**31 - 1 if end is None else end // DAY)
    # There are few: to have DuckDB choose and sort them would take four times as long.
    rows = sorted(cursor.execute("SELECT number, name, kind, day, above FROM part").fetchall())
    parts = [Part(name, Kind(kind), day, above) for _, name, kind, day, above in rows]
    return [part for part in parts if part.kind is Kind.OPEN or first <= part.day <= last]


def parts_of_day(cursor: Cursor, day: int) -> list[Part]:
    """The closed parts of a day."""
    return [part for part in live_parts(cursor, day * DAY, day * DAY) if part.kind is not Kind.OPEN]


def add_part(cursor: Cursor, kind: Kind, day: int = 0) -> Part:
    """A new, empty part."""
    number = next_number(cursor)
    part = Part(f"{kind}_{number}", kind, day, 0)
    cursor.execute(f"CREATE TABLE {part.name} ({COLUMNS[kind]})")
    cursor.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", [number, part.name, kind, day, 0])
    return part


def next_number(cursor: Cursor) -> int:
    """A number that no part and no file had."""
    (number,) = cursor.execute("SELECT nextval('part_number')").fetchone() or (0,)
    return number


def drop_part(cursor: Cursor, part: Part) -> None:
    """Remove a part with its samples."""
    cursor.execute(f"DROP TABLE {part.name}")
    cursor.execute("DELETE FROM part WHERE name = ?", [part.name])


def floor(column: str, width: int) -> str:
    """The SQL of a time rounded down to a multiple of `width` ns; `%` alone rounds times before 1970 up."""
    return f"({column} - (({column} % {width}) + {width}) % {width})"

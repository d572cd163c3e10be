"""The list of the files of days that are over, and the SQL of what is in them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plimsoll.store.duck.days import Days
from plimsoll.store.duck.parts import DAY, Cursor, Kind


class DayFile(NamedTuple):
    """A file: samples of a day (counted from 1970) as they came, or its minutes, of series from `first` to `last`.

    The ranges of a day's files do not overlap. `size` is in bytes.
    """

    name: str
    kind: Kind
    day: int
    first: int
    last: int
    samples: int
    size: int


def day_files(cursor: Cursor, start: int | None = None, end: int | None = None) -> list[DayFile]:
    """The files that may hold samples of a range, or all; by day and series."""
    first, last = (-(2**31) if start is None else start // DAY), (2**31 - 1 if end is None else end // DAY)
    rows = cursor.execute("FROM file WHERE day BETWEEN ? AND ?", [first, last]).fetchall()
    files = [DayFile(name, Kind(kind), *rest) for name, kind, *rest in rows]
    return sorted(files, key=lambda file: (file.day, file.first))


def list_file(cursor: Cursor, file: DayFile) -> None:
    """List a file that is in its place; until then it was to be removed."""
    cursor.execute("DELETE FROM gone WHERE name = ?", [file.name])
    cursor.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", [*file])


def to_remove(cursor: Cursor, names: Iterable[str]) -> None:
    """List files no more: they are removed once nobody can read them."""
    for name in names:
        cursor.execute("DELETE FROM file WHERE name = ?", [name])
        cursor.execute("INSERT INTO gone VALUES (?)", [name])


def gone(cursor: Cursor) -> list[str]:
    """The files that are to be removed."""
    return [name for (name,) in cursor.execute("FROM gone").fetchall()]


def rows_of(days: Days, files: Sequence[DayFile], start: int | None = None, end: int | None = None) -> str:
    """What is in files of one kind, in a range of time, for FROM; with the columns of such a part."""
    first, last = files[0].day * DAY, (files[-1].day + 1) * DAY - 1
    within = (first if start is None else max(start, first), last if end is None else min(end, last))
    times = "time BETWEEN " + " AND ".join(f"make_timestamp_ns({one})" for one in within)
    columns = "value" if files[0].kind is Kind.RAW else "minimum, maximum, mean, amount"
    places = ", ".join(quoted(str(days.place(one.name))) for one in files)
    return f"(SELECT series, epoch_ns(time) AS time, {columns} FROM read_parquet([{places}]) WHERE {times})"


def quoted(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"

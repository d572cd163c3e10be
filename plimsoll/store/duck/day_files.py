"""The Parquet files of past days, and their list in the hot file (the DuckDB file with recent samples).

The files are in a folder beside the hot file, with a subfolder for each day.

A file is written under a temporary name, and never changes after it gets its final name. The name ends in a checksum of
the content, which is checked before values are read. A file that is no longer listed is removed once no read uses it.
"""

import hashlib
import logging
import os
import re
import stat
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

import duckdb
import numpy as np

from plimsoll.store.duck.hot_tables import DAY, Cursor, TableKind
from plimsoll.store.folders.files import sync

WORDS = {TableKind.RAW: "values", TableKind.THIN: "minutes"}
NAME = re.compile(rf"(\d{{4}}-\d\d-\d\d)/({'|'.join(WORDS.values())})-(\d+)-([0-9a-f]{{16}})\.parquet")
_PARTIAL = ".partial"
_log = logging.getLogger(__name__)


def find_folder(database: Path) -> Path:
    """Return the folder of a store's day files."""
    return Path(f"{database}.days")


def format_date(day: int) -> str:
    """Return the date of a day number (days since 1970): `2026-11-22`."""
    return str(np.datetime64(day, "D"))


class DayFile(NamedTuple):
    """A file of a day (days since 1970): raw samples, or minutes, of the series numbered `first` to `last`.

    The ranges of a day's files do not overlap. `size` is in bytes.
    """

    name: str
    kind: TableKind
    day: int
    first: int
    last: int
    samples: int
    size: int


class DayFolder:
    """The folder of the day files, with the results of checks and the reads in progress.

    File names are relative to the folder.
    """

    def __init__(self, database: Path) -> None:
        self.folder = find_folder(database.absolute())
        self._lock = threading.Lock()
        self._users: set[int] = set()
        self._count = 0
        self._unlisted: dict[str, int] = {}
        self._checked: dict[str, tuple[tuple[int, int] | None, str]] = {}

    def remove_partial(self) -> None:
        """Remove the unfinished files of a process that was killed."""
        for path in self.folder.glob(f"*/.*{_PARTIAL}"):
            with suppress(OSError):
                path.unlink()

    def place(self, name: str) -> Path:
        """Return the path of a file."""
        return self.folder / name

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Keep all files that are listed now from being removed until the block ends."""
        with self._lock:
            self._count += 1
            number = self._count
            self._users.add(number)
        try:
            yield
        finally:
            with self._lock:
                self._users.discard(number)

    def partial(self, day: int) -> Path:
        """Return a new temporary path for a file of a day."""
        folder = self.folder / format_date(day)
        make_folder(folder)
        return folder / f".{token_hex(4)}{_PARTIAL}"

    def name(self, partial: Path, kind: TableKind, number: int) -> str:
        """Flush a temporary file to the disk; return its final name, which includes its checksum."""
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.chmod(stat.S_IRUSR | stat.S_IWUSR)
        return f"{partial.parent.name}/{WORDS[kind]}-{number}-{_compute_checksum(partial)}.parquet"

    def publish(self, partial: Path, name: str) -> None:
        """Rename a temporary file to its final name, durably."""
        place = self.place(name)
        partial.replace(place)
        sync(place.parent)
        status = place.stat()
        self._checked[name] = ((status.st_size, status.st_mtime_ns), "")

    def readable(self, names: Iterable[str]) -> set[str]:
        """Return the names of the undamaged files; `damaged` then has the other names. Results are cached."""
        return {name for name in names if self._is_sound(name)}

    def check(self, names: Iterable[str], most: int) -> None:
        """Check files that were never checked for damage, until about `most` bytes are checked."""
        for name in names:
            if name in self._checked or most > 0:
                with suppress(OSError):
                    most -= 0 if name in self._checked else self.place(name).stat().st_size
                self._is_sound(name)

    @property
    def damaged(self) -> dict[str, str]:
        """The names of the files that checks found damaged, each with the reason."""
        return {name: why for name, (_, why) in sorted(self._checked.items()) if why}

    def remove(self, names: Iterable[str]) -> list[str]:
        """Remove files that are no longer listed, unless a read uses them; return the removed names."""
        with self._lock:
            marks = {name: self._unlisted.setdefault(name, self._count) for name in names}
            oldest = min(self._users, default=self._count + 1)
        return [name for name, mark in marks.items() if mark < oldest and self._is_removed(name)]

    def _is_removed(self, name: str) -> bool:
        place = self.place(name)
        try:
            place.unlink(missing_ok=True)
        except OSError:  # on Windows, while another program reads it
            return False
        with suppress(OSError):  # other files are in it
            place.parent.rmdir()
        self._checked.pop(name, None)
        self._unlisted.pop(name, None)
        return True

    def _is_sound(self, name: str) -> bool:
        """Return whether a file is undamaged; the result is cached until the file changes."""
        last_mark, last_why = self._checked.get(name, (None, ""))
        try:
            status = self.place(name).stat()
            mark, why = (status.st_size, status.st_mtime_ns), last_why
            if mark != last_mark:
                written = name.removesuffix(".parquet").rpartition("-")[2]
                why = (
                    _explain_misplaced(self.place(name))
                    if written == _compute_checksum(self.place(name))
                    else "is damaged"
                )
        except OSError as error:
            mark, why = None, f"cannot be read: {error.strerror or error}"
        self._checked[name] = (mark, why)
        if why and last_why != why:
            _log.warning("%s: %s", self.place(name), why)
        return not why


@cache
def _connect() -> duckdb.DuckDBPyConnection:
    """Return a connection for all checks of files, as opening one takes longer than a check."""
    return duckdb.connect(config={"threads": 1})


def _explain_misplaced(path: Path) -> str:
    """Return why an undamaged file does not belong into its folder; empty if its samples are of the folder's day."""
    with _connect().cursor() as cursor:
        query = f"SELECT min(time)::DATE::VARCHAR, max(time)::DATE::VARCHAR FROM read_parquet({quote_sql(str(path))})"
        days = {*(cursor.execute(query).fetchone() or ())} - {None, path.parent.name}
    return f"has samples of {min(days)}" if days else ""


def list_files(cursor: Cursor, start: int | None = None, end: int | None = None) -> list[DayFile]:
    """Return the listed files that may have samples in a range (by default at any time), by day and series."""
    first, last = (-(2**31) if start is None else start // DAY), (2**31 - 1 if end is None else end // DAY)
    rows = cursor.execute("FROM file WHERE day BETWEEN ? AND ?", [first, last]).fetchall()
    files = [DayFile(name, TableKind(kind), *rest) for name, kind, *rest in rows]
    return sorted(files, key=lambda file: (file.day, file.first))


def add_file(cursor: Cursor, file: DayFile) -> None:
    """List a file under its final name, and delete that name from the table of names to remove."""
    cursor.execute("DELETE FROM gone WHERE name = ?", [file.name])
    cursor.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", [*file])


def unlist_files(cursor: Cursor, names: Iterable[str]) -> None:
    """Remove files from the list, and record their names; the files are removed once no read uses them."""
    for name in names:
        cursor.execute("DELETE FROM file WHERE name = ?", [name])
        cursor.execute("INSERT INTO gone VALUES (?)", [name])


def query_rows(days: DayFolder, files: Sequence[DayFile], start: int | None = None, end: int | None = None) -> str:
    """Return SQL for FROM: the rows of day files in a range (UTC ns, both ends included).

    All files are of one kind; the columns are those of the tables of that kind.
    """
    first, last = files[0].day * DAY, (files[-1].day + 1) * DAY - 1
    within = (first if start is None else max(start, first), last if end is None else min(end, last))
    times = "time BETWEEN " + " AND ".join(f"make_timestamp_ns({edge})" for edge in within)
    columns = "value" if files[0].kind is TableKind.RAW else "minimum, maximum, mean, amount"
    places = ", ".join(quote_sql(str(days.place(file.name))) for file in files)
    return f"(SELECT series, epoch_ns(time) AS time, {columns} FROM read_parquet([{places}]) WHERE {times})"


def quote_sql(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def make_folder(folder: Path) -> None:
    """Create the folder of a day and its parent folder if they are missing, accessible to the owner only."""
    for level in (folder.parent, folder):
        if not level.exists():
            level.mkdir(mode=stat.S_IRWXU, exist_ok=True, parents=True)
            sync(level.parent)


def _compute_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()

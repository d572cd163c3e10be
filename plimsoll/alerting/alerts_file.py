"""alerts.db: the state and the history of alerts, in an SQLite file of the data folder.

It is separate from the store of samples, so that alerts and notifications work with any store. A committed transaction
survives the end of the process or the machine (WAL, synchronous=FULL). Several processes may use the file at once, such
as `plimsoll up` and `plimsoll alerts`.
"""

import os
import sqlite3
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

from plimsoll.model.errors import Unusable, escape
from plimsoll.model.parameters import Parameter
from plimsoll.rules.schema.field_types import Healthy

NAME = "alerts.db"
SILENCES = "silences.json"  # the same silences as in the file: see silences.py
DAMAGED = f"{NAME}.damaged-"  # and the time at which it was set aside
FORMAT = 1
_BUSY_S = 20.0
_PAGE = 4096  # bytes: SQLite takes a file with less than a page for a new one
_MENDED = "start plimsoll up anew, which sets it aside and goes on with a new one"
# Not in schema.sql, so that earlier files of the same format get these tables, too.
_ADDED = (
    "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, text TEXT NOT NULL, "
    "host TEXT NOT NULL, who TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS deeds (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, "
    "how TEXT NOT NULL, what TEXT NOT NULL)",
)
# Conditions that each row fulfils, besides the types of its columns.
_KEY = (
    "CASE WHEN json_valid(key) THEN json_type(key) = 'array' AND json_array_length(key) = 3"
    " AND json_type(key, '$[0]') = 'text' AND json_type(key, '$[1]') = 'text'"
    " AND json_type(key, '$[2]') IN ('text', 'null') ELSE 0 END"
)
_DETAILS = (
    "CASE WHEN json_valid(details) THEN json_type(details, '$.title') = 'text' AND NOT EXISTS (SELECT 1 FROM"
    " json_each(details) WHERE NOT (type = 'array' AND key IN ('sources', 'look_at', 'processes') OR type = 'text' AND"
    " key IN ('title', 'cause', 'unit', 'limit', 'should', 'reduced', 'recovers', 'summary', 'note'))) ELSE 0 END"
)
_VALID = {
    "alerts": (
        f"severity IN ('critical', 'warning', 'info') AND {_KEY} AND {_DETAILS} AND is_limit(healthy)"
        " AND kind IN ('rule', 'flapping', 'host-silent', 'all-silent', 'plimsoll')"
    ),
    "statuses": f"state BETWEEN 0 AND 4 AND {_KEY}",
    "told": "what IN ('fired', 'ended')",
    "meta": (
        "CASE name WHEN 'last evaluation' THEN typeof(value) = 'integer'"
        " WHEN 'rules' THEN CASE WHEN json_valid(value) THEN json_type(value) = 'array' ELSE 0 END ELSE 1 END"
    ),
}
_TYPES = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}


class NotKept(Exception):
    """The error that alerts.db could not be read or written, and is unchanged. The text says why, and what to do."""

    is_damage = False


class DamagedFile(Unusable):
    """The error that alerts.db cannot be read, has an invalid row, or has lost its content."""


class AlertsFile:
    """An open alerts.db. Threads may share it: a transaction or a query holds a lock.

    Raise Unusable if the file cannot be used, DamagedFile if it is damaged. A file that was in use but is empty, or
    nearly, counts as damaged, unless `is_new`.
    """

    def __init__(self, path: Path, *, is_new: bool = False) -> None:
        self.path = path
        self._lock = RLock()
        _make(path)
        if not is_new and path.stat().st_size < _PAGE and _was_used(path):
            raise DamagedFile(f"{path}: is empty, or was missing, and had alerts: {_MENDED}")
        try:
            self._connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        except sqlite3.DatabaseError as error:
            raise Unusable(f"{path}: {_explain_error(error)}") from None
        try:
            self._connection.row_factory = sqlite3.Row
            self._connection.create_function("is_like", 2, is_like, deterministic=True)
            self._connection.create_function("is_limit", 1, _is_limit, deterministic=True)
            self._check()  # first: a file that is refused is left as it is
            self.rows("PRAGMA journal_mode = WAL")
            self.rows("PRAGMA synchronous = FULL")
            with self.transaction() as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    for statement in _list_statements():
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
                for statement in _ADDED:
                    connection.execute(statement)
        except NotKept as error:
            self.close()
            raise (DamagedFile if error.is_damage else Unusable)(str(error)) from None
        except Unusable:
            self.close()
            raise

    @classmethod
    def existing(cls, folder: Path) -> "AlertsFile":
        """Return the file in a data folder that `plimsoll up` has used.

        Raise Unusable if there is none, or if it belongs to another user: SQLite's files beside it would then lock out
        its owner.
        """
        path = folder / NAME
        try:
            owner = path.stat().st_uid
        except OSError as error:
            why = "there is none" if isinstance(error, FileNotFoundError) else error.strerror
            raise Unusable(
                f"{path}: {why}; plimsoll up makes it; name its data folder with {Parameter.STORE}"
            ) from None
        if sys.platform != "win32" and owner != os.geteuid():
            raise Unusable(f"{path}: belongs to another user: run this as user {owner}, as with sudo -u '#{owner}'")
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def backup(self, to: Path) -> None:
        """Copy a consistent state of the file to a new file. Raise NotKept if that fails."""
        _make(to)
        with self._lock, self._explain_errors(), closing(sqlite3.connect(to)) as copy:
            self._connection.backup(copy)

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Commit all changes of the block, or commit none and raise NotKept; an inner transaction joins the outer."""
        with self._lock, self._explain_errors():
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite itself rolls back when the disk is full
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Return the rows of a query. Raise NotKept if the file cannot be read."""
        with self._lock, self._explain_errors():
            return self._connection.execute(query, tuple(values)).fetchall()

    @contextmanager
    def _explain_errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Its subclasses are mistakes in a query, except OperationalError.
            if isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
                failure = NotKept(f"{self.path}: {_explain_error(error)}")
                failure.is_damage = _MENDED in str(failure)
                raise failure from error
            raise

    @contextmanager
    def alone(self) -> Generator[None]:
        """Hold the lock against other threads for the block."""
        with self._lock:
            yield

    @property
    def version(self) -> tuple[int, int] | None:
        """A value that changes whenever any process changes the file; None within a transaction."""
        with self._lock, self._explain_errors():
            by_others: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return None if self._connection.in_transaction else (by_others, self._connection.total_changes)

    def _check(self) -> None:
        """Raise Unusable or DamagedFile if the file cannot be used. Nothing is written."""
        with self._lock, self._explain_errors():
            connection = self._connection
            file_format = connection.execute("PRAGMA user_version").fetchone()[0]
            if file_format > FORMAT:
                raise Unusable(
                    f"{self.path}: was written by a newer Plimsoll (format {file_format}, this one reads {FORMAT}); "
                    f"install that version, or name another data folder with {Parameter.STORE}"
                )
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return
            if odd := _find_foreign(connection) if file_format else "its tables are not those of Plimsoll":
                raise Unusable(
                    f"{self.path}: was changed by another program ({odd}); move it away, and alerts begin anew"
                )
            for table in _read_columns(connection):
                query = f"SELECT 1 FROM {table} WHERE {_is_invalid(connection, table)} LIMIT 1"
                if connection.execute(query).fetchone():
                    raise DamagedFile(
                        f"{self.path}: is damaged (the table {table} has a row that cannot be read): {_MENDED}"
                    )


def _find_foreign(connection: sqlite3.Connection) -> str:
    """Return how another program changed the schema (view, trigger, missing column); empty if none did."""
    with closing(sqlite3.connect(":memory:")) as scratch:
        for statement in _list_statements():
            scratch.execute(statement)
        expected = _read_columns(scratch)
    for kind, name in connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"):
        return f"a {kind}, {escape(name)}"
    columns = _read_columns(connection)
    return next((f"{name} is not as it was" for name in expected if not expected[name] <= columns.get(name, set())), "")


def _read_columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the names of the columns by table."""
    rows = connection.execute(
        "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'"
    )
    columns: dict[str, set[str]] = {}
    for table, column in rows.fetchall():
        columns.setdefault(table, set()).add(column)
    return columns


def _is_invalid(connection: sqlite3.Connection, table: str) -> str:
    """Return an SQL condition for the rows of a table with values that Plimsoll never writes.

    SQLite notices only damage to its own structure. A single invalid row would stop evaluations or notifications.
    """
    valid = [_VALID.get(table, "1")]
    query = 'SELECT name, type, "notnull" OR pk AS required FROM pragma_table_info(?)'
    for name, kind, is_required in connection.execute(query, (table,)).fetchall():
        if kind in _TYPES:
            types = _TYPES[kind] if is_required else f"{_TYPES[kind]}, 'null'"
            valid.append(f"(typeof({name}) IN ({types}))")
    return f"NOT coalesce({' AND '.join(valid)}, 0)"


def _is_limit(text: object) -> bool:
    """Return whether a text is a valid limit, or empty."""
    try:
        return text == "" or (isinstance(text, str) and bool(Healthy.parse(text)))
    except ValueError:
        return False


def _was_used(path: Path) -> bool:
    """Return whether nearby files show that the file was in use: a copy of silences, a journal, or a damaged file."""
    journal = path.with_name(f"{path.name}-wal")
    is_first = not path.with_name(SILENCES).exists() and not [*path.parent.glob(f"{DAMAGED}*")]
    return not is_first or (journal.exists() and journal.stat().st_size > 0)


def _list_statements() -> list[str]:
    text = files("plimsoll.alerting").joinpath("schema.sql").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]


def _make(path: Path) -> None:
    """Create the file so that only its owner has access; SQLite gives the files beside it the same mode."""
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        lstat = path.lstat()
    except OSError as error:
        raise Unusable(f"{path}: cannot be made: {error.strerror or error}") from None
    if not stat.S_ISREG(lstat.st_mode):
        raise Unusable(
            f"{path}: is not a regular file; move it away, or name another data folder with {Parameter.STORE}"
        )
    if sys.platform != "win32" and stat.S_IMODE(lstat.st_mode) & 0o077:
        path.chmod(0o600)


def _explain_error(error: sqlite3.DatabaseError) -> str:
    """Return a text on why SQLite failed, and what to do."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return "the disk is full: nothing can be written; free some space"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"another program has locked it for {_BUSY_S:.0f} s; end that program"
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return f"is damaged ({error}): {_MENDED}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot be written ({error}); give its owner the right to write it and its folder"
        case _ if "decode" in str(error):
            return f"is damaged (a text in it cannot be read): {_MENDED}"
        case _:
            return f"cannot be used: {error}"


@lru_cache(100_000)  # each silence is compared with all alerts that fire, which have few rules and hosts
def is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern, ignoring case: `*` is any text, brackets are not special."""
    return fnmatchcase(text.casefold(), pattern.casefold().replace("[", "[[]"))

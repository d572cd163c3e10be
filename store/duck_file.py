"""The DuckDB file of the embedded store: one process owns it, reads run beside one writer."""

import os
import re
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from model.errors import Unusable

VERSION = 1

_SCHEMA = """
    CREATE TABLE plimsoll (version INTEGER);
    CREATE TABLE series (id INTEGER, host VARCHAR, measurement VARCHAR, tags VARCHAR, field VARCHAR);
    CREATE TABLE part (name VARCHAR, kind VARCHAR, day INTEGER);
    CREATE TABLE recorded (series INTEGER, time BIGINT, value DOUBLE);
    CREATE TABLE run (
        name VARCHAR, generation VARCHAR, first BIGINT, last BIGINT, hosts VARCHAR, labels VARCHAR, files BIGINT,
        amount BIGINT, loaded BIGINT, refused BIGINT, state VARCHAR, document BLOB
    );
    CREATE TABLE claim (run VARCHAR, holder VARCHAR, work VARCHAR, who VARCHAR, since BIGINT, heard BIGINT);
"""
_SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "1TB",  # checkpoints are made here, where they can be held back
    "enable_external_access": "false",
    "lock_configuration": "true",
    "memory_limit": "192MB",
    "python_enable_replacements": "false",
    "threads": "2",
}
_CHECKPOINT_BYTES = 64 << 20
_LOCKED = re.compile(r"\(PID (\d+)\)")

Cursor = duckdb.DuckDBPyConnection


class DuckFile:
    """An open file. Its transactions are made by `reading`, in any thread, and by `writing`, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = _connect(path)
        self.lock = threading.RLock()
        _check(self._connection, path)

    @contextmanager
    def reading(self) -> Generator[Cursor]:
        """A cursor that sees what is committed now, whatever is written meanwhile."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor
        finally:
            cursor.close()

    @contextmanager
    def writing(self) -> Generator[Cursor]:
        """A cursor whose changes are committed together at the end, or none of them if an error occurs."""
        with self.lock:
            cursor = self._connection.cursor()
            try:
                cursor.execute("BEGIN TRANSACTION")
                yield cursor
                cursor.execute("COMMIT")
            finally:
                cursor.close()
            self._checkpoint()

    def close(self) -> None:
        """Close the file, after what is being written."""
        with self.lock:
            self._connection.close()

    def _checkpoint(self) -> None:
        log = Path(f"{self.path}.wal")
        if log.exists() and log.stat().st_size > _CHECKPOINT_BYTES:
            self._connection.execute("CHECKPOINT")


def _connect(path: Path) -> Cursor:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if not stat.S_ISREG(path.stat().st_mode):
                raise Unusable(f"{path}: is not a file; name the file of an embedded store, or a new one")
            with path.open("rb"):
                pass
        return duckdb.connect(path, config={**_SETTINGS, "temp_directory": f"{path}.tmp"})
    except OSError as error:
        raise Unusable(f"{path}: cannot be opened: {error.strerror or error}") from None
    except duckdb.Error as error:
        raise Unusable(_refusal(path, str(error))) from None


def _refusal(path: Path, text: str) -> str:
    if "lock" in text:
        owner = _LOCKED.search(text)
        who = f"process {owner[1]}" if owner and int(owner[1]) != os.getpid() else "another process"
        return f"{path}: {who} has it open; stop that, or let it answer (plimsoll up does)"
    return f"{path}: cannot be opened as a DuckDB file: {text.splitlines()[0]}"


def _check(connection: Cursor, path: Path) -> None:
    tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables:
        connection.execute(f"BEGIN; {_SCHEMA}; INSERT INTO plimsoll VALUES ({VERSION}); COMMIT")
    elif "plimsoll" not in tables:
        connection.close()
        raise Unusable(f"{path}: is a DuckDB file of another program; name another file")

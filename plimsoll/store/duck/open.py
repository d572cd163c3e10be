"""Opens the DuckDB file of an embedded store: its lock, its version, and how far DuckDB may reach."""

import re
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import duckdb

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.store.duck.check import check, damaged
from plimsoll.store.duck.days import folder_of
from plimsoll.store.duck.filed import quoted
from plimsoll.store.duck.parts import Cursor

Upgrade: TypeAlias = Callable[[Cursor], object]
Setting: TypeAlias = str | bool | int | float | list[str]

VERSION = 2
_FILES = """
    CREATE TABLE file (
        name VARCHAR, kind VARCHAR, day INTEGER, first INTEGER, last INTEGER, samples BIGINT, size BIGINT
    );
    CREATE TABLE gone (name VARCHAR);
"""
# What makes a file of each earlier version one of the next.
UPGRADES: Mapping[int, Upgrade] = {1: lambda cursor: cursor.execute(f"ALTER TABLE part DROP COLUMN ordered; {_FILES}")}

_TABLES = """
    CREATE TABLE plimsoll (version INTEGER);
    CREATE TABLE series (id INTEGER, host VARCHAR, measurement VARCHAR, tags VARCHAR, field VARCHAR);
    CREATE SEQUENCE part_number;
    CREATE TABLE part (number BIGINT, name VARCHAR, kind VARCHAR, day INTEGER, above BIGINT);
    CREATE TABLE held (day INTEGER, series INTEGER, first BIGINT, last BIGINT);
    CREATE TABLE recorded (series INTEGER, time BIGINT, value DOUBLE);
    CREATE TABLE run (
        name VARCHAR, generation VARCHAR, first BIGINT, last BIGINT, hosts VARCHAR, labels VARCHAR, files BIGINT,
        amount BIGINT, loaded BIGINT, refused BIGINT, state VARCHAR, document BLOB
    );
    CREATE TABLE claim (run VARCHAR, holder VARCHAR, work VARCHAR, who VARCHAR, since BIGINT, heard BIGINT);
"""
_SCHEMAS = {1: _TABLES.replace("above BIGINT", "above BIGINT, ordered BOOLEAN"), 2: _TABLES + _FILES}
_SETTINGS: dict[str, Setting] = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "1TB",  # checkpoints are made by DuckFile, which can hold them back
    "memory_limit": "192MB",
    "python_enable_replacements": "false",
    "threads": "2",
}
_LOCKED_UP: dict[str, Setting] = {"enable_external_access": "false", "lock_configuration": "true"}
_LOCKED = re.compile(r"\(PID (\d+)\)")
_OTHER_FILE = "not a valid DuckDB"
_NEWER_DUCKDB = "database file with version number"


def connect(path: Path, upgrades: Mapping[int, Upgrade] = UPGRADES, version: int = VERSION) -> Cursor:
    """Open a file as its only owner; it is made if it is missing.

    A file of an earlier version is upgraded, after a copy beside it: `plimsoll.duckdb.version-1`. Unusable if the file
    cannot be opened.
    """
    if _check_place(path) and version == VERSION:
        _check_content(path)
    connection = _connect(path)
    try:
        found = _version(connection, path, version)
        if found > version:
            raise Unusable(f"{path}: is of version {found} and was written by a later Plimsoll; update Plimsoll")
        if found == version:
            return connection
        connection.execute("CHECKPOINT")
    except BaseException:
        connection.close()
        raise
    connection.close()
    with atomic_write(Path(f"{path}.version-{found}")) as copy:
        shutil.copyfile(path, copy)
    connection = _connect(path)
    try:
        connection.execute("BEGIN TRANSACTION")
        for step in range(found, version):
            upgrades[step](connection)
        connection.execute("UPDATE plimsoll SET version = ?", [version])
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> Cursor:
    """Open a file whose tables may be anything, and change nothing of it. Unusable if that is not possible."""
    return _connect(path, read_only=True)


def write_ahead_log(path: Path) -> Path:
    """Where DuckDB keeps what was committed since the last checkpoint."""
    return Path(f"{path}.wal")


def _check_content(path: Path) -> None:
    """Raise Unusable if a file is damaged, or of another program; it is not changed, as it is opened for reading."""
    connection = _connect(path, read_only=True)
    try:
        tables = _tables(connection)
        views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone()
        schema = _SCHEMAS.get(_version(connection, path, VERSION)) if tables or views != (0,) else None
        if schema:
            check(connection, path, schema)
    except duckdb.Error as error:
        raise damaged(path, error) from None
    finally:
        connection.close()


def _check_place(path: Path) -> bool:
    """Whether there is such a file, which has something in it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if not stat.S_ISREG(path.stat().st_mode):
                raise Unusable(f"{path}: is no file; name the file of an embedded store, or a new one")
            path.open("r+b").close()
            return bool(path.stat().st_size)
        return False
    except OSError as error:
        raise Unusable(f"{path}: cannot be opened: {error.strerror or error}") from None


def _connect(path: Path, *, read_only: bool = False) -> Cursor:
    # DuckDB's own choice. Named among the settings, it is refused where they happen to be taken in another order: on
    # Windows it would come after enable_external_access.
    temporary = f"{path}.tmp"
    try:
        connection = duckdb.connect(path, read_only=read_only, config=_SETTINGS | (_LOCKED_UP if read_only else {}))
        if not read_only:
            _lock_up(connection, folder_of(path))
    except duckdb.Error as error:
        text = str(error)
    else:
        # A process that was killed may have left it.
        shutil.rmtree(temporary, ignore_errors=True)
        return connection
    if owner := _LOCKED.search(text):
        raise Unusable(
            f"{path}: process {owner[1]} has it open; stop that process, or if it is plimsoll up, name its address "
            f"with {Parameter.STORE}"
        )
    if _NEWER_DUCKDB in text:
        raise Unusable(f"{path}: was written by a later DuckDB; update Plimsoll")
    if _OTHER_FILE in text:
        raise Unusable(f"{path}: is no DuckDB file; name the file of an embedded store, or a new one")
    raise damaged(path, duckdb.Error(text))


def _lock_up(connection: Cursor, days: Path) -> None:
    """Let DuckDB reach the files of days besides its own. Where they are is refused among the settings of a new one."""
    connection.execute("SET parquet_metadata_cache = true")
    connection.execute(f"SET allowed_directories = [{quoted(str(days.absolute()))}]")
    for name, value in _LOCKED_UP.items():
        connection.execute(f"SET {name} = {value}")


def _version(connection: Cursor, path: Path, version: int) -> int:
    """The version of a file; a new one gets the tables of this version."""
    tables = set[str]() if _is_new(connection) else _tables(connection)
    if not tables:
        connection.execute(f"BEGIN; {_SCHEMAS[VERSION]}; INSERT INTO plimsoll VALUES ({version}); COMMIT")
        return version
    row = connection.execute("SELECT version FROM plimsoll").fetchone() if "plimsoll" in tables else None
    if row is None or not isinstance(row[0], int):
        raise Unusable(f"{path}: is a DuckDB file of another program; name another file")
    return row[0]


def _is_new(connection: Cursor) -> bool:
    """Whether nothing was ever written to a file. To list its tables takes ten times as long, also of a new one."""
    found = connection.execute("SELECT total_blocks, wal_size FROM pragma_database_size()").fetchone()
    return found == (0, "0 bytes")


def _tables(connection: Cursor) -> set[str]:
    return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

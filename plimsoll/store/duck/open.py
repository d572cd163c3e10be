"""Opens the DuckDB file of an embedded store: checks lock, version and damage, and restricts DuckDB's access."""

import re
import shutil
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TypeAlias

import duckdb

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.store.duck.day_files import NAME, WORDS, find_folder, format_date, quote_sql
from plimsoll.store.duck.hot_tables import COLUMNS, Cursor, TableKind
from plimsoll.store.duck.move_runs import move_runs

Upgrade: TypeAlias = Callable[[Cursor, Path], object]
Setting: TypeAlias = str | bool | int | float | list[str]
VERSION = 3
ASIDE = ".damaged-"
_TABLES = """
    CREATE TABLE plimsoll (version INTEGER);
    CREATE TABLE series (id INTEGER, host VARCHAR, measurement VARCHAR, tags VARCHAR, field VARCHAR);
    CREATE SEQUENCE part_number;
    CREATE TABLE part (number BIGINT, name VARCHAR, kind VARCHAR, day INTEGER, above BIGINT);
    CREATE TABLE held (day INTEGER, series INTEGER, first BIGINT, last BIGINT);
"""
_FILES = """
    CREATE TABLE file (
        name VARCHAR, kind VARCHAR, day INTEGER, first INTEGER, last INTEGER, samples BIGINT, size BIGINT
    );
    CREATE TABLE gone (name VARCHAR);
"""
# Until version 2, runs were in the file too.
_RUNS = """
    CREATE TABLE recorded (series INTEGER, time BIGINT, value DOUBLE);
    CREATE TABLE run (
        name VARCHAR, generation VARCHAR, first BIGINT, last BIGINT, hosts VARCHAR, labels VARCHAR, files BIGINT,
        amount BIGINT, loaded BIGINT, refused BIGINT, state VARCHAR, document BLOB
    );
    CREATE TABLE claim (run VARCHAR, holder VARCHAR, work VARCHAR, who VARCHAR, since BIGINT, heard BIGINT);
"""
_SCHEMAS = {
    1: _TABLES.replace("above BIGINT", "above BIGINT, ordered BOOLEAN") + _RUNS,
    2: _TABLES + _FILES + _RUNS,
    3: _TABLES + _FILES,
}
# The upgrade from each earlier version to the next.
UPGRADES: Mapping[int, Upgrade] = {
    1: lambda cursor, _: cursor.execute(f"ALTER TABLE part DROP COLUMN ordered; {_FILES}"),
    2: move_runs,
}
_SETTINGS: dict[str, Setting] = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "checkpoint_threshold": "1TB",  # HotFile makes checkpoints, as it can delay them
    "memory_limit": "192MB",
    "python_enable_replacements": "false",
    "threads": "2",
}
_LOCKED_UP: dict[str, Setting] = {"enable_external_access": "false", "lock_configuration": "true"}
_LOCKED = re.compile(r"\(PID (\d+)\)")
_OTHER_FILE = "not a valid DuckDB"
_NEWER_DUCKDB = "database file with version number"
_PART = re.compile(rf"({'|'.join(TableKind)})_\d+")
# Objects made by another program that our queries would execute.
_FOREIGN = {
    "the view": "SELECT view_name FROM duckdb_views() WHERE NOT internal",
    "the function": "SELECT function_name FROM duckdb_functions() WHERE NOT internal",
    "the type": "SELECT type_name FROM duckdb_types() WHERE NOT internal",
    "the index": "SELECT index_name FROM duckdb_indexes()",
    "the schema": "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal AND schema_name <> 'main'",
}
_MADE = "SELECT table_name, sql FROM duckdb_tables() WHERE NOT internal"


class DamagedStore(Unusable):
    """The error that a file or its write-ahead log is damaged."""

    def __init__(self, path: Path, error: Exception) -> None:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        super().__init__(f"{path}: is damaged: {first[:300]}")


def connect(path: Path, upgrades: Mapping[int, Upgrade] = UPGRADES, version: int = VERSION) -> Cursor:
    """Open a file for this process alone; create it if missing.

    A file of an earlier version is first copied to `plimsoll.duckdb.version-1` (the earlier version's number), then
    upgraded. Raise DamagedStore, and leave the file unchanged, if the file or its write-ahead log is damaged; Unusable
    if the file cannot be opened.
    """
    has_content = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if not stat.S_ISREG(path.stat().st_mode):
                raise Unusable(f"{path}: is no file; name the file of an embedded store, or a new one")
            path.open("r+b").close()
            has_content = bool(path.stat().st_size)
    except OSError as error:
        raise Unusable(f"{path}: cannot be opened: {error.strerror or error}") from None
    if has_content and version == VERSION:
        _check_content(path)
    connection = _connect(path)
    try:
        earlier = _read_version(connection, path, version)
        if earlier > version:
            raise Unusable(f"{path}: is of version {earlier} and was written by a later Plimsoll; update Plimsoll")
        if earlier == version:
            return connection
        connection.execute("CHECKPOINT")
    except BaseException:
        connection.close()
        raise
    connection.close()
    with write_atomically(Path(f"{path}.version-{earlier}")) as copy:
        shutil.copyfile(path, copy)
    connection = _connect(path)
    try:
        connection.execute("BEGIN TRANSACTION")
        for step in range(earlier, version):
            upgrades[step](connection, path)
        connection.execute("UPDATE plimsoll SET version = ?", [version])
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def set_aside(*files: Path) -> str:
    """Rename damaged files to make room for new files; return the new names as text."""
    names: list[str] = []
    for file in files:
        aside = file.with_name(f"{file.name}{ASIDE}{datetime.now(UTC):%Y-%m-%dT%H%M%S.%fZ}")
        try:
            file.rename(aside)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unusable(f"{file}: is damaged, and cannot be renamed: {error.strerror or error}") from None
        names.append(aside.name)
    return " and ".join(names)


def write_ahead_log(path: Path) -> Path:
    """Return the path of DuckDB's write-ahead log, which has the commits since the last checkpoint."""
    return Path(f"{path}.wal")


def _check_content(path: Path) -> None:
    """Raise Unusable if a file is damaged, or was written by another program. The file is only read."""
    connection = _connect(path, read_only=True)
    try:
        tables = _list_tables(connection)
        views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone()
        schema = _SCHEMAS.get(_read_version(connection, path, VERSION)) if tables or views != (0,) else None
        if schema:
            _check_schema(connection, path, schema)
            for (name,) in connection.execute("SELECT name FROM part").fetchall():  # DuckDB verifies what it reads
                connection.execute(f"SELECT bit_xor(hash(columns(*))) FROM {name}").fetchall()
    except duckdb.Error as error:
        raise DamagedStore(path, error) from None
    finally:
        connection.close()


def _check_schema(cursor: Cursor, path: Path, schema: str) -> None:
    """Raise Unusable unless the file has exactly the tables in `schema` and the listed tables of samples."""
    for kind_of_object, query in _FOREIGN.items():
        if foreign := cursor.execute(query).fetchone():
            raise _explain_changed(path, f"it has {kind_of_object} {foreign[0]!r}")
    expected, tables = _map_statements(schema), dict(cursor.execute(_MADE).fetchall())
    for name, sql in expected.items():
        if tables.get(name) != sql:
            raise _explain_changed(path, f"its table {name} is {'another one' if name in tables else 'missing'}")
    parts = cursor.execute("SELECT name, kind, count(*) FROM part GROUP BY ALL").fetchall()
    for name, kind, count in parts:
        if not (_PART.fullmatch(str(name)) and str(name).startswith(f"{kind}_") and count == 1):
            raise _explain_changed(path, f"a part is named {name!r}")
        columns = _map_statements(f"CREATE TABLE {name} ({COLUMNS[TableKind(kind)]})")[name]
        if tables.get(name) != columns:
            raise _explain_changed(path, f"its table {name} is {'another one' if name in tables else 'missing'}")
    if "file" in expected:
        _check_files(cursor, path)
    extra = tables.keys() - expected.keys() - {name for name, _, _ in parts}
    if extra:
        raise _explain_changed(path, f"it has the table {min(extra)!r}")


def _check_files(cursor: Cursor, path: Path) -> None:
    """Raise Unusable unless all listed files have names of the form of day files, as names become part of SQL."""
    rows = cursor.execute("FROM file").fetchall()
    wrong = [name for (name,) in cursor.execute("FROM gone").fetchall() if not NAME.fullmatch(str(name))]
    for name, kind, day, first, last, *_ in rows:
        match = NAME.fullmatch(str(name))
        if not match or match[1] != format_date(day or 0) or match[2] != WORDS.get(kind) or None in (first, last):
            wrong.append(name)
    if wrong:
        raise _explain_changed(path, f"a file of a day is named {wrong[0]!r}")
    if len({name for name, *_ in rows}) < len(rows):
        raise _explain_changed(path, "it has a file of a day twice")


@cache
def _map_statements(schema: str) -> Mapping[str, str]:
    """Return the CREATE statement of each table of a schema, as DuckDB formats it."""
    with duckdb.connect(":memory:") as empty:
        empty.execute(schema)
        return dict(empty.execute(_MADE).fetchall())


def _explain_changed(path: Path, reason: str) -> Unusable:
    return Unusable(f"{path}: is no store as Plimsoll leaves it: {reason}; put a backup in its place, or name another")


def _connect(path: Path, *, read_only: bool = False) -> Cursor:
    # DuckDB's own choice. Named among the settings, it is refused where they happen to be taken in another order: on
    # Windows it would come after enable_external_access.
    """Return a connection to a DuckDB file with restricted access."""
    temporary = f"{path}.tmp"
    try:
        connection = duckdb.connect(path, read_only=read_only, config=_SETTINGS | (_LOCKED_UP if read_only else {}))
        if not read_only:
            # DuckDB may also open the day files. This cannot be set when the connection is made.
            days = quote_sql(str(find_folder(path).absolute()))
            connection.execute(f"SET parquet_metadata_cache = true; SET allowed_directories = [{days}]")
            for name, value in _LOCKED_UP.items():
                connection.execute(f"SET {name} = {value}")
    except duckdb.Error as error:
        text = str(error)
    else:
        # A killed process may have left it.
        shutil.rmtree(temporary, ignore_errors=True)
        return connection
    if owner := _LOCKED.search(text):
        raise Unusable(
            f"{path}: process {owner[1]} has it open; stop that process, or if it is plimsoll up, name its address "
            f"with {Parameter.STORE}"
        )
    if _NEWER_DUCKDB in text:
        raise Unusable(f"{path}: was written by a later DuckDB; update Plimsoll")
    if _OTHER_FILE in text and not find_folder(path).exists():
        raise Unusable(f"{path}: is no DuckDB file; name the file of an embedded store, or a new one")
    raise DamagedStore(path, duckdb.Error(text))


def _read_version(connection: Cursor, path: Path, version: int) -> int:
    """Return the version of a file; in a new file, create the tables of `version`."""
    tables = set[str]() if _is_new(connection) else _list_tables(connection)
    if not tables:
        connection.execute(f"BEGIN; {_SCHEMAS[VERSION]}; INSERT INTO plimsoll VALUES ({version}); COMMIT")
        return version
    row = connection.execute("SELECT version FROM plimsoll").fetchone() if "plimsoll" in tables else None
    if row is None or not isinstance(row[0], int):
        raise Unusable(f"{path}: is a DuckDB file of another program; name another file")
    return row[0]


def _is_new(connection: Cursor) -> bool:
    """Return whether nothing was ever written to a file; ten times faster than listing its tables."""
    return connection.execute("SELECT total_blocks, wal_size FROM pragma_database_size()").fetchone() == (0, "0 bytes")


def _list_tables(connection: Cursor) -> set[str]:
    return {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

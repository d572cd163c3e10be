"""Checks that a file holds the tables of an embedded store and nothing else, before anything is read from them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import duckdb

from plimsoll.model.errors import Unusable
from plimsoll.store.duck.days import NAME, WORDS, date_of
from plimsoll.store.duck.parts import COLUMNS, Cursor, Kind

_PART = re.compile(rf"({'|'.join(Kind)})_\d+")
# What another program may have made in the file, and a query of ours would run.
_FOREIGN = {
    "the view": "SELECT view_name FROM duckdb_views() WHERE NOT internal",
    "the function": "SELECT function_name FROM duckdb_functions() WHERE NOT internal",
    "the type": "SELECT type_name FROM duckdb_types() WHERE NOT internal",
    "the index": "SELECT index_name FROM duckdb_indexes()",
    "the schema": "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal AND schema_name <> 'main'",
}
_TABLES = "SELECT table_name, sql FROM duckdb_tables() WHERE NOT internal"


def check(cursor: Cursor, path: Path, schema: str) -> None:
    """Raise Unusable if the tables are not those that `schema` makes, and parts that hold samples."""
    for what, query in _FOREIGN.items():
        if found := cursor.execute(query).fetchone():
            raise _changed(path, f"it has {what} {found[0]!r}")
    expected, tables = _made(schema), dict(cursor.execute(_TABLES).fetchall())
    for name, made in expected.items():
        if tables.get(name) != made:
            raise _changed(path, f"its table {name} is {'another one' if name in tables else 'missing'}")
    parts = cursor.execute("SELECT name, kind, count(*) FROM part GROUP BY ALL").fetchall()
    for name, kind, count in parts:
        if not (_PART.fullmatch(str(name)) and str(name).startswith(f"{kind}_") and count == 1):
            raise _changed(path, f"a part is named {name!r}")
        columns = _made(f"CREATE TABLE {name} ({COLUMNS[Kind(kind)]})")[name]
        if tables.get(name) != columns:
            raise _changed(path, f"its table {name} is {'another one' if name in tables else 'missing'}")
    if "file" in expected:
        _check_files(cursor, path)
    more = tables.keys() - expected.keys() - {name for name, _, _ in parts}
    if more:
        raise _changed(path, f"it has the table {min(more)!r}")


def _check_files(cursor: Cursor, path: Path) -> None:
    """Raise Unusable unless all files that are listed can be files of days: their names go into queries."""
    rows = cursor.execute("FROM file").fetchall()
    for name, kind, day, first, last, *_ in rows:
        found = NAME.fullmatch(str(name))
        if not found or found[1] != date_of(day or 0) or found[2] != WORDS.get(kind) or None in (first, last):
            raise _changed(path, f"a file of a day is named {name!r}")
    if len({name for name, *_ in rows}) < len(rows):
        raise _changed(path, "it has a file of a day twice")
    for (name,) in cursor.execute("FROM gone").fetchall():
        if not NAME.fullmatch(str(name)):
            raise _changed(path, f"a file of a day is named {name!r}")


@cache
def _made(schema: str) -> Mapping[str, str]:
    """The tables that SQL makes, as DuckDB words them."""
    with duckdb.connect(":memory:") as empty:
        empty.execute(schema)
        return dict(empty.execute(_TABLES).fetchall())


def damaged(path: Path, error: Exception) -> Unusable:
    """What to say of a file that cannot be read, or not as a store."""
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return Unusable(
        f"{path}: cannot be read: {first[:300]}; if it is damaged, plimsoll salvage keeps what can be read"
        ", or put a backup in its place"
    )


def _changed(path: Path, what: str) -> Unusable:
    return Unusable(f"{path}: is no store as Plimsoll leaves it: {what}; put a backup in its place, or name another")

"""Takes what can be read out of a damaged alerts.db into a new one."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.damage import remove_damaged
from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND

_BESIDE = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Where the damaged file is now, how many rows of each table were kept, and the tables that were not read whole."""

    aside: Path
    kept: Mapping[str, int]
    torn: tuple[str, ...]


def salvage(path: Path, now: int) -> Salvaged:
    """Move a file aside, and begin a new one with all rows of it that can be read.

    Nobody else may have the file open. Unusable if it cannot be moved, or was moved in this second already.
    """
    aside = path.with_name(f"{path.name}.damaged-{now // SECOND}")
    try:
        if aside.exists():
            raise Unusable(f"{aside}: exists already; move it away first")
        for end in _BESIDE:
            with suppress(FileNotFoundError):
                path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    except OSError as error:
        raise Unusable(f"{path}: cannot be moved: {error.strerror or error}") from None
    kept: dict[str, int] = {}
    torn: list[str] = []
    fresh = AlertsFile(path)
    try:
        with closing(sqlite3.connect(aside)) as damaged:
            for table, (columns, key) in _tables(fresh).items():
                rows: dict[object, tuple[object, ...]] = {}
                if not _read(damaged, table, columns, key, rows):
                    torn.append(table)
                kept[table] = _keep(fresh, table, columns, [*rows.values()])
        with fresh.transaction() as connection:
            for table, count in remove_damaged(connection).items():
                kept[table] -= count
                torn += [table] if table not in torn else []
    finally:
        fresh.close()
    return Salvaged(aside, kept, tuple(torn))


def _tables(file: AlertsFile) -> dict[str, tuple[list[str], str]]:
    """The columns of each table, and what its rows are ordered by."""
    found: dict[str, tuple[list[str], str]] = {}
    for row in file.rows("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        columns = file.rows(f"SELECT name, pk FROM pragma_table_info('{row['name']}') ORDER BY cid")
        own_key = [one["name"] for one in sorted(columns, key=lambda one: one["pk"]) if one["pk"]]
        key = ", ".join(own_key) if "WITHOUT ROWID" in row["sql"] else "rowid"
        found[row["name"]] = [one["name"] for one in columns], key
    return found


def _read(
    damaged: sqlite3.Connection, table: str, columns: list[str], key: str, rows: dict[object, tuple[object, ...]]
) -> bool:
    """Read the rows up to the first damage, and from the end down to the last one; whether there is none."""
    listed = ", ".join(columns)
    keys = key.split(", ")
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{one} {direction}" for one in keys)
        query = f"SELECT {key}, {listed} FROM {table} ORDER BY {order}"
        if _into(rows, len(keys), _until_damage(damaged, query)):
            return True
    return False


def _into(rows: dict[object, tuple[object, ...]], width: int, found: Iterator[tuple[object, ...] | None]) -> bool:
    """Keep rows by their key, which is their first `width` values; whether none of them is damaged."""
    for row in found:
        if row is None:
            return False
        rows.setdefault(row[:width], row[width:])
    return True


def _until_damage(damaged: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...] | None]:
    """The rows of a query; then None if the next one cannot be read."""
    try:
        yield from damaged.execute(query)
    except sqlite3.Error:
        yield None


def _keep(fresh: AlertsFile, table: str, columns: list[str], rows: list[tuple[object, ...]]) -> int:
    places = ", ".join("?" * len(columns))
    query = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})"
    with fresh.transaction() as connection:
        return connection.executemany(query, rows).rowcount if rows else 0

"""Takes what can be read out of a damaged store into a new one.

DuckDB keeps a checksum of each block: what can be read is what was written. A table is read a row group at a time, so
that a damaged block costs its row group: of live samples, a part of a day. The files of days that are over stay where
they are (`duck.salvage_days`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.store.duck.file import pieces
from plimsoll.store.duck.open import connect, connect_to_read, write_ahead_log
from plimsoll.store.duck.parts import COLUMNS, Cursor, Kind, add_part
from plimsoll.store.duck.salvage_days import set_in_order

_DAMAGE = re.compile(r"entry at byte position (\d+)")  # of the write-ahead log
_GROUP = 122_880  # rows that DuckDB keeps together
_FILE = ["name", "kind", "day", "first", "last", "samples", "size"]
_PART = {kind: [one.split()[0] for one in columns.split(", ")] for kind, columns in COLUMNS.items()}
_SERIES = ["id", "host", "measurement", "tags", "field"]
_RUN = [
    "name",
    "generation",
    "first",
    "last",
    "hosts",
    "labels",
    "files",
    "amount",
    "loaded",
    "refused",
    "state",
    "document",
]
_RECORDED = ["series", "time", "value"]


@dataclass(slots=True)
class Salvaged:
    """Where the store is, where the damaged file is now, and what the new one has.

    `lost` says what could not be read: of which day, or of which table. `older`: without what was written last, as the
    write-ahead log cannot be read to its end.
    """

    path: Path
    aside: Path
    samples: int = 0
    runs: int = 0
    lost: list[str] = field(default_factory=list[str])
    older: bool = False


def salvage(path: Path, now: int) -> Salvaged:
    """Move a store aside, and begin a new one with all of it that can be read.

    Nobody else may have the file open. Unusable if it cannot be moved, or was moved in this second already.
    """
    done = Salvaged(path, path.with_name(f"{path.name}.damaged-{now // SECOND}"))
    if done.aside.exists():
        raise Unusable(f"{done.aside}: exists already; move it away first")
    try:
        path.rename(done.aside)
        with suppress(FileNotFoundError):
            write_ahead_log(path).rename(write_ahead_log(done.aside))
    except OSError as error:
        raise Unusable(f"{path}: cannot be moved: {error.strerror or error}") from None
    fresh = connect(path)
    try:
        source = _Source(done)
        if source.tables:
            _take(source, fresh, done)
        else:
            done.lost.append(
                "everything but closed days: the beginning of the file, which says where the rest is, is damaged"
            )
            days = set_in_order(fresh, path, done.aside, None, [])
            done.samples += days.samples
            done.lost += days.lost
            _merge_held(fresh)
        source.close()
        fresh.execute("CHECKPOINT")
    finally:
        fresh.close()
    return done


class _Source:
    """The damaged file. A block that cannot be read may end the connection: then there is another one."""

    def __init__(self, done: Salvaged) -> None:
        self._path = done.aside
        self._problem = ""
        self._connection = self._opened()
        self.tables = self._listed()
        log = write_ahead_log(done.aside)
        if not self.tables and log.exists():
            done.older = True
            whole = log.with_name(f"{log.name}.unread")
            log.rename(whole)
            # What comes before the damage was committed as well; the rest is as if it had never been written.
            if found := _DAMAGE.search(self._problem):
                _copy_beginning(whole, log, int(found[1]))
                self._again()
            if not self.tables:
                log.unlink(missing_ok=True)
                self._again()

    def close(self) -> None:
        if self._connection:
            with suppress(duckdb.Error):
                self._connection.close()

    def read(self, table: str, columns: list[str]) -> Iterator[Mapping[str, NDArray[Any]] | None]:
        """The rows of a table, some at a time; None for some that cannot be read."""
        named = ", ".join(columns)
        last = self._asked(f"SELECT max(rowid) AS last FROM {table}")
        ends = [one for one in (last["last"] if last else ()) if one is not np.ma.masked]
        rows = int(ends[0]) + 1 if ends else 0 if last else self.tables.get(table, 0)
        for first in range(0, rows, _GROUP):
            within = f"rowid >= {first} AND rowid < {first + _GROUP}"
            yield self._asked(f"SELECT {named} FROM {table} WHERE {within} ORDER BY rowid")

    def _asked(self, query: str) -> Mapping[str, NDArray[Any]] | None:
        self._connection = self._connection or self._opened()
        if self._connection is None:
            return None
        try:
            return self._connection.execute(query).fetchnumpy()
        except duckdb.Error:
            self.close()
            self._connection = None
            return None

    def _listed(self) -> dict[str, int]:
        """The tables, without views, and about how many rows they have."""
        found = self._asked("SELECT table_name, estimated_size FROM duckdb_tables() WHERE NOT internal")
        return dict(zip(found["table_name"].tolist(), found["estimated_size"].tolist(), strict=True)) if found else {}

    def _again(self) -> None:
        self.close()
        self._connection = self._opened()
        self.tables = self._listed()

    def _opened(self) -> Cursor | None:
        try:
            return connect_to_read(self._path)
        except (Unusable, duckdb.Error) as error:
            self._problem = str(error)
            return None


def _copy_beginning(of: Path, to: Path, size: int) -> None:
    """Copy the first bytes of a file."""
    with of.open("rb") as source, to.open("wb") as target:
        for piece in pieces(source, size):
            target.write(piece)


def _take(source: _Source, fresh: Cursor, done: Salvaged) -> None:
    _series(source, fresh, done)
    listed = [*source.read("file", _FILE)] if "file" in source.tables else [None]
    rows = None if None in listed else [row for one in listed if one for row in _rows(one, _FILE)]
    unlisted = [row[0] for one in source.read("gone", ["name"]) if one for row in _rows(one, ["name"])]
    _take_days(fresh, done, rows, unlisted)
    known = np.array([number for (number,) in fresh.execute("SELECT id FROM series").fetchall()], np.int32)
    for kind, name, day, above in _parts(source, done):
        lost = 0
        fresh.execute("BEGIN TRANSACTION")
        part = add_part(fresh, kind, day)
        for found in source.read(name, _PART[kind]):
            if found is None:
                lost += 1
                continue
            done.samples += _insert(fresh, part.name, _PART[kind], _of_known(found, known, above))
        if kind is not Kind.OPEN:
            _hold(fresh, part.name, day)
        fresh.execute("COMMIT")
        if lost:
            done.lost.append(f"{_when(kind, day)}: some {lost * _GROUP:,} samples at most")
    _merge_held(fresh)
    for table, columns in (("recorded", _RECORDED), ("run", _RUN)):
        whole = True
        for found in source.read(table, columns) if table in source.tables else (None,):
            if found is None:
                whole = False
            elif table == "run":
                done.runs += _insert(fresh, table, columns, found)
            else:
                done.samples += _insert(fresh, table, columns, _of_known(found, known, 0))
        if not whole:
            done.lost.append("some recorded runs" if table == "run" else "values of recorded runs")


def _take_days(fresh: Cursor, done: Salvaged, rows: Sequence[Sequence[Any]] | None, unlisted: Sequence[str]) -> None:
    days = set_in_order(fresh, done.path, done.aside, rows, unlisted)
    done.samples += days.samples
    done.lost += days.lost


def _series(source: _Source, fresh: Cursor, done: Salvaged) -> None:
    """Take the series, with the numbers that they have."""
    parts = [*source.read("series", _SERIES)] if "series" in source.tables else [None]
    if None in parts:
        done.lost.append("names of series, and with them their samples of the latest hours")
    for one in parts:
        if one is not None:
            _insert(fresh, "series", _SERIES, one)


def _rows(columns: Mapping[str, NDArray[Any]], names: list[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(columns[name].tolist() for name in names), strict=True)


def _parts(source: _Source, done: Salvaged) -> Iterator[tuple[Kind, str, int, int]]:
    """The parts that the store lists, in the order in which they were made."""
    columns = ["number", "name", "kind", "day", "above"]
    found = [*source.read("part", columns)]
    if None in found:
        done.lost.append("the list of days, and with it some of them")
    rows = [row for one in found if one is not None for row in _rows(one, columns)]
    for _, name, kind, day, above in sorted(rows):
        # The name is taken into a query: it must be that of a table that such a part has.
        if kind in [*Kind] and str(name).startswith(f"{kind}_") and str(name)[len(kind) + 1 :].isdecimal():
            if name in source.tables:
                yield Kind(kind), name, day, above
            else:
                done.lost.append(_when(Kind(kind), day))


def _of_known(rows: Mapping[str, NDArray[Any]], known: NDArray[np.int32], above: int) -> Mapping[str, NDArray[Any]]:
    """The rows of series whose names are known; without those that were moved to a file."""
    series = np.asarray(rows["series"])
    chosen = (series >= above) & np.isin(series, known)
    return {name: column[chosen] for name, column in rows.items()}


def _insert(fresh: Cursor, table: str, columns: list[str], rows: Mapping[str, NDArray[Any]]) -> int:
    fresh.register("salvaged", dict(rows))
    fresh.execute(f"INSERT INTO {table} SELECT {', '.join(columns)} FROM salvaged")
    fresh.unregister("salvaged")
    return len(rows[columns[0]])


def _hold(fresh: Cursor, part: str, day: int) -> None:
    fresh.execute(f"INSERT INTO held SELECT {int(day)}, series, min(time), max(time) FROM {part} GROUP BY series")


def _merge_held(fresh: Cursor) -> None:
    """A day may have several parts: one line for each series."""
    fresh.execute("CREATE TEMP TABLE merged AS SELECT day, series, min(first), max(last) FROM held GROUP BY ALL")
    fresh.execute("DELETE FROM held")
    fresh.execute("INSERT INTO held SELECT * FROM temp.merged ORDER BY day, series")
    fresh.execute("DROP TABLE temp.merged")


def _when(kind: Kind, day: int) -> str:
    return "the latest hours" if kind is Kind.OPEN else f"live samples of {np.datetime64(day, 'D')}"

"""Writes samples into the tables of the embedded store, in which no series has two samples at one time."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from model.log import Log, Times, Values
from model.run import Recording
from store.duck_file import Cursor, DuckFile
from store.duck_names import Names
from store.duck_tables import OPEN, parts

Numbers = NDArray[np.int32]
Columns = tuple[Numbers, Times, Values]


def columns_of(log: Log, numbers: Numbers) -> Columns:
    """The samples of a log, sorted by series and time: of columns of the same series the first one that has a value."""
    order = [*range(len(numbers))][::-1]
    held = [column.is_not_null().to_numpy() for column in log.columns]
    series = np.concatenate([np.full(np.count_nonzero(held[at]), numbers[at], np.int32) for at in order] or [[]])
    times = np.concatenate([log.times[held[at]] for at in order] or [[]])
    values = np.concatenate([log.columns[at].to_numpy()[held[at]] for at in order] or [[]])
    return last_of_each(series, times, values)


def last_of_each(series: Numbers, times: Times, values: Values) -> Columns:
    """The samples sorted by series and time; of those with the same, the last one."""
    order = np.lexsort((times, series))
    series, times = series[order], times[order]
    last = np.ones(len(order), dtype=bool)
    last[:-1] = (series[1:] != series[:-1]) | (times[1:] != times[:-1])
    return series[last], times[last], values[order][last]


def record(cursor: Cursor, columns: Columns) -> None:
    """Write recorded samples in place of recorded samples of the same series and time."""
    if len(columns[0]):
        _delete(cursor, "recorded", columns)
        _insert(cursor, "recorded", columns)


def forget(cursor: Cursor, recording: Recording, keep: Sequence[Recording], names: Names) -> None:
    """Remove the samples of a recording, except those that others contain too."""
    kept = [_held(other, names) for other in keep]
    series: list[Numbers] = []
    times: list[Times] = []
    for number, held in _held(recording, names).items():
        own = reduce(np.setdiff1d, (other[number] for other in kept if number in other), held)
        series.append(np.full(len(own), number, np.int32))
        times.append(own)
    if times:
        gone = np.concatenate(series), np.concatenate(times)
        _delete(cursor, "recorded", (*gone, np.empty(len(gone[0]))))


class LivePart:
    """The table to which live samples are appended, and the time of the latest sample of each series."""

    def __init__(self, file: DuckFile) -> None:
        self._file = file
        self._latest = np.empty(0, np.int64)
        with file.writing() as cursor:
            found = [part for part in parts(cursor, 0, 0) if part.kind == OPEN]
            self._name = found[0].name if found else _new(cursor)
            rows = cursor.execute(f"SELECT series, max(time) AS time FROM {self._name} GROUP BY series").fetchnumpy()
        self._raise(np.asarray(rows["series"]), np.asarray(rows["time"]))

    def write(self, series: Numbers, times: Times, values: Values) -> None:
        """Write samples in place of earlier ones of the same series and time."""
        columns = last_of_each(series, times, values)
        with self._file.lock:
            self._raise(columns[0][:0], columns[1][:0], int(columns[0][-1]))
            late = columns[1] <= self._latest[columns[0]]
            with self._file.writing() as cursor:
                if late.any():
                    few: Columns = (columns[0][late], columns[1][late], columns[2][late])
                    for part in parts(cursor, int(few[1].min()), int(few[1].max())):
                        _delete(cursor, part.name, few)
                _insert(cursor, self._name, columns)
            self._raise(columns[0], columns[1])

    def _raise(self, series: Numbers, times: Times, highest: int = -1) -> None:
        highest = max(highest, int(series.max())) if len(series) else highest
        more = highest + 1 - len(self._latest)
        if more > 0:
            self._latest = np.concatenate([self._latest, np.full(more, np.iinfo(np.int64).min)])
        np.maximum.at(self._latest, series, times)


def _new(cursor: Cursor) -> str:
    (number,) = cursor.execute("SELECT count(*) FROM part").fetchone() or (0,)
    name = f"open_{number}"
    cursor.execute(f"CREATE TABLE {name} (series INTEGER, time BIGINT, value DOUBLE)")
    cursor.execute("INSERT INTO part VALUES (?, ?, 0)", [name, OPEN])
    return name


def _held(recording: Recording, names: Names) -> dict[int, Times]:
    """The times at which a recording has a sample, by the numbers of its series."""
    held: dict[int, list[Times]] = {}
    for at, series in enumerate(recording.series):
        number = names.find(series)
        if number is not None:
            held.setdefault(number, []).append(recording.held(at))
    return {number: reduce(np.union1d, times) for number, times in held.items()}


def _insert(cursor: Cursor, table: str, columns: Columns) -> None:
    _register(cursor, columns)
    cursor.execute(f"INSERT INTO {table} SELECT series, time, value FROM batch")
    cursor.unregister("batch")


def _delete(cursor: Cursor, table: str, columns: Columns) -> None:
    _register(cursor, columns)
    cursor.execute(
        f"DELETE FROM {table} USING batch WHERE {table}.series = batch.series AND {table}.time = batch.time "
        f"AND {table}.time BETWEEN ? AND ?",
        [int(columns[1].min()), int(columns[1].max())],
    )
    cursor.unregister("batch")


def _register(cursor: Cursor, columns: Columns) -> None:
    series, times, values = columns
    cursor.register("batch", {"series": series, "time": times, "value": values})

"""Batches of samples, and how they get into a table of the embedded store."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.store.duck.parts import Cursor

Numbers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples by the numbers of their series; what is NaN is none."""

    series: Numbers
    times: Times
    values: Values

    @property
    def last_of_each(self) -> "Batch":
        """The samples sorted by series and time; of those with the same, the last one."""
        order = np.lexsort((self.times, self.series))
        ordered = self.chosen(order)
        last = np.ones(len(order), dtype=bool)
        last[:-1] = np.diff(ordered.series).astype(bool) | np.diff(ordered.times).astype(bool)
        return ordered if last.all() else ordered.chosen(last)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "Batch":
        """Some of the samples."""
        return Batch(self.series[rows], self.times[rows], self.values[rows])

    def __len__(self) -> int:
        return len(self.series)


def insert(cursor: Cursor, table: str, batch: Batch) -> None:
    """Append samples to a table, without those that are NaN."""
    _register(cursor, batch)
    cursor.execute(f"INSERT INTO {table} SELECT series, time, value FROM batch WHERE NOT isnan(value)")
    cursor.unregister("batch")


def delete(cursor: Cursor, table: str, batch: Batch) -> None:
    """Delete the samples of a table with the series and times of a batch, whatever their values."""
    _register(cursor, batch)
    cursor.execute(
        f"DELETE FROM {table} USING batch WHERE {table}.series = batch.series AND {table}.time = batch.time "
        f"AND {table}.time BETWEEN {int(batch.times.min())} AND {int(batch.times.max())}"
    )
    cursor.unregister("batch")


def _register(cursor: Cursor, batch: Batch) -> None:
    cursor.register("batch", {"series": batch.series, "time": batch.times, "value": batch.values})

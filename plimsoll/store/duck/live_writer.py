"""Writes live samples to the embedded store."""

import numpy as np

from plimsoll.model.log import Times
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.hot_tables import (
    EARLIEST,
    Batch,
    HotTable,
    Numbers,
    TableKind,
    add_table,
    list_tables,
    open_tables,
)

ROWS_A_TABLE = 1_000_000


class LiveWriter:
    """Writes live samples; it has the open table and the time of each series' latest sample.

    Earlier samples to replace are searched for only if a new sample is not later than the latest of its series.
    """

    def __init__(self, file: HotFile) -> None:
        self._file = file
        self._latest = np.empty(0, np.int64)
        with file.reading() as cursor:
            opened = open_tables(cursor)
            for table in ["held", *(table.name for table in opened)]:
                column = "last" if table == "held" else "time"
                rows = cursor.execute(f"SELECT series, max({column}) AS last FROM {table} GROUP BY series").fetchnumpy()
                self._raise(np.asarray(rows["series"]), np.asarray(rows["last"]))
            self._table: HotTable | None = opened[-1] if opened else None
            count = cursor.execute(f"SELECT count(*) FROM {opened[-1].name}").fetchone() if opened else None
            self._rows = count[0] if count else 0

    def write(self, batch: Batch) -> None:
        """Write samples, and replace earlier samples of the same series and time."""
        if not len(batch):
            return
        with self._file.lock:
            self._make_place(batch.series)
            late = batch.chosen(batch.times <= self._latest[batch.series])
            # Before the transaction, as it may be unknown whether a failed one was committed.
            self._raise(batch.series, batch.times)
            with self._file.writing(needs_room=True) as cursor:
                table = self._table
                if table is None or self._rows >= ROWS_A_TABLE:
                    table = add_table(cursor, TableKind.OPEN)
                if len(late):
                    for earlier in list_tables(cursor, int(late.times.min()), int(late.times.max())):
                        if earlier.kind is not TableKind.THIN:
                            late.delete(cursor, earlier)
                batch.insert(cursor, table)
            self._rows = len(batch) + (self._rows if table == self._table else 0)
            self._table = table

    def close_table(self) -> None:
        """Close the open table if it has samples, so that the next write begins another."""
        with self._file.lock:
            if self._rows:
                with self._file.writing() as cursor:
                    table = add_table(cursor, TableKind.OPEN)
                self._table, self._rows = table, 0

    def _make_place(self, series: Numbers) -> None:
        missing = (int(series.max()) + 1 if len(series) else 0) - len(self._latest)
        if missing > 0:
            self._latest = np.concatenate([self._latest, np.full(missing, EARLIEST)])

    def _raise(self, series: Numbers, times: Times) -> None:
        self._make_place(series)
        np.maximum.at(self._latest, series, times)

"""Writes live samples to the embedded store."""

import numpy as np

from plimsoll.model.log import Times
from plimsoll.store.duck.batch import Batch, Numbers, delete, insert
from plimsoll.store.duck.file import DuckFile
from plimsoll.store.duck.parts import EARLIEST, Cursor, Kind, Part, add_part, live_parts

ROWS_A_PART = 1_000_000


class LiveWriter:
    """The open part, and the time of the latest sample of each series: only samples up to that can be repeated."""

    def __init__(self, file: DuckFile) -> None:
        self._file = file
        self._latest = np.empty(0, np.int64)
        with file.reading() as cursor:
            opened = [part for part in live_parts(cursor) if part.kind is Kind.OPEN]
            for table in ["held", *(part.name for part in opened)]:
                column = "last" if table == "held" else "time"
                rows = cursor.execute(f"SELECT series, max({column}) AS last FROM {table} GROUP BY series").fetchnumpy()
                self._raise(np.asarray(rows["series"]), np.asarray(rows["last"]))
            self._part: Part | None = opened[-1] if opened else None
            self._rows = _count(cursor, self._part)

    def write(self, batch: Batch) -> None:
        """Write samples in place of earlier ones of the same series and time."""
        if not len(batch):
            return
        with self._file.lock:
            self._make_place(batch.series)
            late = batch.chosen(batch.times <= self._latest[batch.series])
            # Before the transaction: of one that fails it is not always known whether it was committed.
            self._raise(batch.series, batch.times)
            with self._file.writing(needs_room=True) as cursor:
                part = self._part
                if part is None or self._rows >= ROWS_A_PART:
                    part = add_part(cursor, Kind.OPEN)
                if len(late):
                    for one in live_parts(cursor, int(late.times.min()), int(late.times.max())):
                        if one.kind is not Kind.THIN:
                            delete(cursor, one.name, late)
                insert(cursor, part.name, batch)
            self._rows = len(batch) + (self._rows if part == self._part else 0)
            self._part = part

    def close_part(self) -> None:
        """Close the open part if it holds samples: the next write begins another one."""
        with self._file.lock:
            if self._rows:
                with self._file.writing() as cursor:
                    part = add_part(cursor, Kind.OPEN)
                self._part, self._rows = part, 0

    def _make_place(self, series: Numbers) -> None:
        more = (int(series.max()) + 1 if len(series) else 0) - len(self._latest)
        if more > 0:
            self._latest = np.concatenate([self._latest, np.full(more, EARLIEST)])

    def _raise(self, series: Numbers, times: Times) -> None:
        self._make_place(series)
        np.maximum.at(self._latest, series, times)


def _count(cursor: Cursor, part: Part | None) -> int:
    rows = cursor.execute(f"SELECT count(*) FROM {part.name}").fetchone() if part else None
    return rows[0] if rows else 0

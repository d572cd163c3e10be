"""Writes and removes the samples of recordings in the embedded store.

They are in one table, `recorded`, apart from live samples: nothing removes them but the deletion of their run.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np
import polars as pl

from plimsoll.model.log import Log, Times
from plimsoll.model.run import Recording
from plimsoll.store.duck.batch import Batch, Numbers, delete, insert
from plimsoll.store.duck.names import Names
from plimsoll.store.duck.parts import Cursor

RECORDED = "recorded"
_AT_ONCE = 1_000_000


def batch_of(log: Log, numbers: Numbers) -> Batch:
    """The samples of a log, sorted, with NaN where there is none.

    Of columns of the same series the first one that has a value counts.
    """
    # The last columns first: of samples of the same series and time, the last one stays.
    order = np.argsort(numbers[::-1], kind="stable")
    columns = [log.columns[len(numbers) - 1 - at] for at in order.tolist()]
    values = pl.concat([*columns, pl.Series([], dtype=pl.Float64)]).to_numpy()
    batch = Batch(np.repeat(numbers[::-1][order], len(log.times)), np.tile(log.times, len(numbers)), values)
    if log.times_differ and len(np.unique(numbers)) == len(numbers):
        return batch
    return batch.chosen(np.isfinite(values)).last_of_each


def record(cursor: Cursor, batch: Batch) -> None:
    """Write samples in place of recorded samples of the same series and time."""
    if not len(batch):
        return
    within = f"time BETWEEN {int(batch.times.min())} AND {int(batch.times.max())}"
    if cursor.execute(f"SELECT 1 FROM {RECORDED} WHERE {within} LIMIT 1").fetchall():
        delete(cursor, RECORDED, batch.chosen(~np.isnan(batch.values)))
    insert(cursor, RECORDED, batch)


def remove(cursor: Cursor, recording: Recording, keep: Sequence[Recording], names: Names) -> None:
    """Remove the samples of a recording, except those that others contain too."""
    own, *kept = (_columns(one, names) for one in (recording, *keep))
    batches: list[Batch] = []
    for number, columns in own.items():
        others = (_held(one, held[number]) for one, held in zip(keep, kept, strict=True) if number in held)
        times = reduce(np.setdiff1d, others, _held(recording, columns))
        batches.append(Batch(np.full(len(times), number, np.int32), times, np.zeros(len(times))))
        if sum(map(len, batches)) > _AT_ONCE:
            _delete(cursor, batches)
            batches = []
    _delete(cursor, batches)


def _columns(recording: Recording, names: Names) -> dict[int, list[int]]:
    """The columns of a recording, by the numbers of their series."""
    columns: dict[int, list[int]] = {}
    for at, series in enumerate(recording.series):
        number = names.find(series)
        if number is not None:
            columns.setdefault(number, []).append(at)
    return columns


def _held(recording: Recording, columns: Sequence[int]) -> Times:
    """The times at which any of the columns has a sample."""
    return reduce(np.union1d, [recording.held(at) for at in columns])


def _delete(cursor: Cursor, batches: Sequence[Batch]) -> None:
    parts = [(one.series, one.times, one.values) for one in batches if len(one)]
    if parts:
        series, times, values = zip(*parts, strict=True)
        delete(cursor, RECORDED, Batch(np.concatenate(series), np.concatenate(times), np.concatenate(values)))

"""Writes and removes the samples of recordings in the embedded store.

They are in one table, `recorded`, apart from live samples: nothing removes them but the deletion of their run.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from model.log import Log, Times
from model.run import Recording
from store.duck_batch import Batch, Numbers, delete, insert
from store.duck_names import Names
from store.duck_open import Cursor

RECORDED = "recorded"


def batch_of(log: Log, numbers: Numbers) -> Batch:
    """The samples of a log; of columns of the same series the first one that has a value counts."""
    held = [column.is_not_null().to_numpy() for column in log.columns]
    order = range(len(held) - 1, -1, -1)
    series = [np.full(np.count_nonzero(held[at]), numbers[at], np.int32) for at in order]
    times = [log.times[held[at]] for at in order]
    values = [log.columns[at].drop_nulls().to_numpy() for at in order]
    return _joined(series, times, values)


def record(cursor: Cursor, batch: Batch) -> None:
    """Write samples in place of recorded samples of the same series and time."""
    if len(batch):
        delete(cursor, RECORDED, batch)
        insert(cursor, RECORDED, batch)


def remove(cursor: Cursor, recording: Recording, keep: Sequence[Recording], names: Names) -> None:
    """Remove the samples of a recording, except those that others contain too."""
    kept = [_held(other, names) for other in keep]
    own = {
        number: reduce(np.setdiff1d, (other[number] for other in kept if number in other), times)
        for number, times in _held(recording, names).items()
    }
    series = [np.full(len(times), number, np.int32) for number, times in own.items()]
    gone = _joined(series, [*own.values()], [np.zeros(len(times)) for times in own.values()])
    if len(gone):
        delete(cursor, RECORDED, gone)


def _held(recording: Recording, names: Names) -> dict[int, Times]:
    """The times at which a recording has a sample, by the numbers of its series."""
    held: dict[int, list[Times]] = {}
    for at, series in enumerate(recording.series):
        number = names.find(series)
        if number is not None:
            held.setdefault(number, []).append(recording.held(at))
    return {number: reduce(np.union1d, times) for number, times in held.items()}


def _joined(series: Sequence[Numbers], times: Sequence[Times], values: Sequence[np.ndarray]) -> Batch:
    if not series:
        return Batch(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))
    return Batch(np.concatenate(series), np.concatenate(times), np.concatenate(values)).last_of_each

"""Merges several samples of one counter at one time: the first value counts."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remark, format_count
from plimsoll.model.times import SECOND

MOST_LEFT_OUT = 0.1  # of the rows, or of the cells of a column
LONGEST_HOLE = 300 * SECOND  # most thresholds count once they are crossed for five minutes
_PAUSE = 2.5  # intervals
_SAME = 0.01  # values that differ by less, as a share of the larger one, may be the same value rounded otherwise


def compare_columns(values: Values, other: Values) -> NDArray[np.bool_]:
    """Return where two columns differ by over 1 %; a missing value differs from nothing."""
    return np.abs(values - other) > _SAME * np.maximum(np.abs(values), np.abs(other))


def list_remarks_on_same_times(log: Log) -> Iterator[Remark]:
    """Yield a remark if rows share a time; it is a contradiction if many values of these rows differ."""
    if log.times_differ:
        return
    same = int(np.count_nonzero(np.diff(log.times) == 0))
    text = f"{format_count(same, 'row')} at the time of the row before"
    starts, lengths = _group_times(log.times)
    differs = np.zeros(len(log.times), dtype=bool)
    for column in log.columns:
        differs |= compare_columns(column, np.repeat(_select_first_samples(column, starts), lengths))
    contrary = log.times[differs]
    if are_many(contrary, len(log.times), log.interval):
        text = f"{text}, {len(contrary):,} of them with other values"
        kind = Kind.CONTRADICTORY
    else:
        kind = Kind.NOTED
    yield Remark(kind, f"{text}: the first that has a value counts", file=str(log.path), count=same)


def join_rows_of_one_time(log: Log) -> Log:
    """Return the log with one row for each time; each column keeps its first value at that time."""
    if log.times_differ:
        return log
    starts, _ = _group_times(log.times)
    columns = tuple(_select_first_samples(column, starts) for column in log.columns)
    return replace(log, times=log.times[starts], columns=columns)


def _group_times(times: Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each time, and the number of rows with that time."""
    starts = np.flatnonzero(np.append(True, np.diff(times) > 0))
    return starts, np.diff(starts, append=len(times))


def _select_first_samples(column: Values, starts: NDArray[np.intp]) -> Values:
    """Return the first sample at each time, NaN if there is none; `starts` are the first rows of the times."""
    rows = np.append(np.flatnonzero(~np.isnan(column)), len(column))
    first = rows[np.searchsorted(rows, starts)]
    return np.where(first < np.append(starts[1:], len(column)), np.append(column, np.nan)[first], np.nan)


def join_columns_of_one_series(log: Log) -> Log:
    """Return the log with one column for each counter, named like the counter's first column.

    At each time the first value of the counter's columns is kept.
    """
    first: dict[object, int] = {}
    columns: dict[int, Values] = {}
    for at, (series, column) in enumerate(zip(log.series, log.columns, strict=True)):
        of = first.setdefault(series.key, at)
        columns[of] = np.where(np.isnan(columns[of]), column, columns[of]) if of in columns else column
    return replace(log, series=tuple(log.series[at] for at in columns), columns=tuple(columns.values()))


def are_many(lost: Times, rows: int, interval: int | None) -> bool:
    """Return whether lost rows are over a tenth of all rows, or span five minutes without a pause.

    `lost` are the times of the lost rows, ascending; `rows` counts all rows; `interval` is the sampling interval (ns).
    """
    return len(lost) > MOST_LEFT_OUT * rows or is_lasting(lost, interval)


def is_lasting(times: Times, interval: int | None) -> bool:
    """Return whether ascending times span five minutes without a pause; `interval` is the sampling interval (ns)."""
    runs = np.split(times, np.flatnonzero(np.diff(times) > _PAUSE * (interval or 0)) + 1)
    return any(len(run) > 1 and run[-1] - run[0] >= LONGEST_HOLE for run in runs)

"""Reads Locust's statistics over time (NAME_stats_history.csv): rows at intervals of a second or more.

With Locust's option for the full history there is also a row for each operation. Percentiles cover the last ten
seconds; requests, failures and mean times cover the time since the start. While there are no responses, percentiles
repeat their last values; before the first response they are 0. With workers, counts grow only when the workers report,
every 3 seconds (Locust 2.47.0).
"""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.load_results.requests import (
    convert_epoch,
    make_driver_series,
    read_columns,
    select_whole_rows,
)
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone

NAME = "Locust"
_HEADER = re.compile(rb'"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?,"?Requests/s"?,"?Failures/s"?,')
_ALL = "Aggregated"
_COUNTS = ("Total Request Count", "Total Failure Count", "Total Average Response Time")
_PERCENTILES = {"50%": "response_p50_s", "95%": "response_p95_s", "99%": "response_p99_s"}
_MOST_OPERATIONS = 100
_LONGEST_REPORT = 5 * SECOND  # longer than between two reports of workers, 3 s


def sniff(text: Text) -> bool:
    """Return whether the first line is the header of Locust's statistics over time."""
    return _HEADER.match(text.header) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the statistics; rates are the growth of counts between rows.

    Raise Unusable if the file has no columns of counts, or no row for all requests.
    """
    del options
    remarks = Remarks(str(text.path))
    names = [cell.strip('"') for cell in text.header.decode("utf-8", errors="replace").split(",")]
    lacking = [name for name in _COUNTS if name not in names]
    if lacking:
        raise Unusable(f"{text.path}: has no column {lacking[0]}; write it with Locust 1.0 or later")
    shown = [name for name in _PERCENTILES if name in names]
    kind = ["Type"] if "Type" in names else []
    rows = read_columns(text, ["Timestamp", "User Count", "Name", *kind, *_COUNTS, *shown])
    numbers = ["User Count", *_COUNTS, *shown]
    floats = [pl.col(name).cast(pl.Float64, strict=False) for name in numbers]
    floats = [pl.when(number.is_finite() & (number >= 0)).then(number) for number in floats]
    rows = rows.with_columns(convert_epoch("Timestamp").alias("at"), *floats)
    rows = select_whole_rows(rows, ("at", "Name", *_COUNTS[:2]), remarks)
    if not len(rows):
        raise Unusable(f"{text.path}: holds no row that can be read; is it the file of a run that sent requests?")
    total = rows.filter(pl.col("Name") == _ALL)
    if not len(total):
        raise Unusable(f'{text.path}: has no rows called "{_ALL}"; is it NAME_stats_history.csv?')
    operations = _group_operations(rows.filter(pl.col("Name") != _ALL))
    if len(operations) > _MOST_OPERATIONS:
        left = format_count(len(operations) - _MOST_OPERATIONS, "operation")
        remarks.add(Kind.SKIPPED, f"{left} left out; give requests whose addresses differ one name in the script")
    columns: dict[Series, Values] = {}
    reports = _find_reports(_select_last_at_times(total))
    if reports is not None:  # responses after the last report are unknown
        is_reported = (pl.col("at") <= reports[-1]) | (pl.col("at") > reports[-1] + _LONGEST_REPORT)
        total = total.filter(is_reported)
        operations = [(operation, frame.filter(is_reported)) for operation, frame in operations]
    operations = [(operation, frame) for operation, frame in operations if len(frame)]
    # A damaged row of all requests may leave a time with rows of operations only.
    times: Times = np.unique(np.concatenate([total["at"], *(frame["at"] for _, frame in operations)])).astype(np.int64)
    _add(columns, None, total, times, reports, shown)
    for operation, frame in operations[:_MOST_OPERATIONS]:
        _add(columns, operation, frame, times, reports, shown)
    return Log(text.path, NAME, times, tuple(columns.values()), tuple(columns), Zone.parse("UTC"), tuple(remarks))


def _group_operations(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return each operation's name and rows; a name of several request types gets the type as prefix: `GET /cart`."""
    if "Type" in rows.columns:
        is_shared = pl.col("Type").n_unique().over("Name") > 1
        with_type = pl.concat_str("Type", "Name", separator=" ", ignore_nulls=True)
        rows = rows.with_columns(pl.when(is_shared).then(with_type).otherwise(pl.col("Name")).alias("Name"))
    return sorted((str(name), frame) for (name,), frame in rows.group_by("Name"))


def _select_last_at_times(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each time, the last with that time, in ascending order of time."""
    return rows.sort("at", maintain_order=True).unique("at", keep="last", maintain_order=True)


def _find_reports(rows: pl.DataFrame) -> Times | None:
    """Return the times (UTC ns) at which workers reported; None if the test ran without workers.

    `rows` are the rows for all requests together. There were workers if most increases of the count follow rows in
    which the count stood still, for no longer than `_LONGEST_REPORT`.
    """
    times, counts = rows["at"].to_numpy(), rows[_COUNTS[0]].to_numpy()
    grows = np.flatnonzero(np.diff(counts) > 0) + 1
    between = np.diff(times[grows])
    waits = (between <= _LONGEST_REPORT) & (np.diff(grows) > 1)
    return times[grows] if 2 * int(waits.sum()) > len(between) else None


def _add(
    columns: dict[Series, Values],
    operation: str | None,
    rows: pl.DataFrame,
    times: Times,
    reports: Times | None,
    shown: list[str],
) -> None:
    """Add the series of one operation, or of all requests (None), at `times`.

    The growth of counts between two reports of workers is spread over the rows between the reports.
    """
    rows = _select_last_at_times(rows)
    at_rows = rows["at"].to_numpy()
    at = np.searchsorted(times, at_rows)
    ends = _find_step_ends(at_rows, reports)
    steps = np.searchsorted(ends, np.arange(1, len(at_rows)))  # the step of each row but the first

    def put(field: str, values: Values) -> None:
        column = np.full(len(times), np.nan)
        column[at] = values
        columns[make_driver_series(field, operation)] = column

    def put_steps(field: str, values: Values) -> None:
        put(field, np.append(np.nan, values[steps]))

    starts = np.append(0, ends[:-1]).astype(np.intp)
    seconds = (at_rows[ends] - at_rows[starts]) / SECOND
    counts, failures, mean_ms = (rows[name].to_numpy() for name in _COUNTS)
    done, failed = _compute_growth(counts[ends] - counts[starts]), _compute_growth(failures[ends] - failures[starts])
    put_steps("requests", done / seconds)
    put_steps("errors", failed / seconds)
    put_steps("error_percent", np.divide(100 * failed, done, out=np.full(len(done), np.nan), where=done > 0))
    total_ms = mean_ms * counts
    mean = np.divide(total_ms[ends] - total_ms[starts], 1000 * done, out=np.full(len(done), np.nan), where=done > 0)
    put_steps("response_mean_s", np.where(mean >= 0, mean, np.nan))
    answered = np.append(counts[0] > 0, done[steps] != 0)
    for name in shown:
        percentile = rows[name].to_numpy() / 1000
        put(_PERCENTILES[name], np.where(answered & (percentile > 0), percentile, np.nan))
    if operation is None:
        put("users", rows["User Count"].to_numpy())


def _find_step_ends(times: Times, reports: Times | None) -> NDArray[np.intp]:
    """Return the indices of the rows that end a step: the interval over which a rate is computed.

    In a distributed run these are the rows of workers' reports, and each row after the last report or in a pause longer
    than `_LONGEST_REPORT`; otherwise all rows but the first. The last row always ends a step.
    """
    ends = np.arange(1, len(times))
    if reports is None:
        return ends
    following = np.append(reports, np.iinfo(np.int64).max)[np.searchsorted(reports, times[ends])]
    before = np.append(times[0], reports)[np.searchsorted(reports, times[ends])]
    is_end = (following == times[ends]) | (following - before > _LONGEST_REPORT)
    return ends[is_end | (ends == len(times) - 1)]


def _compute_growth(growth: Values) -> Values:
    """Return differences of counts, with NaN for negative differences, where the statistics were reset."""
    return np.where(growth >= 0, growth, np.nan)

"""Locust's statistics over time (NAME_stats_history.csv): a row each second or more.

With its full history there is a row for each operation as well. Percentiles are those of the last ten seconds;
requests, failures and mean times are counted from the start.
"""

import re

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import driver_series, epoch, table, whole_rows
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remarks, counted
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone

NAME = "Locust"
_HEADER = re.compile(rb'"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?,"?Requests/s"?,"?Failures/s"?,')
_ALL = "Aggregated"
_COUNTS = ("Total Request Count", "Total Failure Count", "Total Average Response Time")
_PERCENTILES = {"50%": "response_p50_s", "95%": "response_p95_s", "99%": "response_p99_s"}
_MOST_OPERATIONS = 100


def sniff(text: Text) -> bool:
    """Whether the first line is the header of such a table."""
    return _HEADER.match(text.header) is not None


def read(text: Text, how: Reading) -> Log:
    """The statistics as series; rates are of what was counted between two rows. Unusable without counts."""
    del how
    remarks = Remarks(str(text.path))
    names = [cell.strip('"') for cell in text.header.decode("utf-8", errors="replace").split(",")]
    lacking = [name for name in _COUNTS if name not in names]
    if lacking:
        raise Unusable(f"{text.path}: has no column {lacking[0]}; write it with Locust 1.0 or later")
    shown = [name for name in _PERCENTILES if name in names]
    rows = table(text, ["Timestamp", "User Count", "Name", *_COUNTS, *shown])
    numbers = ["User Count", *_COUNTS, *shown]
    rows = rows.with_columns(epoch("Timestamp").alias("at"), *(_number(name) for name in numbers))
    rows = whole_rows(rows, ("at", "Name", *_COUNTS[:2]), remarks)
    if not len(rows):
        raise Unusable(f"{text.path}: holds no row that can be read; is it the file of a run that sent requests?")
    columns: dict[Series, Values] = {}
    times: Times = np.unique(rows["at"].to_numpy()).astype(np.int64)
    operations = sorted(set(rows["Name"].to_list()) - {_ALL})
    if len(operations) > _MOST_OPERATIONS:
        left = counted(len(operations) - _MOST_OPERATIONS, "operation")
        remarks.add(Kind.SKIPPED, f"{left} left out; give requests whose addresses differ one name in the script")
    every = rows.filter(pl.col("Name") == _ALL)
    if not len(every):
        raise Unusable(f'{text.path}: has no rows called "{_ALL}"; is it NAME_stats_history.csv?')
    _add(columns, None, every, times, shown)
    for operation in operations[:_MOST_OPERATIONS]:
        _add(columns, operation, rows.filter(pl.col("Name") == operation), times, shown)
    values = tuple(pl.Series(one, dtype=pl.Float64, nan_to_null=True) for one in columns.values())
    return Log(text.path, NAME, times, values, tuple(columns), Zone.parse("UTC"), tuple(remarks))


def _number(name: str) -> pl.Expr:
    number = pl.col(name).cast(pl.Float64, strict=False)
    return pl.when(number.is_finite() & (number >= 0)).then(number).alias(name)


def _add(
    columns: dict[Series, Values], operation: str | None, rows: pl.DataFrame, times: Times, shown: list[str]
) -> None:
    """Add the series of all requests, or of those of one operation."""
    rows = rows.sort("at", maintain_order=True).unique("at", keep="last", maintain_order=True)
    own = rows["at"].to_numpy()
    at = np.searchsorted(times, own)

    def put(field: str, values: Values) -> None:
        column = np.full(len(times), np.nan)
        column[at] = values
        columns[driver_series(field, operation)] = column

    seconds = np.diff(own) / SECOND
    done, failed = (_grown(rows[name].to_numpy()) for name in _COUNTS[:2])
    put("requests", np.append(np.nan, done / seconds))
    put("errors", np.append(np.nan, failed / seconds))
    share = np.divide(100 * failed, done, out=np.full(len(done), np.nan), where=done > 0)
    put("error_percent", np.append(np.nan, share))
    total = rows[_COUNTS[2]].to_numpy() * rows[_COUNTS[0]].to_numpy()
    mean = np.divide(np.diff(total), 1000 * done, out=np.full(len(done), np.nan), where=done > 0)
    put("response_mean_s", np.append(np.nan, np.where(mean >= 0, mean, np.nan)))
    for name in shown:
        put(_PERCENTILES[name], rows[name].to_numpy() / 1000)
    if operation is None:
        put("users", rows["User Count"].to_numpy())


def _grown(counts: Values) -> Values:
    """How much a count grew from row to row; none where it fell, as when statistics are reset."""
    grown = np.diff(counts)
    return np.where(grown >= 0, grown, np.nan)

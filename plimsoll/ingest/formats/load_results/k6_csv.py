"""Reads k6's results as CSV (its output `csv=FILE`): a row for each value of a metric, with its time.

A completed request has a row of `http_req_duration` or `grpc_req_duration`; rows of `vus` contain the number of users.
"""

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import (
    Requests,
    convert_epoch,
    convert_milliseconds,
    log_of,
    read_columns,
    select_whole_rows,
)
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log
from plimsoll.model.remark import Remarks

NAME = "k6-CSV"
DURATIONS = ("http_req_duration", "grpc_req_duration")
USERS = "vus"
_BEGINS = b"metric_name,timestamp,metric_value,"
_NEEDED = ("metric_name", "timestamp", "metric_value")
_OPTIONAL = ("error", "error_code", "expected_response", "name", "url", "status")


def sniff(text: Text) -> bool:
    """Return whether the first line is the header of k6's CSV results."""
    return text.header.startswith(_BEGINS)


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests: rates, response times and users."""
    del options
    remarks = Remarks(str(text.path))
    names = text.header.decode("utf-8", errors="replace").split(",")
    rows = read_columns(text, [*_NEEDED, *(name for name in _OPTIONAL if name in names)])
    rows = rows.filter(pl.col("metric_name").is_in([*DURATIONS, USERS]) | pl.col("timestamp").is_null())
    return log_of(text.path, NAME, select_requests(rows, remarks), remarks)


def select_requests(rows: pl.DataFrame, remarks: Remarks) -> Requests:
    """Return the requests and users in rows of k6's metrics, in which all cells are text."""
    written = pl.col("timestamp").str.to_datetime(time_unit="ns", time_zone="UTC", strict=False)
    is_text = len(rows) and "T" in (rows["timestamp"][0] or "")
    at = written.cast(pl.Int64) if is_text else convert_epoch("timestamp")
    is_users = pl.col("metric_name") == USERS
    rows = rows.with_columns(at.alias("end"))
    named = pl.coalesce([pl.col(name) for name in ("name", "url") if name in rows.columns] or [pl.col("metric_name")])
    done = rows.filter(~is_users.fill_null(False)).with_columns(
        convert_milliseconds("metric_value").alias("took"), named.fill_null(pl.col("metric_name")).alias("operation")
    )
    done = select_whole_rows(done, ("end", "took", "operation"), remarks)
    users = rows.filter(is_users).select(at=pl.col("end"), n=pl.col("metric_value").cast(pl.Float64, strict=False))
    users = users.filter(pl.col("n").is_finite()).drop_nulls()
    end = done["end"].to_numpy().astype(np.int64)
    at_work = (users["at"].to_numpy().astype(np.int64), users["n"].to_numpy()) if len(users) else None
    failed = done.select(_express_failure(done)).to_series().to_numpy()
    return Requests(end - done["took"].to_numpy(), end, done["operation"], failed, at_work)


def _express_failure(rows: pl.DataFrame) -> pl.Expr:
    """Return an expression for whether a request failed: k6's own flag, else its error, else its status."""
    status = pl.lit(False)
    if "status" in rows.columns:
        number = pl.col("status").cast(pl.Int64, strict=False).fill_null(200)
        status = (number >= 400) | ((number == 0) & (pl.col("metric_name") == DURATIONS[0]))
    for name in ("error", "error_code"):
        if name in rows.columns:
            status = status | (pl.col(name).fill_null("") != "")
    if "expected_response" in rows.columns:
        verdict = pl.col("expected_response").fill_null("")
        status = pl.when(verdict == "true").then(False).when(verdict == "false").then(True).otherwise(status)
    return status.alias("failed")

"""Reads k6's results as CSV (its output `csv=FILE`): a row for each value of a metric, with its time.

A completed request has a row of `http_req_duration` or `grpc_req_duration`; rows of `vus` contain the number of users,
those of `checks` 1 or 0, and those of `dropped_iterations` how many were due while no user was free to begin them.
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
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Remarks

NAME = "k6-CSV"
DURATIONS = ("http_req_duration", "grpc_req_duration")
USERS = "vus"
CHECKS, ITERATIONS, DROPPED = COUNTED = "checks", "iterations", "dropped_iterations"
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
    rows = rows.filter(pl.col("metric_name").is_in([*DURATIONS, USERS, *COUNTED]) | pl.col("timestamp").is_null())
    return log_of(text.path, NAME, select_requests(rows, remarks), remarks)


def select_requests(rows: pl.DataFrame, remarks: Remarks) -> Requests:
    """Return the requests and users in rows of k6's metrics, in which all cells are text."""
    written = pl.col("timestamp").str.to_datetime(time_unit="ns", time_zone="UTC", strict=False)
    is_text = len(rows) and "T" in (rows["timestamp"][0] or "")
    at = written.cast(pl.Int64) if is_text else convert_epoch("timestamp")
    is_request = pl.col("metric_name").is_in(DURATIONS)
    rows = rows.with_columns(at.alias("end"))
    named = pl.coalesce([pl.col(name) for name in ("name", "url") if name in rows.columns] or [pl.col("metric_name")])
    done = rows.filter(is_request.fill_null(True)).with_columns(
        convert_milliseconds("metric_value").alias("took"), named.fill_null(pl.col("metric_name")).alias("operation")
    )
    done = select_whole_rows(done, ("end", "took", "operation"), remarks)
    counts = rows.filter(~is_request).select(
        "metric_name", at=pl.col("end"), n=pl.col("metric_value").cast(pl.Float64, strict=False)
    )
    counts = counts.filter(pl.col("n").is_finite()).drop_nulls()
    users = counts.filter(pl.col("metric_name") == USERS)
    end = done["end"].to_numpy().astype(np.int64)
    at_work = (users["at"].to_numpy().astype(np.int64), users["n"].to_numpy()) if len(users) else None
    failed = done.select(_express_failure(done)).to_series().to_numpy()
    beside, reasons = _count_beside(counts, end), _find_reasons(done.filter(failed))
    start = end - done["took"].to_numpy()
    return Requests(start, end, done["operation"], failed, at_work, beside=beside, reasons=reasons)


def _find_reasons(failed: pl.DataFrame) -> pl.Series:
    """Return why each request failed: its status, if it had a response, and its error; else k6's code of the error."""
    known = [pl.col(name).fill_null("") for name in ("status", "error") if name in failed.columns]
    reason = pl.concat_str(*(known or [pl.lit("")]), separator=" ").str.strip_prefix("0").str.strip_chars()
    code = pl.col("error_code") if "error_code" in failed.columns else pl.lit("")
    return failed.with_columns(reason=pl.when(reason == "").then(code).otherwise(reason))["reason"]


def _count_beside(counts: pl.DataFrame, requests: Times) -> dict[str, tuple[Times, Values]]:
    """Return the times and counts of checks and of iterations that were due, and of those that failed or were dropped.

    Where iterations were not written, `requests` (their times, UTC ns) stand in for those that were done.
    """
    checks, done, dropped = (counts.filter(pl.col("metric_name") == name) for name in COUNTED)
    beside: dict[str, tuple[Times, Values]] = {}
    if len(checks):
        at, passed = checks["at"].to_numpy(), checks["n"].to_numpy()
        beside = {CHECKS: (at, np.ones(len(at))), "failed_checks": (at, (passed == 0).astype(np.float64))}
    if len(dropped):
        at, lost = dropped["at"].to_numpy(), dropped["n"].to_numpy()
        began = done["at"].to_numpy() if len(done) else requests
        due = np.concatenate([began, at]), np.concatenate([np.ones(len(began)), lost])
        beside |= {ITERATIONS: due, DROPPED: (at, lost)}
    return beside


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

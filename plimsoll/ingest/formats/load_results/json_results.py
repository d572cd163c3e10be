"""Reads ghz' JSON, with a time for each call, and artillery's, with counts and percentiles of each period of 10 s.

In artillery's periods, response times leave out requests without an answer, and redirects count as requests.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import Requests, log_of, make_driver_series, select_whole_rows
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Remarks
from plimsoll.model.times import SECOND, Zone

NAME = "ghz-or-artillery"
_GHZ = re.compile(rb'\s*\{\s*"date"\s*:.{0,4000}?"(?:endReason|options)"', re.DOTALL)
_ARTILLERY = re.compile(rb'\s*\{\s*"aggregate"\s*:\s*\{\s*"counters"\s*:')
_PERIOD = 10 * SECOND
_TIMES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99"}


def sniff(text: Text) -> bool:
    """Return whether the file begins as JSON results of ghz or artillery."""
    head = text.data[:8192]
    return _GHZ.match(head) is not None or _ARTILLERY.match(head) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of ghz's calls or artillery's periods. Raise Unusable if the file is damaged, or without results."""
    del options
    try:
        results = json.loads(text.data[:])
        if "aggregate" in results:
            return _read_periods(text, results.get("intermediate") or [])
        return _read_calls(text, results.get("details") or [], str(results.get("options", {}).get("call", "call")))
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        raise Unusable(f"{text.path}: is no whole JSON of ghz or artillery; copy it again") from None


def _read_calls(text: Text, details: Sequence[Mapping[str, Any]], call: str) -> Log:
    remarks = Remarks(str(text.path))
    if not details:
        raise Unusable(f"{text.path}: holds no single calls; run ghz with -O json")
    rows = pl.DataFrame([{key: str(row.get(key)) for key in ("timestamp", "latency", "status")} for row in details])
    rows = rows.select(
        start=pl.col("timestamp").str.to_datetime(time_unit="ns", time_zone="UTC", strict=False).cast(pl.Int64),
        latency=pl.col("latency").cast(pl.Int64, strict=False),
        failed=pl.col("status") != "OK",
        status="status",
    )
    rows = select_whole_rows(rows, ("start", "latency"), remarks)
    start, latency = rows["start"].to_numpy(), rows["latency"].to_numpy()
    operation = pl.repeat(call, len(rows), eager=True)
    failed, reasons = rows["failed"].to_numpy(), rows.filter("failed")["status"]
    requests = Requests(start, start + latency, operation, failed, reasons=reasons)
    return log_of(text.path, "ghz", requests, remarks)


def _read_periods(text: Text, periods: Sequence[Mapping[str, Any]]) -> Log:
    if not periods:
        raise Unusable(f"{text.path}: holds no period with its counts; run artillery with its option output")
    rows = sorted(periods, key=lambda row: int(row["period"]))
    ends: Times = np.array([int(row["period"]) * 1_000_000 + _PERIOD for row in rows], dtype=np.int64)
    first, last = (int(rows[at][f"{name}MetricAt"]) * 1_000_000 for at, name in ((0, "first"), (-1, "last")))
    # The test begins and ends within a period.
    seconds = np.maximum(np.minimum(ends, last) - np.maximum(ends - _PERIOD, first), SECOND) / SECOND
    answered, failed, refused = (
        np.array(column, dtype=float) for column in zip(*map(_count_requests, rows), strict=True)
    )
    done = answered + refused
    columns = {
        make_driver_series("requests"): done / seconds,
        make_driver_series("errors"): (failed + refused) / seconds,
        make_driver_series("error_percent"): 100 * (failed + refused) / np.where(done > 0, done, np.nan),
        **{make_driver_series(f"response_{field}_s"): _list_responses(rows, name) for name, field in _TIMES.items()},
    }
    return Log(text.path, "artillery", ends, tuple(columns.values()), tuple(columns), Zone.parse("UTC"))


def _count_requests(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return a period's numbers of requests: answered, answered with a failure, and without an answer."""
    counters: Mapping[str, float] = row.get("counters") or {}
    failed = sum(count for name, count in counters.items() if re.fullmatch(r"http\.codes\.[45]\d\d", name))
    refused = sum(count for name, count in counters.items() if name.startswith("errors."))
    return counters.get("http.responses", 0), failed, refused


def _list_responses(rows: Sequence[Mapping[str, Any]], name: str) -> Values:
    times = [((row.get("summaries") or {}).get("http.response_time") or {}).get(name) for row in rows]
    return np.array(times, dtype=float) / 1000

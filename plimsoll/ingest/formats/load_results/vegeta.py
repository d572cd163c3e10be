"""Reads the output of `vegeta encode`: CSV without a header, or a JSON object in each line.

Of a row's 12 cells, start (ns since 1970), code, latency (ns), error, method and URL are read (vegeta 12.13.0). A
request without an answer has the code 0.
"""

import re

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import Requests, convert_epoch, log_of, read_cells, select_whole_rows
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log
from plimsoll.model.remark import Remarks

NAME = "vegeta"
_CSV = re.compile(rb'[12]\d{18},\d{1,3},\d+,\d+,\d+,(?:"[^"]*(?:""[^"]*)*"|[^",]*),[\w+/=]*,')
_JSON = re.compile(rb'\{"attack":"(?:[^"\\]|\\.)*","seq":\d+,"code":\d+,"timestamp":')
_CELLS = ("start", "code", "latency", "out", "in", "error", "body", "attack", "seq", "method", "url", "headers")
_READ = ("start", "code", "latency", "method", "url", "error")
_LONGEST = 31 * 86_400 * 10**9
_SUCCESS = (200, 399)  # as vegeta's own reports count it


def sniff(text: Text) -> bool:
    """Return whether the first line is a result that vegeta encoded as CSV or JSON."""
    return _CSV.match(text.header) is not None or _JSON.match(text.header) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests: rates and response times. Raise Unusable if the file is damaged."""
    del options
    remarks = Remarks(str(text.path))
    if text.header[:1] == b"{":
        rows = read_cells(text, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
        names = {"start": "timestamp", **{name: name for name in _READ[1:]}}
        rows = rows.select(
            pl.col("line").str.json_path_match(f"$.{key}").alias(name) for name, key in names.items()
        ).with_columns(pl.col("start").str.to_datetime(time_unit="ns", time_zone="UTC", strict=False).cast(pl.Int64))
    else:
        schema = dict.fromkeys(_CELLS, pl.String)
        rows = read_cells(text, has_header=False, schema=schema, missing_columns="insert").select(_READ)
    code = pl.col("code").cast(pl.Int64, strict=False)
    latency = pl.col("latency").cast(pl.Int64, strict=False)
    rows = rows.select(
        start=convert_epoch("start"),
        failed=~code.is_between(*_SUCCESS),
        latency=pl.when(latency.is_between(0, _LONGEST)).then(latency),
        operation=pl.concat_str("method", "url", separator=" "),
        reason=pl.when(pl.col("error") != "").then(pl.col("error")).otherwise(pl.col("code")),
    )
    rows = select_whole_rows(rows, ("start", "latency", "operation", "failed"), remarks)
    start, latencies = (rows[name].to_numpy().astype(np.int64) for name in ("start", "latency"))
    failed, reasons = rows["failed"].to_numpy(), rows.filter("failed")["reason"]
    requests = Requests(start, start + latencies, rows["operation"], failed, reasons=reasons)
    return log_of(text.path, NAME, requests, remarks)

"""JMeter's results as CSV (JTL): a row for each sample, of which `timeStamp` is when it began."""

import re

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.requests import Requests, epoch, log_of, milliseconds, table, whole_rows
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks, counted

NAME = "JMeter-CSV"
# What JMeter writes as the message of a Transaction Controller's sample, which is made up of others.
TRANSACTION = "Number of samples in transaction"
_HEADER = re.compile(rb"timeStamp([,;\t|])elapsed\1(?:[\w.]+\1)*label(?:\1|$)")
_NEEDED = ("timeStamp", "elapsed", "label")
_SUCCESS = {"true": False, "false": True}  # what is neither is of a line that was cut off
_WANTED = ("success", "responseMessage", "allThreads")


def sniff(text: Text) -> bool:
    """Whether the first line is the header of such a table."""
    return _HEADER.match(text.header) is not None


def read(text: Text, how: Reading) -> Log:
    """The requests as series. Unusable if times are not in milliseconds since 1970."""
    del how
    remarks = Remarks(str(text.path))
    found = _HEADER.match(text.header)
    separator = found[1].decode() if found else ","
    names = text.header.decode("utf-8", errors="replace").split(separator)
    wanted = [*_NEEDED, *(name for name in _WANTED if name in names)]
    rows = table(text, wanted, separator)
    if len(rows) and re.search(r"\d[/:]\d", str(rows["timeStamp"][0])):
        raise Unusable(
            f"{text.path}: has times such as {str(rows['timeStamp'][0])[:30]!r}, of a zone that it does not name; run "
            "the test with jmeter.save.saveservice.timestamp_format=ms, or replace them by milliseconds since 1970"
        )
    rows = rows.with_columns(epoch("timeStamp").alias("start"), milliseconds("elapsed").alias("took"))
    needed = ["start", "took", "label"]
    if "success" in wanted:
        rows = rows.with_columns(
            failed=pl.col("success").str.to_lowercase().replace_strict(_SUCCESS, default=None, return_dtype=pl.Boolean)
        )
        needed += ["failed"] if rows["failed"].count() else []
    rows = without_transactions(whole_rows(rows, needed, remarks), remarks)
    start = rows["start"].to_numpy()
    failed = rows["failed"] if "failed" in needed else None
    users = None
    if "allThreads" in wanted:
        threads = rows["allThreads"].cast(pl.Float64, strict=False)
        known = threads.is_not_null() & threads.is_finite()
        # A sample counts the threads when it is done.
        ends = (rows["start"] + rows["took"]).filter(known).to_numpy()
        users = (ends, threads.filter(known).to_numpy()) if len(ends) else None
    requests = Requests(
        start.astype(np.int64),
        start + rows["took"].to_numpy(),
        rows["label"],
        None if failed is None else failed.to_numpy(),
        users,
    )
    return log_of(text.path, NAME, requests, remarks)


def without_transactions(rows: pl.DataFrame, remarks: Remarks) -> pl.DataFrame:
    """The rows without those made up of others, unless there are only these."""
    if "responseMessage" not in rows.columns:
        return rows
    made_up = rows["responseMessage"].str.starts_with(TRANSACTION).fill_null(False)
    count = int(made_up.sum())
    if not count or count == len(rows):
        return rows
    remarks.add(
        Kind.SKIPPED,
        f"{counted(count, 'sample')} of Transaction Controllers left out: the samples they are made up of count",
        count=count,
    )
    return rows.filter(~made_up)

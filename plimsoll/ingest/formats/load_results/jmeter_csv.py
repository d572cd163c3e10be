"""Reads JMeter's results as CSV (JTL): a row for each sample; `timeStamp` is the start of the sample."""

import re

import numpy as np
import polars as pl

from plimsoll.ingest.formats.load_results.perfmon_agent import LABEL, select_counters
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
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count

NAME = "JMeter-CSV"
# JMeter's message of a Transaction Controller's sample, which is composed of other samples.
TRANSACTION = "Number of samples in transaction"
_HEADER = re.compile(rb"timeStamp([,;\t|])elapsed(?:\1|$)")
_NEEDED = ("timeStamp", "elapsed")
_SUCCESS = {"true": False, "false": True}  # any other text is from a line that was cut off
_OPTIONAL = (
    "label",
    "success",
    "responseMessage",
    "allThreads",
    "threadName",
    "Hostname",
    "responseCode",
    "failureMessage",
)
_REASON = ("responseCode", "responseMessage", "failureMessage")
# What JMeter writes before the class and the message of an exception, where there was no response.
_EXCEPTION, _MESSAGE = "Non HTTP response code: ", "Non HTTP response message: "
_PART = re.compile(r"(.+)-\d+")
# A remote injector's thread names begin with its address, and its port if it has one.
INJECTOR = re.compile(r"^((?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|[\w.-]+:\d+)-")


def sniff(text: Text) -> bool:
    """Return whether the first line is the header of JMeter's CSV results."""
    return _HEADER.match(text.header) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests and counters. Raise Unusable if times are not in milliseconds since 1970."""
    del options
    remarks = Remarks(str(text.path))
    match = _HEADER.match(text.header)
    separator = match[1].decode() if match else ","
    names = text.header.decode("utf-8", errors="replace").split(separator)
    columns = [*_NEEDED, *(name for name in _OPTIONAL if name in names)]
    rows = read_columns(text, columns, separator)
    if len(rows) and re.search(r"\d[/:]\d", str(rows["timeStamp"][0])):
        raise Unusable(
            f"{text.path}: has times such as {str(rows['timeStamp'][0])[:30]!r}, of a zone that it does not name; run "
            "the test with jmeter.save.saveservice.timestamp_format=ms, or replace them by milliseconds since 1970"
        )
    if "label" not in columns:
        rows = rows.with_columns(label=pl.lit("sample"))
    counter, value = _is_counter(rows), pl.col("elapsed").cast(pl.Float64, strict=False) / 1000
    good = pl.col("success").str.to_lowercase() == "true" if "success" in columns else pl.lit(True)
    of_hosts = rows.filter(counter).select("label", time=convert_epoch("timeStamp"), value=value, good=good)
    counters = select_counters(of_hosts, remarks)
    rows = rows.filter(~counter).with_columns(
        convert_epoch("timeStamp").alias("start"), convert_milliseconds("elapsed").alias("took")
    )
    needed = ["start", "took", "label"]
    if "success" in columns:
        failed = pl.col("success").str.to_lowercase().replace_strict(_SUCCESS, default=None, return_dtype=pl.Boolean)
    else:  # an assertion may have failed behind a good response
        code = pl.col("responseCode") if "responseCode" in columns else pl.lit(None, pl.String)
        has_status, is_exception = code.str.contains(r"^\d{3}$"), code.str.starts_with(_EXCEPTION)
        failed = pl.when(has_status).then(code >= "400").when(is_exception).then(pl.lit(True))
    rows = rows.with_columns(failed=failed)
    needed += ["failed"] if rows["failed"].count() else []
    rows = drop_parts(drop_transactions(select_whole_rows(rows, needed, remarks), remarks), remarks)
    users = None
    if "allThreads" in columns:
        threads = pl.col("allThreads").cast(pl.Float64, strict=False)
        # A sample has the number of its injector's threads at its end.
        none = pl.lit("")
        host = pl.col("Hostname").fill_null("") if "Hostname" in columns else none
        address = pl.col("threadName").str.extract(INJECTOR.pattern).fill_null("") if "threadName" in columns else none
        injector = pl.concat_str(host, address, separator=" ")
        counts = rows.select(time=pl.col("start") + pl.col("took"), threads=threads, injector=injector)
        users = sum_users(counts.filter(pl.col("threads").is_finite()))
    start, is_failed = rows["start"].to_numpy(), rows["failed"].to_numpy() if "failed" in needed else None
    end = start + rows["took"].to_numpy()
    reasons = None if is_failed is None else find_reasons(rows.filter("failed"))
    start, end = start.astype(np.int64), end.astype(np.int64)
    requests = Requests(start, end, rows["label"], is_failed, users, counters, reasons=reasons)
    return log_of(text.path, NAME, requests, remarks)


def find_reasons(failed: pl.DataFrame) -> pl.Series:
    """Return why each sample failed: after a good response the assertion's message if written, else the response."""
    code, message, assertion = (pl.col(name) if name in failed.columns else pl.lit("") for name in _REASON)
    response = pl.concat_str(
        code.str.strip_prefix(_EXCEPTION), message.str.strip_prefix(_MESSAGE), separator=" ", ignore_nulls=True
    )
    is_good = (code.str.starts_with("2") | (message == "OK")).fill_null(False)
    return failed.with_columns(reason=pl.when(is_good).then(assertion).otherwise(response))["reason"]


def _is_counter(rows: pl.DataFrame) -> pl.Expr:
    """Return an expression for rows with counters of hosts, which have neither a response code nor a thread name."""
    empty = [pl.col(name).fill_null("") == "" for name in ("responseCode", "threadName") if name in rows.columns]
    return pl.all_horizontal(pl.lit(bool(empty)), *empty, pl.col("label").str.contains(LABEL.pattern)).fill_null(False)


def drop_transactions(rows: pl.DataFrame, remarks: Remarks) -> pl.DataFrame:
    """Return the rows of samples other than Transaction Controllers; all rows if there are no other samples."""
    if "responseMessage" not in rows.columns:
        return rows
    made_up = rows["responseMessage"].str.starts_with(TRANSACTION).fill_null(False)
    count = int(made_up.sum())
    if not count or count == len(rows):
        return rows
    remarks.add(
        Kind.SKIPPED,
        f"{format_count(count, 'sample')} of Transaction Controllers left out: the samples they are made up of count",
        count=count,
    )
    return rows.filter(~made_up)


def sum_users(counts: pl.DataFrame) -> tuple[Times, Values] | None:
    """Return times (UTC ns), and at each time the number of users of all injectors together.

    `counts` has the columns `time`, `threads` (the users of one injector) and `injector`. Return None without rows.
    """
    if not len(counts):
        return None
    counts = counts.sort("time", maintain_order=True).with_columns(
        change=pl.col("threads") - pl.col("threads").shift(1).over("injector").fill_null(0.0)
    )
    return counts["time"].to_numpy().astype(np.int64), counts["change"].cum_sum().to_numpy()


def drop_parts(rows: pl.DataFrame, remarks: Remarks) -> pl.DataFrame:
    """Return the rows without redirects and embedded resources, which are parts of another sample.

    JMeter writes a part after its sample, with the sample's label and a number (`Visit-0`), on the same thread, and
    within the sample's time. Rows that have such a label but are not parts count as requests, with a remark.
    """
    labels = set(rows["label"].unique().to_list())
    parts = {label for label in labels if (match := _PART.fullmatch(label)) and {match[1], f"{match[1]}-0"} <= labels}
    if not parts:
        return rows
    whole = {label: _find_whole_label(label, parts) for label in parts}
    is_part = pl.col("label").is_in(parts)
    thread = [pl.col("threadName")] if "threadName" in rows.columns else [pl.lit("")]
    before = {
        name: pl.when(~is_part).then(pl.col(name)).forward_fill().over(thread) for name in ("label", "start", "took")
    }
    start, took = pl.col("start"), pl.col("took")
    follows = (
        is_part
        & (pl.col("label").replace(whole) == before["label"])
        & (start >= before["start"])
        & (start + took <= before["start"] + before["took"])
    )
    marked = rows.select(part=follows.fill_null(False), named=is_part)
    count = int(marked["part"].sum())
    unclear = int(marked["named"].sum()) - count
    if count:
        text = "of redirects or embedded resources left out: the samples they are part of count"
        remarks.add(Kind.SKIPPED, f"{format_count(count, 'row')} {text}", count=count)
    if unclear:
        text = "named as part of another sample, but not written behind it: counted as requests of their own"
        remarks.add(Kind.GUESSED, f"{format_count(unclear, 'row')} {text}; write the results as XML", count=unclear)
    return rows.filter(~marked["part"])


def _find_whole_label(label: str, parts: set[str]) -> str:
    """Return the label of the outermost sample of a part: `Visit` for `Visit-0-1`."""
    while label in parts:
        label = label.rpartition("-")[0]
    return label

"""InfluxDB line protocol, as Telegraf would have written it, encoded column by column."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from model.log import Log

ROWS_AT_ONCE = 50_000


class _Point(NamedTuple):
    """What the values of one line share: the escaped measurement and tags, and each field with its columns."""

    head: str
    fields: dict[str, list[int]]


def encode(log: Log) -> Iterator[bytes]:
    """The points of a log as pieces of line protocol, each of whole lines. A value that is missing is not written.

    As in Telegraf's serializer, a backslash at the end of a tag is left out: it would hide the comma after it.
    """
    points = _points(log)
    for start in range(0, len(log.times), ROWS_AT_ONCE):
        times = pl.Series("time", log.times[start : start + ROWS_AT_ONCE])
        for head, fields in points:
            columns = [
                _column(log, twins).slice(start, ROWS_AT_ONCE).alias(f"f{n}") for n, twins in enumerate(fields.values())
            ]
            text = _lines(pl.DataFrame([times, *columns]), head, list(fields))
            if text:
                yield text


def _points(log: Log) -> list[_Point]:
    points: dict[str, dict[str, list[int]]] = {}
    for at, series in enumerate(log.series):
        tags = sorted([("host", series.host), *series.tags])
        written = "".join(f",{_tag(name)}={_tag(value)}" for name, value in tags if _tag(value))
        head = _escaped(series.measurement, ", ") + written
        points.setdefault(head, {}).setdefault(_tag(series.field), []).append(at)
    return [_Point(head, fields) for head, fields in points.items()]


def _column(log: Log, twins: list[int]) -> pl.Series:
    """The values of a field; of columns of the same counter the first that has one counts."""
    first, *others = (log.columns[at] for at in twins)
    for other in others:
        first = first.zip_with(first.is_not_null(), other)
    return first


def _lines(frame: pl.DataFrame, head: str, fields: list[str]) -> bytes:
    values = [pl.format("{}={}", pl.lit(name), pl.col(f"f{n}")) for n, name in enumerate(fields)]
    lines = (
        frame.lazy()
        .select(pl.concat_str(values, separator=",", ignore_nulls=True).alias("fields"), "time")
        .filter(pl.col("fields") != "")
        .select(pl.format("{} {} {}\n", pl.lit(head), pl.col("fields"), pl.col("time")).str.join(""))
        .collect()
    )
    return (lines.item() or "").encode()


def _tag(text: str) -> str:
    return _escaped(text, ",= ").rstrip("\\")


def _escaped(text: str, special: str) -> str:
    text = text.replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{c}" if c in special else c for c in text)

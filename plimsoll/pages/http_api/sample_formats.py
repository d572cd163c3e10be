"""Samples as JSON, CSV and Arrow."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import polars as pl
from pydantic import BaseModel, Field
from starlette.responses import Response

from plimsoll.model.log import Times
from plimsoll.model.times import SECOND, iso
from plimsoll.pages.http_api.sample_values import Line

CSV = "text/csv; charset=utf-8"
ARROW = "application/vnd.apache.arrow.file"
_RAW, _BUCKETS = ("value",), ("minimum", "mean", "maximum")
_MILLISECOND = 1_000_000


class LinePart(BaseModel):
    """The values of one signal or series; of those that were not asked for there are none."""

    host: str
    name: str = Field(description="The signal, or measurement.field.")
    unit: str = Field(description="Empty for series as they were sent.")
    instance: str | None
    tags: dict[str, str]
    times: Sequence[str] = Field(description="Of the samples, or of the begins of buckets.")
    value: Sequence[float] | None = Field(default=None, description="As many as times; null: buckets were asked for.")
    minimum: Sequence[float] | None = Field(default=None, description="Of each bucket; so are mean and maximum.")
    mean: Sequence[float] | None = None
    maximum: Sequence[float] | None = None


class SamplesPart(BaseModel):
    """Samples of a range."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    bucket_s: float | None = Field(description="The length of the buckets; null: these are samples.")
    series: Sequence[LinePart] = Field(description="Those that have values in the range.")


def document(lines: Sequence[Line], start: int, end: int, width: int | None) -> SamplesPart:
    """The samples as JSON has them."""
    series = [
        LinePart(
            host=one.host,
            name=one.name,
            unit=one.unit,
            instance=one.instance,
            tags=dict(one.tags),
            times=_texts(one.times),
            **{name: values.tolist() for name, values in one.columns.items()},
        )
        for one in lines
    ]
    return SamplesPart.model_validate(
        {"from": iso(start), "to": iso(end), "bucket_s": width / SECOND if width else None, "series": series}
    )


def csv(lines: Sequence[Line], width: int | None) -> Response:
    """The samples as a table in text: a row a time and series."""
    frame = _frame(lines, width).with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.9fZ"))
    return Response(frame.write_csv(), media_type=CSV)


def arrow(lines: Sequence[Line], width: int | None) -> Response:
    """The samples as a table in Arrow's file format."""
    out = BytesIO()
    _frame(lines, width).write_ipc(out, compression="zstd")
    return Response(out.getvalue(), media_type=ARROW)


def _frame(lines: Sequence[Line], width: int | None) -> pl.DataFrame:
    columns = _BUCKETS if width else _RAW
    texts = dict.fromkeys(("host", "name", "instance", "tags"), pl.String)
    schema = {"time": pl.Datetime("ns", "UTC"), **texts, **dict.fromkeys(columns, pl.Float64)}
    frames = [pl.DataFrame(schema=schema)]
    for one in lines:
        tags = ",".join(f"{name}={value}" for name, value in one.tags.items())
        named = {"host": one.host, "name": one.name, "instance": one.instance, "tags": tags}
        frame = pl.DataFrame({"time": one.times, **{name: one.columns[name] for name in columns}})
        frames.append(
            frame.with_columns(
                pl.col("time").cast(pl.Datetime("ns")).dt.replace_time_zone("UTC"),
                *(pl.lit(text, pl.String).alias(name) for name, text in named.items()),
            ).select(*schema)
        )
    return pl.concat(frames)


def _texts(times: Times) -> list[str]:
    """Instants as ISO 8601 in UTC, to the millisecond or, where that is not enough, the nanosecond."""
    unit = "ms" if not (times % _MILLISECOND).any() else "ns"
    return [f"{one}Z" for one in np.datetime_as_string(times.astype("datetime64[ns]"), unit).tolist()]

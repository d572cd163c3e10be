"""Operations on samples: the existing series, and their values, raw or in buckets."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from plimsoll.model.errors import Unusable
from plimsoll.model.json_part import JsonPart, read_attribute
from plimsoll.model.lazy_imports import pl
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, format_iso, parse_duration
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scenes, SignalSource
from plimsoll.pages.charts.signal_values import compute_signals
from plimsoll.pages.http_api.operation import ApiFault, Operation, Page, PageQuery, RangeQuery, WatchedDependency
from plimsoll.rules.signal_finder import ResolvedSeries, drop_request_rate, list_read_series
from plimsoll.rules.window import transform_values
from plimsoll.store.protocol import SampleReader
from plimsoll.up.watched import Watched

# Our limits: an answer, and the samples it is computed from, must fit in memory beside the evaluations.
MOST_LINES = 200
MOST_VALUES = 1_000_000
MOST_READ = 5_000_000


@dataclass(frozen=True, eq=False)
class ApiLine:
    """The values of a signal or series as columns: `value`, or `minimum`, `mean` and `maximum` of each bucket.

    `times` (UTC ns) are the times of the samples, or the begins of the buckets.
    """

    host: str
    name: str
    unit: str
    instance: str | None
    tags: Mapping[str, str]
    times: Times
    columns: Mapping[str, Values]


def _declare_column(name: str, description: str | None = None) -> Any:
    """Return a pydantic field that contains the column `name` of an ApiLine; None if the line lacks the column."""
    return read_attribute(
        lambda line: line.columns[name].tolist() if name in line.columns else None, description, default=None
    )


CSV = "text/csv; charset=utf-8"
_NAMES = ("host", "name", "instance", "tags")
ARROW = "application/vnd.apache.arrow.file"
_RAW, _BUCKETS = ("value",), ("minimum", "mean", "maximum")
_MILLISECOND = 1_000_000


class LinePart(JsonPart):
    """The values of one signal or series: `value`, or with buckets `minimum`, `mean` and `maximum`."""

    host: str
    name: str = Field(description="The name of the signal, or measurement.field.")
    unit: str = Field(description="The unit of the values; empty for series as they were sent.")
    instance: str | None
    tags: Mapping[str, str]
    times: Sequence[str] = read_attribute(
        lambda line: _format_times(line.times), "Of the samples, or of the begins of buckets."
    )
    value: Sequence[float] | None = _declare_column("value", "As many as times; null: buckets were requested.")
    minimum: Sequence[float] | None = _declare_column("minimum", "Of each bucket; so are mean and maximum.")
    mean: Sequence[float] | None = _declare_column("mean")
    maximum: Sequence[float] | None = _declare_column("maximum")


class SamplesPart(BaseModel):
    """The samples in a range."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    bucket_s: float | None = Field(description="The length of the buckets; null for samples.")
    series: Sequence[LinePart] = Field(description="The signals or series with values in the range.")


_FORMATS = Literal["json", "csv", "arrow"]
_TEXT = {"schema": {"type": "string"}}
_MEDIA: dict[int | str, dict[str, Any]] = {200: {"content": {CSV: _TEXT, ARROW: _TEXT}}}
router = APIRouter(route_class=Operation)


class SeriesPart(JsonPart):
    """A series as it was sent."""

    host: str
    measurement: str
    tags: dict[str, str] = read_attribute(lambda series: dict(series.tags))
    field: str


class SeriesQuery(RangeQuery, PageQuery):
    """The requested series, which have a sample in the range."""

    host: Sequence[str] = Field(default=(), max_length=50, description="Only series of this host; may be repeated.")
    text: str = Field(default="", max_length=300, description="Only series whose names contain all these words.")


class SamplesQuery(RangeQuery):
    """The requested samples: of a signal, or of a measurement's field as it was sent."""

    signal: str = Field(default="", max_length=300, description="The name of a signal: cpu.busy.")
    measurement: str = Field(default="", max_length=300, description="A measurement, in place of a signal.")
    field: str = Field(default="", max_length=300, description="The field of the measurement.")
    host: Sequence[str] = Field(default=(), max_length=50, description="A host; may be repeated; by default all.")
    instance: str | None = Field(default=None, max_length=300, description="For a signal: only this instance.")
    tag: Sequence[str] = Field(
        default=(),
        max_length=20,
        description="For a measurement: only series with this tag, name=value; may be repeated.",
    )
    bucket: str = Field(
        default="",
        max_length=20,
        description="Return minimum, mean and maximum for each bucket of this length (5m, 1h); by default samples.",
    )
    format: _FORMATS = Field(default="json", description="Arrow is a file of Arrow's IPC format (Feather 2).")


@router.get("/series", operation_id="series")
def list_series(query: Annotated[SeriesQuery, Query()], watched: WatchedDependency) -> Page[SeriesPart]:
    """List the series with samples in a range."""
    start, end = query.range(time.time_ns())
    words = query.text.casefold().split()
    series = watched.store.samples.series(start, end, query.host).series
    matches = (
        [series for series in series if all(word in _format_series(series) for word in words)] if words else series
    )
    return Page[SeriesPart].of(matches, query, SeriesPart.model_validate)


@router.get("/samples", operation_id="samples", response_model=SamplesPart, responses=_MEDIA)
def read_samples(
    query: Annotated[SamplesQuery, Query()], request: Request, watched: WatchedDependency
) -> SamplesPart | Response:
    """Return the samples of a signal or a measurement's field, raw or in buckets."""
    start, end = query.range(time.time_ns())
    width = _parse_width(query.bucket, end - start)
    lines = _read_lines(watched, request.app.state.scenes, query, start, end, width)
    match query.format:
        case "json":
            bucket_s = width / SECOND if width else None
            return SamplesPart.model_validate(
                {"from": format_iso(start), "to": format_iso(end), "bucket_s": bucket_s, "series": lines}
            )
        case "csv":
            table = _build_frame(lines, width).with_columns(
                pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.9fZ"),
                # Spreadsheets read a text that begins with these as a formula; an apostrophe prevents that.
                pl.col(*_NAMES).str.replace(r"^([=@+\-\t\r])", "'$1"),
            )
            return Response(table.write_csv(), media_type=CSV)
        case "arrow":
            out = BytesIO()
            _build_frame(lines, width).write_ipc(out, compression="zstd")
            return Response(out.getvalue(), media_type=ARROW)


def _read_lines(
    watched: Watched, scenes: Scenes, query: SamplesQuery, start: int, end: int, width: int | None
) -> Sequence[ApiLine]:
    """Return the values that a query requests. Raise ApiFault if the query is incomplete or ambiguous."""
    if bool(query.signal) == bool(query.measurement):
        raise ApiFault(
            HTTPStatus.BAD_REQUEST,
            "give a signal, or a measurement with its field",
            "signal",
            "GET /api/v1/signals and /api/v1/series list them",
        )
    if query.signal:
        if query.signal not in scenes.signals:
            error = f"no signal is named {query.signal}"
            raise ApiFault(HTTPStatus.NOT_FOUND, error, "signal", "GET /api/v1/signals lists them")
        sources = scenes.live(start, end).find(Spec(query.signal, tuple(query.host), query.instance))
        _check_number(len(sources))
        signal = scenes.signals[query.signal]
        return read_signals(watched.store.samples, query.signal, signal.unit, sources, start, end, width)
    if (wrong := next((tag for tag in query.tag if "=" not in tag), None)) is not None:
        raise ApiFault(HTTPStatus.BAD_REQUEST, f"{wrong[:100]}: is no tag", "tag", "write it like name=value")
    tags = [tag.split("=", 1) for tag in query.tag]
    series = [
        series
        for series in watched.store.samples.series(start, end, query.host).series
        if series.measurement == query.measurement
        and query.field in ("", series.field)
        and all(series.tag(name) == value for name, value in tags)
    ]
    _check_number(len(series))
    return read_series(watched.store.samples, series, start, end, width)


def _check_number(lines: int) -> None:
    if lines > MOST_LINES:
        raise Unusable(
            f"{lines:,} series are asked for, and at most {MOST_LINES} are given at once: name hosts, an instance or "
            "tags"
        )


def _parse_width(text: str, span: int) -> int | None:
    """Return the width of the buckets (ns); None for raw samples.

    Raise ApiFault if the text is no duration, or a duration shorter than a second or longer than the range `span` (ns).
    """
    if not text:
        return None
    try:
        width = parse_duration(text)
    except ValueError as error:
        raise ApiFault(HTTPStatus.BAD_REQUEST, str(error), "bucket", "write it like 30s, 5m or 1h") from None
    if not SECOND <= width <= max(span, SECOND):
        raise ApiFault(
            HTTPStatus.BAD_REQUEST, f"{text}: is no length of buckets here", "bucket", "1s to the whole range"
        )
    return width


def _format_series(series: Series) -> str:
    return " ".join([series.host, series.measurement, *(value for _, value in series.tags), series.field]).casefold()


def _build_frame(lines: Sequence[ApiLine], width: int | None) -> "pl.DataFrame":
    """Return a table with a row for each line and time. It has the columns of buckets if `width` is not None."""
    columns = _BUCKETS if width else _RAW
    texts = dict.fromkeys(_NAMES, pl.String)
    schema = {"time": pl.Datetime("ns", "UTC"), **texts, **dict.fromkeys(columns, pl.Float64)}
    frames = [pl.DataFrame(schema=schema)]
    for line in lines:
        tags = ",".join(f"{name}={value}" for name, value in line.tags.items())
        named = {"host": line.host, "name": line.name, "instance": line.instance, "tags": tags}
        frame = pl.DataFrame({"time": line.times, **{name: line.columns[name] for name in columns}})
        frames.append(
            frame.with_columns(
                pl.col("time").cast(pl.Datetime("ns")).dt.replace_time_zone("UTC"),
                *(pl.lit(text, pl.String).alias(name) for name, text in named.items()),
            ).select(*schema)
        )
    return pl.concat(frames)


def _format_times(times: Times) -> list[str]:
    """Return times as ISO 8601 in UTC, to the millisecond; if any time is finer, all to the nanosecond."""
    unit = "ms" if not (times % _MILLISECOND).any() else "ns"
    return [f"{text}Z" for text in np.datetime_as_string(times.astype("datetime64[ns]"), unit).tolist()]


def read_signals(
    store: SampleReader, name: str, unit: str, sources: Sequence[SignalSource], start: int, end: int, width: int | None
) -> list[ApiLine]:
    """Return the values of a signal from each of the sources. Raise Unusable if there are too many values."""
    _check_buckets(len(sources), start, end, width)
    origins = [drop_request_rate(source.origin) for source in sources]
    direct = [
        origin
        for origin in origins
        # Their extremes and mean are those of the series, scaled and shifted.
        if isinstance(origin, ResolvedSeries) and not origin.rate and not origin.transform.needs_samples
    ]
    if width and len(direct) == len(origins):
        values = _reduce_by_store(store, direct, start, end, width)
    else:
        series = [*dict.fromkeys(series for origin in origins for series in list_read_series(origin))]
        if series:
            _check_read(store, series, start, end, MOST_READ if width else MOST_VALUES)
        values = [_make_columns(samples, width) for samples in compute_signals(store, origins, start, end)]
    return [
        ApiLine(source.subject.host, name, unit, source.subject.instance, {}, times, columns)
        for source, (times, columns) in zip(sources, values, strict=True)
        if len(times)
    ]


def read_series(
    store: SampleReader, series: Sequence[Series], start: int, end: int, width: int | None
) -> list[ApiLine]:
    """Return the values of each series as they were sent. Raise Unusable if there are too many values."""
    _check_buckets(len(series), start, end, width)
    if not series:
        return []
    if width:
        values = [
            (buckets.times, {"minimum": buckets.minimum, "mean": buckets.mean, "maximum": buckets.maximum})
            for buckets in store.buckets(series, start, end, width)
        ]
    else:
        _check_read(store, series, start, end, MOST_VALUES)
        values = [_make_columns(samples, None) for samples in store.read(series, start, end)]
    return [
        ApiLine(series.host, f"{series.measurement}.{series.field}", "", None, dict(series.tags), times, columns)
        for series, (times, columns) in zip(series, values, strict=True)
        if len(times)
    ]


def _reduce_by_store(
    store: SampleReader, origins: Sequence[ResolvedSeries], start: int, end: int, width: int
) -> list[tuple[Times, Mapping[str, Values]]]:
    """Return buckets of signals that the store has as series, converted to the signals' units."""
    stored = store.buckets([origin.series for origin in origins], start, end, width) if origins else ()
    reduced: list[tuple[Times, Mapping[str, Values]]] = []
    for origin, buckets in zip(origins, stored, strict=True):
        columns = (buckets.minimum, buckets.maximum, buckets.mean)
        low, high, mean = (transform_values(values, origin.transform) for values in columns)
        low, high = np.minimum(low, high), np.maximum(low, high)  # 100 - x swaps minimum and maximum
        reduced.append((buckets.times, {"minimum": low, "mean": mean, "maximum": high}))
    return reduced


def _make_columns(samples: Samples, width: int | None) -> tuple[Times, Mapping[str, Values]]:
    """Return the times and columns of samples: values, or buckets that begin at multiples of `width` (ns)."""
    present = samples.present
    if not width or not len(present.times):
        return present.times, {"value": present.values}
    begins, first = np.unique(present.times // width * width, return_index=True)
    count = np.diff(np.append(first, len(present.times)))
    return begins, {
        "minimum": np.minimum.reduceat(present.values, first),
        "mean": np.add.reduceat(present.values, first) / count,
        "maximum": np.maximum.reduceat(present.values, first),
    }


def _check_buckets(lines: int, start: int, end: int, width: int | None) -> None:
    buckets = lines * ((end - start) // width + 1) if width else 0
    if buckets > MOST_VALUES:
        raise Unusable(
            f"{buckets:,} buckets are asked for, and at most {MOST_VALUES:,} are given: ask for longer ones, or fewer "
            "hosts"
        )


def _check_read(store: SampleReader, series: Sequence[Series], start: int, end: int, most: int) -> None:
    values = sum(store.counts(series, start, end))
    if values > most:
        raise Unusable(
            f"the range has {values:,} values, and at most {most:,} are read at once: ask for a shorter one, fewer "
            "hosts, or for buckets (bucket=5m)"
        )

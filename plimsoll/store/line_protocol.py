"""Encodes logs as InfluxDB line protocol with Telegraf's names, column by column."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from plimsoll.model.lazy_imports import pl
from plimsoll.model.log import Log, Values
from plimsoll.model.points import Points
from plimsoll.model.series import Series

ROWS_AT_ONCE = 50_000
_BODY_BYTES = 2 << 20
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")
_UNESCAPED_EQUALS = re.compile(r"(?<!\\)=")
_ESCAPED = re.compile(r"\\([,= ])")


def encode(log: Log, tags: Mapping[str, str] = MappingProxyType({})) -> Iterator[bytes]:
    """Yield the points of a log as chunks of whole lines, with additional tags. Missing values are not written.

    As in Telegraf, a backslash at the end of a tag is removed, as it would escape the next comma; a tag of only
    backslashes is put in brackets.
    """
    points: dict[str, dict[str, list[Values]]] = {}
    for series, column in zip(log.series, log.columns, strict=True):
        points.setdefault(_format_head(series, tuple(tags.items())), {}).setdefault(
            _escape_tag(series.field), []
        ).append(column)
    for start in range(0, len(log.times), ROWS_AT_ONCE):
        times = pl.Series("time", log.times[start : start + ROWS_AT_ONCE])
        for head, fields in points.items():
            # Of several columns of one counter, the first present value is used.
            samples = {
                name: pl.coalesce(_list_samples(column, start) for column in twins) for name, twins in fields.items()
            }
            values = [pl.format("{}={}", pl.lit(name), column) for name, column in samples.items()]
            lines = (
                pl.select(pl.concat_str(values, separator=",", ignore_nulls=True).alias("fields"), times)
                .filter(pl.col("fields") != "")
                .select(pl.format("{} {} {}\n", pl.lit(head), pl.col("fields"), pl.col("time")).str.join(""))
            )
            if text := lines.item():
                yield text.encode()


def _list_samples(values: Values, start: int) -> "pl.Series":
    """Return up to `ROWS_AT_ONCE` values from row `start` on, as a Polars column; null for missing values."""
    return pl.Series(values[start : start + ROWS_AT_ONCE], nan_to_null=True)


def format_head(series: Series) -> str:
    """Return the start of a line of a series, up to the equals sign."""
    return f"{_format_head(series)} {_escape_tag(series.field)}"


def encode_points(points: Points, head: Callable[[Series], str] = format_head, unit_ns: int = 1) -> Iterator[bytes]:
    """Yield samples as chunks of line protocol, one sample a line; of a series' samples at one time, only the last.

    `head` returns the start of a series' lines. Times are in units of `unit_ns`.
    """
    if not len(points):
        return
    points = points.last_of_each
    heads = {at: head(points.series[at]) for at in np.unique(points.which).tolist()}
    times = points.times if unit_ns == 1 else points.times // unit_ns
    rows = zip(points.which.tolist(), points.values.tolist(), times.tolist(), strict=True)
    yield "".join(f"{heads[at]}={value!r} {time}\n" for at, value, time in rows).encode()


def request_bodies(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of the chunks as request bodies of about 2 MB, in whole lines."""
    body = bytearray()
    for text in chunks:
        for piece in _split(text):
            if body and len(body) + len(piece) > _BODY_BYTES:
                yield bytes(body)
                body.clear()
            body += piece
    if body:
        yield bytes(body)


def format_point(measurement: str, tags: Mapping[str, str], fields: Mapping[str, str], time: int | None = None) -> str:
    """Return one line of line protocol.

    `fields` are already encoded by `value`. Without `time`, the server sets the time.
    """
    head = _format_series_key(measurement, tuple(tags.items()))
    written = ",".join(f"{_escape_tag(name)}={text}" for name, text in fields.items())
    return f"{head} {written}\n" if time is None else f"{head} {written} {time}\n"


@lru_cache(maxsize=1024)  # points of one series are consecutive
def _format_series_key(measurement: str, tags: tuple[tuple[str, str], ...]) -> str:
    return _escape(measurement, ", ") + "".join(f",{_escape_tag(name)}={_escape_tag(text)}" for name, text in tags)


def format_value(content: str | float | bool, kind: str) -> str:
    """Return a field value, encoded as `float`, `integer`, `unsigned`, `string` or `boolean`."""
    match kind:
        case "integer":
            return f"{int(content)}i"
        case "unsigned":
            return f"{int(content)}u"
        case "string":
            return '"' + str(content).replace("\\", "\\\\").replace('"', '\\"') + '"'
        case "boolean":
            return str(content).lower()
        case _:
            return repr(float(content))


def convert_to_stored(series: Series) -> Series:
    """Return a series as a store returns it, without characters that tags cannot contain."""
    tags = tuple((_simplify(name), _simplify(value)) for name, value in series.tags if _simplify(value))
    measurement = series.measurement.replace("\n", " ").replace("\r", " ")
    return Series(_simplify(series.host), measurement, tags, _simplify(series.field), series.path)


def find_same_when_written(series: Sequence[Series]) -> list[tuple[int, int]]:
    """Return (index, earlier index) for each series that equals an earlier series in line protocol."""
    first: dict[object, int] = {}
    pairs = [(at, first.setdefault(convert_to_stored(candidate).key, at)) for at, candidate in enumerate(series)]
    return [(at, earlier) for at, earlier in pairs if series[earlier].key != series[at].key]


def parse_key(key: str) -> Series:
    """Return the series of a key (measurement and tags) in InfluxDB's series list, with an empty field."""
    measurement, *pairs = _UNESCAPED_COMMA.split(key)
    split = (_UNESCAPED_EQUALS.split(pair, maxsplit=1) for pair in pairs)
    tags = {_unescape(name): _unescape(text) for name, text in split}
    host = tags.pop("host", "")
    return Series(host, _unescape(measurement), tuple(sorted(tags.items())), "")


def _format_head(series: Series, further_tags: tuple[tuple[str, str], ...] = ()) -> str:
    tags = sorted([("host", series.host), *series.tags, *further_tags])
    written = "".join(f",{_escape_tag(name)}={_escape_tag(value)}" for name, value in tags if _escape_tag(value))
    return _escape(series.measurement, ", ") + written


def _split(text: bytes) -> Iterator[bytes]:
    """Yield a text in pieces of whole lines, none longer than a request body unless one line is longer."""
    start = 0
    while len(text) - start > _BODY_BYTES:
        end = text.rfind(b"\n", start, start + _BODY_BYTES) + 1 or text.index(b"\n", start) + 1
        yield text[start:end]
        start = end
    yield text[start:]


@lru_cache(maxsize=4096)  # also used for the fields of a point
def _escape_tag(text: str) -> str:
    return _escape(_simplify(text), ",= ")


def _simplify(text: str) -> str:
    text = text.replace("\n", " ").replace("\r", " ")
    return text.rstrip("\\") or (text and f"({text})")


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _escape(text: str, special: str) -> str:
    text = text.replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{c}" if c in special else c for c in text)

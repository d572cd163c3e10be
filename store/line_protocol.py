"""InfluxDB line protocol, as Telegraf would have written it, encoded column by column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from model.log import Log
from model.series import Series

ROWS_AT_ONCE = 50_000
_BODY_BYTES = 2 << 20


_UNESCAPED_COMMA = re.compile(r"(?<!\\),")
_UNESCAPED_EQUALS = re.compile(r"(?<!\\)=")
_ESCAPED = re.compile(r"\\([,= ])")


class _Point(NamedTuple):
    """What the values of one line share: the escaped measurement and tags, and each field with its columns."""

    head: str
    fields: dict[str, list[int]]


def encode(log: Log) -> Iterator[bytes]:
    """The points of a log as pieces of line protocol, each of whole lines. A value that is missing is not written.

    As in Telegraf's serializer, a backslash at the end of a tag is left out: it would hide the comma after it.
    A tag that is nothing else is written in brackets.
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


def request_bodies(log: Log) -> Iterator[bytes]:
    """The points of a log in pieces of some 2 MB, each of whole lines: what a server takes best."""
    held: list[bytes] = []
    size = 0
    for text in encode(log):
        for piece in _split(text):
            if held and size + len(piece) > _BODY_BYTES:
                yield b"".join(held)
                held, size = [], 0
            held.append(piece)
            size += len(piece)
    if held:
        yield b"".join(held)


def point(measurement: str, tags: Mapping[str, str], fields: Mapping[str, str], time: int) -> str:
    """One point, as a line; its values are written by `value`."""
    head = _escaped(measurement, ", ") + "".join(f",{_tag(name)}={_tag(text)}" for name, text in tags.items())
    return f"{head} {','.join(f'{_tag(name)}={text}' for name, text in fields.items())} {time}\n"


def value(one: str | float | bool, kind: str) -> str:
    """A value as a field of a kind: `float`, `integer`, `unsigned`, `string` or `boolean`."""
    match kind:
        case "integer":
            return f"{int(one)}i"
        case "unsigned":
            return f"{int(one)}u"
        case "string":
            return '"' + str(one).replace("\\", "\\\\").replace('"', '\\"') + '"'
        case "boolean":
            return str(one).lower()
        case _:
            return repr(float(one))


def as_stored(series: Series) -> Series:
    """A series as it is after it was written: some characters no tag can hold."""
    tags = tuple((_plain(name), _plain(value)) for name, value in series.tags if _plain(value))
    measurement = series.measurement.replace("\n", " ").replace("\r", " ")
    return Series(_plain(series.host), measurement, tags, _plain(series.field), series.path)


def same_when_written(series: Sequence[Series]) -> list[tuple[int, int]]:
    """Series that would be mixed with another one when they are written, each with the first that is written so."""
    first: dict[object, int] = {}
    found: list[tuple[int, int]] = []
    for at, one in enumerate(series):
        of = first.setdefault(as_stored(one).key, at)
        if series[of].key != one.key:
            found.append((at, of))
    return found


def parse_key(key: str) -> Series:
    """The measurement and tags of a point, as InfluxDB lists them: a series without a field."""
    measurement, *tags = (part for part in _UNESCAPED_COMMA.split(key))
    named = dict(_UNESCAPED_EQUALS.split(tag, maxsplit=1) for tag in tags)
    plain = {_unescaped(name): _unescaped(value) for name, value in named.items()}
    host = plain.pop("host", "")
    return Series(host, _unescaped(measurement), tuple(sorted(plain.items())), "")


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


def _split(text: bytes) -> Iterator[bytes]:
    """A text in pieces of whole lines no longer than a body, if a line is not."""
    start = 0
    while len(text) - start > _BODY_BYTES:
        end = text.rfind(b"\n", start, start + _BODY_BYTES) + 1 or text.index(b"\n", start) + 1
        yield text[start:end]
        start = end
    yield text[start:]


def _tag(text: str) -> str:
    return _escaped(_plain(text), ",= ")


def _plain(text: str) -> str:
    text = text.replace("\n", " ").replace("\r", " ")
    return text.rstrip("\\") or (text and f"({text})")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _escaped(text: str, special: str) -> str:
    text = text.replace("\n", " ").replace("\r", " ")
    return "".join(f"\\{c}" if c in special else c for c in text)

"""Reads k6's results as JSON (its output `json=FILE`): each line is an object with a metric, or a value of a metric."""

import json

import polars as pl
from polars.exceptions import PanicException, PolarsError

from plimsoll.ingest.formats.load_results.k6_csv import COUNTED, DURATIONS, USERS, select_requests
from plimsoll.ingest.formats.load_results.requests import log_of
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks

NAME = "k6-JSON"
_TAGS = ("name", "url", "status", "error", "error_code", "expected_response")
_SCHEMA = pl.Schema(
    {
        "metric": pl.String,
        "type": pl.String,
        "data": pl.Struct(
            {
                "time": pl.String,
                "value": pl.Float64,
                "tags": pl.Struct(dict.fromkeys(_TAGS, pl.String)),
            }
        ),
    }
)
_METRICS = (*DURATIONS, USERS, *COUNTED)
_LINE = "line"
_BLOCK = 32 << 20


def sniff(text: Text) -> bool:
    """Return whether the first line is a JSON object of k6's results."""
    head = text.header[:4096].replace(b" ", b"")
    return head.startswith(b'{"') and b'"metric":' in head and (b'"type":"Metric"' in head or b'"type":"Point"' in head)


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests. Raise Unusable if a line other than the last is damaged."""
    del options
    remarks = Remarks(str(text.path))
    parts: list[pl.DataFrame] = []
    start = text.first_line[1]
    line = text.first_line[0]
    while start < len(text.data):
        stop = text.data.find(b"\n", min(start + _BLOCK, len(text.data))) + 1 or len(text.data)
        part = text.data[start:stop]
        parts.append(_parse_rows(text, part, line, remarks, is_last=stop >= len(text.data)))
        line += part.count(b"\n")
        start = stop
    return log_of(text.path, NAME, select_requests(pl.concat(parts), remarks), remarks)


def _parse_rows(text: Text, part: bytes, line: int, remarks: Remarks, *, is_last: bool) -> pl.DataFrame:
    """Return the values of request and user metrics in a part of the file, as text.

    `line` is the number of the part's first line, `is_last` means that the part ends the file.
    """
    try:
        lines = _split_lines(part)
        whole = bool(lines.select((pl.col(_LINE).str.starts_with("{") & pl.col(_LINE).str.ends_with("}")).all()).item())
        frame = _decode_lines(lines) if whole else None
    except (PolarsError, PanicException):
        frame = None
    if frame is None:
        # Parse line by line, to name the damaged line.
        kept = _drop_incomplete_line(text, part, line, remarks, is_last=is_last)
        try:
            frame = _decode_lines(_split_lines(kept))
        except (PolarsError, PanicException):
            raise Unusable(f"{text.path}: its lines are not what k6 writes; run k6 with its output json=FILE") from None
    data = pl.col("data").struct
    tags = data.field("tags").struct
    return frame.filter((pl.col("type") == "Point") & pl.col("metric").is_in(_METRICS)).select(
        metric_name=pl.col("metric"),
        timestamp=data.field("time"),
        metric_value=data.field("value").cast(pl.String),
        **{name: tags.field(name) for name in _TAGS},
    )


def _split_lines(part: bytes) -> pl.DataFrame:
    """Return a table with one column: the lines that are not blank."""
    if not part.strip():
        return pl.DataFrame(schema={_LINE: pl.String})
    frame = pl.read_csv(
        part, has_header=False, separator="\x01", quote_char=None, schema={_LINE: pl.String}, truncate_ragged_lines=True
    )
    return frame.select(pl.col(_LINE).str.strip_chars()).filter(pl.col(_LINE) != "")


def _decode_lines(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the decoded JSON objects of lines with request or user metrics; skip the many lines of other metrics."""
    frame = lines.filter(pl.col(_LINE).str.contains_any([f'"{name}"' for name in _METRICS]))
    if not len(frame):
        return pl.DataFrame(schema=_SCHEMA)
    return frame.select(pl.col(_LINE).str.json_decode(pl.Struct(_SCHEMA))).unnest(_LINE)


def _drop_incomplete_line(text: Text, part: bytes, line: int, remarks: Remarks, *, is_last: bool) -> bytes:
    """Return a part of the file without an incomplete last line of the file. Raise Unusable for other damaged lines."""
    lines = part.split(b"\n")
    for at, text_line in enumerate(lines):
        if not text_line.strip():
            continue
        try:
            is_known = isinstance(json.loads(text_line), dict)
        except (ValueError, RecursionError):
            is_known = False
        if is_known:
            continue
        if is_last and at == len(lines) - 1:
            remarks.add(Kind.SKIPPED, "the last line was cut short: left out", line=line + at)
            return b"\n".join(lines[:at])
        raise Unusable(f"{text.path}:{line + at}: is not a whole object; delete the line, or copy the file again")
    return part

"""PDH-CSV as Performance Monitor writes it: local times, whose bias is in the header's first cell."""

import csv
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from .recording import Column, interval_of

_FIRST = re.compile(r"\(PDH-CSV 4\.0\) \(.*\)\((-?\d+)\)")
_PATH = re.compile(r"\\\\([^\\]+)\\(.+)")
_WITH_INSTANCE = re.compile(r"(.+?)\((.*)\)\\([^\\]+)")


def read(path: Path) -> list[Column]:
    """The columns of a log."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    first = _FIRST.fullmatch(header[0])
    assert first, header[0]
    times = [_utc(row[0], int(first[1])) for row in rows]
    columns = [_column(name, interval_of(times)) for name in header[1:]]
    for time, row in zip(times, rows, strict=True):
        for column, cell in zip(columns, row[1:], strict=True):
            column.add(time, cell)
    return columns


@cache
def split(path: str) -> tuple[str, str | None, str]:
    r"""Object, instance and counter of a path without its computer: `Processor(0)\\% Processor Time`."""
    if match := _WITH_INSTANCE.fullmatch(path):
        return match[1], match[2], match[3]
    object_, _, counter = path.partition("\\")
    return object_, None, counter


def _column(name: str, interval: int | None) -> Column:
    match = _PATH.fullmatch(name)
    assert match, name
    object_, instance, counter = split(match[2])
    return Column(match[1], interval, object=object_, instance=instance, counter=counter)


def _utc(text: str, bias_minutes: int) -> int:
    local = datetime.strptime(text, "%m/%d/%Y %H:%M:%S.%f").replace(tzinfo=UTC)
    return round(local.timestamp() * 1000) + bias_minutes * 60_000

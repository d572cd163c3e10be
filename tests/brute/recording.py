"""The columns of PDH-CSV logs, as Performance Monitor writes them. Times are whole milliseconds since 1970, UTC."""

import csv
import itertools
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

_FIRST = re.compile(r"\(PDH-CSV 4\.0\) \(.*\)\((-?\d+)\)")
_PATH = re.compile(r"\\\\([^\\]+)\\(.+)")
_WITH_INSTANCE = re.compile(r"(.+?)\((.*)\)\\([^\\]+)")


@dataclass
class Column:
    """A Perfmon counter of one host; `interval` is that of the log's rows."""

    host: str
    interval: int | None
    object: str = ""
    instance: str | None = None
    counter: str = ""
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    @property
    def key(self):
        """The same for columns of the same series; case does not count."""
        return tuple(part.casefold() for part in (self.host, self.object, self.instance or "", self.counter))

    def add(self, time: int, cell: str):
        """Append the sample of a cell, if it holds one: blanks, NaN and infinities are missing."""
        text = cell.strip()
        if not text:
            return
        value = float(text)
        if math.isfinite(value):
            self.times.append(time)
            self.values.append(value)


def _interval_of(rows: list[int]) -> int | None:
    """The median distance of rows, of two middle ones the lower; a whole number of seconds if within 2 % of it."""
    distances = sorted(after - before for before, after in itertools.pairwise(rows))
    if not distances:
        return None
    median = distances[(len(distances) - 1) // 2]
    whole = (median + 500) // 1000 * 1000
    return whole if whole and abs(median - whole) <= 0.02 * whole else median


def read(folder: Path) -> dict[str, list[Column]]:
    """Return the columns of each host of a folder; those of the same series in several logs are merged."""
    merged: dict[object, Column] = {}
    for log in sorted(folder.glob("*.csv")):
        for column in _read_log(log):
            first = merged.setdefault(column.key, column)
            if first is not column:
                samples = dict(zip(column.times, column.values, strict=True))
                samples |= dict(zip(first.times, first.values, strict=True))
                first.times = sorted(samples)
                first.values = [samples[time] for time in first.times]
    hosts: dict[str, list[Column]] = {}
    for column in merged.values():
        hosts.setdefault(column.host.casefold(), []).append(column)
    return hosts


def _read_log(path: Path) -> list[Column]:
    """The columns of a log."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    first = _FIRST.fullmatch(header[0])
    assert first, header[0]
    times = [_utc(row[0], int(first[1])) for row in rows]
    columns = [_column(name, _interval_of(times)) for name in header[1:]]
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

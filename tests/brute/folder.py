"""All logs of a folder as one run: columns by host, those of the same series in several logs put together."""

from pathlib import Path

from . import pdh, sadf
from .recording import Column


def read(folder: Path) -> dict[str, list[Column]]:
    """The columns of each host that holds a sample, under the host's name as it is written first."""
    series: dict[object, Column] = {}
    for log in sorted(folder.glob("*.csv")):
        reader = pdh if log.read_bytes().startswith(b'"(PDH-CSV') else sadf
        for column in reader.read(log):
            known = series.setdefault(column.name, column)
            if known is not column:
                _merge(known, column)
    hosts: dict[str, list[Column]] = {}
    names: dict[str, str] = {}
    for column in series.values():
        hosts.setdefault(names.setdefault(column.host.casefold(), column.host), []).append(column)
    return hosts


def _merge(into: Column, other: Column):
    assert into.interval == other.interval, f"{into.name}: logs of different intervals are not this evaluator's"
    samples = dict(zip(other.times, other.values, strict=True)) | dict(zip(into.times, into.values, strict=True))
    into.times = sorted(samples)
    into.values = [samples[time] for time in into.times]

"""What PDH-CSV, PDH-TSV and typeperf's output have in common: a header of counter paths over rows of samples."""

import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ingest.cells import split
from ingest.clock import Clock, to_utc
from ingest.layout import Layout, Table
from ingest.reading import Reading
from ingest.table import parse
from ingest.text import Text
from model.errors import Unusable
from model.log import Log
from model.names import Names
from model.perfmon import CounterPath
from model.remark import Kind, Remarks, counted
from model.series import Series
from model.times import Zone

_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*\((?P<name>.*)\)\((?P<bias>-?\d+)\)\s*", re.DOTALL)
_NO_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*")
_UNKNOWN_HOST = "unknown"


@dataclass(frozen=True)
class _Columns:
    """Which cells of a row are counters, and what they are."""

    series: tuple[Series, ...]
    kept: tuple[int, ...]


def read_pdh(path: Path, text: Text, format_: str, separator: str, how: Reading) -> Log:
    """Read a log whose first line is a PDH header."""
    remarks = Remarks(str(path))
    decoded, guessed = text.decode(text.header)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: read as code page {guessed[2:]}")
    cells = split(decoded, separator)
    line, _, stop = text.first_line
    if len(cells) < 2:
        raise Unusable(f"{path}:{line}: the header names no counter; record the log with at least one")
    zone = _zone(cells[0], how.zone, remarks)
    layout = Layout(str(path), stop + 1, line + 1, separator, len(cells), text.header, cells[1:])
    of_rows = Remarks(str(path))
    with ThreadPoolExecutor(1) as pool:  # the rows are parsed outside Python while it goes through the header
        rows = pool.submit(parse, text, layout, of_rows)
        columns = _columns(path, cells[1:], how.names, remarks)
        table = rows.result()
    remarks.items += of_rows
    clock = _times(table, zone, remarks)
    values = tuple(table.columns[at] for at in columns.kept)
    if clock.order is not None:
        values = tuple(pl.DataFrame(values)[clock.order].get_columns())
    if not len(clock.times):
        remarks.add(Kind.NOTED, "the log holds no samples")
    return Log(path, format_, clock.times, values, columns.series, zone, tuple(remarks))


def _zone(cell: str, given: Zone | None, remarks: Remarks) -> Zone:
    if (match := _ZONE.fullmatch(cell)) and abs(int(match["bias"])) < 24 * 60:
        return Zone.from_bias(match["name"], int(match["bias"]))
    if given is not None:
        return given
    if _NO_ZONE.fullmatch(cell):
        remarks.add(Kind.GUESSED, "the log does not say its time zone: times are its own clock's; name it with --zone")
    else:
        remarks.add(
            Kind.GUESSED,
            f'the time zone in the header is cut off ("{cell}"), its offset lost: '
            "times are the log's own clock's; name the zone with --zone",
        )
    return Zone.unknown()


def _columns(path: Path, cells: Sequence[str], names: Names, remarks: Remarks) -> _Columns:
    series: list[Series] = []
    kept: list[int] = []
    nameless = 0
    for at, cell in enumerate(cells):
        try:
            counter = CounterPath.parse(cell)
        except ValueError:
            last = at == len(cells) - 1
            what = (
                "the Data Collector Set's description" if last and not cell.startswith("\\") else "not a counter path"
            )
            remarks.add(Kind.SKIPPED, f'column {at + 2} is {what}: "{cell}"')
            continue
        nameless += counter.computer is None
        series.append(names.series(counter, counter.computer or _UNKNOWN_HOST))
        kept.append(at)
    if not series:
        raise Unusable(f"{path}: no column of the header is a counter path such as \\\\HOST\\System\\Threads")
    if nameless:
        remarks.add(
            Kind.GUESSED,
            f'{counted(nameless, "counter")} without a computer: shown as of host "{_UNKNOWN_HOST}"',
            count=nameless,
        )
    if len({cell.casefold() for cell in cells}) < len(cells):
        _tell_twins(series, remarks)
    return _Columns(tuple(series), tuple(kept))


def _tell_twins(series: Sequence[Series], remarks: Remarks) -> None:
    for key, count in Counter(one.key for one in series).items():
        if count > 1:
            twin = next(one for one in series if one.key == key)
            remarks.add(Kind.NOTED, f"{count} columns of the same counter: read as one", counter=twin.path, count=count)


def _times(table: Table, zone: Zone, remarks: Remarks) -> Clock:
    """UTC instants in ascending order, and the order of the rows where that had to change."""
    clock = to_utc(table.local.cast(pl.Int64).to_numpy(), zone, table.lines, remarks)
    if same := int(np.count_nonzero(np.diff(clock.times) == 0)):
        remarks.add(
            Kind.NOTED,
            f"{counted(same, 'row')} at the time of the row before: the first that has a value counts",
            count=same,
        )
    return clock

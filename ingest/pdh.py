"""What PDH-CSV, PDH-TSV and typeperf's output have in common: a header of counter paths over rows of samples."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ingest.cells import split
from ingest.clock import to_utc
from ingest.table import Layout, Table, parse
from ingest.text import Text
from model.errors import Unusable
from model.log import Log, Times
from model.names import shipped
from model.perfmon import CounterPath
from model.remark import Kind, Remarks, counted
from model.series import Series
from model.times import Zone

_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*\((?P<name>.*)\)\((?P<bias>-?\d+)\)\s*", re.DOTALL)
_NO_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*")
_TIME = "%m/%d/%Y %H:%M:%S%.f"
_UNKNOWN_HOST = "unknown"


@dataclass(frozen=True)
class _Columns:
    """Which cells of a row are counters, and what they are."""

    series: tuple[Series, ...]
    kept: tuple[int, ...]


def read_pdh(path: Path, text: Text, format_: str, separator: str, zone: Zone | None) -> Log:
    """Read a log whose first line is a PDH header. `zone` is that of a log that does not say its own."""
    remarks = Remarks(str(path))
    decoded, guessed = text.decode(text.header)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: read as code page {guessed[2:]}")
    cells = split(decoded, separator)
    line, _, stop = text.first_line
    if len(cells) < 2:
        raise Unusable(f"{path}:{line}: the header names no counter; record the log with at least one")
    zone = _zone(cells[0], zone, remarks)
    columns = _columns(path, cells[1:], remarks)
    layout = Layout(str(path), stop + 1, line + 1, separator, len(cells), text.header, cells[1:])
    table = parse(text, layout, remarks)
    times, rows = _times(path, table, zone, remarks)
    values = tuple(table.columns[at] for at in columns.kept)
    if rows is not None:
        values = tuple(column[rows] for column in values)
    if not len(times):
        remarks.add(Kind.NOTED, "the log holds no samples")
    return Log(path, format_, times, values, columns.series, zone, tuple(remarks))


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


def _columns(path: Path, cells: Sequence[str], remarks: Remarks) -> _Columns:
    names = shipped()
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


def _times(path: Path, table: Table, zone: Zone, remarks: Remarks) -> tuple[Times, Sequence[int] | None]:
    """UTC instants in ascending order, and which rows of the table they are of (None: all, as they stand)."""
    local = table.times.str.strip_chars().str.to_datetime(_TIME, strict=False, time_unit="ns")
    rows = np.arange(len(local))
    if local.null_count():
        bad = np.flatnonzero(local.is_null().to_numpy())
        first = int(bad[0])
        if 2 * len(bad) > len(local):
            raise Unusable(
                f'{path}:{table.lines[first]}: "{table.times[first]}" is not a time as Perfmon writes it '
                "(MM/DD/YYYY HH:MM:SS.mmm); a spreadsheet may have cut it: export the log again with relog"
            )
        for at in bad[:20]:
            remarks.add(
                Kind.SKIPPED, f'"{table.times[int(at)]}" is not a time: the row is left out', line=table.lines[int(at)]
            )
        if len(bad) > 20:
            remarks.add(
                Kind.SKIPPED, f"{counted(len(bad) - 20, 'more row')} without a time: left out", count=len(bad) - 20
            )
        rows = np.flatnonzero(local.is_not_null().to_numpy())
        local = local.drop_nulls()
    lines = table.lines if len(rows) == len(table.lines) else [table.lines[row] for row in rows.tolist()]
    clock = to_utc(local.cast(pl.Int64).to_numpy(), zone, lines, remarks)
    if clock.order is not None:
        rows = rows[clock.order]
    if same := int(np.count_nonzero(np.diff(clock.times) == 0)):
        remarks.add(
            Kind.NOTED,
            f"{counted(same, 'row')} at the time of the row before: the first that has a value counts",
            count=same,
        )
    as_they_stand = len(rows) == len(table.lines) and clock.order is None
    return clock.times, None if as_they_stand else rows.tolist()

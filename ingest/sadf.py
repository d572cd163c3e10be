"""What `sadf -d` prints of a system activity file: rows of numbers under headers, with semicolons between them.

Each section has a header of its own and as many rows per time as it has instances. The names of its
series are those of Telegraf (`sadf_names`); a series' path is how sadf shows it: `sadf disk(sda) %util`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.clock import to_utc
from ingest.reading import Reading
from ingest.sadf_blocks import HEADER, Block, blocks
from ingest.sadf_names import Section, device, series
from ingest.shorten import short
from ingest.text import Text
from model.errors import Unusable
from model.log import Log, Times, Values
from model.remark import Kind, Remarks, counted
from model.series import Series
from model.times import SECOND, Zone

NAME = "sadf"
_EVENT_FIRST = re.compile(rb"[^;\n]+;-1;[^;\n]*;(LINUX-RESTART|COM )")
_UTC = "%Y-%m-%d %H:%M:%S UTC"
_LOCAL = "%Y-%m-%d %H:%M:%S"


def sniff(text: Text) -> bool:
    """Whether the file begins with a header of sadf, or with a restart or comment and a header after it."""
    if text.header.startswith(HEADER.encode()):
        return True
    return bool(_EVENT_FIRST.match(text.header)) and HEADER.encode() in text.data[: 1 << 16]


def read(path: Path, text: Text, how: Reading) -> Log:
    """Read all sections as one log. `how.zone` is that of times which are not said to be UTC.

    Unusable if no known section has rows, if rows cannot be told apart, or if some times are UTC and
    others of an unknown zone.
    """
    remarks = Remarks(str(path))
    tables = [_table(path, block, remarks) for block in blocks(path, text, remarks)]
    tables = [table for table in tables if len(table.lines)]
    if not tables:
        raise Unusable(f"{path}: holds no row of a known section of sadf; write it with sadf -d FILE -- -A")
    host = _host(path, tables)
    zone = _zone(path, tables, how.zone, remarks)
    instants = [_instants(table, zone, remarks) for table in tables]
    times: Times = np.unique(np.concatenate(instants))
    columns = _Columns(len(times))
    cpus = list(dict.fromkeys(name for table in tables if table.section.label == "CPU" for name in table.devices))
    for table, moments in zip(tables, instants, strict=True):
        fields = _fields(table, cpus, remarks)
        rows = np.searchsorted(times, moments)
        for instance, at in _instances(table):
            for name, values in zip(fields, table.values, strict=False):
                if values is not None:
                    columns.put(series(host, table.section, instance, name), rows[at], values[at])
    if columns.differing:
        remarks.add(
            Kind.SKIPPED,
            f"{counted(columns.differing, 'value')} unlike those before of the same series and time: the first counts",
            count=columns.differing,
        )
    values = tuple(pl.Series(column, nan_to_null=True) for column in columns.found.values())
    return Log(path, NAME, times, values, tuple(columns.found), zone, tuple(remarks))


@dataclass(frozen=True)
class _Table:
    """A block as columns. `stamps` are UTC in ns, or where `local` says so the recorder's clock."""

    section: Section
    lines: NDArray[np.int64]
    hosts: pl.Series
    devices: pl.Series
    stamps: Times
    local: NDArray[np.bool_]
    values: list[Values | None]


class _Columns:
    """The column of each series, NaN where there is no sample; of two samples for a time the first counts."""

    def __init__(self, length: int) -> None:
        self.found: dict[Series, Values] = {}
        self.differing = 0
        self._length = length

    def put(self, series: Series, rows: NDArray[np.intp], values: Values) -> None:
        """Fill in samples of one series at rows of the log."""
        column = self.found.get(series)
        if column is None:
            column = self.found[series] = np.full(self._length, np.nan)
        free = np.isnan(column[rows])
        if free.all():
            column[rows[::-1]] = values[::-1]
        else:
            column[rows[free][::-1]] = values[free][::-1]
        self.differing += int(np.count_nonzero((column[rows] != values) & ~np.isnan(values)))


def _table(path: Path, block: Block, remarks: Remarks) -> _Table:
    labelled = block.section.label is not None
    common = ["host", "interval", "time", *(["device"] if labelled else [])]
    names = [str(at) for at in range(block.cells - len(common))]
    cells = pl.read_csv(
        "\n".join(block.rows).encode(),
        has_header=False,
        separator=";",
        quote_char=None,
        schema=dict.fromkeys([*common, *names], pl.String),
        empty_string_is_null=False,
    )
    lines = np.array(block.lines, dtype=np.int64)
    stamps, local = _stamps(cells.get_column("time"))
    if stamps.null_count():
        good = stamps.is_not_null()
        _tell_bad_times(path, cells.get_column("time"), ~good, lines, remarks)
        cells, stamps, local, lines = cells.filter(good), stamps.filter(good), local.filter(good), lines[good]
    instances = cells.get_column("device") if labelled else pl.Series([""] * len(cells), dtype=pl.String)
    shown = {name: device(block.section, name) for name in instances.unique()} if labelled else {"": ""}
    fields = block.section.fields if not block.section.is_per_cpu else names
    values = [
        _numbers(cells.get_column(name), f"{block.section.label or ''} {shown_as}".strip(), lines, remarks)
        for name, shown_as in zip(names, fields, strict=True)
    ]
    return _Table(
        block.section,
        lines,
        cells.get_column("host"),
        instances.replace_strict(shown, return_dtype=pl.String),
        stamps.to_numpy(),
        local.to_numpy(),
        values,
    )


def _stamps(times: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Times in ns, null where a cell is none, and whether each is of the recorder's clock and not UTC."""
    utc = times.str.to_datetime(_UTC, strict=False, time_unit="ns").cast(pl.Int64)
    seconds = times.str.extract(r"^(\d{9,11})$").cast(pl.Int64) * SECOND
    local = times.str.to_datetime(_LOCAL, strict=False, time_unit="ns").cast(pl.Int64)
    known = utc.fill_null(seconds)
    return known.fill_null(local), known.is_null() & local.is_not_null()


def _tell_bad_times(path: Path, times: pl.Series, bad: pl.Series, lines: NDArray[np.int64], remarks: Remarks) -> None:
    at = np.flatnonzero(bad.to_numpy())
    first, line = short(times[int(at[0])]), int(lines[at[0]])
    if 2 * len(at) > len(times):
        raise Unusable(
            f'{path}:{line}: "{first}" is not a time as sadf writes it (YYYY-MM-DD HH:MM:SS UTC); '
            "write the file again with sadf -d FILE -- -A"
        )
    remarks.add(Kind.SKIPPED, f'"{first}" is not a time: {counted(len(at), "row")} left out', line=line, count=len(at))


def _numbers(text: pl.Series, counter: str, lines: NDArray[np.int64], remarks: Remarks) -> Values | None:
    """A column's values, NaN where a cell is no number; None where none is one. All is told."""
    text = text.str.strip_chars()
    if text.str.contains(",", literal=True).any():
        text = text.str.replace(",", ".", literal=True)
        told = "numbers have decimal commas, as sadf writes them in some locales: read as decimal points"
        if not any(remark.text == told for remark in remarks):
            remarks.add(Kind.REPAIRED, told)
    numbers = text.cast(pl.Float64, strict=False)
    values = numbers.to_numpy()
    bad = np.flatnonzero(~np.isfinite(values) & (text != "").to_numpy())
    if not len(bad):
        return values
    first = short(text[int(bad[0])])
    where = {"line": int(lines[bad[0]]), "count": len(bad)}
    if len(bad) == len(values):
        remarks.add(Kind.SKIPPED, f'is no number ("{first}"): left out', counter=counter, **where)
        return None
    more = f", and {len(bad) - 1:,} more in this column" if len(bad) > 1 else ""
    remarks.add(Kind.SKIPPED, f'"{first}" is not a number: no sample{more}', counter=counter, **where)
    return np.where(np.isfinite(values), values, np.nan)


def _host(path: Path, tables: Sequence[_Table]) -> str:
    """The one host all rows are of; rows of several would not share their times."""
    hosts = {
        host: int(table.lines[(table.hosts == host).to_numpy()][0]) for table in tables for host in table.hosts.unique()
    }
    if len(hosts) > 1:
        (first, _), (second, line), *_ = sorted(hosts.items(), key=lambda item: item[1])
        raise Unusable(
            f"{path}:{line}: rows of host {short(second)} after rows of {short(first)}; split the file by host"
        )
    return next(iter(hosts))


def _zone(path: Path, tables: Sequence[_Table], given: Zone | None, remarks: Remarks) -> Zone:
    local = [int(table.lines[table.local][0]) for table in tables if table.local.any()]
    known = [int(table.lines[~table.local][0]) for table in tables if not table.local.all()]
    if not local:
        return Zone("UTC", UTC)
    if given is not None:
        return given
    if known:
        raise Unusable(
            f"{path}:{min(local)}: this time does not say its zone while that in line {min(known)} is UTC; "
            "name the zone with --zone, or write the file with one call of sadf -d FILE -- -A"
        )
    remarks.add(
        Kind.GUESSED,
        "the times do not say their zone (sadf -t or -T): they are the log's own clock's; name it with --zone",
    )
    return Zone.unknown()


def _instants(table: _Table, zone: Zone, remarks: Remarks) -> Times:
    """When each row was written, in UTC."""
    if not table.local.any():
        return table.stamps
    instants = table.stamps.copy()
    at = np.flatnonzero(table.local)
    # A section has a row per instance; the clock is looked at once for each time.
    first = np.flatnonzero(np.diff(table.stamps[at], prepend=-1))
    own = Remarks(remarks.file)
    clock = to_utc(table.stamps[at[first]], zone, table.lines[at[first]].tolist(), own)
    moments = clock.times
    if clock.order is not None:
        moments = np.empty_like(clock.times)
        moments[clock.order] = clock.times
    instants[at] = np.repeat(moments, np.diff(first, append=len(at)))
    told = {remark.text for remark in remarks}
    remarks.items += [remark for remark in own if remark.text not in told]
    return instants


def _fields(table: _Table, cpus: Sequence[str], remarks: Remarks) -> Sequence[str]:
    """The names of a table's columns; none where the processors they are of are not certain.

    Interrupts have a column for each processor that was asked for, which only the processors'
    own section names.
    """
    if not table.section.is_per_cpu:
        return table.section.fields
    if len(table.values) == len(cpus):
        return cpus
    said = f"{counted(len(cpus), 'processor')} in their own section" if cpus else "no section of the processors"
    remarks.add(
        Kind.SKIPPED,
        f"interrupts have {counted(len(table.values), 'column')} and there is {said}, so whose they are cannot be "
        "told: left out; write the file with sadf -d FILE -- -A",
        line=int(table.lines[0]),
        count=len(table.lines),
    )
    return ()


def _instances(table: _Table) -> Iterator[tuple[str | None, NDArray[np.intp]]]:
    """Each instance of a table, in the order they appear, with its rows."""
    if not table.section.label:
        yield None, np.arange(len(table.lines))
        return
    codes = table.devices.rank("dense").to_numpy()
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    for rows in sorted(groups, key=lambda rows: int(rows[0])):
        yield table.devices[int(rows[0])], rows

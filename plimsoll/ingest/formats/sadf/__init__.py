"""What sysstat's `sadf -d` writes: CSV with semicolons, in sections that have a header of their own.

A section has one row per time, or one per time and instance. Series are named as Telegraf's `inputs.sysstat`
names them (`sections`); the path of a series shows where it is from: `sadf disk(sda) %util`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.sadf.blocks import blocks
from plimsoll.ingest.formats.sadf.days import with_local_days
from plimsoll.ingest.formats.sadf.interrupts import with_processors
from plimsoll.ingest.formats.sadf.sections import series
from plimsoll.ingest.formats.sadf.skipped import AGAIN, HEADER_NAMES
from plimsoll.ingest.formats.sadf.table import SectionTable, table_of
from plimsoll.ingest.formats.sadf.times import instants_of, remark_steps_back, zone_of
from plimsoll.ingest.reading import Reading
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remarks, counted, short
from plimsoll.model.series import Series

NAME = "sadf"
_HEAD = 1 << 16
_HEADER = re.compile(rb"[^;,\t\n]{0,100}[;,\t]?[^;,\t\n]{0,10}" + HEADER_NAMES.encode())
_EVENT = re.compile(rb"[^\n]*[;,\t]\s*-1\s*[;,\t][^\n]*[;,\t]\s*(LINUX-RESTART|COM )")
_NOT_IN_A_HOST = re.compile(r"""[\s"'`,:<>|#]""")


def sniff(text: Text) -> bool:
    """Whether the first line is a header of sadf, or a restart or comment with a header after it.

    Also true of a header that was edited: `read` refuses it and says so.
    """
    if _HEADER.match(text.header):
        return True
    return bool(_EVENT.match(text.header)) and any(map(_HEADER.match, text.data[:_HEAD].splitlines()))


def read(text: Text, how: Reading) -> Log:
    """All sections as one log. `how.zone` is the zone of times that are not in UTC.

    Raises:
        Unusable: If the file was edited, is of several hosts, holds no row that can be read, or holds times in UTC
            and times of an unknown zone.
    """
    path, remarks = text.path, Remarks(str(text.path))
    tables = [table for block in blocks(text, remarks) if len((table := table_of(path, block, remarks)).lines)]
    if not tables:
        raise Unusable(f"{path}: holds no row of a section of sadf that is read; {AGAIN}")
    host = _host(path, tables)
    zone = zone_of(path, tables, how.zone, remarks)
    tables = with_local_days(tables, zone, remarks)
    instants = [instants_of(table, zone, remarks) for table in tables]
    remark_steps_back(tables, instants, remarks)
    times: Times = np.unique(np.concatenate(instants))
    columns = _Columns(len(times))
    for fields, table, moments in with_processors(tables, instants, remarks):
        rows = np.searchsorted(times, moments)
        for instance, at in _instances(table):
            for name, values in zip(fields, table.values, strict=True):
                columns.put(series(host, table.section, instance, name), rows[at], values[at])
    if not columns.found:
        raise Unusable(
            f"{path}:{tables[0].lines[0]}: holds only interrupts, of processors that no section lists; {AGAIN}"
        )
    if columns.differing:
        remarks.add(
            Kind.SKIPPED,
            f"{counted(columns.differing, 'value')} differ from an earlier value of the same series and time: "
            "the first is kept",
            count=columns.differing,
        )
    values = tuple(pl.Series(column, nan_to_null=True) for column in columns.found.values())
    return Log(path, NAME, times, values, tuple(columns.found), zone, tuple(remarks))


class _Columns:
    """The column of each series, NaN where there is no sample. Of two samples at one time the first is kept."""

    def __init__(self, length: int) -> None:
        self.found: dict[Series, Values] = {}
        self.differing = 0
        self._length = length

    def put(self, series: Series, rows: NDArray[np.intp], values: Values) -> None:
        """Set samples of a series at these rows of the log."""
        column = self.found.get(series)
        if column is None:
            column = self.found[series] = np.full(self._length, np.nan)
        free = np.isnan(column[rows])
        # Reversed, since of several values for one row numpy keeps the last, and the first is wanted.
        column[rows[free][::-1]] = values[free][::-1]
        self.differing += int(np.count_nonzero((column[rows] != values) & ~np.isnan(values)))


def _host(path: Path, tables: Sequence[SectionTable]) -> str:
    """The one host of all rows."""
    first_lines: dict[str, int] = {}
    for table in tables:
        for host in table.hosts.unique(maintain_order=True):
            line = int(table.lines[(table.hosts == host).to_numpy()][0])
            if strange := _NOT_IN_A_HOST.search(host):
                raise Unusable(
                    f'{path}:{line}: the row begins with "{short(host)}", but no host has "{strange[0]}" in its name; '
                    f"{AGAIN}"
                )
            first_lines[host] = min(line, first_lines.get(host, line))
    if len(first_lines) > 1:
        (first, _), (second, line), *_ = sorted(first_lines.items(), key=lambda item: item[1])
        raise Unusable(
            f"{path}:{line}: rows of host {short(second)} after rows of {short(first)}; split the file by host"
        )
    return next(iter(first_lines))


def _instances(table: SectionTable) -> Iterator[tuple[str | None, NDArray[np.intp]]]:
    """Each instance with its rows, in the order in which instances first appear."""
    if not table.section.label:
        yield None, np.arange(len(table.lines))
        return
    codes = table.devices.rank("dense").to_numpy()
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    for rows in sorted(groups, key=lambda rows: int(rows[0])):
        yield table.devices[int(rows[0])], rows

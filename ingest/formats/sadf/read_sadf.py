"""What `sadf -d` prints of a system activity file: rows of numbers under headers, with semicolons between them.

Each section has a header of its own and as many rows per time as it has instances. The names of its
series are those of Telegraf (`sadf_names`); a series' path is how sadf shows it: `sadf disk(sda) %util`.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.formats.sadf.blocks import blocks
from ingest.formats.sadf.days import mended
from ingest.formats.sadf.interrupts import parts
from ingest.formats.sadf.joined import tell_steps_back
from ingest.formats.sadf.names import series
from ingest.formats.sadf.plain import begins
from ingest.formats.sadf.table import SectionTable, table_of
from ingest.reading import Reading
from ingest.shared.clock import to_utc
from ingest.shared.text import Text
from model.errors import Unusable
from model.log import Log, Times, Values
from model.remark import Kind, Remarks, counted, short
from model.series import Series
from model.times import Zone

NAME = "sadf"
_NO_HOST = re.compile(r"""[\s"'`,:<>|]""")


def sniff(text: Text) -> bool:
    """Whether the file begins with a header of sadf, or with a restart or comment and a header after it."""
    return begins(text.header, text.data)


def read(text: Text, how: Reading) -> Log:
    """Read all sections as one log. `how.zone` is that of times which are not said to be UTC.

    Unusable if no known section has rows, if rows cannot be told apart, if they are of several hosts, if nothing in
    them can be read, or if some times are UTC and others of an unknown zone.
    """
    path = text.path
    remarks = Remarks(str(path))
    tables = [table_of(path, block, remarks) for block in blocks(text, remarks)]
    tables = [table for table in tables if len(table.lines)]
    if not tables:
        raise Unusable(f"{path}: holds no row of a known section of sadf; write it with sadf -d FILE -- -A")
    host = _host(path, tables)
    zone = _zone(path, tables, how.zone, remarks)
    tables = mended(tables, zone, remarks)
    instants = [_instants(table, zone, remarks) for table in tables]
    tell_steps_back(tables, instants, remarks)
    times: Times = np.unique(np.concatenate(instants))
    columns = _Columns(len(times))
    for fields, table, moments in parts(tables, instants, remarks):
        rows = np.searchsorted(times, moments)
        for instance, at in _instances(table):
            for name, values in zip(fields, table.values, strict=True):
                if values is not None:
                    columns.put(series(host, table.section, instance, name), rows[at], values[at])
    if not columns.found:
        raise Unusable(
            f"{path}:{tables[0].lines[0]}: no row holds a number, or none of which the processor can be told; "
            "write the file with sadf -d FILE -- -A"
        )
    if columns.differing:
        remarks.add(
            Kind.SKIPPED,
            f"{counted(columns.differing, 'value')} unlike those before of the same series and time: the first counts",
            count=columns.differing,
        )
    values = tuple(pl.Series(column, nan_to_null=True) for column in columns.found.values())
    return Log(path, NAME, times, values, tuple(columns.found), zone, tuple(remarks))


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
        # Backwards: of several values put in one place numpy keeps the last, and the first shall count.
        column[rows[free][::-1]] = values[free][::-1]
        self.differing += int(np.count_nonzero((column[rows] != values) & ~np.isnan(values)))


def _host(path: Path, tables: Sequence[SectionTable]) -> str:
    """The one host all rows are of; rows of several would not share their times."""
    hosts: dict[str, int] = {}
    for table in tables:
        for host in table.hosts.unique(maintain_order=True):
            line = int(table.lines[(table.hosts == host).to_numpy()][0])
            if strange := _NO_HOST.search(host):
                raise Unusable(
                    f'{path}:{line}: the host would be called {short(host)}, and none has "{strange[0]}" in its name: '
                    "something stands before the row; take it away from all rows"
                )
            hosts[host] = min(line, hosts.get(host, line))
    if len(hosts) > 1:
        (first, _), (second, line), *_ = sorted(hosts.items(), key=lambda item: item[1])
        raise Unusable(
            f"{path}:{line}: rows of host {short(second)} after rows of {short(first)}; split the file by host"
        )
    return next(iter(hosts))


def _zone(path: Path, tables: Sequence[SectionTable], given: Zone | None, remarks: Remarks) -> Zone:
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
    named = next((table.zone for table in tables if table.zone), None)
    told = f'call their zone "{named}", which tells no offset for certain' if named else "do not say their zone"
    remarks.add(Kind.GUESSED, f"the times {told} (sadf -t or -T): they are the log's own clock's; name it with --zone")
    return Zone.unknown()


def _instants(table: SectionTable, zone: Zone, remarks: Remarks) -> Times:
    """When each row was written, in UTC."""
    if not table.local.any():
        return table.stamps
    instants = table.stamps.copy()
    at = np.flatnonzero(table.local)
    # A section has a row per instance; the clock is looked at once for each time.
    first = np.flatnonzero(np.diff(table.stamps[at], prepend=-1))
    own = Remarks(remarks.file)
    lines = table.lines[at[first]]
    # An offset that is given is the first row's: it shall not hold anew behind each header.
    joined = table.anew[at[first]] & ~table.restarted[at[first]] & (not zone.known)
    moments = to_utc(table.stamps[at[first]], zone, lines.tolist(), own, lines[joined].tolist())
    instants[at] = np.repeat(moments, np.diff(first, append=len(at)))
    told = {remark.text for remark in remarks}
    remarks.items += [remark for remark in own if remark.text not in told]
    return instants


def _instances(table: SectionTable) -> Iterator[tuple[str | None, NDArray[np.intp]]]:
    """Each instance of a table, in the order they appear, with its rows."""
    if not table.section.label:
        yield None, np.arange(len(table.lines))
        return
    codes = table.devices.rank("dense").to_numpy()
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    for rows in sorted(groups, key=lambda rows: int(rows[0])):
        yield table.devices[int(rows[0])], rows

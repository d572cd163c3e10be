"""Reads the output of sysstat's `sadf -d`: CSV with semicolons, in sections with a header each.

A section has a row for each time, or for each time and instance. Series have the names that Telegraf's `inputs.sysstat`
gives (see `sections`); a series' path names its section, instance and column: `sadf disk(sda) %util`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.sadf.blocks import split_blocks
from plimsoll.ingest.formats.sadf.sections import AGAIN, HEADER_NAMES, make_series
from plimsoll.ingest.formats.sadf.table import SectionTable, build_table
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared import clock
from plimsoll.ingest.shared.clock import DAY, HOUR, QUARTER, compute_offsets, convert_to_utc
from plimsoll.ingest.shared.same_time import are_many
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values, find_sampling_interval
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks, format_count, shorten
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone

_EASTERNMOST = 14 * HOUR
_WESTERNMOST = -11 * HOUR
_SLACK = 2 * SECOND
_DOUBT = f"; in another zone all may be a day off: name it with {Parameter.ZONE}"
_SEPARATOR = ";"  # in no name
NamedRows: TypeAlias = tuple[Sequence[str], SectionTable, Times]  # columns' names, values, and rows' times
NAME = "sadf"
_HEAD = 1 << 16
_HEADER = re.compile(rb"[^;,\t\n]{0,100}[;,\t]?[^;,\t\n]{0,10}" + HEADER_NAMES.encode())
_EVENT = re.compile(rb"[^\n]*[;,\t]\s*-1\s*[;,\t][^\n]*[;,\t]\s*(LINUX-RESTART|COM )")
_NOT_IN_A_HOST = re.compile(r"""[\s"'`,:<>|#]""")


def sniff(text: Text) -> bool:
    """Return whether the first line is a header of sadf, or a restart or comment followed by a header.

    An edited header counts as well: `read` refuses it with a reason.
    """
    if _HEADER.match(text.header):
        return True
    return bool(_EVENT.match(text.header)) and any(map(_HEADER.match, text.data[:_HEAD].splitlines()))


def read(text: Text, options: ReadOptions) -> Log:
    """Return all sections as one log. `options.zone` is the zone of times that are not in UTC.

    Raise Unusable if the file was edited, is of several hosts, has no readable row, or mixes times in UTC with times of
    an unknown zone.
    """
    path, remarks = text.path, Remarks(str(text.path))
    tables = [table for block in split_blocks(text, remarks) if len((table := build_table(path, block, remarks)).lines)]
    if not tables:
        raise Unusable(f"{path}: holds no row of a section of sadf that is read; {AGAIN}")
    host = _find_host(path, tables)
    zone = find_zone(path, tables, options.zone, remarks)
    tables = restore_local_days(tables, zone, remarks)
    instants = [compute_instants(table, zone, remarks) for table in tables]
    clock.tell(_list_steps_back(tables, instants), remarks)
    times: Times = np.unique(np.concatenate(instants))
    columns = _SeriesColumns(len(times))
    for fields, table, moments in split_by_processors(tables, instants, remarks):
        rows = np.searchsorted(times, moments)
        for instance, at in _list_instances(table):
            for name, values in zip(fields, table.values, strict=True):
                columns.put(make_series(host, table.section, instance, name), rows[at], values[at])
    drop_unknown_utilization(columns.by_series)
    if not columns.by_series:
        raise Unusable(
            f"{path}:{tables[0].lines[0]}: holds only interrupts, of processors that no section lists; {AGAIN}"
        )
    if columns.differing:
        contrary = times[columns.differs]
        remarks.add(
            Kind.CONTRADICTORY if are_many(contrary, len(times), find_sampling_interval(times)) else Kind.SKIPPED,
            f"{format_count(columns.differing, 'value')} differ from an earlier value of the same series and time: "
            "the first is kept",
            count=columns.differing,
        )
    values = tuple(columns.by_series.values())
    return Log(path, NAME, times, values, tuple(columns.by_series), zone, tuple(remarks))


def drop_unknown_utilization(columns: dict[Series, Values]) -> None:
    """Remove the utilization of network links that carry 1 MB/s or more but always show 0.00 %.

    sysstat writes 0.00 if the speed of a link is unknown; 1 MB/s is 0.01 % of 100 Gbit/s.
    """
    for link in [column for column in columns if column.field == "pct_ifutil"]:
        traffic = [columns.get(replace(link, field=field)) for field in ("rxkB_per_s", "txkB_per_s")]
        busiest = max((np.nanmax(rates, initial=0) for rates in traffic if rates is not None), default=0)
        if busiest >= 1000 and np.nanmax(columns[link], initial=0) == 0:
            del columns[link]


class _SeriesColumns:
    """A column of values for each series, NaN for missing samples; of several samples at one time the first counts."""

    def __init__(self, length: int) -> None:
        self.by_series: dict[Series, Values] = {}
        self.differing = 0
        self.differs = np.zeros(length, dtype=bool)
        self._length = length

    def put(self, series: Series, rows: NDArray[np.intp], values: Values) -> None:
        """Set a series' samples at row indices of the log, but keep samples already set; count differing values."""
        column = self.by_series.get(series)
        if column is None:
            column = self.by_series[series] = np.full(self._length, np.nan)
        free = np.isnan(column[rows])
        # Reversed: of several values for one row numpy keeps the last, but the first is wanted.
        column[rows[free][::-1]] = values[free][::-1]
        differing = rows[(column[rows] != values) & ~np.isnan(values)]
        self.differing += len(differing)
        self.differs[differing] = True


def _find_host(path: Path, tables: Sequence[SectionTable]) -> str:
    """Return the host of all rows. Raise Unusable if there are several."""
    first_lines: dict[str, int] = {}
    for table in tables:
        for host in table.hosts.unique(maintain_order=True):
            line = int(table.lines[(table.hosts == host).to_numpy()][0])
            if strange := _NOT_IN_A_HOST.search(host):
                raise Unusable(
                    f'{path}:{line}: the row begins with "{shorten(host)}", but no host has "{strange[0]}" in its '
                    f"name; {AGAIN}"
                )
            first_lines[host] = min(line, first_lines.get(host, line))
    if len(first_lines) > 1:
        (first, _), (second, line), *_ = sorted(first_lines.items(), key=lambda item: item[1])
        raise Unusable(
            f"{path}:{line}: rows of host {shorten(second)} after rows of {shorten(first)}; split the file by host"
        )
    return next(iter(first_lines))


def _list_instances(table: SectionTable) -> Iterator[tuple[str | None, NDArray[np.intp]]]:
    """Yield each instance and the indices of its rows, by first appearance; None as the instance if there is none."""
    if not table.section.label:
        yield None, np.arange(len(table.lines))
        return
    codes = table.devices.rank("dense").to_numpy()
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    for rows in sorted(groups, key=lambda rows: int(rows[0])):
        yield table.devices[int(rows[0])], rows


def find_zone(path: Path, tables: Sequence[SectionTable], zone: Zone | None, remarks: Remarks) -> Zone:
    """Return UTC if all times are in UTC, else the caller's `zone`; if `zone` is None, an unknown zone, with a remark.

    Raise Unusable if some times are in UTC and other times in an unknown zone.
    """
    local = [int(table.lines[table.local][0]) for table in tables if table.local.any()]
    in_utc = [int(table.lines[~table.local][0]) for table in tables if not table.local.all()]
    if not local:
        return Zone("UTC", UTC)
    if zone is not None:
        return zone
    if in_utc:
        raise Unusable(
            f"{path}:{min(local)}: this time does not say its zone while that in line {min(in_utc)} is UTC; "
            f"name the zone with {Parameter.ZONE}, or write the file with one call of sadf -d FILE -- -A"
        )
    named = next((table.zone for table in tables if table.zone), None)
    text = f'have the zone "{named}", a name that does not fix an offset' if named else "do not say their zone"
    remarks.add(Kind.GUESSED, f"the times {text}: they are the log's own clock's; name it with {Parameter.ZONE}")
    return Zone.unknown()


def compute_instants(table: SectionTable, zone: Zone, remarks: Remarks) -> Times:
    """Return the time of each row (UTC, ns). Add one remark on each change of the clock, not one for each section."""
    if not table.local.any():
        return table.stamps
    instants = table.stamps.copy()
    at = np.flatnonzero(table.local)
    # A section has a row per instance, so check the clock once per time.
    first = np.flatnonzero(np.diff(table.stamps[at], prepend=-1))
    changes = Remarks(remarks.file)
    lines = table.lines[at[first]]
    # With an unknown zone, a repeated header without a restart means that another file begins.
    joined = table.is_after_header[at[first]] & ~table.is_after_restart[at[first]] & (not zone.is_specified)
    moments = convert_to_utc(table.stamps[at[first]], zone, lines.tolist(), changes, lines[joined].tolist())
    instants[at] = np.repeat(moments, np.diff(first, append=len(at)))
    remarked = {remark.text for remark in remarks}
    remarks.items += [remark for remark in changes if remark.text not in remarked]
    return instants


def _list_steps_back(tables: Sequence[SectionTable], instants: Sequence[Times]) -> Iterator[tuple[str, int, int]]:
    """Yield the reason, line and size (ns) of each step back in time; a step in several sections is yielded once."""
    ends: set[int] = set()
    for table, moments in zip(tables, instants, strict=True):
        at = np.flatnonzero(np.diff(moments) < 0) + 1
        steps = list(zip(at.tolist(), moments[at - 1].tolist(), moments[at].tolist(), strict=True))
        for row, before, after in steps:
            # One end is enough: a section may lack the row before or after a step.
            if ends.isdisjoint((before, after)):
                begun = clock.RESTARTED if table.is_after_restart[row] else clock.JOINED
                reason = begun if table.is_after_header[row] else clock.CLOCK
                yield reason, int(table.lines[row]), before - after
        ends.update(end for _, *both in steps for end in both)


def split_by_processors(
    tables: Sequence[SectionTable], instants: Sequence[Times], remarks: Remarks
) -> Iterator[NamedRows]:
    """Yield column names, table and times; a table of interrupts is split into one for each set of online processors.

    Rows at times with unknown processors are left out, with a remark.
    """
    processors = None
    for table, moments in zip(tables, instants, strict=True):
        if not table.section.is_per_cpu:
            yield table.section.fields, table, moments
            continue
        if processors is None:
            processors = _list_processors(tables, instants)
        yield from _divide(table, moments, processors, remarks)


def _list_processors(tables: Sequence[SectionTable], instants: Sequence[Times]) -> pl.DataFrame:
    """Return the names of the processors at each time, from the first section that lists processors at that time."""
    listed = [
        pl.DataFrame({"time": moments, "names": table.devices}).with_columns(table=at)
        for at, (table, moments) in enumerate(zip(tables, instants, strict=True))
        if table.section.label == "CPU"
    ]
    none = pl.DataFrame(schema={"time": pl.Int64, "names": pl.String, "table": pl.Int32})
    rows = pl.concat([none, *listed])
    return (
        rows.group_by("time", "table", maintain_order=True)
        .agg(pl.col("names").unique(maintain_order=True).str.join(_SEPARATOR))
        .unique("time", keep="first", maintain_order=True)
    )


def _divide(table: SectionTable, moments: Times, processors: pl.DataFrame, remarks: Remarks) -> Iterator[NamedRows]:
    """Split a table that has a column for each processor into one table for each set of online processors."""
    width = len(table.values)
    sets = processors.get_column("names").unique()
    rows_by_time = pl.DataFrame({"time": moments})
    names = rows_by_time.join(processors, on="time", how="left", maintain_order="left").get_column("names")
    if len(sets) == 1:
        names = names.fill_null(sets[0])  # the processors never changed
    fits = (names.str.count_matches(_SEPARATOR, literal=True) + 1 == width).fill_null(False)
    for online in names.filter(fits).unique(maintain_order=True):
        rows = np.flatnonzero((names == online).fill_null(False).to_numpy())
        yield online.split(_SEPARATOR), table.rows(rows), moments[rows]
    unlisted = names.is_null()
    _remark_lost(table, unlisted, "no section lists the processors then; sadf -d FILE -- -A writes one", remarks)
    _remark_lost(table, ~fits & ~unlisted, "the section CPU lists more or fewer processors then", remarks)


def _remark_lost(table: SectionTable, lost: pl.Series, why: str, remarks: Remarks) -> None:
    rows = np.flatnonzero(lost.to_numpy())
    if len(rows):
        remarks.add(
            Kind.SKIPPED,
            f"{format_count(len(rows), 'row')} of interrupts with {format_count(len(table.values), 'column')} left "
            f"out: {why}",
            line=int(table.lines[rows[0]]),
            count=len(rows),
        )


def restore_local_days(tables: Sequence[SectionTable], zone: Zone, remarks: Remarks) -> list[SectionTable]:
    """Return the tables with local dates; `sadf -t` writes the date in UTC beside the local time of day.

    Add a remark if dates change.
    """
    clock_ahead = next((ahead for table in tables if (ahead := _find_offset_by_dates(table, zone)) is not None), None)
    if clock_ahead is None:
        return list(tables)
    ahead, is_sure = clock_ahead
    shifts = [_compute_shifts(table, zone, ahead) for table in tables]
    moved = np.unique(np.concatenate([table.stamps[shift != 0] for table, shift in zip(tables, shifts, strict=True)]))
    lines = [int(table.lines[shift != 0][0]) for table, shift in zip(tables, shifts, strict=True) if shift.any()]
    if lines:
        remarks.add(
            Kind.REPAIRED if is_sure else Kind.GUESSED,
            f"sadf -t writes the date of UTC with the local time: {format_count(len(moved), 'time')} moved by a day, "
            f"as the intervals of the rows show{'' if is_sure else _DOUBT}",
            line=min(lines),
            count=len(moved),
        )
    return [replace(table, stamps=table.stamps + shift) for table, shift in zip(tables, shifts, strict=True)]


def _find_offset_by_dates(table: SectionTable, zone: Zone) -> tuple[int, bool] | None:
    """Return the local clock's offset from UTC (ns), judged by rows around a midnight, and whether it is certain.

    Return None if no date is wrong, or if the rows do not tell the offset.
    """
    stamps, values = table.stamps[table.local], table.intervals[table.local] * SECOND
    first = np.flatnonzero(np.diff(stamps, prepend=-1))
    stamps, values = stamps[first], values[first]
    # After a header, a row's interval may refer to a row in another file.
    extra = np.where(table.is_after_header[table.local][first][1:], 0, np.diff(stamps) - values[1:])
    goes_back = bool(((np.abs(extra + DAY) <= _SLACK) & (stamps[1:] % DAY <= values[1:])).any())
    for at in np.flatnonzero(np.abs(extra - DAY) <= _SLACK).tolist():
        before, after = int(stamps[at]) % DAY, int(stamps[at + 1]) % DAY
        # A day that was not recorded is missing from one local midnight to the next.
        if (before >= QUARTER or goes_back) and before < after // QUARTER * QUARTER:
            between = _find_offset_of_midnight(before, after)
            value = int(_compute_offsets(zone, stamps[at + 1 : at + 2], between[0])[0])
            # Two offsets a day apart, on both sides of the date line, give the same date.
            off = (value - between[0] + DAY // 2) % DAY - DAY // 2
            if abs(off) <= values[at + 1]:
                return between[0], between[1] or zone.is_specified
    if not goes_back or len(np.unique(stamps)) < len(stamps):
        return None
    if zone.is_specified:
        return 0, True
    # All rows have one date of UTC, so midnight in UTC is at a time of day without rows.
    start, end = int(stamps[0]), int(stamps[-1])
    return _find_offset_of_midnight(end % DAY, start % DAY) if end < start and start // DAY == end // DAY else None


def _find_offset_of_midnight(before: int, after: int) -> tuple[int, bool]:
    """Return the local clock's offset from UTC (ns), and whether the offset is certain.

    Midnight in UTC lies between the local times of day `before` and `after` (ns). The offset is uncertain if two
    offsets a day apart (such as +13 and -11 hours) are both in use.
    """
    ahead = after // QUARTER * QUARTER
    # More people live at +13 than at -11, and at -10 than at +14.
    is_behind = before >= DAY + _WESTERNMOST
    return ahead - DAY * is_behind, before >= _EASTERNMOST or after < DAY + _WESTERNMOST


def _compute_shifts(table: SectionTable, zone: Zone, ahead: int) -> Times:
    """Return the correction of each row's time (ns), 0 or plus or minus a day, so that its UTC date is as written.

    `ahead` is the clock's offset from UTC (ns), for an unknown zone. Consecutive rows whose steps match their intervals
    get the same correction, as a single row at a change of offset is ambiguous.
    """
    stamps = table.stamps
    steps = np.diff(stamps, prepend=stamps[:1])
    run = np.cumsum((steps != 0) & (np.abs(steps - table.intervals * SECOND) > _SLACK))
    choices = np.array([0, DAY, -DAY])
    clocks = (stamps + choice for choice in choices)
    fits = [
        np.bincount(run, (clock - _compute_offsets(zone, clock, ahead)) // DAY == stamps // DAY) for clock in clocks
    ]
    return np.where(table.local, choices[np.argmax(fits, axis=0)][run], 0)


def _compute_offsets(zone: Zone, local: Times, otherwise: int) -> Times:
    return compute_offsets(local, zone.rule)[0] if zone.is_specified else np.full(len(local), otherwise)

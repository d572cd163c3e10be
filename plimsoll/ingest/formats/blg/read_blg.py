"""Reads a binary log (BLG) into a Log."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg import NAME
from plimsoll.ingest.formats.blg.container import (
    ALL_INSTANCES,
    CATALOGUE,
    COUNTERS,
    NAMES,
    ONE_INSTANCE,
    SAMPLE,
    BlgHeader,
    BlgMessage,
    Container,
    read_container,
    read_list,
    read_names,
)
from plimsoll.ingest.formats.blg.cooking import ByteRange, CounterColumn, Room
from plimsoll.ingest.formats.blg.raw_counters import KIND_OF_ARRAY, MARK, CounterOfInstances, SingleCounters
from plimsoll.ingest.formats.blg.structures import BlgError, Structure
from plimsoll.ingest.formats.blg.whole_object import KIND as KIND_OF_OBJECT
from plimsoll.ingest.formats.blg.whole_object import WholeObject
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.clock import EARLIEST, LATEST
from plimsoll.ingest.shared.same_time import LONGEST_HOLE
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import CounterFacts, Log, Values, find_sampling_interval
from plimsoll.model.names import Names
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.remark import MAX_SHOWN, Kind, Remarks, format_count, join_names
from plimsoll.model.series import Series
from plimsoll.model.times import Zone, format_offset

_UNIX = 116_444_736_000_000_000  # 1970 as a FILETIME
_MINUTE = 600_000_000  # in units of 100 ns
_HOUR = 60 * _MINUTE
_SLACK = _MINUTE
_QUARTER = 15  # minutes: offsets from UTC are multiples of it
_MOST = 24 * 60
Offsets = NDArray[np.int64]
_SAMPLE, _CATALOGUE = Structure("sample"), Structure("catalogue")
_KIND_OF_SAMPLE = 3
_TO_DO = "convert it on Windows with relog FILE.blg -f CSV -o FILE.csv, or record CSV"
_Source: TypeAlias = WholeObject | SingleCounters | CounterOfInstances


def read_blg(text: Text, options: ReadOptions) -> Log:
    """Return the log. Raise Unusable if the kind of log is not supported, or if the file is damaged before its end."""
    remarks = Remarks(str(text.path))
    try:
        return _read(text, options, remarks)
    except BlgError as error:
        raise Unusable(f"{text.path}: the binary log {error}; {_TO_DO}") from None


def _read(text: Text, options: ReadOptions, remarks: Remarks) -> Log:
    """Return the log. Raise BlgError if the file is damaged or not supported, or has no complete sample."""
    container = read_container(text.data, remarks)
    sources, samples = (
        _list_sources(text, container),
        [message for message in container.messages if message.kind == SAMPLE],
    )
    if not samples:
        raise BlgError("holds no whole sample")
    for row, sample in enumerate(samples):
        _take(row, sample.content(text.data), sources)
    clocks = (clock for source in sources for clock in source.utc(len(samples)))
    offsets = find_offsets(samples, clocks, container.header, remarks)
    times = _compute_instants(samples, offsets)
    by_time = np.argsort(times)
    order = np.empty_like(by_time)
    order[by_time] = np.arange(len(times))
    times, offsets = times[by_time], offsets[by_time]
    tell_changes(offsets, remarks)
    _tell_losses(text, container, len(samples), sources, remarks)
    interval, is_lossy = find_sampling_interval(times), any(remark.kind is Kind.SKIPPED for remark in remarks)
    if is_lossy and interval and (np.diff(times) >= interval + LONGEST_HOLE).any():
        remarks.add(Kind.CUT, "samples of five minutes on end, or of more, may be among those that are lost")
    room = Room(len(text.data))
    series: dict[object, Series] = {}
    facts: dict[object, CounterFacts] = {}
    values: list[Values] = []
    for column in (column for source in sources for column in source.columns(order, room)):
        named = _make_series(column, options.names)
        if named.key in series:
            raise BlgError(f"holds two columns of one counter: {_make_path(column)}")
        series[named.key] = named
        rows = np.flatnonzero(column.present)
        first, last = (int(times[at]) for at in (rows[[0, -1]] if len(rows) else (0, 0)))
        facts[named.key] = CounterFacts(column.type.name, len(rows), first, last)
        values.append(np.ascontiguousarray(column.values, dtype=np.float64))
    zone = Zone.from_bias(f"UTC{format_offset(int(offsets[0]))}", -int(offsets[0]))
    return Log(text.path, NAME, times, tuple(values), tuple(series.values()), zone, tuple(remarks), facts=facts)


def _list_sources(text: Text, container: Container) -> list[_Source]:
    """Return the readers of a sample's blocks, in block order.

    Raise BlgError unless the file has exactly one counter list.
    """
    lists = [message for message in container.messages if message.kind == COUNTERS]
    if not lists:
        raise BlgError("has lost its list of counters, without which its samples have no names")
    if len(lists) > 1:
        raise BlgError("holds several lists of counters: several logs were joined, or it is damaged")
    names: dict[tuple[str, int], str] = {}
    for message in container.messages:
        if message.kind == NAMES:
            read_names(message.content(text.data), names)
    sources: list[_Source] = []
    for kind, group in groupby(read_list(lists[0].content(text.data)), key=lambda entry: entry.kind):
        if kind == ONE_INSTANCE:
            sources.append(SingleCounters(list(group)))
        elif kind == ALL_INSTANCES:
            sources += map(CounterOfInstances, group)
        else:
            sources += (WholeObject(entry, names) for entry in group)
    return sources


def _take(row: int, data: bytes, sources: Sequence[_Source]) -> None:
    """Pass each block of a sample to its reader. Raise BlgError if the blocks do not match the counter list."""
    mark, kind, end = _SAMPLE.read(data, 0, len(data))
    if (mark, kind) != (MARK, _KIND_OF_SAMPLE) or not _SAMPLE.size <= end <= len(data):
        raise BlgError(f"is damaged: sample {row + 1} has no beginning or another length than it says")
    at = _SAMPLE.size
    for source in sources:
        if isinstance(source, SingleCounters):
            if source.size > end - at:
                raise BlgError(f"is damaged: sample {row + 1} holds fewer counters than the list of counters")
            source.take(row, ByteRange(data, at, at + source.size))
            at += source.size
            continue
        mark, kind, size = _SAMPLE.read(data, at, end)
        if mark != MARK or not _SAMPLE.size <= size <= end - at:
            raise BlgError(f"is damaged: a block of sample {row + 1} has no beginning or a wrong length")
        expected = KIND_OF_OBJECT if isinstance(source, WholeObject) else KIND_OF_ARRAY
        if kind != expected:
            raise BlgError(f"holds a block of a kind not known or not listed (0x{kind:04x}), in sample {row + 1}")
        source.take(row, ByteRange(data, at + (_SAMPLE.size if expected == KIND_OF_OBJECT else 0), at + size))
        at += size
    if data[at:end].strip(b"\0"):
        raise BlgError(f"is damaged: sample {row + 1} holds more than the list of counters says")
    objects = {source.key: source for source in sources if isinstance(source, WholeObject)}
    for source in objects.values():
        source.settle(row, objects)


def _tell_losses(text: Text, container: Container, samples: int, sources: Sequence[_Source], remarks: Remarks) -> None:
    """Add remarks on lost samples, on samples that the log counts but lacks, and on counters that are not numbers."""
    if container.lost:
        name = f"{format_count(container.lost, 'sample')} of which a part is missing: left out"
        remarks.add(Kind.SKIPPED, name, count=container.lost)
    for message in container.messages:
        if message.kind == CATALOGUE:
            data = message.content(text.data)
            _, _, listed_ = _CATALOGUE.read(data, 0, len(data))
            if listed_ != samples + container.lost:
                name = f"the log counts {format_count(listed_, 'sample')} at its end, and {samples} are there"
                remarks.add(Kind.SKIPPED, name)
    if skipped := [path for source in sources for path in source.skipped]:
        name = f"{format_count(len(skipped), 'counter')} without numbers: left out: {join_names(skipped, MAX_SHOWN)}"
        remarks.add(Kind.SKIPPED, name, count=len(skipped))


def _make_path(column: CounterColumn) -> str:
    instance = f"({column.instance})" if column.instance is not None else ""
    return f"\\\\{column.host}\\{column.object}{instance}\\{column.counter}"


def _make_series(column: CounterColumn, names: Names) -> Series:
    """Return the series of a column, named as in a PDH-CSV log."""
    try:
        path = CounterPath.parse(_make_path(column))
    except ValueError:
        raise BlgError(f"names a counter in a way that is no path: {_make_path(column)}") from None
    return names.series(path, column.host)


def find_offsets(
    samples: Sequence[BlgMessage], clocks: Iterable[NDArray[np.int64]], header: BlgHeader, remarks: Remarks
) -> Offsets:
    """Return the clock's offset from UTC (minutes) at each sample, in file order.

    `clocks` are UTC FILETIMEs recorded with the counters; 0 where a sample has none. A sample without a clock gets one
    of the two offsets in the header: the first sample by the time at which the recording began, later samples by the
    times at which buffers were written.
    """
    stamps = np.array([sample.stamp for sample in samples], dtype=np.int64)
    if ((stamps < EARLIEST // 100 + _UNIX) | (stamps > LATEST // 100 + _UNIX)).any():
        raise BlgError("is damaged: a sample has a time in a year in which nobody recorded")
    usual = np.array(sorted(set(header.offsets)), dtype=np.int64)
    result = np.zeros(len(stamps), dtype=np.int64)
    settled = np.zeros(len(stamps), dtype=bool)
    sure = np.zeros(len(stamps), dtype=bool)
    for clock in clocks:
        offset = np.rint((stamps - clock) / _MINUTE).astype(np.int64)
        may_be = (clock > 0) & (np.abs(offset) < _MOST)
        is_sure = may_be & np.isin(offset, usual)
        taken = is_sure & ~sure | may_be & ~settled
        result[taken] = offset[taken]
        settled |= may_be
        sure |= is_sure
    odd = settled & ~sure & (result % _QUARTER != 0)
    if odd.any():
        text = (
            f"{format_count(int(odd.sum()), 'sample')} recorded of a computer whose clock differs from the recorder's"
        )
        remarks.add(Kind.GUESSED, f"{text}: the offset to UTC is the nearest of the header's", count=int(odd.sum()))
        result[odd] = usual[np.abs(result[odd, None] - usual).argmin(axis=1)]
    if not settled.all():
        _set_offsets_by_header(result, settled, samples, header)
    return result


def _compute_instants(samples: Sequence[BlgMessage], offsets: Offsets) -> NDArray[np.int64]:
    """Return the times (UTC, ns) of samples in file order. Raise BlgError if two samples have the same time."""
    stamps = np.array([sample.stamp for sample in samples], dtype=np.int64)
    values = (stamps - _UNIX - offsets * _MINUTE) * 100
    if len(np.unique(values)) < len(values):
        raise BlgError("holds two samples of one time")
    return values


def tell_changes(offsets: Offsets, remarks: Remarks) -> None:
    """Add a remark on each change of the clock's offset; `offsets` are in time order."""
    for at in np.flatnonzero(np.diff(offsets)).tolist():
        before, after = (f"UTC{format_offset(int(offset))}" for offset in offsets[at : at + 2])
        text = f"the clock changes from {before} to {after} before sample {at + 2}: times are shown at the first offset"
        remarks.add(Kind.NOTED, text)


def _set_offsets_by_header(
    offsets: Offsets, values: NDArray[np.bool_], samples: Sequence[BlgMessage], header: BlgHeader
) -> None:
    """Set `offsets` to one of the two offsets in the file header, at each sample where `values` is False."""
    last: int | None = None
    stamp = 0
    for at, sample in enumerate(samples):
        if not values[at]:
            choices = sorted(
                set(header.offsets),
                key=lambda offset: (offset != last, abs(sample.stamp - offset * _MINUTE - header.started)),
            )
            # A sample was written between the times of its buffers.
            earliest, latest = sample.after - _SLACK, (sample.before or sample.stamp + _MOST * _MINUTE) + _SLACK
            fitting = [choice for choice in choices if earliest <= sample.stamp - choice * _MINUTE <= latest]
            if last is not None and sample.stamp < stamp and last in fitting[:1]:
                fitting = fitting[1:]  # the clock was set back, as at the end of summer time
            offsets[at] = (fitting or choices)[0]
        last, stamp = int(offsets[at]), sample.stamp

"""Live samples in VictoriaMetrics, which stores times to the millisecond and values to about 15 digits."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.log import Times, Values
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, list_hosts, make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.store.line_protocol import convert_to_stored, encode_points, request_bodies
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, SampleReader, WriteResult, join_spellings
from plimsoll.store.store import Store
from plimsoll.store.victoriametrics import exported
from plimsoll.store.victoriametrics.acknowledged import Acknowledged, Witnesses
from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.leader_election import LeaderElection
from plimsoll.store.victoriametrics.names import (
    Measurements,
    format_line_head,
    make_metric_name,
    match_hosts,
    select_series,
)
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer

MS = 1_000_000
_LAST_MS = 9_000_000_000_000  # in the year 2255
_EXACT = 6 * 3600 * SECOND
_USUAL = 10 * SECOND  # between two samples of a series
_FEW = 180 * SECOND  # in which a series has so few samples that they cost no more than its name
_SAMPLES_AT_ONCE = 2_000_000
_READ_ALL = 500_000  # more samples than this are reduced by the server, where that suffices
_HOSTS_NAMED = 25
_HOSTS_LISTED = 50  # VictoriaMetrics lists at most 30,000 series at once
_CACHE_SIZE = 1_000_000
_Read = TypeVar("_Read")


class _StoredSeries(NamedTuple):
    """A series as VictoriaMetrics stores it, its key, and its metric name."""

    stored: Series
    key: object
    name: str


class VictoriaSamples(SampleReader):
    """The samples in a VictoriaMetrics. `measurements` splits metric names into measurement and field.

    See `plimsoll.store.protocol.SampleStore`, with a difference: of two values of a series at the same time, the higher
    value is kept.
    """

    def __init__(
        self, server: VictoriaMetricsServer, measurements: Measurements, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.server = server
        self._measurements = measurements
        self._acknowledged = Acknowledged(server)
        self._series_by_metric: dict[bytes | tuple[tuple[str, str], ...], tuple[Series, object]] = {}
        self._stored_series: dict[Series, _StoredSeries] = {}
        self._witnesses = Witnesses(clock)

    @property
    def name(self) -> str:
        """The address of the server."""
        return self.server.address.name

    def close(self) -> None:
        """Close the connections."""
        self.server.close()

    def write_points(self, points: Points) -> WriteResult:
        """Write samples; they are acknowledged when the call returns, and readable within about 2 s."""
        for body in request_bodies(encode_points(points, format_line_head, MS)):
            self._acknowledged.write(body)
        if len(points):
            at = int(
                np.abs(points.times - time.time_ns()).argmin()
            )  # the sample least likely to be dropped because of its time
            self._witnesses.add(points.series[points.which[at]], int(points.times[at]))
        return WriteResult(len(points))

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted; a range beyond 6 h is extended to whole days (UTC)."""
        if end - start <= _EXACT:
            return super().hosts(start, end)
        first, last = _convert_to_milliseconds(start, end)
        names = sorted(self.server.label_values("host", first, last))
        return sorted({make_host_key(host): host for host in reversed(names)}.values(), key=make_host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the series with samples in a range, sorted; a range beyond 6 h is extended to whole days (UTC)."""
        series: dict[object, Series] = {}
        for listed, key in self._list_with_keys(hosts, start, end):
            series.setdefault(key, listed)
        if not series:
            self._check_witness()
        return FoundSeries(sorted(series.values(), key=lambda series: series.key), 0)

    def _list_with_keys(self, hosts: Sequence[str], start: int, end: int) -> Iterator[tuple[Series, object]]:
        """Yield each series with samples in a range, and its key; without `hosts`, of all hosts."""
        first, last = _convert_to_milliseconds(start, end)
        selector = "{" + match_hosts(hosts) + "}"
        if first > last:
            return
        if end - start <= _FEW:
            lines = self.server.export([selector], first, last)
            yield from (self._decode_series(metric) for metric in self._read(exported.list_metrics, lines))
        elif end - start <= _EXACT:
            # Ranges in PromQL exclude their beginning.
            text = f"last_over_time({selector}[{last - first + 1}ms]) keep_metric_names"
            yield from (self._find_series(metric) for metric, _ in self.server.query(text, last))
        elif hosts:
            yield from map(self._find_series, self.server.series([selector], first, last))
        else:
            label_values = self.server.label_values("host", first, last)
            for at in range(0, len(label_values), _HOSTS_LISTED):
                name = "{" + match_hosts(label_values[at : at + _HOSTS_LISTED], exactly=True) + "}"
                yield from map(self._find_series, self.server.series([name], first, last))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        stored_series = [self._store_series(series) for series in series]
        keys = {stored.key for stored in stored_series}
        parts: dict[object, list[tuple[Series, Samples]]] = defaultdict(list)
        for names, hosts in _group_calls(stored_series, start, end):
            for line in self._export_series(select_series(names, hosts), start, end):
                spelled, key = self._decode_series(line.metric)
                if key in keys and len(line.times):
                    parts[key].append((spelled, Samples(line.times, line.values)))
        if series and not parts:
            self._check_witness()
        return [join_spellings(entry.stored, parts.get(entry.key, [])) for entry in stored_series]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns.

        The server computes them if there are many samples.
        """
        first, last = -(-start // width) * width, (end + 1) // width * width
        if width % MS or last - first < width or not self._are_many(series, start, end):
            return super().buckets(series, start, end, width)
        before, after = (self.buckets(series, *part, width) for part in ((start, first - 1), (last, end)))
        functions = ("min_over_time", "max_over_time", "avg_over_time")
        rolled = self._evaluate_rollups(series, functions, exported.Grid(first, width, (last - first) // width))
        middle = [
            Buckets(columns[functions[0]][0], *(columns[function][1] for function in functions))
            if len(columns) == len(functions)
            else Buckets.joined()
            for columns in rolled
        ]
        return [Buckets.joined(parts) for parts in zip(before, middle, after, strict=True)]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return the samples for drawing each series; the server chooses them if there are many samples."""
        if not self._are_many(series, start, end):
            return super().drawn(series, start, end, buckets)
        rolled = self._evaluate_rollups(series, exported.CORNERS, exported.Grid.of(start, end, buckets))
        return [exported.draw_corners(columns, start, end) for columns in rolled]

    def _are_many(self, series: Sequence[Series], start: int, end: int) -> bool:
        return len(series) * (end - start) // _USUAL > _READ_ALL

    def _evaluate_rollups(
        self, series: Sequence[Series], functions: Sequence[str], grid: exported.Grid
    ) -> list[Mapping[str, tuple[Times, Values]]]:
        """Return, for each series, times (UTC ns) and values by rollup function, evaluated on a grid."""
        stored_series = [self._store_series(series) for series in series]
        columns: dict[object, dict[str, tuple[Times, Values]]] = {stored.key: {} for stored in stored_series}
        for selector in select_series({stored.name for stored in stored_series}, _list_query_hosts(stored_series)):
            for function in functions:
                promql = f"{function}({selector}[{grid.width // MS}ms]) keep_metric_names"
                for metric, rows in self.server.query_range(promql, *grid.parameters):
                    _, key = self._find_series(metric)
                    if key in columns:
                        seconds, values = np.array(rows, np.float64).reshape(-1, 2).T
                        columns[key].setdefault(function, (grid.bucket(seconds), values))
        return [columns[stored.key] for stored in stored_series]

    def _export_series(self, selectors: Sequence[str], start: int, end: int) -> Iterator[exported.Exported]:
        first, last = _convert_to_milliseconds(start, end)
        if first > last:
            return
        yield from self._read(exported.read, self.server.export(selectors, first, last))

    def _read(self, read: Callable[[Iterable[bytes]], Iterator[_Read]], lines: Iterable[bytes]) -> Iterator[_Read]:
        try:
            yield from read(lines)
        except ValueError as error:
            raise Unusable(f"{self.name}: {error}; is it the address of a VictoriaMetrics?") from None

    def _decode_series(self, metric: bytes) -> tuple[Series, object]:
        """Return the series with these labels, as an export writes them, and the key of the series; cached."""
        return self._series_by_metric.get(metric) or self._learn(metric, exported.parse_metric(metric))

    def _find_series(self, metric: Mapping[str, str]) -> tuple[Series, object]:
        """Return the series with these labels, as a query returns them, and the key of the series; cached."""
        place = tuple(metric.items())
        return self._series_by_metric.get(place) or self._learn(place, metric)

    def _learn(self, place: bytes | tuple[tuple[str, str], ...], metric: Mapping[str, str]) -> tuple[Series, object]:
        if len(self._series_by_metric) >= _CACHE_SIZE:
            self._series_by_metric.clear()
        series = self._measurements.series(metric)
        return self._series_by_metric.setdefault(place, (series, series.key))

    def _store_series(self, series: Series) -> "_StoredSeries":
        if series not in self._stored_series:
            if len(self._stored_series) >= _CACHE_SIZE:
                self._stored_series.clear()
            stored = convert_to_stored(series)
            self._stored_series[series] = _StoredSeries(stored, stored.key, make_metric_name(stored))
        return self._stored_series[series]

    def _check_witness(self) -> None:
        """Raise Unreachable if the server lost an acknowledged sample, so that its empty answers are unreliable."""
        witness = self._witnesses.ready
        if witness is None:
            return
        series = self._store_series(witness.series)
        lines = self._export_series(
            select_series([series.name], _list_query_hosts([series])), witness.at - MS, witness.at + MS
        )
        if not any(self._decode_series(line.metric)[1] == series.key for line in lines):
            ago = format_duration(round(self._witnesses.age_s(witness)) * SECOND)
            raise Unreachable(
                f"{self.name}: answers with nothing, and has not even what it acknowledged {ago} ago; does one of its "
                "nodes fail, or is it read where it is not written to, or written to with times that it does not keep?"
            )


def _convert_to_milliseconds(start: int, end: int) -> tuple[int, int]:
    """Return the first and last whole millisecond in a range (ns)."""
    return max(-(-start // MS), 1), min(max(end // MS, 1), _LAST_MS)


def _list_query_hosts(stored_series: Sequence["_StoredSeries"]) -> Sequence[str]:
    """Return the hosts to name in a query for some series; empty if they are too many, or if a series has no host."""
    hosts = list_hosts(series.stored for series in stored_series)
    return hosts if len(hosts) <= _HOSTS_NAMED and "" not in hosts else ()


def _group_calls(
    stored_series: Sequence["_StoredSeries"], start: int, end: int
) -> Iterator[tuple[Collection[str], Sequence[str]]]:
    """Yield the metric names and the hosts of each call needed to read some series, few enough for short answers."""
    names = Counter(stored.name for stored in stored_series)
    hosts = _list_query_hosts(stored_series)
    samples_a_series = max(1, (end - start) // _USUAL)
    group: list[str] = []
    count = 0
    for name, many in names.items():
        if group and (count + many) * samples_a_series > _SAMPLES_AT_ONCE:
            yield group, hosts
            group, count = [], 0
        group.append(name)
        count += many
    if group:
        yield group, hosts


def open_victoria(address: VictoriaMetricsAddress, beside: Store, measurements: Callable[[], Collection[str]]) -> Store:
    """Return a store with live samples in a VictoriaMetrics, and the runs of the store `beside`.

    `measurements` returns the measurements that Plimsoll does not ship.
    """
    server = VictoriaMetricsServer(address)
    return make_victoria_store(VictoriaSamples(server, Measurements(measurements)), beside)


def make_victoria_store(live: VictoriaSamples, beside: Store) -> Store:
    """Return a store with live samples in a VictoriaMetrics, and the runs of the store `beside`."""
    name = f"{live.name}, runs in {beside.name}"
    return Store(live, beside.runs, name=name, beside=beside, election=LeaderElection(live.server))

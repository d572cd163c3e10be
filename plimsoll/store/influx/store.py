"""The store in a bucket of InfluxDB 2, with the names that Telegraf gives."""

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plimsoll.model.host_key import host_key
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series
from plimsoll.store.influx import claims, delete, runs
from plimsoll.store.influx.claims import InfluxClaims
from plimsoll.store.influx.quoting import has_tags, identifier, time_range
from plimsoll.store.influx.runs import InfluxRuns
from plimsoll.store.influx.server import Table
from plimsoll.store.line_protocol import as_stored, encode, encode_points, parse_key, request_bodies
from plimsoll.store.m4 import Drawn, m4
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, WriteResult

_OWN = (*runs.MEASUREMENTS, claims.CLAIM, delete.KEPT)

SETTLE_S = 3.0
_CONNECTIONS = 2
_PLACES_AT_ONCE = 20  # one query for 1000 tag sets takes four times as long as 50 queries for 20
_PART_BYTES = 48 * 1024  # InfluxDB documents 64 KB as the longest string


class InfluxStore(InfluxRuns, InfluxClaims):
    """Series and runs in one bucket. See `plimsoll.store.protocol.Store`."""

    @property
    def name(self) -> str:
        """The address with the bucket: `http://127.0.0.1:8086/plimsoll`."""
        return f"{self._server.url}/{self._server.address.bucket}"

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    @property
    def settle_s(self) -> float:
        """InfluxDB 2.7 can lose the first write into a shard that was idle, though it acknowledged it."""
        return SETTLE_S

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write each batch; the next one is encoded while the last one is being sent."""
        in_flight: deque[tuple[int, list[Future[tuple[int, str]]]]] = deque()
        pool = ThreadPoolExecutor(_CONNECTIONS)
        try:
            for batch in batches:
                posts = [pool.submit(self._server.post, body) for body in request_bodies(encode(batch))]
                in_flight.append((batch.present, posts))
                if len(in_flight) > 1:
                    yield _written(*in_flight.popleft())
            while in_flight:
                yield _written(*in_flight.popleft())
        except (KeyboardInterrupt, SystemExit):
            # An interrupt must not wait for a server that is away.
            self._server.give_up()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples."""
        answers = [self._server.post(body) for body in request_bodies(encode_points(points))]
        return _result(len(points), answers)

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Remove the samples of a recording, except those that others contain too."""
        delete.remove(self._server, recording, keep, whole=whole, before_each=before_each)

    def recover(self) -> None:
        """Finish what an interrupted removal left to do."""
        delete.restore_points(self._server)

    def oldest(self) -> int | None:
        """The limit of the bucket's retention at the time of the call."""
        return self._server.oldest()

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        return sorted({series.host for series in self.series(start, end).series}, key=host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The series with a sample in a range, sorted."""
        where = self._where(start, end, hosts)
        found: dict[object, Series] = {}
        text = 0
        for table in self._query(f"SELECT last(*) FROM /.*/ WHERE {where} GROUP BY *") if where else ():
            if table.measurement in _OWN:
                continue
            for column, last in zip(table.columns[1:], table.rows[0][1:], strict=True):
                if isinstance(last, bool | str):
                    text += 1
                elif last is not None:
                    one = _series(table, column.removeprefix("last_"))
                    found.setdefault(one.key, one)
        return FoundSeries(sorted(found.values(), key=lambda one: one.key), text)

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range."""
        parts: dict[object, list[tuple[Series, Samples]]] = defaultdict(list)
        for measurement, where, names in self._wanted(series, start, end):
            fields = ", ".join(f"{identifier(name)}::field" for name in names)
            query = f"SELECT {fields} FROM {identifier(measurement)} WHERE {where} GROUP BY *"
            for table in self._query(query):
                times = table.times()
                for at, name in enumerate(names):
                    found = _series(table, name)
                    parts[found.key].append((found, Samples(times, table.values(at + 1)).present))
        return [joined(_own_first(as_stored(one), parts.get(_key(one), []))) for one in series]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range."""
        return [Drawn(m4(one, start, end, buckets), len(one.times)) for one in self.read(series, start, end)]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean, computed by the server."""
        parts: dict[object, list[Buckets]] = defaultdict(list)
        for measurement, where, names in self._wanted(series, start, end):
            fields = ", ".join(
                f"{reduce}({identifier(name)}::field)" for name in names for reduce in ("min", "max", "mean")
            )
            query = (
                f"SELECT {fields} FROM {identifier(measurement)} WHERE {where} GROUP BY time({width}ns), * fill(none)"
            )
            for table in self._query(query):
                times = table.times()
                for at, name in enumerate(names):
                    minimum, maximum, mean = (table.values(3 * at + n) for n in (1, 2, 3))
                    there = ~np.isnan(mean)
                    found = Buckets(times[there], minimum[there], maximum[there], mean[there])
                    parts[_series(table, name).key].append(found)
        return [_joined_buckets(parts.get(_key(one), [])) for one in series]

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        found: dict[object, int] = defaultdict(int)
        for measurement, where, names in self._wanted(series, start, end):
            fields = ", ".join(f"count({identifier(name)}::field)" for name in names)
            for table in self._query(f"SELECT {fields} FROM {identifier(measurement)} WHERE {where} GROUP BY *"):
                for name, count in zip(names, table.rows[0][1:], strict=True):
                    found[_series(table, name).key] += count or 0
        return [found[_key(one)] for one in series]

    def _query(self, influxql: str) -> Iterator[Table]:
        return self._server.query(influxql)

    def _wanted(self, series: Sequence[Series], start: int, end: int) -> Iterator["_Wanted"]:
        """The queries for these series, in groups small enough for InfluxDB to answer fast."""
        fields: dict[object, list[str]] = defaultdict(list)
        for one in map(as_stored, series):
            fields[_place(one)].append(one.field)
        for measurement in dict.fromkeys(as_stored(one).measurement for one in series):
            there = [one for one in self._places(measurement) if _place(one) in fields]
            for first in range(0, len(there), _PLACES_AT_ONCE):
                some = there[first : first + _PLACES_AT_ONCE]
                # InfluxDB does not allow a field named "time".
                names = dict.fromkeys(name for one in some for name in fields[_place(one)] if name != "time")
                if not names:
                    continue
                yield _Wanted(
                    measurement, f"{time_range(start, end)} AND ({' OR '.join(map(_has_tags, some))})", list(names)
                )

    def _places(self, measurement: str) -> list[Series]:
        """The tag sets of a measurement, each as a series without a field."""
        answer = self._query(f"SHOW SERIES FROM {identifier(measurement)}")
        return [parse_key(row[0]) for table in answer for row in table.rows]

    def _where(self, start: int, end: int, hosts: Sequence[str]) -> str:
        """The condition of a query; empty if the store knows none of the hosts."""
        if not hosts:
            return time_range(start, end)
        asked = {host_key(host) for host in hosts}
        known = {row[1] for table in self._query('SHOW TAG VALUES WITH KEY = "host"') for row in table.rows}
        named = sorted(host for host in known if host_key(host) in asked)
        if not named:
            return ""
        either = " OR ".join(has_tags([("host", host)]) for host in named)
        return f"{time_range(start, end)} AND ({either})"


class _Wanted(NamedTuple):
    measurement: str
    where: str
    fields: list[str]


def _written(values: int, posts: Iterable[Future[tuple[int, str]]]) -> WriteResult:
    return _result(values, [post.result() for post in posts])


def _result(values: int, answers: Sequence[tuple[int, str]]) -> WriteResult:
    return WriteResult(values, sum(refused for refused, _ in answers), next((why for _, why in answers if why), ""))


def _has_tags(one: Series) -> str:
    return f"({has_tags([('host', one.host), *one.tags])})"


def _place(one: Series) -> object:
    return replace(one, field="").key


def _series(table: Table, field: str) -> Series:
    tags = tuple(sorted((name, value) for name, value in table.tags.items() if name != "host" and value != ""))
    return Series(table.tags.get("host", ""), table.measurement, tags, field)


def _key(series: Series) -> object:
    return as_stored(series).key


def _own_first(series: Series, parts: list[tuple[Series, Samples]]) -> list[Samples]:
    """The parts of a series; those with the same spelling of host and instance first."""
    return [samples for _, samples in sorted(parts, key=lambda part: part[0] != series)]


def _joined_buckets(parts: list[Buckets]) -> Buckets:
    """The parts of a series joined; parts may differ in time, or in the case of host and instance."""
    if len(parts) <= 1:
        return parts[0] if parts else Buckets.empty()
    times, first = np.unique(np.concatenate([part.times for part in parts]), return_index=True)
    columns = [[part.minimum for part in parts], [part.maximum for part in parts], [part.mean for part in parts]]
    return Buckets(times, *(np.concatenate(one)[first] for one in columns))

"""Samples in a bucket of InfluxDB 2, with the names that Telegraf gives."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series, host_key
from plimsoll.store.influx.quoting import has_tags, identifier, time_range
from plimsoll.store.influx.server import Server, Table
from plimsoll.store.line_protocol import as_stored, encode_points, parse_key, request_bodies
from plimsoll.store.protocol import Buckets, FoundSeries, InMemoryReader, WriteResult

RUN = "plimsoll_run"
DOCUMENT = "plimsoll_run_document"
STATE = "plimsoll_run_state"
CLAIM = "plimsoll_claim"
GENERATION = "plimsoll_generation"  # the tag of the samples of runs
_OWN = (RUN, DOCUMENT, STATE, CLAIM, "plimsoll_kept")  # the last one was written by earlier versions
_PLACES_AT_ONCE = 20  # one query for 1000 tag sets takes four times as long as 50 queries for 20


class InfluxSamples(InMemoryReader):
    """Samples in a bucket: live ones, or those of runs. See `plimsoll.store.protocol.SampleStore`.

    `generation` is the condition for the tag that samples of runs have.
    """

    def __init__(self, server: Server, generation: str = "= ''") -> None:
        self._server = server
        self._of_runs = f"{identifier(GENERATION)}::tag {generation}"

    @property
    def name(self) -> str:
        """The address with the bucket: `http://127.0.0.1:8086/plimsoll`."""
        return f"{self._server.url}/{self._server.address.bucket}"

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples."""
        return write_result(len(points), [self._server.post(body) for body in request_bodies(encode_points(points))])

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
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

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """The samples of each series in a range."""
        parts: dict[object, list[tuple[Series, Samples]]] = defaultdict(list)
        for measurement, where, names in self._queries(series, start, end):
            fields = ", ".join(f"{identifier(name)}::field" for name in names)
            query = f"SELECT {fields} FROM {identifier(measurement)} WHERE {where} GROUP BY *"
            for table in self._query(query):
                times = table.times()
                for at, name in enumerate(names):
                    found = _series(table, name)
                    parts[found.key].append((found, Samples(times, table.values(at + 1)).present))
        return [joined(_own_first(as_stored(one), parts.get(_key(one), []))) for one in series]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean, computed by the server."""
        parts: dict[object, list[Buckets]] = defaultdict(list)
        for measurement, where, names in self._queries(series, start, end):
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

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """How many samples each series has in a range."""
        found: dict[object, int] = defaultdict(int)
        for measurement, where, names in self._queries(series, start, end):
            fields = ", ".join(f"count({identifier(name)}::field)" for name in names)
            for table in self._query(f"SELECT {fields} FROM {identifier(measurement)} WHERE {where} GROUP BY *"):
                for name, count in zip(names, table.rows[0][1:], strict=True):
                    found[_series(table, name).key] += count or 0
        return [found[_key(one)] for one in series]

    def _query(self, influxql: str) -> Iterator[Table]:
        return self._server.query(influxql)

    def _queries(self, series: Sequence[Series], start: int, end: int) -> Iterator["_Query"]:
        """The queries for these series, in groups small enough for InfluxDB to answer fast."""
        fields: dict[object, list[str]] = defaultdict(list)
        for one in map(as_stored, series):
            fields[_place(one)].append(one.field)
        for measurement in dict.fromkeys(as_stored(one).measurement for one in series):
            there = [place for place in self._places(measurement) if _place(place) in fields]
            for first in range(0, len(there), _PLACES_AT_ONCE):
                some = there[first : first + _PLACES_AT_ONCE]
                # InfluxDB does not allow a field named "time".
                names = dict.fromkeys(name for one in some for name in fields[_place(one)] if name != "time")
                if not names:
                    continue
                where = f"{self._within(start, end)} AND ({' OR '.join(map(_has_tags, some))})"
                yield _Query(measurement, where, list(names))

    def _places(self, measurement: str) -> list[Series]:
        """The tag sets of a measurement, each as a series without a field."""
        answer = self._query(f"SHOW SERIES FROM {identifier(measurement)} WHERE {self._of_runs.replace('::tag', '')}")
        return list(dict.fromkeys(_untagged(parse_key(row[0])) for table in answer for row in table.rows))

    def _where(self, start: int, end: int, hosts: Sequence[str]) -> str:
        """Return the condition of a query; empty if the store knows none of the hosts."""
        within = self._within(start, end)
        if not hosts:
            return within
        asked = {host_key(host) for host in hosts}
        known = {row[1] for table in self._query('SHOW TAG VALUES WITH KEY = "host"') for row in table.rows}
        named = sorted(host for host in known if host_key(host) in asked)
        if not named:
            return ""
        either = " OR ".join(has_tags([("host", host)]) for host in named)
        return f"{within} AND ({either})"

    def _within(self, start: int, end: int) -> str:
        return f"{time_range(start, end)} AND {self._of_runs}"


def write_result(values: int, answers: Sequence[tuple[int, str]]) -> WriteResult:
    """Return the result of writing a batch with several requests."""
    return WriteResult(values, sum(refused for refused, _ in answers), next((why for _, why in answers if why), ""))


class _Query(NamedTuple):
    measurement: str
    where: str
    fields: list[str]


def _has_tags(one: Series) -> str:
    return f"({has_tags([('host', one.host), *one.tags])})"


def _place(one: Series) -> object:
    return replace(one, field="").key


def _series(table: Table, field: str) -> Series:
    tags = ((name, value) for name, value in table.tags.items() if name not in ("host", GENERATION) and value != "")
    return Series(table.tags.get("host", ""), table.measurement, tuple(sorted(tags)), field)


def _untagged(series: Series) -> Series:
    """Return a series without the tag of runs."""
    return replace(series, tags=tuple(tag for tag in series.tags if tag[0] != GENERATION))


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

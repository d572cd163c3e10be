"""Samples in a bucket of InfluxDB 2, with Telegraf's names."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.store.influx.server import FluxTable, InfluxServer
from plimsoll.store.line_protocol import convert_to_stored, encode_points, parse_key, request_bodies
from plimsoll.store.protocol import Buckets, FoundSeries, SampleReader, WriteResult, join_spellings
from plimsoll.store.quoting import build_time_range, has_tags, quote_identifier

RUN = "plimsoll_run"
DOCUMENT = "plimsoll_run_document"
STATE = "plimsoll_run_state"
CLAIM = "plimsoll_claim"
GENERATION = "plimsoll_generation"  # the tag of the samples of runs
_OWN = (RUN, DOCUMENT, STATE, CLAIM, "plimsoll_kept")  # the last one was written by earlier versions
_PLACES_AT_ONCE = 20  # one query for 1000 tag sets takes four times as long as 50 queries for 20


class InfluxSamples(SampleReader):
    """The samples in a bucket: live samples, or samples of runs. See `plimsoll.store.protocol.SampleStore`.

    `generation` is a condition (operator and value) on the tag GENERATION; live samples lack this tag: `= ''`.
    """

    def __init__(self, server: InfluxServer, generation: str = "= ''") -> None:
        self._server = server
        self._of_runs = f"{quote_identifier(GENERATION)}::tag {generation}"

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
        """Return the series with a sample in a range, sorted."""
        where = self._build_condition(start, end, hosts)
        series: dict[object, Series] = {}
        text = 0
        for table in self._server.query(f"SELECT last(*) FROM /.*/ WHERE {where} GROUP BY *") if where else ():
            if table.measurement in _OWN:
                continue
            for column, last in zip(table.columns[1:], table.rows[0][1:], strict=True):
                if isinstance(last, bool | str):
                    text += 1
                elif last is not None:
                    stored = _parse_series(table, column.removeprefix("last_"))
                    series.setdefault(stored.key, stored)
        return FoundSeries(sorted(series.values(), key=lambda series: series.key), text)

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        parts: dict[object, list[tuple[Series, Samples]]] = defaultdict(list)
        for measurement, where, names in self._list_queries(series, start, end):
            fields = ", ".join(f"{quote_identifier(name)}::field" for name in names)
            query = f"SELECT {fields} FROM {quote_identifier(measurement)} WHERE {where} GROUP BY *"
            for table in self._server.query(query):
                times = table.times()
                for at, name in enumerate(names):
                    stored = _parse_series(table, name)
                    parts[stored.key].append((stored, Samples(times, table.values(at + 1)).present))
        return [join_spellings(stored, parts.get(stored.key, [])) for stored in map(convert_to_stored, series)]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns, computed by the server."""
        parts: dict[object, list[Buckets]] = defaultdict(list)
        for measurement, where, names in self._list_queries(series, start, end):
            fields = ", ".join(
                f"{reduce}({quote_identifier(name)}::field)" for name in names for reduce in ("min", "max", "mean")
            )
            query = (
                f"SELECT {fields} FROM {quote_identifier(measurement)} WHERE {where} GROUP BY time({width}ns), * "
                "fill(none)"
            )
            for table in self._server.query(query):
                times = table.times()
                for at, name in enumerate(names):
                    minimum, maximum, mean = (table.values(3 * at + n) for n in (1, 2, 3))
                    values = ~np.isnan(mean)
                    buckets = Buckets(times[values], minimum[values], maximum[values], mean[values])
                    parts[_parse_series(table, name).key].append(buckets)
        return [Buckets.joined(parts.get(stored.key, [])) for stored in map(convert_to_stored, series)]

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        counts: dict[object, int] = defaultdict(int)
        for measurement, where, names in self._list_queries(series, start, end):
            fields = ", ".join(f"count({quote_identifier(name)}::field)" for name in names)
            for table in self._server.query(
                f"SELECT {fields} FROM {quote_identifier(measurement)} WHERE {where} GROUP BY *"
            ):
                for name, count in zip(names, table.rows[0][1:], strict=True):
                    counts[_parse_series(table, name).key] += count or 0
        return [counts[convert_to_stored(series).key] for series in series]

    def _list_queries(self, series: Sequence[Series], start: int, end: int) -> Iterator[tuple[str, str, list[str]]]:
        """Yield the measurement, the WHERE condition and the fields of each query needed to read these series.

        A query has few enough series for a fast answer.
        """
        fields: dict[object, list[str]] = defaultdict(list)
        for stored in map(convert_to_stored, series):
            fields[replace(stored, field="").key].append(stored.field)
        for measurement in dict.fromkeys(convert_to_stored(series).measurement for series in series):
            places = [place for place in self._list_places(measurement) if place.key in fields]
            for first in range(0, len(places), _PLACES_AT_ONCE):
                batch = places[first : first + _PLACES_AT_ONCE]
                # InfluxDB does not allow a field named "time".
                names = dict.fromkeys(name for place in batch for name in fields[place.key] if name != "time")
                if names:
                    either = " OR ".join(f"({has_tags([('host', place.host), *place.tags])})" for place in batch)
                    yield measurement, f"{self._build_range(start, end)} AND ({either})", list(names)

    def _list_places(self, measurement: str) -> list[Series]:
        """Return the tag sets of a measurement, each as a series with an empty field."""
        query = f"SHOW SERIES FROM {quote_identifier(measurement)} WHERE {self._of_runs.replace('::tag', '')}"
        tagged = [parse_key(row[0]) for table in self._server.query(query) for row in table.rows]
        places = (replace(place, tags=tuple(tag for tag in place.tags if tag[0] != GENERATION)) for place in tagged)
        return list(dict.fromkeys(places))

    def _build_condition(self, start: int, end: int, hosts: Sequence[str]) -> str:
        """Return the condition of a query for a range and hosts; empty if the store knows none of the hosts."""
        within = self._build_range(start, end)
        if not hosts:
            return within
        host_keys = {make_host_key(host) for host in hosts}
        stored_hosts = {
            row[1] for table in self._server.query('SHOW TAG VALUES WITH KEY = "host"') for row in table.rows
        }
        named = sorted(host for host in stored_hosts if make_host_key(host) in host_keys)
        if not named:
            return ""
        either = " OR ".join(has_tags([("host", host)]) for host in named)
        return f"{within} AND ({either})"

    def _build_range(self, start: int, end: int) -> str:
        return f"{build_time_range(start, end)} AND {self._of_runs}"


def write_result(values: int, answers: Sequence[tuple[int, str]]) -> WriteResult:
    """Return the result of a batch of `values` values from the answers to the requests that wrote it."""
    return WriteResult(values, sum(refused for refused, _ in answers), next((why for _, why in answers if why), ""))


def _parse_series(table: FluxTable, field: str) -> Series:
    tags = ((name, value) for name, value in table.tags.items() if name not in ("host", GENERATION) and value != "")
    return Series(table.tags.get("host", ""), table.measurement, tuple(sorted(tags)), field)

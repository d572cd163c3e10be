"""The store behind the full stack: a bucket of InfluxDB 2, written as Telegraf would have written it."""

import base64
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from model.errors import Unusable
from model.log import Log
from model.run import Recording, StoredRun
from model.samples import Samples, joined
from model.series import Series
from store import influx_delete
from store.influx_server import EVER, Server, Table
from store.line_protocol import as_stored, parse_key, point, request_bodies, value
from store.protocol import Buckets, FoundSeries, RunSummary, WriteResult
from store.quoting import has_tags, identifier, string, time_range
from store.run_document import dumps, loads

# Runs lie beside the series they are of, so that one retention and one read-only token serve both.
# dashboards/ reads the first as annotations; the second holds the document in parts.
RUN = "plimsoll_run"
DOCUMENT = "plimsoll_run_document"
_OWN = (RUN, DOCUMENT, influx_delete.KEPT)

_CONNECTIONS = 2
_PLACES_AT_ONCE = 20  # a query over a thousand takes four times as long as fifty over twenty
_PART_BYTES = 48 * 1024  # InfluxDB documents 64 KB as the longest string


class InfluxStore:
    """Series and runs in one bucket. See `store.protocol.Store`."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def name(self) -> str:
        """Its address with the bucket: `http://127.0.0.1:8086/plimsoll`."""
        return f"{self._server.url}/{self._server.address.bucket}"

    def write(self, batches: Iterable[Log]) -> Iterator[WriteResult]:
        """Write each batch; the next one is encoded while the last is on its way."""
        on_their_way: deque[tuple[int, list[Future[tuple[int, str]]]]] = deque()
        pool = ThreadPoolExecutor(_CONNECTIONS)
        try:
            for batch in batches:
                posts = [pool.submit(self._server.post, body) for body in request_bodies(batch)]
                on_their_way.append((batch.present, posts))
                if len(on_their_way) > 1:
                    yield _written(*on_their_way.popleft())
            while on_their_way:
                yield _written(*on_their_way.popleft())
        except BaseException:
            # Who interrupts while the server is away is not to wait for it.
            self._server.give_up()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def remove(self, recording: Recording, keep: Sequence[Recording] = (), *, whole: bool = True) -> None:
        """Remove the samples of a recording, but for those that others hold too."""
        influx_delete.remove(self._server, recording, keep, whole=whole)

    def oldest(self) -> int | None:
        """By the bucket's retention, as it is at the time of the call."""
        return self._server.oldest()

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts that have samples in a range, in order."""
        return sorted({series.host for series in self.series(start, end).series}, key=str.casefold)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """The series that have a sample in a range, in order."""
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
        """The samples of each of these series in a range, a query for each measurement of a host."""
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

    def save(self, run: StoredRun) -> None:
        """Keep a run: its document in parts first, so that a run that is listed can be read."""
        text = base64.b64encode(dumps(run)).decode()
        parts = [text[at : at + _PART_BYTES] for at in range(0, len(text), _PART_BYTES)]
        lines = [
            _point(DOCUMENT, {"run": run.name, "part": f"{at:06}"}, {"data": part, "parts": len(parts)}, run.start)
            for at, part in enumerate(parts)
        ]
        self.forget(run.name)
        self._post(lines)
        self._post(
            [
                _point(
                    RUN,
                    {"run": run.name},
                    {
                        "title": run.name,
                        "start_ms": run.start // 1_000_000,
                        "end_ms": -(-run.end // 1_000_000),
                        "hosts": ", ".join(run.hosts),
                        # Grafana's links cannot take a list apart.
                        "hosts_url": "&".join(f"var-host={quote(host, safe='')}" for host in run.hosts),
                        "labels": ", ".join(f"{name}={value}" for name, value in run.run.labels.items()),
                        "labels_json": json.dumps(run.run.labels),
                        "files": len(run.recordings),
                        "values": run.values,
                        "loaded": 0,
                        "refused": 0,
                    },
                    run.start,
                )
            ]
        )

    def progress(self, run: StoredRun, loaded: int, refused: int) -> None:
        """Note how far loading has come."""
        self._post([_point(RUN, {"run": run.name}, {"loaded": loaded, "refused": refused}, run.start)])

    def runs(self) -> list[RunSummary]:
        """All runs, the latest first."""
        found = [
            _summary(table) for table in self._query(f'SELECT * FROM "{RUN}" WHERE {time_range(*EVER)} GROUP BY "run"')
        ]
        return sorted(found, key=lambda one: (-one.start, one.name))

    def run(self, name: str) -> StoredRun | None:
        """A run, put together from the parts of its document. Unusable if one of them is missing."""
        if not name.isprintable():
            return None
        where = f'{time_range(*EVER)} AND "run" = {string(name)}'
        query = f'SELECT "data", "parts" FROM "{DOCUMENT}" WHERE {where} GROUP BY "part"'
        parts = {table.tags["part"]: table.rows[0][1:] for table in self._query(query)}
        if not parts or name not in {run.name for run in self.runs()}:
            return None
        try:
            if len(parts) != next(iter(parts.values()))[1]:
                raise ValueError(f"{len(parts)} of its parts are there")
            return loads(base64.b64decode("".join(parts[at][0] for at in sorted(parts))))
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(
                f'{self.name}: what is stored of run "{name}" cannot be read: {error}; '
                "load its logs again under another name"
            ) from None

    def forget(self, name: str) -> None:
        """Take a run out of the list, and then its document away."""
        for measurement in (RUN, DOCUMENT):
            self._server.delete(*EVER, f"_measurement={identifier(measurement)} AND run={identifier(name)}")

    def _post(self, lines: Sequence[str]) -> None:
        refused, why = self._server.post("".join(lines).encode())
        if refused:
            raise Unusable(f"{self.name}: InfluxDB refuses what is to be kept of the run: {why}")

    def _query(self, influxql: str) -> Iterator[Table]:
        return self._server.query(influxql)

    def _wanted(self, series: Sequence[Series], start: int, end: int) -> Iterator["_Wanted"]:
        """What to ask for: these series in groups that InfluxDB answers at once, however many there are."""
        fields: dict[object, list[str]] = defaultdict(list)
        for one in map(as_stored, series):
            fields[_place(one)].append(one.field)
        for measurement in dict.fromkeys(as_stored(one).measurement for one in series):
            there = [one for one in self._places(measurement) if _place(one) in fields]
            for first in range(0, len(there), _PLACES_AT_ONCE):
                some = there[first : first + _PLACES_AT_ONCE]
                # InfluxDB takes no field of this name, nor answers with a column of it.
                names = dict.fromkeys(name for one in some for name in fields[_place(one)] if name != "time")
                if not names:
                    continue
                yield _Wanted(
                    measurement, f"{time_range(start, end)} AND ({' OR '.join(map(_has_tags, some))})", list(names)
                )

    def _places(self, measurement: str) -> list[Series]:
        """What points of a measurement there are, each as a series without a field."""
        answer = self._query(f"SHOW SERIES FROM {identifier(measurement)}")
        return [parse_key(row[0]) for table in answer for row in table.rows]

    def _where(self, start: int, end: int, hosts: Sequence[str]) -> str:
        """The condition of a query; empty where none of the hosts is known."""
        if not hosts:
            return time_range(start, end)
        asked = {host.casefold() for host in hosts}
        known = {row[1] for table in self._query('SHOW TAG VALUES WITH KEY = "host"') for row in table.rows}
        named = sorted(host for host in known if host.casefold() in asked)
        if not named:
            return ""
        either = " OR ".join(has_tags([("host", host)]) for host in named)
        return f"{time_range(start, end)} AND ({either})"


class _Wanted(NamedTuple):
    measurement: str
    where: str
    fields: list[str]


def _point(measurement: str, tags: dict[str, str], fields: dict[str, str | int], time: int) -> str:
    written = {name: value(one, "string" if isinstance(one, str) else "integer") for name, one in fields.items()}
    return point(measurement, tags, written, time)


def _written(values: int, posts: Iterable[Future[tuple[int, str]]]) -> WriteResult:
    answers = [post.result() for post in posts]
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
    """Parts of one series, those with its own spelling of host and instance before others."""
    return [samples for _, samples in sorted(parts, key=lambda part: part[0] != series)]


def _joined_buckets(parts: list[Buckets]) -> Buckets:
    """Parts that follow one another, or are of hosts and instances that differ in case: those are the same series."""
    if len(parts) <= 1:
        return parts[0] if parts else Buckets.empty()
    times, first = np.unique(np.concatenate([part.times for part in parts]), return_index=True)
    columns = [[part.minimum for part in parts], [part.maximum for part in parts], [part.mean for part in parts]]
    return Buckets(times, *(np.concatenate(one)[first] for one in columns))


def _summary(table: Table) -> RunSummary:
    row: dict[str, Any] = dict(zip(table.columns, table.rows[-1], strict=True))
    return RunSummary(
        table.tags["run"],
        row["start_ms"] * 1_000_000,
        row["end_ms"] * 1_000_000,
        tuple(row["hosts"].split(", ")),
        json.loads(row["labels_json"]),
        row["files"],
        row["values"],
        row["loaded"],
        row["refused"],
    )

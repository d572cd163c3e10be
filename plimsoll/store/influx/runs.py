"""Runs in a bucket of InfluxDB, with the retention and tokens of live samples.

A run has one point in the measurement RUN, which dashboards show as an annotation; its document is in points of
DOCUMENT, and its state in points of STATE. All these points have the run's generation as a tag: an identifier that is
new each time the run is saved. So a command that lost its lease changes only the generation that it wrote. A run's
samples have Telegraf's names, and the generation as an additional tag.
"""

import base64
import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import StoredRun
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.samples import CLAIM, DOCUMENT, GENERATION, RUN, STATE, InfluxSamples, write_result
from plimsoll.store.influx.server import EVER, FluxTable, InfluxServer
from plimsoll.store.line_protocol import encode, format_point, format_value, request_bodies
from plimsoll.store.protocol import Claim, RunSummary, StoreState, Work, WriteResult, sort_latest_first
from plimsoll.store.quoting import build_time_range, quote_identifier, quote_string
from plimsoll.store.run_document import dump_run, load_run
from plimsoll.store.store import Store

SETTLE_S = 3.0
_CONNECTIONS = 2
_PART_BYTES = 48 * 1024  # InfluxDB documents 64 KB as the longest string


class InfluxClaims:
    """The claims in a bucket, with times by the server's clock. See `plimsoll.store.protocol.Claims`.

    A claim is a point; each heartbeat is another point with the same tags.
    """

    def __init__(self, server: InfluxServer) -> None:
        self._server = server

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        self._write(claim, {"work": format_value(str(claim.work), "string"), "who": format_value(claim.who, "string")})

    def beat(self, claim: Claim) -> None:
        """Write a heartbeat of a claim; this does not restore a claim that was ended."""
        self._write(claim, {})

    def current(self, life_s: float) -> list[Claim]:
        """Return all claims; `alive` is False for claims without a heartbeat in the last `life_s` seconds."""
        by = 'GROUP BY "run", "holder"'
        written = [*self._server.query(f'SELECT "work", "who" FROM "{CLAIM}" WHERE {build_time_range(*EVER)} {by}')]
        query = f'SELECT last("beat") FROM "{CLAIM}" WHERE time > now() - {round(life_s * 1e9)} {by}'
        heard = {table.tags["holder"]: int(table.rows[-1][0]) for table in self._server.query(query)}
        claims: list[Claim] = []
        for table in written:
            since, work, who = int(table.rows[0][0]), *table.rows[0][1:]
            run, holder = table.tags["run"], table.tags["holder"]
            claims.append(Claim(run, holder, Work(work), who, since, heard.get(holder, since), holder in heard))
        return claims

    def withdraw(self, holder: str) -> None:
        """Delete the claim of a holder."""
        self._server.delete(*EVER, f"_measurement={quote_identifier(CLAIM)} AND holder={quote_identifier(holder)}")

    def _write(self, claim: Claim, fields: dict[str, str]) -> None:
        tags = {"run": claim.run, "holder": claim.holder}
        self._server.post(format_point(CLAIM, tags, {"beat": format_value(1, "integer"), **fields}).encode())


class InfluxRuns:
    """The runs in a bucket. See `plimsoll.store.protocol.RunStore`.

    InfluxDB 2.7 can lose an acknowledged write if it is the first write to an idle shard; hence `settle_s`.
    """

    def __init__(self, server: InfluxServer) -> None:
        self._server = server
        self.settle_s = SETTLE_S
        self.claims = InfluxClaims(server)

    @property
    def name(self) -> str:
        """The address with the bucket: `http://127.0.0.1:8086/plimsoll`."""
        return f"{self._server.url}/{self._server.address.bucket}"

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def oldest(self) -> int | None:
        """Return the time (UTC ns) before which the bucket keeps no points; None if it keeps all, or if unknown."""
        return self._server.oldest()

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run, its document first, so that every listed run can be read; then remove its earlier generations."""
        summary = RunSummary.new(run)
        text = base64.b64encode(dump_run(run)).decode()
        parts = [text[at : at + _PART_BYTES] for at in range(0, len(text), _PART_BYTES)]
        # Remove samples written by a killed command after another command had deleted their run.
        query = f"SHOW TAG VALUES WITH KEY = {quote_identifier(GENERATION)}"
        tagged = {row[1] for table in self._server.query(query) for row in table.rows}
        for generation in tagged - {other.generation for other in self.summaries()}:
            self._server.delete(*EVER, f"{GENERATION}={quote_identifier(generation)}")
        where = f'{build_time_range(*EVER)} AND "run" = {quote_string(run.name)}'
        earlier = {
            table.tags["generation"]
            for measurement in (RUN, DOCUMENT, STATE)
            for table in self._server.query(f'SELECT count(*) FROM "{measurement}" WHERE {where} GROUP BY "generation"')
        }
        if "" in earlier:
            self.forget(replace(summary, generation=""))
        self._post(
            _format_point(
                DOCUMENT, _list_tags(summary) | {"part": f"{at:06}"}, {"data": part, "parts": len(parts)}, run.start
            )
            for at, part in enumerate(parts)
        )
        self._post([_encode_state(summary), _format_point(RUN, _list_tags(summary), _build_row(summary), run.start)])
        for generation in earlier - {""}:
            self.forget(replace(summary, generation=generation))
        return summary

    def write(self, run: RunSummary, batches: Iterable[Log]) -> Generator[WriteResult]:
        """Write batches to a run, and yield the result of each; encode a batch while the batch before is sent."""
        in_flight: deque[tuple[int, list[Future[tuple[int, str]]]]] = deque()
        pool = ThreadPoolExecutor(_CONNECTIONS)
        try:
            for batch in batches:
                lines = encode(batch, {GENERATION: run.generation})
                posts = [pool.submit(self._server.post, body) for body in request_bodies(lines)]
                in_flight.append((batch.present, posts))
                if len(in_flight) > 1:
                    yield _wait_for(*in_flight.popleft())
            while in_flight:
                yield _wait_for(*in_flight.popleft())
        except (KeyboardInterrupt, SystemExit):
            # An interrupt must not wait for an unreachable server.
            self._server.give_up()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def mark(self, run: RunSummary, state: StoreState, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run."""
        marked = replace(run, state=run.state.to(state), loaded=loaded, refused=refused)
        self._post([_encode_state(marked)])
        return marked

    def summaries(self) -> list[RunSummary]:
        """Return all runs, latest first."""
        states = {
            (table.tags["run"], table.tags["generation"]): dict(zip(table.columns, table.rows[-1], strict=True))
            for table in self._query_all(STATE)
        }
        return sort_latest_first(_parse_summary(table, states) for table in self._query_all(RUN))

    def get(self, name: str) -> StoredRun | None:
        """Return a run from the parts of its document. Raise Unusable if a part is missing or cannot be read."""
        summary = next((run for run in self.summaries() if run.name == name), None)
        if summary is None:
            return None
        where = (
            f'{build_time_range(*EVER)} AND "run" = {quote_string(name)} '
            f'AND "generation" = {quote_string(summary.generation)}'
        )
        query = f'SELECT "data", "parts" FROM "{DOCUMENT}" WHERE {where} GROUP BY "part"'
        parts = {table.tags["part"]: table.rows[0][1:] for table in self._server.query(query)}
        if not parts:
            return None
        try:
            if len(parts) != next(iter(parts.values()))[1]:
                raise ValueError(f"{len(parts)} of its parts are there")
            return load_run(base64.b64decode("".join(parts[at][0] for at in sorted(parts))))
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(
                f'{self.name}: what is stored of run "{name}" cannot be read: {error}; '
                "load its logs again under another name"
            ) from None

    def samples(self, run: RunSummary | None = None) -> InfluxSamples:
        """Return a reader of the samples of a run, or of all runs (None).

        Samples of runs loaded by an early version have no generation tag, and count as live samples.
        """
        if run is None:
            return InfluxSamples(self._server, "!= ''")
        is_tagged = any(
            self._server.query(f"SHOW SERIES WHERE {quote_identifier(GENERATION)} = {quote_string(run.generation)}")
        )
        return InfluxSamples(self._server, f"= {quote_string(run.generation if is_tagged else '')}")

    def forget(self, run: RunSummary) -> None:
        """Remove a generation of a run: first from the list, then its document, states and samples."""
        # InfluxDB cannot delete by a missing tag, and points of earlier versions have no generation.
        tags = {name: value for name, value in _list_tags(run).items() if value}
        equal = [f"{name}={quote_identifier(value)}" for name, value in tags.items()]
        for measurement in (RUN, DOCUMENT, STATE):
            self._server.delete(*EVER, " AND ".join([f"_measurement={quote_identifier(measurement)}", *equal]))
        if run.generation:
            self._server.delete(*EVER, f"{GENERATION}={quote_identifier(run.generation)}")

    def _query_all(self, measurement: str) -> Iterator[FluxTable]:
        where = build_time_range(*EVER)
        return self._server.query(f'SELECT * FROM "{measurement}" WHERE {where} GROUP BY "run", "generation"')

    def _post(self, lines: Iterator[str] | Sequence[str]) -> None:
        refused, why = self._server.post("".join(lines).encode())
        if refused:
            raise Unusable(f"{self.name}: InfluxDB refuses the document of the run: {why}")


def _wait_for(values: int, posts: Iterable[Future[tuple[int, str]]]) -> WriteResult:
    return write_result(values, [post.result() for post in posts])


def _build_row(run: RunSummary) -> dict[str, str | int]:
    """Return the fields of a run's point, which Grafana shows as an annotation."""
    return {
        "title": run.name,
        "start_ms": run.start // 1_000_000,
        "end_ms": -(-run.end // 1_000_000),
        "hosts": ", ".join(run.hosts),
        # Links in Grafana cannot split a list.
        "hosts_url": "&".join(f"var-host={quote(host, safe='')}" for host in run.hosts),
        "labels": ", ".join(f"{name}={value}" for name, value in run.labels.items()),
        "labels_json": json.dumps(run.labels),
        "files": run.files,
        "values": run.values,
    }


def _encode_state(run: RunSummary) -> str:
    fields: dict[str, str | int] = {"state": str(run.state), "loaded": run.loaded, "refused": run.refused}
    return _format_point(STATE, _list_tags(run), fields, run.start)


def _list_tags(run: RunSummary) -> dict[str, str]:
    return {"run": run.name, "generation": run.generation}


def _format_point(measurement: str, tags: dict[str, str], fields: dict[str, str | int], time: int) -> str:
    written = {
        name: format_value(field, "string" if isinstance(field, str) else "integer") for name, field in fields.items()
    }
    return format_point(measurement, tags, written, time)


def _parse_summary(table: FluxTable, states: Mapping[tuple[str, str], Mapping[str, Any]]) -> RunSummary:
    """Return the summary of a run from its point and its states."""
    row: dict[str, Any] = dict(zip(table.columns, table.rows[-1], strict=True))
    name, generation, time = table.tags["run"], table.tags["generation"], table.rows[-1][0]
    if row.get("start_ms") is None:
        # Earlier versions wrote such a row when a run was deleted while being loaded.
        return RunSummary(name, time, time, (), {}, 0, 0, generation=generation)
    # Earlier versions stored the loaded count in the row.
    state = states.get((name, generation), row)
    loaded, refused = state.get("loaded") or 0, state.get("refused") or 0
    done = StoreState.COMPLETE if loaded >= row["values"] else StoreState.LOADING
    return RunSummary(
        name,
        row["start_ms"] * 1_000_000,
        row["end_ms"] * 1_000_000,
        tuple(row["hosts"].split(", ")),
        json.loads(row["labels_json"]),
        row["files"],
        row["values"],
        loaded=loaded,
        refused=refused,
        state=StoreState(state.get("state") or done),
        generation=generation,
    )


def open_influx(address: InfluxAddress, waiting: Callable[[str], None] = lambda _: None) -> Store:
    """Return the store in a bucket.

    `waiting` is called with a sentence when calls begin to wait for the server, and when it answers again.
    """
    return make_influx_store(InfluxServer(address, waiting=waiting))


def make_influx_store(server: InfluxServer) -> Store:
    """Return the store in a server's bucket."""
    address = server.address
    place = ("influx", address.url, address.org, address.bucket, address.token)
    return Store(InfluxSamples(server), InfluxRuns(server), runs_place=place)

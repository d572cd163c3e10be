"""Runs in the bucket of their series, under the same retention and tokens.

A run has one point in RUN, which dashboards show as an annotation, its document in parts in DOCUMENT, and its state in
STATE. All are tagged with a generation, which is new each time that a run is saved: what a command writes or deletes
after it was overtaken by another one concerns the generation it knows, and no other.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from plimsoll.model.errors import Unusable
from plimsoll.model.run import StoredRun
from plimsoll.store.influx.quoting import identifier, string, time_range
from plimsoll.store.influx.server import EVER, Server, Table
from plimsoll.store.line_protocol import point, value
from plimsoll.store.protocol import RunSummary
from plimsoll.store.run_document import dumps, loads
from plimsoll.store.run_states import State

RUN = "plimsoll_run"
DOCUMENT = "plimsoll_run_document"
STATE = "plimsoll_run_state"
MEASUREMENTS = (RUN, DOCUMENT, STATE)

_SHOWN_FIRST = (State.COMPLETE, State.LOADING, State.DELETING)
_PART_BYTES = 48 * 1024  # InfluxDB documents 64 KB as the longest string


class InfluxRuns:
    """The runs in a bucket."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def name(self) -> str:
        """The address with the bucket: `http://127.0.0.1:8086/plimsoll`."""
        return f"{self._server.url}/{self._server.address.bucket}"

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run: the document first, so that every listed run can be read. Then remove earlier generations."""
        summary = RunSummary.new(run)
        text = base64.b64encode(dumps(run)).decode()
        parts = [text[at : at + _PART_BYTES] for at in range(0, len(text), _PART_BYTES)]
        earlier = self._generations(run.name)
        if "" in earlier:
            self.forget(replace(summary, generation=""))
        self._post(
            _point(DOCUMENT, _tags(summary) | {"part": f"{at:06}"}, {"data": part, "parts": len(parts)}, run.start)
            for at, part in enumerate(parts)
        )
        self._post([_state(summary), _point(RUN, _tags(summary), _row(summary), run.start)])
        for generation in earlier - {""}:
            self.forget(replace(summary, generation=generation))
        return summary

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run."""
        marked = replace(run, state=run.state.to(state), loaded=loaded, refused=refused)
        self._post([_state(marked)])
        return marked

    def runs(self) -> list[RunSummary]:
        """All runs, latest first."""
        states = {
            (table.tags["run"], table.tags["generation"]): dict(zip(table.columns, table.rows[-1], strict=True))
            for table in self._all(STATE)
        }
        found: dict[str, RunSummary] = {}
        for one in (_summary(table, states) for table in self._all(RUN)):
            other = found.setdefault(one.name, one)
            # Of two generations, a save was cut off.
            found[one.name] = min(one, other, key=lambda each: _SHOWN_FIRST.index(each.state))
        return sorted(found.values(), key=lambda one: (-one.start, one.name))

    def run(self, name: str) -> StoredRun | None:
        """A run, from the parts of its document, if it has one. Unusable if a part is missing or cannot be read."""
        summary = next((one for one in self.runs() if one.name == name), None)
        if summary is None:
            return None
        where = f'{time_range(*EVER)} AND "run" = {string(name)} AND "generation" = {string(summary.generation)}'
        query = f'SELECT "data", "parts" FROM "{DOCUMENT}" WHERE {where} GROUP BY "part"'
        parts = {table.tags["part"]: table.rows[0][1:] for table in self._server.query(query)}
        if not parts:
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

    def forget(self, run: RunSummary) -> None:
        """Remove a generation of a run from the list, then its document and its states."""
        for measurement in MEASUREMENTS:
            # InfluxDB cannot delete by a tag that points do not have: those of earlier versions have no generation.
            tags = {name: value for name, value in _tags(run).items() if value}
            equal = [f"{name}={identifier(value)}" for name, value in tags.items()]
            self._server.delete(*EVER, " AND ".join([f"_measurement={identifier(measurement)}", *equal]))

    def _all(self, measurement: str) -> Iterator[Table]:
        where = time_range(*EVER)
        return self._server.query(f'SELECT * FROM "{measurement}" WHERE {where} GROUP BY "run", "generation"')

    def _generations(self, name: str) -> set[str]:
        where = f'{time_range(*EVER)} AND "run" = {string(name)}'
        return {
            table.tags["generation"]
            for measurement in MEASUREMENTS
            for table in self._server.query(f'SELECT count(*) FROM "{measurement}" WHERE {where} GROUP BY "generation"')
        }

    def _post(self, lines: Iterator[str] | Sequence[str]) -> None:
        refused, why = self._server.post("".join(lines).encode())
        if refused:
            raise Unusable(f"{self.name}: InfluxDB refuses the document of the run: {why}")


def _row(run: RunSummary) -> dict[str, str | int]:
    return {
        "title": run.name,
        "start_ms": run.start // 1_000_000,
        "end_ms": -(-run.end // 1_000_000),
        "hosts": ", ".join(run.hosts),
        # Grafana's links cannot split a list.
        "hosts_url": "&".join(f"var-host={quote(host, safe='')}" for host in run.hosts),
        "labels": ", ".join(f"{name}={value}" for name, value in run.labels.items()),
        "labels_json": json.dumps(run.labels),
        "files": run.files,
        "values": run.values,
    }


def _state(run: RunSummary) -> str:
    fields: dict[str, str | int] = {"state": str(run.state), "loaded": run.loaded, "refused": run.refused}
    return _point(STATE, _tags(run), fields, run.start)


def _tags(run: RunSummary) -> dict[str, str]:
    return {"run": run.name, "generation": run.generation}


def _point(measurement: str, tags: dict[str, str], fields: dict[str, str | int], time: int) -> str:
    written = {name: value(one, "string" if isinstance(one, str) else "integer") for name, one in fields.items()}
    return point(measurement, tags, written, time)


def _summary(table: Table, states: Mapping[tuple[str, str], Mapping[str, Any]]) -> RunSummary:
    row: dict[str, Any] = dict(zip(table.columns, table.rows[-1], strict=True))
    name, generation, time = table.tags["run"], table.tags["generation"], table.rows[-1][0]
    if row.get("start_ms") is None:
        # Earlier versions wrote a row like this when a run was deleted while it was loaded.
        return RunSummary(name, time, time, (), {}, 0, 0, generation=generation)
    # Earlier versions kept how much was loaded in the row.
    known = states.get((name, generation), row)
    loaded, refused = known.get("loaded") or 0, known.get("refused") or 0
    done = State.COMPLETE if loaded >= row["values"] else State.LOADING
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
        state=State(known.get("state") or done),
        generation=generation,
    )

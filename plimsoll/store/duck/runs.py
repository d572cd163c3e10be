"""The runs and claims of the embedded store. See `store.influx.runs` and `store.lease` for what they are for."""

import json
import time
from dataclasses import replace

from plimsoll.model.errors import Unusable
from plimsoll.model.run import StoredRun
from plimsoll.store.duck.check import damaged
from plimsoll.store.duck.file import DuckFile
from plimsoll.store.protocol import RunSummary
from plimsoll.store.run_document import dumps, loads
from plimsoll.store.run_states import Claim, State, Work

_SUMMARY = "name, first, last, hosts, labels, files, amount, loaded, refused, state, generation"


class DuckRuns:
    """The runs and claims in a file."""

    def __init__(self, file: DuckFile) -> None:
        self._file = file

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self._file.path)

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name."""
        summary = RunSummary.new(run)
        row = [
            *(summary.name, summary.generation, summary.start, summary.end),
            *(json.dumps(summary.hosts), json.dumps(dict(summary.labels)), summary.files, summary.values),
            *(summary.loaded, summary.refused, str(summary.state), dumps(run)),
        ]
        with self._file.writing() as cursor:
            cursor.execute("DELETE FROM run WHERE name = ?", [run.name])
            cursor.execute(f"INSERT INTO run VALUES ({', '.join('?' * len(row))})", row)
        return summary

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run."""
        marked = replace(run, state=run.state.to(state), loaded=loaded, refused=refused)
        with self._file.writing() as cursor:
            cursor.execute(
                "UPDATE run SET state = ?, loaded = ?, refused = ? WHERE generation = ?",
                [str(state), loaded, refused, run.generation],
            )
        return marked

    def runs(self) -> list[RunSummary]:
        """All runs, latest first."""
        with self._file.reading() as cursor:
            rows = cursor.execute(f"SELECT {_SUMMARY} FROM run ORDER BY first DESC, name").fetchall()
        try:
            return [_summary(*row) for row in rows]
        except (ValueError, TypeError) as error:
            raise damaged(self._file.path, error) from None

    def run(self, name: str) -> StoredRun | None:
        """A run with its document. Unusable if that cannot be read."""
        with self._file.reading() as cursor:
            row = cursor.execute("SELECT document FROM run WHERE name = ?", [name]).fetchone()
        if row is None:
            return None
        try:
            return loads(row[0])
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(
                f'{self.name}: what is stored of run "{name}" cannot be read: {error}; '
                "load its logs again under another name"
            ) from None

    def forget(self, run: RunSummary) -> None:
        """Remove a generation of a run from the list."""
        with self._file.writing() as cursor:
            cursor.execute("DELETE FROM run WHERE generation = ?", [run.generation])

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        now = time.time_ns()
        row = [claim.run, claim.holder, str(claim.work), claim.who, now, now]
        with self._file.writing() as cursor:
            cursor.execute("INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?)", row)

    def beat(self, claim: Claim) -> None:
        """Write a sign of life. It does not bring back a claim that has ended."""
        with self._file.writing() as cursor:
            cursor.execute("UPDATE claim SET heard = ? WHERE holder = ?", [time.time_ns(), claim.holder])

    def claims(self, life_s: float) -> list[Claim]:
        """All claims; those whose holder was not heard of for `life_s` are not alive."""
        since = time.time_ns() - round(life_s * 1e9)
        with self._file.reading() as cursor:
            rows = cursor.execute("SELECT run, holder, work, who, since, heard FROM claim").fetchall()
        try:
            return [
                Claim(run, holder, Work(work), who, began, heard, heard > since)
                for run, holder, work, who, began, heard in rows
            ]
        except (ValueError, TypeError) as error:
            raise damaged(self._file.path, error) from None

    def withdraw(self, holder: str) -> None:
        """End a claim."""
        with self._file.writing() as cursor:
            cursor.execute("DELETE FROM claim WHERE holder = ?", [holder])


def _summary(
    name: str,
    start: int,
    end: int,
    hosts: str,
    labels: str,
    files: int,
    values: int,
    loaded: int,
    refused: int,
    state: str,
    generation: str,
) -> RunSummary:
    return RunSummary(
        name,
        start,
        end,
        tuple(json.loads(hosts)),
        json.loads(labels),
        files,
        values,
        loaded,
        refused,
        State(state),
        generation,
    )

"""Moves the runs of a version 2 store, where they are tables in its file, to folders."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.duck.hot_tables import Cursor
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.line_protocol import convert_to_stored
from plimsoll.store.logs import read_logs
from plimsoll.store.protocol import StoreState
from plimsoll.store.run_document import load_run

_log = logging.getLogger(__name__)


def find_folder(database: Path) -> Path:
    """Return the folder of the runs of an embedded store."""
    return Path(f"{database}.runs")


def move_runs(cursor: Cursor, database: Path) -> None:
    """Write each run to a folder, then drop the run's tables. A run that cannot be read remains in the file's backup.

    An interrupted call can be repeated; it rewrites runs that already have a folder.
    """
    runs = RunFolders.open(find_folder(database), make=True, mode=0o700)
    recorded = _RunInFile(cursor)
    rows = cursor.execute("SELECT name, generation, loaded, refused, state, document FROM run").fetchall()
    for name, generation, loaded, refused, state, document in rows:
        try:
            run = load_run(document)
            for earlier in runs.summaries():
                if earlier.generation == generation:
                    runs.forget(earlier)
            saved = runs.save(run, generation)
            # Where recordings overlap, the first one counts, so it is written last.
            for _ in runs.write(saved, reversed(read_logs(recorded.read, run))):
                pass
            runs.mark(saved, StoreState(state), loaded=loaded, refused=refused)
        except (ValueError, KeyError, TypeError) as error:
            _log.warning(
                'run "%s" cannot be read (%s): it is left in %s.version-2; load its logs again', name, error, database
            )
    if rows:
        _log.warning("%d runs were moved from %s to %s", len(rows), database, runs.name)
    for table in ("run", "recorded", "claim"):
        cursor.execute(f"DROP TABLE {table}")


class _RunInFile:
    """Reads the samples of runs in the table `recorded` of a version 2 store."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        rows = cursor.execute("SELECT id, host, measurement, tags, field FROM series").fetchall()
        self._numbers = {
            Series(host, measurement, tuple((tag, value) for tag, value in json.loads(tags)), field).key: number
            for number, host, measurement, tags, field in rows
        }

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        numbers = [self._numbers.get(convert_to_stored(s).key, -1) for s in series]
        rows = self._cursor.execute(
            "SELECT series, time, value FROM recorded WHERE time BETWEEN ? AND ? ORDER BY series, time", [start, end]
        ).fetchnumpy()
        first, last = (np.searchsorted(rows["series"], numbers, side) for side in ("left", "right"))
        spans = [slice(*span) for span in zip(first.tolist(), last.tolist(), strict=True)]
        return [Samples(rows["time"][span], rows["value"][span]) for span in spans]

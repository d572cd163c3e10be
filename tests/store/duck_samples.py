"""Samples for the embedded store, and what it then holds."""

from pathlib import Path

import numpy as np

from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.duck.day_files import list_files
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.protocol import StoreState

DAY = 86_400 * SECOND
MONDAY = 20_000 * DAY
EVER = (MONDAY - 1000 * DAY, MONDAY + 1000 * DAY)
CPU, MEM = (Series("web", "m", (("instance", "0"),), field) for field in ("cpu", "mem"))


def embedded(store) -> DuckSamples:
    """The live samples of an embedded store."""
    assert isinstance(store.live, DuckSamples)
    return store.live


def live(series, start, values, every=10 * SECOND):
    count = len(values)
    times = start + np.arange(count, dtype=np.int64) * every
    return Points([series], np.zeros(count, np.int32), times, np.array(values, np.float64))


def loaded(store, series, start, values, item=10 * SECOND):
    """Load a run of one series."""
    times = start + np.arange(len(values), dtype=np.int64) * item
    column = np.array(values, dtype=float)
    log = Log(Path("night.csv"), "PDH-CSV", times, (column,), (series,), Zone.parse("UTC"), sha256="ab")
    run = store.runs.save(StoredRun(Run(f"night {start}"), (Recording.of(log, "ab"),)))
    list(store.runs.write(run, [log]))
    return store.runs.mark(run, StoreState.COMPLETE, loaded=len(values), refused=0)


def read(store, series, start=EVER[0], end=EVER[1]):
    (result,) = store.samples.read([series], start, end)
    return dict(zip(result.times.tolist(), result.values.tolist(), strict=True))


def tidy(store, now):
    pieces = 0
    while store.live.tidy(now):
        pieces += 1
    return pieces


def days(store):
    """The kinds of files of each day, as they are in the folder; all of them are listed."""
    with store.live._hot.file.reading() as cursor:
        listed = {file.name for file in list_files(cursor)}
    fields = {}
    for path in store.live._hot.file.days.folder.rglob("*.parquet"):
        assert f"{path.parent.name}/{path.name}" in listed
        fields.setdefault(path.parent.name, set()).add(path.name.partition("-")[0])
    return dict(sorted(fields.items()))

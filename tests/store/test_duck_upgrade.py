"""A store that was written by the first version of its format opens in this one, with all that was in it.

`python -m tests.store.test_duck_upgrade` writes kept/store-N.tar.gz anew, for a new version N of the format; the ones
of earlier versions stay. Version 1 was a single file.
"""

import gzip
import tarfile
import tomllib
from pathlib import Path

import duckdb
import numpy as np
import pytest

from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.duck.open import VERSION
from plimsoll.store.protocol import StoreState
from tests.store.duck_samples import embedded

KEPT = Path(__file__).parent / "kept"
DAY = 86_400 * SECOND
FIRST = 20_000
DAYS = 4
PERIOD = 600 * SECOND
EVER = (0, 2**62)
SERIES = [
    Series(f"web{at}", "win_cpu", (("instance", "0,_Total"), ("objectname", "Ünïcode")), "a b") for at in range(5)
]
NIGHT = Series("db", "mem", (), "free")


def values_of(day):
    return np.arange(DAY // PERIOD) / 7 + day


def make(path):
    """A store in which a day is thinned, two are in files as they came, and one is still open; and a run."""
    store = open_embedded(path, margin=0, raw_days=2)
    for day in range(DAYS):
        times = (FIRST + day) * DAY + np.arange(0, DAY, PERIOD, dtype=np.int64)
        for at, item in enumerate(SERIES):
            which = np.zeros(len(times), np.int32)
            store.live.write_points(Points([item], which, times, values_of(day) + at))
        if day < DAYS - 1:
            while embedded(store).tidy((FIRST + day + 1) * DAY + 3600 * SECOND):
                pass
    log = Log(
        Path("night.csv"),
        "PDH-CSV",
        np.arange(3, dtype=np.int64) * SECOND + FIRST * DAY,
        (np.array([1.0, 1 / 3, 5e-324]),),
        (NIGHT,),
        Zone.parse("UTC"),
        sha256="ab",
    )
    run = store.runs.save(StoredRun(Run("night", {"memory": "8GB"}), (Recording.of(log, "ab"),)))
    list(store.runs.write(run, [log]))
    store.runs.mark(run, StoreState.COMPLETE, loaded=3, refused=0)
    store.close()


@pytest.mark.parametrize("kept", sorted(KEPT.iterdir()), ids=lambda path: path.name)
def test_a_kept_store_opens_with_all_that_was_in_it(kept, tmp_path):
    path = tmp_path / "plimsoll.duckdb"
    if kept.suffixes[0] == ".tar":
        with tarfile.open(kept) as archive:
            archive.extractall(tmp_path, filter="data")
        assert len([*tmp_path.glob("plimsoll.duckdb.days/*/*.parquet")]) == 3
    else:
        path.write_bytes(gzip.decompress(kept.read_bytes()))
    store = open_embedded(path, margin=0)
    try:
        for at, result in enumerate(store.samples.read(SERIES, *EVER)):
            assert result.values.tolist() == [value for day in range(DAYS) for value in (values_of(day) + at).tolist()]
            assert np.all(np.diff(result.times) == PERIOD)
        (run,) = store.runs.summaries()
        assert (run.name, run.labels, run.hosts) == ("night", {"memory": "8GB"}, ("db",))
        assert store.runs.samples(run).read([NIGHT], *EVER)[0].values.tolist() == [1.0, 1 / 3, 5e-324]
        while embedded(store).tidy((FIRST + 30) * DAY):
            pass
        assert sum(store.samples.counts(SERIES, *EVER)) == len(SERIES) * DAYS * DAY // PERIOD
        files = sorted(tmp_path.glob("plimsoll.duckdb.days/*/*.parquet"))
        assert [file.name.partition("-")[0] for file in files] == ["minutes", *["values"] * (DAYS - 1)]
    finally:
        store.close()


def test_there_is_a_kept_store_of_each_version():
    assert {path.name for path in KEPT.iterdir()} == {
        "store-1.duckdb.gz",
        *(f"store-{version}.tar.gz" for version in range(2, VERSION + 1)),
    }


def test_the_least_duckdb_that_is_asked_for_reads_what_this_one_writes(tmp_path):
    path = tmp_path / "plimsoll.duckdb"
    open_embedded(path, margin=0).close()
    with duckdb.connect(path) as connection:
        ((tags,),) = connection.execute(
            "SELECT tags FROM duckdb_databases() WHERE database_name = 'plimsoll'"
        ).fetchall()
    format_ = tags["storage_version"].removeprefix("v").partition("+")[0]
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    (result,) = [load for load in project["dependencies"] if load.startswith("duckdb")]
    assert result.startswith(f"duckdb>={format_.rpartition('.')[0]},")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "plimsoll.duckdb")
        with tarfile.open(KEPT / f"store-{VERSION}.tar.gz", "w:gz") as archive:
            for entry in sorted(Path(folder).iterdir()):
                archive.add(entry, entry.name)

"""`plimsoll salvage`: a damaged store loses what is in the damaged blocks, and nothing else."""

import random
import shutil

import numpy as np
import polars as pl
import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.duck.days import folder_of
from plimsoll.store.duck.open import write_ahead_log
from plimsoll.store.duck.salvage import salvage
from plimsoll.store.duck.store import DuckStore
from plimsoll.store.logs import live

DAY = 86_400 * SECOND
FIRST = 20_000
DAYS = 5
EVER = (0, 2**62)
NOW = (FIRST + DAYS) * DAY
SERIES = [Series("web", "cpu", (("cpu", f"cpu{at}"),), "usage_idle") for at in range(20)]
NIGHT = Series("db", "mem", (), "free")


def written(path):
    """A store with five days, the first two thinned, the last two not in files yet, and a recorded log."""
    store = DuckStore.open(path, margin=0, raw_days=2)
    values = np.random.default_rng(1)
    for day in range(FIRST, FIRST + DAYS):
        times = day * DAY + np.arange(0, 86_400, 40, dtype=np.int64) * SECOND
        which = np.repeat(np.arange(len(SERIES), dtype=np.int32), len(times))
        store.write_points(Points(SERIES, which, np.tile(times, len(SERIES)), values.random(len(which))))
        while day < FIRST + DAYS - 1 and store.tidy((day + 1) * DAY):
            pass
    column = pl.Series([1.0, 2.0, 3.0])
    times = np.arange(3, dtype=np.int64) * SECOND + FIRST * DAY
    list(store.write([Log(path, "PDH-CSV", times, (column,), (NIGHT,), Zone.parse("UTC"), sha256="ab")]))
    return store


def content(store):
    found = zip([*SERIES, NIGHT], store.read([*SERIES, NIGHT], *EVER), strict=True)
    return {
        (series.key, time): value
        for series, samples in found
        for time, value in zip(samples.times.tolist(), samples.values.tolist(), strict=True)
    }


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of a store, the folder of its days, and what is in it."""
    path = tmp_path_factory.mktemp("good") / "plimsoll.duckdb"
    store = written(path)
    every = content(store)
    store.close()
    assert [len([*one.iterdir()]) for one in sorted(folder_of(path).iterdir())] == [1, 1, 1]
    return path.read_bytes(), folder_of(path), every


def salvaged(path, data, days=None):
    path.write_bytes(data)
    if days:
        shutil.copytree(days, folder_of(path))
    done = salvage(path, NOW)
    assert done.aside.read_bytes() == data
    store = DuckStore.open(path, margin=0)
    try:
        found = content(store)
        # What is there can be kept in order, and written on.
        while store.tidy(NOW + DAY):
            pass
        store.write_points(Points([NIGHT], np.zeros(1, np.int32), np.array([NOW]), np.array([7.0])))
        assert content(store)[(NIGHT.key, NOW)] == 7
        return done, found
    finally:
        store.close()


def test_of_a_store_that_is_not_damaged_nothing_is_lost(good, tmp_path):
    data, days, every = good
    done, found = salvaged(tmp_path / "plimsoll.duckdb", data, days)
    assert found == every
    assert done.lost == []


def test_a_damaged_block_costs_what_is_in_it_and_is_told(good, tmp_path):
    data, days, every = good
    torn = 0
    for seed in range(3):
        damaged = bytearray(data)
        damaged[random.Random(seed).randrange(12_288, len(data))] ^= 1
        folder = tmp_path / str(seed)
        folder.mkdir()
        done, found = salvaged(folder / "plimsoll.duckdb", bytes(damaged), days)
        assert found.items() <= every.items()
        assert len(found) > len(every) / 4
        assert bool(done.lost) == (len(found) < len(every)), done.lost
        torn += bool(done.lost)
    assert torn > 1


def test_without_its_beginning_a_store_begins_anew(good, tmp_path):
    data, days, every = good
    done, found = salvaged(tmp_path / "plimsoll.duckdb", bytes(12_288) + data[12_288:], days)
    assert found == {key: value for key, value in every.items() if key[1] < (FIRST + 3) * DAY and key[0] != NIGHT.key}
    assert "everything but closed days" in done.lost[0]


def test_a_damaged_day_costs_that_day_and_is_told(good, tmp_path):
    data, days, every = good
    path = tmp_path / "plimsoll.duckdb"
    path.write_bytes(data)
    shutil.copytree(days, folder_of(path))
    (victim,) = (folder_of(path) / "2024-10-06").iterdir()
    content_of_it = bytearray(victim.read_bytes())
    content_of_it[len(content_of_it) // 2] ^= 1
    left = {key: value for key, value in every.items() if not (FIRST + 2) * DAY <= key[1] < (FIRST + 3) * DAY}
    victim.write_bytes(content_of_it)
    store = DuckStore.open(path, margin=0, raw_days=2)
    assert content(store) == left
    assert store.damaged == {victim: "is damaged"}
    _, remarks = live(store, *EVER, [], Zone.parse("UTC"))
    assert remarks == [Remark(Kind.UNREAD, f"{victim} is damaged: its values are missing")]
    assert store.series((FIRST + 3) * DAY, EVER[1]).unread == ()
    while store.tidy((FIRST + DAYS + 1) * DAY):  # another day is thinned: this one is left as it is
        pass
    assert victim.exists()
    kept = content(store)
    store.close()
    done, found = salvaged(path, path.read_bytes())
    assert found == kept
    assert [one.partition(",")[0] for one in done.lost] == ["live samples of 2024-10-06"]
    (aside,) = folder_of(done.aside).rglob("*.parquet")
    assert aside.read_bytes() == content_of_it


def test_a_damaged_write_ahead_log_costs_what_comes_after_the_damage(tmp_path):
    path = tmp_path / "plimsoll.duckdb"
    store = DuckStore.open(path, margin=0)
    for at in range(10):
        store.write_points(Points([NIGHT], np.zeros(100, np.int32), at * DAY + np.arange(100), np.full(100, 1.0)))
    data, log = path.read_bytes(), bytearray(write_ahead_log(path).read_bytes())
    every = content(store)
    store.close()
    log[len(log) // 2] ^= 1
    write_ahead_log(path).write_bytes(log)
    path.write_bytes(data)
    with pytest.raises(Unusable, match="plimsoll salvage"):
        DuckStore.open(path)
    done, found = salvaged(path, data)
    assert done.older
    assert found.items() < every.items()
    assert len(found) >= 300


def test_a_store_that_is_open_is_not_touched(tmp_path, plimsoll):
    path = tmp_path / "plimsoll.duckdb"
    assert plimsoll("salvage", "--store", tmp_path).status == 2
    path.write_bytes(b"")
    first = salvage(path, NOW)
    with pytest.raises(Unusable, match="exists already"):
        salvage(path, NOW)
    assert first.aside.exists()
    assert path.exists()

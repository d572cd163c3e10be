"""What only the embedded store does: its file, its upkeep, copies and safety."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet
import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.store.duck import compaction, hot_file, live_writer
from plimsoll.store.duck.day_files import DayFolder
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.duck.hot_file import read_pieces
from plimsoll.store.duck.open import connect
from tests.store.duck_samples import CPU, DAY, EVER, MEM, MONDAY, days, embedded, live, loaded, read, tidy

MINUTE = 60 * SECOND


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plimsoll.duckdb"


@pytest.fixture
def opened(path):
    """Opens the store; it is closed at the end."""
    stores = []

    def call(**options):
        stores.append(open_embedded(path, **{"margin": 0, **options}))
        return stores[-1]

    yield call
    for store in stores:
        store.close()


def tables(store):
    with embedded(store)._hot.file.reading() as cursor:
        return sorted(kind for (kind,) in cursor.execute("SELECT kind FROM part").fetchall())


@contextmanager
def repeatedly(call):
    """Calls it again and again in another thread."""
    done = threading.Event()

    def repeat():
        while not done.is_set():
            call()

    other = threading.Thread(target=repeat)
    other.start()
    try:
        yield
    finally:
        done.set()
        other.join()


def test_a_second_process_is_told_who_has_the_file(path, opened):
    opened()
    call = f"from pathlib import Path; from plimsoll.store.duck.duck_store import open_embedded; open_embedded(Path({str(path)!r}))"
    other = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=False)
    line = other.stderr.splitlines()[-1]
    assert "Unusable" in line
    assert f"process {os.getpid()} has it open" in line
    with pytest.raises(Unusable, match="this process has it open already"):
        opened()


def test_what_is_no_store_is_refused_in_one_line(tmp_path):
    (tmp_path / "text.duckdb").write_text("this is not a database, though it is long enough to be read as one" * 500)
    (tmp_path / "folder.duckdb").mkdir()
    with duckdb.connect(tmp_path / "other.duckdb") as other:
        other.execute("CREATE TABLE sales (amount INTEGER)")
    (tmp_path / "file").write_text("")
    expected = {
        "text.duckdb": "is no DuckDB file; name",
        "folder.duckdb": "is no file",
        "other.duckdb": "is a DuckDB file of another program",
        "file/below/plimsoll.duckdb": "cannot be opened: Not a directory",
    }
    for name, result in expected.items():
        with pytest.raises(Unusable, match=result) as refused:
            open_embedded(tmp_path / name)
        assert len(str(refused.value).splitlines()) == 1
    assert duckdb.connect(tmp_path / "other.duckdb").execute("FROM sales").fetchall() == []


def test_a_later_version_is_refused_and_an_earlier_one_upgraded_after_a_copy(path):
    store = open_embedded(path)
    store.live.write_points(live(CPU, MONDAY, [1.0, 2.0]))
    store.close()

    def add_colour(cursor, _):
        cursor.execute("ALTER TABLE series ADD COLUMN colour VARCHAR DEFAULT 'red'")

    def fail(cursor, path):
        add_colour(cursor, path)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        connect(path, {3: fail}, 4)
    connect(path, {3: add_colour}, 4).close()
    with pytest.raises(Unusable, match=r"is of version 4 .*update Plimsoll"):
        open_embedded(path)
    with duckdb.connect(path) as upgraded:
        assert upgraded.execute("SELECT colour FROM series").fetchall() == [("red",)]
    copy = path.with_name("plimsoll.duckdb.version-3")
    earlier = open_embedded(copy)
    assert list(read(earlier, CPU).values()) == [1, 2]
    earlier.close()


def test_reads_the_same_whatever_upkeep_was_done(opened, monkeypatch):
    """Late and repeated samples, on days in any order, with compaction between any two writes."""
    monkeypatch.setattr(live_writer, "ROWS_A_TABLE", 500)
    monkeypatch.setattr(compaction, "_ROWS_A_FILE", 300)
    store, random, expected = opened(), np.random.default_rng(20), {}
    series = [Series("web", "m", (("instance", str(n)),), "cpu") for n in range(7)]
    now = MONDAY + 3 * DAY
    for _ in range(24):
        which = random.integers(0, 7, 40).astype(np.int32)
        times = MONDAY + random.integers(0, 3 * 144, 40) * 600 * SECOND
        values = random.random(40)
        store.live.write_points(Points(series, which, times, values))
        expected |= dict(zip(zip(which.tolist(), times.tolist(), strict=True), values.tolist(), strict=True))
        embedded(store).tidy(now - DAY + int(random.integers(0, 2 * DAY)))
        if not random.integers(0, 8):
            store.close()
            store = opened()
    for restart in (False, True):
        if restart:
            store.close()
            store = opened()
        for at, item in enumerate(series):
            result = {time: value for (which, time), value in expected.items() if which == at}
            assert read(store, item) == result
            assert store.samples.counts([item], *EVER) == [len(result)]
        assert store.samples.series(*EVER).series == series
        assert store.samples.series(MONDAY, MONDAY).series == [
            entry for at, entry in enumerate(series) if (at, MONDAY) in expected
        ]
        tidy(store, now + DAY)
        assert tables(store) == ["open"]
        assert days(store) == {day: {"values"} for day in ("2024-10-04", "2024-10-05", "2024-10-06")}


def test_days_are_thinned_to_minutes_and_then_dropped(opened):
    store = opened(raw_days=2, days=5)
    store.live.write_points(live(CPU, MONDAY, [1.0, 2.0, 6.0], every=20 * SECOND))
    store.live.write_points(live(CPU, MONDAY + MINUTE, [5.0]))
    store.live.write_points(live(MEM, MONDAY + DAY, [4.0, 8.0]))
    tidy(store, MONDAY + 3 * DAY - 1)
    assert len(read(store, CPU)) == 4
    tidy(store, MONDAY + 3 * DAY)
    assert read(store, CPU) == {MONDAY: 3, MONDAY + MINUTE: 5}
    (buckets,) = store.samples.buckets([CPU], *EVER, 3600 * SECOND)
    assert (buckets.times.tolist(), buckets.minimum.tolist(), buckets.maximum.tolist()) == ([MONDAY], [1], [6])
    assert buckets.mean.tolist() == [14 / 4]
    (drawn,) = store.samples.drawn([CPU], MONDAY, MONDAY + DAY - 1, 1)
    assert drawn.samples.values.tolist() == [1, 6, 5]
    assert drawn.count == 4
    assert len(read(store, MEM)) == 2
    # Samples that come after that count if nothing is known of their minute.
    store.live.write_points(live(CPU, MONDAY, [1.0, 2.0, 6.0], every=20 * SECOND))
    store.live.write_points(live(CPU, MONDAY + 7 * MINUTE, [9.0]))
    tidy(store, MONDAY + 4 * DAY)
    assert read(store, CPU) == {MONDAY: 3, MONDAY + MINUTE: 5, MONDAY + 7 * MINUTE: 9}
    (buckets,) = store.samples.buckets([CPU], *EVER, 3600 * SECOND)
    assert buckets.mean.tolist() == [23 / 5]
    tidy(store, MONDAY + 6 * DAY)
    assert read(store, CPU) == {}
    assert store.samples.series(*EVER).series == [MEM]


def test_what_comes_late_for_a_day_in_files_counts_and_is_folded_in(opened):
    store = opened()
    store.live.write_points(live(CPU, MONDAY, [1.0, 2.0, 3.0]))
    store.live.write_points(live(MEM, MONDAY, [4.0]))
    tidy(store, MONDAY + DAY + 2 * 3600 * SECOND)
    assert days(store) == {"2024-10-04": {"values"}}
    (before,) = embedded(store)._hot.file.days.folder.rglob("*.parquet")
    other = Series("db", "m", (), "cpu")
    for series, at, value in ((CPU, 10, 7.0), (CPU, 25, 8.0), (other, 0, 9.0)):
        store.live.write_points(live(series, MONDAY + at * SECOND, [value]))
    expected = {MONDAY: 1, MONDAY + 10 * SECOND: 7, MONDAY + 20 * SECOND: 3, MONDAY + 25 * SECOND: 8}
    for now in (MONDAY + DAY + 4 * 3600 * SECOND, MONDAY + 2 * DAY + 3 * 3600 * SECOND):
        assert read(store, CPU) == expected
        assert store.samples.counts([CPU, MEM, other], *EVER) == [4, 1, 1]
        assert store.samples.buckets([CPU], *EVER, DAY)[0].mean.tolist() == [19 / 4]
        assert store.samples.drawn([CPU], MONDAY, MONDAY + DAY - 1, 1)[0].samples.values.tolist() == [1, 8]
        assert store.samples.series(MONDAY, MONDAY + SECOND).series == [other, CPU, MEM]
        assert before.exists()
        tidy(store, now)
        assert before.exists() == (now < MONDAY + 2 * DAY)
    assert read(store, CPU) == expected
    assert tables(store) == ["open"]
    assert len([*embedded(store)._hot.file.days.folder.rglob("*.parquet")]) == 2


def test_other_programs_read_a_day(opened):
    store = opened(raw_days=2)
    odd = Series("WEB'1", "win_cpu", (("instance", "0,_Total"), ("objectname", "Ünï code")), "a b")
    store.live.write_points(live(odd, MONDAY + 5, [1 / 3, 5e-324]))
    store.live.write_points(live(CPU, MONDAY, [2.0]))
    tidy(store, MONDAY + 2 * DAY)
    result = pl.read_parquet(embedded(store)._hot.file.days.folder / "2024-10-04" / "values-*.parquet").sort(
        "host", "time"
    )
    assert result.columns == ["time", "host", "measurement", "tags", "field", "value", "series"]
    assert result["time"].dt.epoch("ns").to_list() == [MONDAY + 5, MONDAY + 5 + 10 * SECOND, MONDAY]
    assert result["host"].to_list() == ["WEB'1", "WEB'1", "web"]
    assert json.loads(result["tags"][0]) == dict(odd.tags)
    assert result["value"].to_list() == [1 / 3, 5e-324, 2.0]
    tidy(store, MONDAY + 3 * DAY)
    place = embedded(store)._hot.file.days.folder / "2024-10-04" / "minutes-*.parquet"
    minutes = duckdb.execute(f"FROM read_parquet('{place}') ORDER BY series").fetchall()
    assert str(pyarrow.parquet.read_schema(next(Path(place).parent.glob("minutes-*"))).field("amount").type) == "int32"
    assert [row[5:9] for row in minutes] == [(5e-324, 1 / 3, 1 / 6, 2), (2.0, 2.0, 2.0, 1)]


@pytest.mark.parametrize("step", ["name", "publish", "list"])
def test_a_day_that_is_cut_off_while_it_is_written_is_neither_lost_nor_doubled(
    step, opened, path, tmp_path, monkeypatch
):
    store = opened()
    store.live.write_points(live(CPU, MONDAY, [1.0, 2.0, 3.0]))
    tidy(store, MONDAY + DAY + 2 * 3600 * SECOND)
    store.live.write_points(live(CPU, MONDAY, [4.0]))
    copies = []

    def copied(call):
        def first(*arguments):
            if not copies:
                copies.append(tmp_path / "copy" / path.name)
                for item in (path, Path(f"{path}.wal"), Path(f"{path}.days")):
                    to = copies[0].with_name(item.name)
                    to.parent.mkdir(exist_ok=True)
                    (shutil.copytree if item.is_dir() else shutil.copyfile)(item, to)
            return call(*arguments)

        return first

    place, name = {"name": (DayFolder, "name"), "publish": (DayFolder, "publish"), "list": (compaction, "add_file")}[
        step
    ]
    monkeypatch.setattr(place, name, copied(getattr(place, name)))
    tidy(store, MONDAY + 2 * DAY + 2 * 3600 * SECOND)
    left = open_embedded(copies[0], margin=0)
    try:
        for now in (0, MONDAY + 2 * DAY + 2 * 3600 * SECOND):
            tidy(left, now)
            assert [*read(left, CPU).values()] == [4, 2, 3]
            assert len(days(left)["2024-10-04"]) == 1
            assert not [*embedded(left)._hot.file.days.folder.glob("*/.*")]
    finally:
        left.close()


def test_the_oldest_days_are_dropped_while_the_file_is_too_large(opened):
    store = opened(size_limit=6 << 20)
    noise = np.random.default_rng(1)
    for day in range(10):
        for part in range(4):
            start = MONDAY + day * DAY + part * 5 * 3600 * SECOND
            store.live.write_points(live(CPU, start, noise.random(30_000), every=200_000_000))
        loaded(store, MEM, MONDAY + day * DAY, [1.0])
        tidy(store, MONDAY + (day + 1) * DAY)
        assert store.live.size() < (6 << 20) + (5 << 20)
    days = {time // DAY for time in read(store, CPU)}
    assert days == set(range(min(days), MONDAY // DAY + 10))
    assert 4 <= len(days) < 10
    assert len(read(store, MEM)) == 10


def test_a_copy_is_whole_while_writing_goes_on(opened, tmp_path, monkeypatch):
    monkeypatch.setattr(hot_file, "_CHECKPOINT_BYTES", 300_000)
    monkeypatch.setattr(hot_file, "_COPY_BYTES", 1 << 17)
    store, acknowledged, noise = opened(), [0], np.random.default_rng(5).random(5000)
    may_write = threading.Semaphore(0)

    def slowly(file, size):
        for piece in read_pieces(file, size):
            before = acknowledged[0]
            may_write.release()
            while acknowledged[0] == before:
                time.sleep(0.001)
            yield piece

    monkeypatch.setattr(hot_file, "read_pieces", slowly)

    def write():
        if not may_write.acquire(timeout=0.05):
            return
        at = acknowledged[0]
        store.live.write_points(live(CPU, MONDAY + at * SECOND, noise, every=1))
        acknowledged[0] = at + 1
        embedded(store).tidy(MONDAY + 2 * DAY)

    with repeatedly(write):
        for at in range(2):
            may_write.release(10)
            while acknowledged[0] < 10 * at + 10:
                time.sleep(0.01)
            before = acknowledged[0]
            store.back_up(tmp_path / "copies" / f"{at}.duckdb")
            after = acknowledged[0]
            copy = open_embedded(tmp_path / "copies" / f"{at}.duckdb")
            (result,) = copy.samples.read([CPU], *EVER)
            count = len(result.times)
            copy.close()
            assert (result.values == np.tile(noise, count // 5000)).all()
            assert before <= count // 5000 <= after + 1
            assert after > before + 5
    assert len(read(store, CPU)) == 5000 * acknowledged[0]
    with pytest.raises(Unusable, match="exists already"):
        store.back_up(tmp_path / "copies" / "0.duckdb")
    assert sorted(item.name for item in (tmp_path / "copies").iterdir()) == [
        name for at in range(2) for name in (f"{at}.duckdb", f"{at}.duckdb.days", f"{at}.duckdb.runs")
    ]


def test_sql_reaches_no_other_file(opened, path, tmp_path):
    store = opened()
    outside = tmp_path / "outside.csv"
    outside.write_text("a,b\n1,2\n")
    with embedded(store)._hot.file.reading() as cursor:
        for sql in (
            "FROM read_csv('/etc/passwd')",
            "FROM '/etc/passwd'",
            f"FROM read_csv('{outside}')",
            f"FROM read_text('{outside}')",
            "SELECT * FROM glob('/*')",
            f"ATTACH '{tmp_path / 'another.duckdb'}' AS another",
            f"COPY series TO '{tmp_path / 'copy.csv'}'",
            f"FROM read_text('{path}.days/../outside.csv')",
            f"COPY series TO '{path}.days/../copy.csv'",
            "SET allowed_directories = ['/']",
            f"EXPORT DATABASE '{tmp_path / 'export'}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET lock_configuration = false",
            "SET memory_limit = '10GB'",
            "FROM outside",
        ):
            with pytest.raises(duckdb.Error):
                cursor.execute(sql).fetchall()
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        *("outside.csv", "plimsoll.duckdb", "plimsoll.duckdb.runs", "plimsoll.duckdb.wal"),
    ]


def test_a_batch_with_known_and_with_new_series_is_written_however_many_there_were(opened):
    """Known series were forgotten while new ones were added: status 500 from 50,000 series on."""
    rows = [Series(f"h{at // 60}", "m", (), f"f{at % 60}") for at in range(60)]
    names = opened().live._hot.index
    first = names.numbers(rows[:40]).tolist()
    names._recent |= {-at: (rows[0], 0) for at in range(1, 500_000)}  # as many as are remembered, and more
    tolist = names.numbers(rows).tolist()
    assert tolist == [names.find(item) for item in rows]
    assert (tolist[:40], len(set(tolist))) == (first, 60)
    assert names.numbers(rows[::-1]).tolist() == tolist[::-1]

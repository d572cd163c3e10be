"""A hot file that was changed by another program is refused; a damaged one is set aside, and a new one takes its place.

Closed days and runs stay readable, samples are written on, and what is missing is said.
"""

import random
import shutil
from pathlib import Path

import duckdb
import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.duck.open import write_ahead_log
from tests.store.duck_samples import CPU, DAY, EVER, MEM, MONDAY, embedded, live, loaded, read, tidy

CHANGES = {
    "a view in place of a table": "ALTER TABLE held RENAME TO other; CREATE VIEW held AS SELECT * FROM other",
    "a view in place of the version": "DROP TABLE plimsoll; CREATE VIEW plimsoll AS SELECT 1 AS version",
    "a view of a file": "DROP TABLE series; CREATE VIEW series AS SELECT * FROM read_text('{secret}')",
    "a view beside the tables": "CREATE VIEW more AS SELECT 1",
    "a table less": "DROP TABLE held",
    "no table": "DROP TABLE held; DROP TABLE part; DROP TABLE series; DROP TABLE plimsoll; CREATE TABLE mine (a INTEGER)",
    "a table more": "CREATE TABLE more (a INTEGER)",
    "a column less": "ALTER TABLE held DROP COLUMN last",
    "a column of another kind": "ALTER TABLE series ALTER COLUMN tags TYPE VARCHAR[] USING [tags]",
    "a default that is a query": "ALTER TABLE series ALTER COLUMN field SET DEFAULT current_setting('threads')",
    "a part with SQL for a name": "UPDATE part SET name = 'open_1; DROP TABLE series'",
    "a part of another name": "UPDATE part SET name = 'held'",
    "a part that is missing": "UPDATE part SET name = 'open_99'",
    "a part of no kind": "UPDATE part SET kind = 'odd'",
    "a file that is another": "INSERT INTO file VALUES ('../../{secret}', 'raw', 20000, 0, 9, 1, 1)",
    "a file of another day": "INSERT INTO file VALUES ('2024-10-05/values-1-0123456789abcdef.parquet', 'raw', 20000, 0, 9, 1, 1)",
    "a file of no kind": "INSERT INTO file VALUES ('2024-10-04/values-1-0123456789abcdef.parquet', 'odd', 20000, 0, 9, 1, 1)",
    "a file to remove that is another": "INSERT INTO gone VALUES ('../../../etc/passwd')",
    "a function": "CREATE MACRO mine() AS 1",
    "a version that is none": "ALTER TABLE plimsoll ALTER COLUMN version TYPE VARCHAR; UPDATE plimsoll SET version = 'x'",
    "no version": "DELETE FROM plimsoll",
    "a later version": "UPDATE plimsoll SET version = 99",
    "tags that are none": "UPDATE series SET tags = 'x'",
    "tags of another form": "UPDATE series SET tags = '[1]'",
}


HOUR = 3600 * SECOND
CLOSED = [1.0, 2.0, 3.0]
OPEN = [4.0] * 5000


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The folder of a store with a closed day, an open one, and a run."""
    folder = tmp_path_factory.mktemp("good")
    store = open_embedded(folder / "plimsoll.duckdb", margin=0, days=10**6, raw_days=10**6)
    store.live.write_points(live(CPU, MONDAY, CLOSED))
    store.live.write_points(live(CPU, MONDAY + DAY, random.Random(1).choices(range(10**9), k=5000), every=SECOND))
    tidy(store, MONDAY + DAY + 2 * HOUR)
    loaded(store, MEM, MONDAY, [7.0, 8.0])
    store.close()
    return folder


@pytest.fixture
def place(good, tmp_path):
    """A copy of that store."""
    shutil.copytree(good, tmp_path / "data")
    return tmp_path / "data" / "plimsoll.duckdb"


def opened(place):
    return open_embedded(place, margin=0, days=10**6, raw_days=10**6)


@pytest.mark.parametrize("change", CHANGES)
def test_a_store_that_was_changed_is_refused_and_left_as_it_is(change, place, tmp_path, plimsoll):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with duckdb.connect(place) as connection:
        connection.execute(CHANGES[change].format(secret=secret))
    before = place.read_bytes()
    refused = plimsoll("runs", "list", "--store", place.parent)
    assert (refused.status, refused.err.count("\n")) == (2, 1), refused.err
    assert str(place) in refused.err
    assert place.read_bytes() == before


def check_rest(store):
    """Check that the closed day and the run can be read, and that samples are written on."""
    closed = dict(zip((MONDAY + at * 10 * SECOND for at in range(3)), CLOSED, strict=True))
    assert {time: value for time, value in read(store, CPU).items() if time < MONDAY + DAY} == closed
    assert store.samples.series(MONDAY, MONDAY + HOUR).series == [CPU, MEM]
    assert list(read(store, MEM, end=MONDAY + DAY).values()) == [7, 8]
    assert [run.complete for run in store.runs.summaries()] == [True]
    store.live.write_points(live(CPU, MONDAY + 2 * DAY, [9.0]))
    store.live.write_points(live(MEM, MONDAY + 2 * DAY, [9.5]))
    assert [read(store, series)[MONDAY + 2 * DAY] for series in (CPU, MEM)] == [9, 9.5]
    tidy(store, MONDAY + 3 * DAY + 2 * HOUR)
    assert read(store, CPU)[MONDAY + 2 * DAY] == 9


def test_bits_that_were_flipped_change_nothing_or_cost_the_open_day(place, caplog):
    whole, data = 0, place.read_bytes()
    for seed in range(24):
        chance, damaged = random.Random(seed), bytearray(data)
        first = seed < 12  # at the beginning are the headers
        for _ in range(chance.randint(1, 20)):
            damaged[chance.randrange(12_288 if first else len(data))] ^= 1 << chance.randrange(8)
        folder = place.parent.with_name(f"seed {seed}")
        shutil.copytree(place.parent, folder)
        (folder / place.name).write_bytes(damaged)
        caplog.clear()
        store = opened(folder / place.name)
        open_day = len(store.live.read([CPU], MONDAY + DAY, MONDAY + 2 * DAY - 1)[0].times)
        assert open_day in {0, 5000}
        whole += open_day > 0
        check_rest(store)
        assert bool(embedded(store).damaged) == (open_day == 0) == ("is set aside as" in caplog.text)
        store.close()
    assert whole < 24


@pytest.mark.parametrize("length", [0, 1, 100, 4096, 20_000])
def test_a_file_that_was_cut_off_costs_the_open_day(length, place):
    place.write_bytes(place.read_bytes()[:length])
    store = opened(place)
    check_rest(store)
    store.close()


def test_a_damaged_write_ahead_log_costs_what_is_in_it(tmp_path):
    path = tmp_path / "plimsoll.duckdb"
    store = opened(path)
    store.live.write_points(live(CPU, MONDAY, [1.0]))
    assert embedded(store)._hot.file.checkpoint()
    store.live.write_points(live(CPU, MONDAY + SECOND, [2.0] * 100))
    data, log = path.read_bytes(), bytearray(write_ahead_log(path).read_bytes())
    store.close()
    log[len(log) // 2] ^= 1
    write_ahead_log(path).write_bytes(log)
    path.write_bytes(data)
    store = opened(path)
    assert list(read(store, CPU).values()) == [1]
    assert [file.name.partition(".damaged-")[0] for file in embedded(store).damaged] == ["plimsoll.duckdb.wal"]
    store.close()


def test_damage_that_shows_later_is_set_aside_then(place, caplog):
    store = opened(place)
    embedded(store)._hot.file._disconnect()
    data = bytearray(place.read_bytes())
    for at in range(12_288, len(data), 1000):
        data[at] ^= 1
    place.write_bytes(data)
    check_rest(store)
    assert "is set aside as" in caplog.text
    (aside,) = embedded(store).damaged
    assert "live samples of" in embedded(store).damaged[aside]
    day = int(aside.name.partition(".damaged-")[2][8:10])
    assert day
    store.close()


def test_a_store_of_an_earlier_version_is_not_set_aside(tmp_path):
    """Its runs are in the file."""
    path = tmp_path / "plimsoll.duckdb"
    path.write_bytes(b"DUCK" * 10_000)
    Path(f"{path}.days").mkdir()
    with pytest.raises(Unusable, match="put a backup in its place"):
        open_embedded(path)
    assert path.exists()


def test_a_damaged_day_file_costs_its_samples_and_is_said(place, plimsoll):
    (victim,) = place.parent.rglob("values-*.parquet")
    content = victim.read_bytes()
    victim.write_bytes(content[:-1] + b"x")
    for is_new in (False, True):
        if is_new:
            place.unlink()
        store = opened(place)
        series = store.samples.series(MONDAY, MONDAY + DAY - 1)
        assert series.unread == (f"{victim} is damaged",)
        assert embedded(store).damaged == {victim: "is damaged"}
        assert store.samples.series(*EVER).unread == (f"{victim} is damaged",)
        tidy(store, MONDAY + 3 * DAY)
        assert victim.exists()
        store.close()


def test_a_day_file_in_the_place_of_another_day_s_is_said_also_when_the_index_is_lost(place):
    (closed,) = place.parent.glob("*.days/*/*.parquet")
    other = closed.parents[1] / "2024-01-01" / closed.name
    other.parent.mkdir()
    shutil.move(closed, other)
    place.unlink()
    for _ in range(2):
        store = opened(place)
        assert store.samples.series(*EVER).unread == (f"{other} has samples of {closed.parent.name}",)
        assert read(store, CPU) == {}
        store.close()

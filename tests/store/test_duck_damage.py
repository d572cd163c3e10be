"""Stores that are damaged, or were changed by another program: one line, status 2, and the file is left as it is."""

import random

import duckdb
import numpy as np
import pytest

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.store.duck.store import DuckStore
from tests.each import each

CHANGES = {
    "a view in place of a table": "ALTER TABLE run RENAME TO other; CREATE VIEW run AS SELECT * FROM other",
    "a view in place of the version": "DROP TABLE plimsoll; CREATE VIEW plimsoll AS SELECT 1 AS version",
    "a view of a file": "DROP TABLE series; CREATE VIEW series AS SELECT * FROM read_text('{secret}')",
    "a view beside the tables": "CREATE VIEW more AS SELECT 1",
    "a table less": "DROP TABLE claim",
    "no table": "DROP TABLE claim; DROP TABLE run; DROP TABLE recorded; DROP TABLE held; DROP TABLE part;"
    "DROP TABLE series; DROP TABLE plimsoll; CREATE TABLE mine (a INTEGER)",
    "a table more": "CREATE TABLE more (a INTEGER)",
    "a column less": "ALTER TABLE run DROP COLUMN document",
    "a column of another kind": "ALTER TABLE series ALTER COLUMN tags TYPE VARCHAR[] USING [tags]",
    "a default that is a query": "ALTER TABLE series ALTER COLUMN field SET DEFAULT current_setting('threads')",
    "a part with SQL for a name": "UPDATE part SET name = 'open_1; DROP TABLE series'",
    "a part of another name": "UPDATE part SET name = 'recorded'",
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
    "a run without hosts": "INSERT INTO run (name, hosts) VALUES ('x', 'y')",
    "a run of no state": "INSERT INTO run VALUES ('x', 'g', 0, 1, '[]', '{{}}', 1, 1, 1, 0, 'odd', NULL)",
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "plimsoll.duckdb"
    store = DuckStore.open(path)
    times = np.arange(2000, dtype=np.int64) * SECOND
    series = [Series("web", "cpu", (("cpu", f"cpu{at}"),), "usage_idle") for at in range(40)]
    which = np.repeat(np.arange(40, dtype=np.int32), len(times))
    store.write_points(Points(series, which, np.tile(times, 40), np.random.default_rng(1).random(len(which))))
    store.close()
    return path.read_bytes()


def refused(plimsoll, place):
    before = place.read_bytes()
    found = plimsoll("runs", "list", "--store", place.parent)
    assert found.status == 2, found.err
    assert found.err.count("\n") == 1
    assert str(place) in found.err
    assert place.read_bytes() == before
    assert [one.name for one in place.parent.iterdir()] == [place.name]


@each(CHANGES, named=str)
def test_a_store_that_was_changed_is_refused(change, good, tmp_path, plimsoll):
    place = tmp_path / "plimsoll.duckdb"
    place.write_bytes(good)
    secret = tmp_path.parent / "secret"
    secret.write_text("secret")
    with duckdb.connect(place) as connection:
        connection.execute(CHANGES[change].format(secret=secret))
    refused(plimsoll, place)


def test_bits_that_were_flipped_are_an_error_or_change_nothing(good, tmp_path, plimsoll):
    place = tmp_path / "plimsoll.duckdb"
    statuses = []
    for seed in range(40):
        chance = random.Random(seed)
        data = bytearray(good)
        first = seed < 20  # at the beginning are the headers
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(12_288 if first else len(data))] ^= 1 << chance.randrange(8)
        place.write_bytes(data)
        found = plimsoll("runs", "list", "--store", tmp_path)
        statuses.append(found.status)
        if found.status:
            assert (found.status, found.err.count("\n")) == (2, 1), (seed, found.err)
            assert place.read_bytes() == data
    assert statuses.count(2) > 10


@each([0, 1, 100, 4096, 20_000], named=str)
def test_a_store_that_was_cut_off_is_refused(length, good, tmp_path, plimsoll):
    place = tmp_path / "plimsoll.duckdb"
    place.write_bytes(good[:length])
    refused(plimsoll, place)

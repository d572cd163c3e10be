"""Data that InfluxDB cannot open is named, with what to do."""

import os
import random
import shutil
import sqlite3
import sys
import time

import pytest

from plimsoll.native.influx import InfluxDB
from plimsoll.native.stack import Stack
from tests.conftest import built, free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are not run in the background on Windows")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The folder of an InfluxDB that was set up, and is stopped."""
    built("influxd")
    folder = tmp_path_factory.mktemp("sound")
    with InfluxDB(folder):
        pass
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    """A copy of it."""
    yield shutil.copytree(sound, tmp_path / "stack")
    Stack(tmp_path / "stack").stop()


def bytes_of(seed, count):
    return random.Random(seed).randbytes(count)


def overwrite(path, start, content):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


def cut_by_a_page(path):
    """Cut off the last page that is in use."""
    content = path.read_bytes()
    pages = max(int.from_bytes(content[at + 56 : at + 64], "little") for at in (0, 4096))
    os.truncate(path, (pages - 1) * 4096)


def a_letter(path):
    path.write_bytes(path.read_bytes().replace(b"initial migration", b"initial migratiom"))


def of_a_newer_influxdb(path):
    database = sqlite3.connect(path)
    database.execute("INSERT INTO migrations (name) VALUES ('9999_of_the_future')")
    database.commit()
    database.close()


DAMAGES = {
    "missing": ("influxd.bolt", lambda path: path.unlink(), "is not there"),
    "empty": ("influxd.bolt", lambda path: os.truncate(path, 0), "is empty"),
    "cut off by a page in use": ("influxd.bolt", cut_by_a_page, "a part of it is missing"),
    "cut off in the header": ("influxd.bolt", lambda path: os.truncate(path, 100), "is damaged"),
    "half of it": ("influxd.bolt", lambda path: os.truncate(path, path.stat().st_size // 2), "is damaged"),
    "something else": ("influxd.bolt", lambda path: path.write_bytes(bytes_of(1, 100_000)), "is damaged"),
    "zeros in the header": ("influxd.bolt", lambda path: overwrite(path, 0, bytes(8192)), "is damaged"),
    "many pages": ("influxd.bolt", lambda path: overwrite(path, 4 * 4096, bytes_of(2, 8 * 4096)), "is damaged"),
    "a letter": ("influxd.bolt", a_letter, "is damaged"),
    "sqlite": ("influxd.sqlite", lambda path: path.write_bytes(bytes_of(4, 5000)), "is damaged"),
    "newer": ("influxd.sqlite", of_a_newer_influxdb, "a newer InfluxDB wrote the data"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_data_is_named_at_once(plimsoll, telegraf, folder, damage):
    file, apply, says = DAMAGES[damage]
    apply(folder / file)
    engine = sorted((folder / "engine").rglob("*"))
    begun = time.monotonic()
    done = plimsoll("stack", "start", "--folder", folder, "--port", free_port())
    assert time.monotonic() - begun < 100  # of the two minutes in which InfluxDB may become ready
    assert (done.status, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert says in done.err
    assert f"{folder if damage == 'newer' else folder / file}: " in done.err
    assert f"move {folder} away" in done.err
    assert not InfluxDB(folder).background.running()
    assert sorted((folder / "engine").rglob("*")) == engine

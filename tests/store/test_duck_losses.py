"""What the embedded store keeps when its disk is full or its process is killed."""

import subprocess
import sys

import numpy as np
import pytest

from plimsoll.model.times import SECOND
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.protocol import StoreFull
from tests.store.duck_samples import CPU, EVER, MEM, MONDAY, days, embedded, live, read, tidy


@pytest.fixture
def path(tmp_path):
    return tmp_path / "plimsoll.duckdb"


_WRITER = """
import sys
from pathlib import Path
import numpy as np
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.store.duck.duck_store import open_embedded
store = open_embedded(Path(sys.argv[1]))
series = [Series("web", "m", (("instance", str(n)),), "cpu") for n in range(100)]
which = np.arange(100, dtype=np.int32)
at = int(sys.argv[2])
while True:
    time = at * 1800_000_000_000
    store.live.write_points(Points(series, which, np.full(100, time), np.full(100, at + 0.5)))
    print(at, flush=True)
    at += 1
    if at % 5 == 0:
        while store.live.tidy(time):
            pass
"""


def test_a_killed_process_loses_nothing_that_was_acknowledged(path):
    random, at = np.random.default_rng(7), 0
    for _ in range(2):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, path, str(at)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        for _ in range(int(random.integers(1, 50))):
            at = int(writer.stdout.readline()) + 1
        writer.kill()
        at += len(writer.stdout.readlines())
        writer.wait()
        writer.stdout.close()
        store = open_embedded(path)
        series = store.samples.series(0, EVER[1]).series
        counts = {len(item.times) for item in store.samples.read(series, 0, EVER[1])}
        content = read(store, series[0], 0)
        store.close()
        assert len(series) == 100
        assert len(counts) == 1
        assert [*content] == [number * 1800 * SECOND for number in range(len(content))]
        assert [*content.values()][:at] == [number + 0.5 for number in range(at)]
        assert len(content) in {at, at + 1}
        at = len(content)
    store = open_embedded(path)
    tidy(store, at * 1800 * SECOND)
    assert set(map(tuple, days(store).values())) == {("values",)}
    store.close()


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_stops_writing_and_nothing_else(small_disk):
    store, written = open_embedded(small_disk / "plimsoll.duckdb", margin=0), 0
    noise = np.random.default_rng(3)

    def fill():
        nonlocal written
        while written < 10_000_000:
            store.live.write_points(live(CPU, MONDAY + written, noise.random(20_000), every=1))
            written += 20_000

    with pytest.raises(StoreFull, match="disk is full; make room"):
        fill()
    for _ in range(3):
        with pytest.raises(StoreFull):
            store.live.write_points(live(CPU, MONDAY + written, noise.random(100_000), every=1))
        assert store.samples.counts([CPU], *EVER) == [written]
    subprocess.run(["mount", "-o", "remount,size=40m", small_disk], check=True)
    store.live.write_points(live(CPU, MONDAY + written, [1.0], every=1))
    written += 1
    with pytest.raises(StoreFull):
        fill()
    store.close()
    store = open_embedded(small_disk / "plimsoll.duckdb", margin=0)
    assert store.samples.counts([CPU], *EVER) == [written]
    store.close()


def test_a_checkpoint_that_fails_on_a_full_disk_loses_nothing(small_disk, monkeypatch):
    store = open_embedded(small_disk / "plimsoll.duckdb", margin=0)
    for at in range(20):
        store.live.write_points(live(CPU, MONDAY + at * 20_000, np.random.default_rng(at).random(20_000), every=1))
    filling = small_disk / "other"
    with filling.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 20)) == 1 << 20:
            pass
    monkeypatch.setattr(type(embedded(store)._hot.file), "_free", 1 << 40)
    with pytest.raises(StoreFull):
        embedded(store)._hot.file.checkpoint()
    monkeypatch.undo()
    assert store.samples.counts([CPU], *EVER) == [400_000]
    filling.unlink()
    store.live.write_points(live(CPU, MONDAY + 400_000, [1.0]))
    assert store.samples.counts([CPU], *EVER) == [400_001]
    store.close()


def test_nothing_is_written_while_the_disk_has_less_than_the_margin(path):
    store = open_embedded(path, margin=0)
    store.live.write_points(live(CPU, MONDAY, [1.0]))
    store.close()
    store = open_embedded(path, margin=1 << 60)
    for write in (
        lambda: store.live.write_points(live(CPU, MONDAY, [2.0])),
        lambda: store.live.write_points(live(MEM, MONDAY, [2.0])),
    ):
        with pytest.raises(StoreFull, match=r"[0-9]+ MB are free on its disk, and nothing is written below [0-9]+ MB"):
            write()
    assert read(store, CPU) == {MONDAY: 1}
    store.close()

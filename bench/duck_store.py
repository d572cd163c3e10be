"""How fast the embedded store takes and answers samples, what it needs, and what is left after it was killed.

    python bench/duck_store.py [--hosts 50] [--days 1] [--query-days 30] [--kills 10] [--rows 5000] [--columns 1000]
        [--only live|query|ingest|kill]

1. Live samples of `--hosts` hosts of 200 series at 10 s, for `--days`, as fast as they go, in batches of one sample of
   each series, with upkeep at every minute of theirs: values a second, memory, the longest time that a write took, the
   bytes that each value takes.
2. 30 days of 20 hosts of 50 series at 10 s (259 million values, which takes some minutes): bytes on the disk, and the
   time to open it, to read an hour of a host and of all, to draw 30 days of a series, and to write on.
3. A log of 5 million values, loaded as `plimsoll ingest` does it, against reading it.
4. A writer that is killed at random, again and again: every sample that was acknowledged is there.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from big_log import write_big_log

from plimsoll.ingest.read import read_log
from plimsoll.ingest.runs.load import load
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.store.duck.store import DuckStore

_START = 20_000 * 86_400 * SECOND
_STEP = 10 * SECOND
_WRITER = """
import sys
from pathlib import Path
import numpy as np
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.store.duck.store import DuckStore
store = DuckStore.open(Path(sys.argv[1]))
series = [Series("web", "m", (("instance", str(n)),), "x") for n in range(5000)]
which = np.arange(5000, dtype=np.int32)
for at in range(int(sys.argv[2]), 10**9):
    store.write_points(Points(series, which, np.full(5000, at * 10**10), np.full(5000, float(at))))
    print(at, flush=True)
    store.tidy(at * 10**10)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"hosts": 50, "days": 1, "query-days": 30, "kills": 10, "rows": 5000, "columns": 1000}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", choices=["live", "query", "ingest", "kill"])
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = {
            "live": lambda: _live(folder / "live.duckdb", wanted.hosts * 200, wanted.days),
            "query": lambda: _query(folder / "query.duckdb", 1000, wanted.query_days),
            "ingest": lambda: _ingest(folder, wanted.rows, wanted.columns),
            "kill": lambda: _kill(folder / "killed.duckdb", wanted.kills),
        }
        for part in [wanted.only] if wanted.only else parts:
            parts[part]()


def _series(count):
    return [Series(f"host{n // 200:02}", "m", (("instance", str(n % 200)),), "x") for n in range(count)]


def _fill(store, series, days, ticks=1):
    """Write samples as fast as they go; a line of figures for each tenth of the time."""
    process, noise = psutil.Process(), np.random.default_rng(1)
    level = np.round(noise.uniform(0, 100, len(series)), 2)
    which = np.tile(np.arange(len(series), dtype=np.int32), ticks)
    steps, writing, upkeep, longest = days * 8640 // ticks, 0.0, 0.0, 0.0
    began, used = time.perf_counter(), process.cpu_times()
    for step in range(steps):
        now = _START + step * ticks * _STEP
        times = np.repeat(now + np.arange(ticks) * _STEP, len(series))
        values = np.round(np.tile(level, ticks) + noise.normal(0, 1, len(times)), 2)
        before = time.perf_counter()
        store.write_points(Points(series, which, times, values))
        after = time.perf_counter()
        if step * ticks % 6 < ticks:
            store.tidy(now)
        writing, upkeep = writing + after - before, upkeep + time.perf_counter() - after
        longest = max(longest, time.perf_counter() - before)
        if (step + 1) % (steps // 10) == 0:
            amount = (step + 1) * len(times)
            print(
                f"  {amount / 1e6:7.1f} million values, {process.memory_info().rss / 1e6:.0f} MB of memory, "
                f"{amount / (time.perf_counter() - began):,.0f} values/s"
            )
    now, amount = process.cpu_times(), steps * ticks * len(series)
    cpu = now.user + now.system - used.user - used.system
    print(
        f"  writing {writing:.0f} s, upkeep {upkeep:.0f} s, longest wait {longest:.2f} s; "
        f"{cpu / amount * 1e5:.0%} of one core at 100,000 values/s"
    )
    while store.tidy(_START + (days + 1) * 8640 * _STEP):
        pass
    print(f"  {store.size() / amount:.1f} bytes a value once days are sorted")
    return amount


def _live(path, count, days):
    print(f"{count:,} live series at 10 s for {days} days")
    store = DuckStore.open(path, raw_days=1000, days=2000)
    amount = _fill(store, _series(count), days)
    while store.tidy(_START + 1100 * 8640 * _STEP):
        pass
    print(f"  {store.size() / amount * 6:.1f} bytes a minute of a series once it is thinned")
    store.close()


def _query(path, count, days):
    print(f"{days} days of {count:,} series of {count // 50} hosts at 10 s")
    store = DuckStore.open(path, raw_days=1000)
    series = [Series(f"host{n // 50:02}", "m", (("instance", str(n % 50)),), "x") for n in range(count)]
    amount = _fill(store, series, days, ticks=60)
    store.close()
    files = [one for one in path.parent.rglob(f"{path.name}*") if one.is_file()]
    size = sum(one.stat().st_size for one in [*files, *path.parent.rglob("*.parquet")])
    of_days = f"the database {path.stat().st_size / 1e6:,.0f} MB"
    print(f"  {size / 1e6:,.0f} MB on the disk, {size / amount:.2f} bytes a value; {of_days}")
    opening = []
    for _ in range(5):
        before = time.process_time()
        DuckStore.open(path, raw_days=1000).close()
        opening.append(time.process_time() - before)
    print(f"  opened in {np.median(opening):.2f} s of CPU time")
    store = DuckStore.open(path, raw_days=1000)
    end = _START + days * 8640 * _STEP
    chance = random.Random(1)

    def an_hour(of):
        start = _START + chance.randrange((days - 1) * 24) * 360 * _STEP
        return sum(len(one.times) for one in store.read(of, start, start + 359 * _STEP))

    def names():
        start = _START + chance.randrange((days - 1) * 24) * 360 * _STEP
        return len(store.series(start, start + 359 * _STEP).series)

    one = series[count // 2]
    calls = {
        "an hour of a host": lambda: an_hour(series[50:100]),
        "an hour of all": lambda: an_hour(series),
        "the series of an hour": names,
        f"{days} days drawn": lambda: len(store.drawn([one], _START, end, 1000)[0].samples.times),
        f"{days} days in buckets": lambda: len(store.buckets([one], _START, end, (end - _START) // 1000)[0].times),
        f"{days} days of another": lambda: len(store.read([chance.choice(series)], _START, end)[0].times),
    }
    for name, call in calls.items():
        took = []
        for _ in range(8):
            before = time.process_time()
            answer = call()
            took.append(time.process_time() - before)
        print(f"  {name}: {answer:,} in {np.median(took) * 1e3:.0f} ms of CPU time, first {took[0] * 1e3:.0f} ms")
    which, before = np.arange(count, dtype=np.int32), time.process_time()
    for at in range(500):
        store.write_points(Points(series, which, np.full(count, end + at * _STEP), np.full(count, float(at))))
    print(f"  written on at {count * 500 / (time.process_time() - before):,.0f} values a second of CPU time")
    store.close()


def _ingest(folder, rows, columns):
    write_big_log(folder / "big.csv", rows, columns)
    reading, loading = [], []
    for at in range(3):
        before = time.perf_counter()
        log = read_log(folder / "big.csv")
        read = time.perf_counter()
        run = StoredRun(Run("night"), (Recording.of(log, log.digest or ""),))
        store = DuckStore.open(folder / f"log{at}.duckdb")
        load(store, run, [log])
        store.close()
        reading.append(read - before)
        loading.append(time.perf_counter() - before)
    print(
        f"a log of {log.present:,} values: read in {np.median(reading):.2f} s, read and loaded in "
        f"{np.median(loading):.2f} s, {np.median(loading) / np.median(reading):.1f} times as long"
    )


def _kill(path, kills):
    at, lost = 0, 0
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    for _ in range(kills):
        command = [sys.executable, "-c", _WRITER, str(path), str(at)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            assert writer.stdout
            while int(writer.stdout.readline()) < at + random.randrange(10, 300):
                pass
            writer.kill()
            acknowledged = max([at, *map(int, writer.stdout)]) + 1
        store = DuckStore.open(path)
        series = store.series(0, 2**62).series
        counts = store.counts(series, 0, 2**62)
        lost += sum(max(0, acknowledged - count) for count in counts)
        at = max(counts)
        store.close()
    print(f"killed {kills} times at {at * 5000:,} values: {lost} of those that were acknowledged are lost")
    if lost:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

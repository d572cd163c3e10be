"""How fast charts come: ten of 30 days in Chromium, and their data while many values are written.

    python bench/page_charts.py [--rate 100000] [--seconds 60] [--hosts 50] [--times 5]

A host with 30 days of samples every 10 s is written to a new store, which `plimsoll up` then serves. Chromium opens a
page with ten of its charts, some times: printed is the time until all are drawn. Then what bench/up.py posts is posted
at the given rate, while the data of ten charts is asked for: every half second of the last hour of one of the hosts
that are written, and every ten seconds of the 30 days.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlencode

import numpy as np
import urllib3
from playwright.sync_api import sync_playwright
from posting import post, shown
from up import await_start, bodies_ahead, plimsoll_up
from write_endpoint import SECOND, collected

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.store.duck.store import DuckStore

DAYS, ROWS_A_DAY, EVERY = 30, 8640, 10 * SECOND
HOST = "LONG"
CHROMIUM = "/usr/bin/chromium-headless-shell"
MOST_DRAWN_S, MOST_ANSWERED_S = 1.0, 0.3
SIGNALS = (
    *("cpu.busy", "cpu.context_switches", "cpu.interrupts", "cpu.load", "cpu.steal"),
    *("memory.available", "memory.available_percent", "disk.reads_and_writes", "network.bytes_total", "disk.reads"),
)
# Fields of Telegraf: gauges, and counters.
_GAUGES = (
    *(("cpu", ("cpu", "cpu-total"), name) for name in ("usage_idle", "usage_iowait", "usage_steal")),
    *(("system", None, name) for name in ("load1", "n_cpus")),
    *(("mem", None, name) for name in ("available", "available_percent", "total")),
)
_COUNTERS = (
    *(("kernel", None, name) for name in ("context_switches", "interrupts")),
    *(("diskio", ("name", "sda"), name) for name in ("reads", "writes")),
    *(("net", ("interface", "eth0"), name) for name in ("bytes_sent", "bytes_recv")),
)
_ALL_DRAWN = """(count) => new Promise((done) => {
  const look = () => {
    const drawn = [...document.querySelectorAll(".live-chart .chart")].filter((one) => one.plot);
    if (drawn.length === count) done(performance.now()); else requestAnimationFrame(look);
  };
  look();
})"""


def fill(folder: Path) -> None:
    """Write 30 days of one host, with a spike of a single sample in each series."""
    columns = [
        Series(HOST, measurement, (tag,) if tag else (), field) for measurement, tag, field in (*_GAUGES, *_COUNTERS)
    ]
    random = np.random.default_rng(1)
    start = time.time_ns() // EVERY * EVERY - DAYS * ROWS_A_DAY * EVERY
    store = DuckStore.open(folder / "plimsoll.duckdb")
    for day in range(DAYS):
        times = start + (day * ROWS_A_DAY + np.arange(ROWS_A_DAY)) * EVERY
        gauges = random.uniform(20, 40, (len(_GAUGES), ROWS_A_DAY))
        rises = random.uniform(0, 9000, (len(_COUNTERS), ROWS_A_DAY))
        values = np.concatenate([gauges, np.cumsum(rises, axis=1) + day * 10**9])
        which = np.repeat(np.arange(len(columns), dtype=np.int32), ROWS_A_DAY)
        store.write_points(Points(columns, which, np.tile(times, len(columns)), values.ravel()))
    while store.tidy(time.time_ns()):
        pass
    print(f"{DAYS} days of {len(columns)} series: {DAYS * ROWS_A_DAY * len(columns):,} samples")
    store.close()


def drawn(address: str, times: int) -> list[float]:
    """The seconds from opening a page with ten charts of 30 days to all of them being drawn, sorted."""
    query = urlencode([*(("chart", f"{name}|{HOST}") for name in SIGNALS), ("from", f"now-{DAYS}d"), ("to", "now")])
    found: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for _ in range(times):
            page = browser.new_page(viewport={"width": 1440, "height": 4500})
            page.goto(f"{address}/charts?{query}")
            found.append(page.evaluate(_ALL_DRAWN, len(SIGNALS)) / 1000)
            page.close()
        browser.close()
    return sorted(found)


def answered(address: str, host: str, since: str, every_s: float, ended: Event, waits: list[float]) -> None:
    """Ask for the data of ten charts every so often, and note how long each answer took (s)."""
    query = urlencode([*(("chart", f"{name}|{host}") for name in SIGNALS), ("from", since), ("to", "now")])
    with urllib3.PoolManager(timeout=60) as pools:
        while not ended.wait(every_s):
            asked = time.perf_counter()
            answer = pools.request("GET", f"{address}/api/charts?{query}&width=1400")
            if answer.status != 200:
                raise SystemExit(f"{answer.status} {answer.data[:300]!r}")
            waits.append(time.perf_counter() - asked)


def percentiles(name: str, waits: Sequence[float]) -> float:
    """Print the median and the 95th percentile, and return this."""
    ordered = sorted(waits)
    late = ordered[len(ordered) * 95 // 100]
    print(f"{name:<34} median {ordered[len(ordered) // 2] * 1e3:5.0f} ms, 95 % {late * 1e3:5.0f} ms of {len(ordered)}")
    return late


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rate", type=float, default=100_000)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--hosts", type=int, default=50)
    arguments.add_argument("--connections", type=int, default=4)
    arguments.add_argument("--times", type=int, default=5)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir(mode=0o700)
        fill(folder)
        with plimsoll_up(folder) as target:
            before = sum(target.process.cpu_times()[:2])
            seconds = drawn(target.url, asked.times)
            used = (sum(target.process.cpu_times()[:2]) - before) / len(seconds)
            middle = seconds[len(seconds) // 2]
            times = ", ".join(f"{one:.2f}" for one in seconds)
            print(f"ten charts of {DAYS} days drawn after {times} s, with {used:.2f} processor seconds of the server")
            if not asked.rate:
                return 0 if middle < MOST_DRAWN_S else 1
            start, bodies = bodies_ahead(collected(), asked.hosts, asked.rate, asked.seconds)
            await_start(start)
            ended = Event()
            short: list[float] = []
            long: list[float] = []
            asking = [
                Thread(target=answered, args=(target.url, "host01.example.org", "now-1h", 0.5, ended, short)),
                Thread(target=answered, args=(target.url, HOST, f"now-{DAYS}d", 10.0, ended, long)),
            ]
            for one in asking:
                one.start()
            print(shown("plimsoll", post(target, bodies, asked.connections, rate=asked.rate)))
            ended.set()
            for one in asking:
                one.join()
        late = percentiles("ten charts of the last hour", short)
        percentiles(f"ten charts of {DAYS} days", long)
    return 0 if middle < MOST_DRAWN_S and late < MOST_ANSWERED_S else 1


if __name__ == "__main__":
    sys.exit(main())

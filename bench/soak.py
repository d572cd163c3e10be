"""Measures whether memory grows while hosts are watched for hours: python -m bench.soak [--hosts 200] [--hours 12].

Each host sends 60 values every 10 seconds by the clock of the samples, which runs as fast as they are written and
judged, a minute at a time. The store is tidied each minute, and Health is read every ten. It fails if memory grows by
more than 2 % in the last quarter: from the median of its first tenth to that of its last.
"""

import argparse
import gc
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import psutil
import urllib3

from bench import fleet
from bench.pages import serving_pages
from plimsoll.__main__ import COLLECTING
from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.host_inventory import HostInventory
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.points import Points
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.store.duck.duck_store import open_embedded

_SERIES = 60  # of a host
_STEP = 10 * SECOND
_MINUTE = 60 * SECOND
_AT_ONCE = _MINUTE // _STEP
_LOOKED_AT = 10  # minutes
_GROWTH = 0.02


def main() -> int:
    """Run, print the memory of each hour, and return the exit status: 1 if it grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--hours", type=float, default=12)
    arguments = parser.parse_args()
    memory = measure(arguments.hosts, int(60 * arguments.hours))
    for hour in range(0, len(memory), 60):
        print(f"hour {hour // 60 + 1}: {median(memory[hour : hour + 60]) / 1e6:.0f} MB")
    quarter = memory[-len(memory) // 4 :]
    tenth = max(1, len(quarter) // 10)
    growth = median(quarter[-tenth:]) / median(quarter[:tenth]) - 1
    print(f"{arguments.hosts:,} hosts: {growth:+.1%} in the last quarter")
    return int(growth > _GROWTH)


def measure(hosts: int, minutes: int) -> list[int]:
    """Return the resident memory (bytes) after each minute of samples."""
    gc.set_threshold(*COLLECTING)
    start = time.time_ns() // _MINUTE * _MINUTE - minutes * _MINUTE
    rows = minutes * _AT_ONCE + hosts
    recorded = fleet.log(fleet.Host("lnx", "telegraf"), np.arange(rows, dtype=np.int64))
    values = np.array([recorded.column(at) for at in range(_SERIES)])
    series = [replace(of, host=f"lnx{host}") for host in range(hosts) for of in recorded.series[:_SERIES]]
    which = np.repeat(np.arange(len(series), dtype=np.int32), _AT_ONCE)
    memory: list[int] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder, site = Path(temporary), Site(load())
        store, file = open_embedded(folder / "plimsoll.duckdb"), AlertsFile(folder / NAME)
        loop = AlertLoop(store.live, site, {}, AlertHistory(file, site.catalogue.signals), HostInventory(file))
        process = psutil.Process()
        with serving_pages(store, loop, file, site, folder) as address, urllib3.PoolManager() as pools:
            for minute in range(minutes):
                now = start + (minute + 1) * _MINUTE
                times = np.tile(now - _MINUTE + _STEP * np.arange(1, _AT_ONCE + 1), len(series))
                first = minute * _AT_ONCE
                of_hosts = [values[:, first + host : first + host + _AT_ONCE].ravel() for host in range(hosts)]
                points = Points(series, which, times, np.concatenate(of_hosts))
                store.live.write_points(points)
                loop.written(points, now)
                loop.perform(now + DELAY)
                if loop.progress.problem:
                    raise SystemExit(loop.progress.problem)
                while store.upkeep and store.upkeep.tidy(now):
                    pass
                if minute % _LOOKED_AT == 0:
                    pools.request("GET", f"{address}/")
                memory.append(process.memory_info().rss)
        file.close()
        store.close()
    return memory


if __name__ == "__main__":
    sys.exit(main())

"""What a large fleet costs on VictoriaMetrics, and on the embedded store: writing, judging, and pages.

    python -m bench.victoriametrics [--hosts 1000] [--stores duckdb,victoriametrics]

A real VictoriaMetrics and a real server of pages, over half an hour of 60 values of each host every 10 s. Printed are
CPU seconds of Plimsoll and of the server for 10 s of the fleet, and how long pages take.
"""

import argparse
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import psutil
import urllib3

from bench.live import Fleet
from bench.pages import serving_pages
from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.host_inventory import HostInventory
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.rule_targets import Site
from plimsoll.api.open_store import measurements_of, victoria_store
from plimsoll.hosts.facts import GivenFacts
from plimsoll.model.points import Points
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.store.duck.store import open_embedded
from plimsoll.store.store import Store
from plimsoll.store.victoriametrics.address import Address
from tests.servers.programs import VICTORIA_METRICS

EVERY = 10 * SECOND
_BEFORE = 1830 * SECOND
_STEPS = 5
_TURNS = 20
_ROUNDS_AT_ONCE = 6
PAGES = {"health": "/", "a host": "/hosts/WIN0", "a dashboard": "/dashboards/cpu", "alerts": "/alerts"}


@contextmanager
def victoriametrics(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """A server of its own: its address and process."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{tried.getsockname()[1]}"
    flags = {"storageDataPath": folder / "vm", "httpListenAddr": address, "retentionPeriod": "1y"}
    command = [VICTORIA_METRICS.path, *(f"-{name}={value}" for name, value in flags.items())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            while True:
                try:
                    urllib3.request("GET", f"http://{address}/health", retries=False)
                    break
                except urllib3.exceptions.HTTPError:
                    time.sleep(0.1)
            yield address, psutil.Process(server.pid)
        finally:
            server.terminate()


class Load:
    """The values of a fleet, by the time at which they are written."""

    def __init__(self, hosts: int) -> None:
        samples = Fleet(hosts)._samples
        self.series = [*samples]
        self._values = np.array([one.values[:200] for one in samples.values()])
        self._shift = np.array([int(one.times[0]) % EVERY for one in samples.values()])

    def points(self, at: int, rounds: int = 1) -> Points:
        """What is written from `at` on."""
        which, times, values = [], [], []
        for number in range(rounds):
            column = self._values[:, (at // EVERY + number) % self._values.shape[1]]
            there = np.flatnonzero(np.isfinite(column))
            which.append(there.astype(np.int32))
            times.append(at + number * EVERY + self._shift[there])
            values.append(column[there])
        return Points(self.series, np.concatenate(which), np.concatenate(times), np.concatenate(values))


def measure(load_of: Load, name: str) -> None:
    """Print what one store costs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store: Store = open_embedded(folder / "plimsoll.duckdb")
        server = show = None
        site = Site(load())
        if name == "victoriametrics":
            address, server = stack.enter_context(victoriametrics(folder))
            where = Address.parse(f"victoriametrics://{address}")
            store = victoria_store(where, store, lambda: measurements_of(site.catalogue.signals.values()))
            show = f"http://{address}/internal/force_flush"
        stack.callback(store.close)
        end = time.time_ns() // EVERY * EVERY - (_STEPS + 8) * EVERY
        for at in range(end - _BEFORE, end, _ROUNDS_AT_ONCE * EVERY):
            store.live.write_points(load_of.points(at, _ROUNDS_AT_ONCE))
        file = AlertsFile(folder / NAME)
        stack.callback(file.close)
        loop = AlertLoop(store, site, GivenFacts(), AlertHistory(file, site.catalogue.signals), HostInventory(file))
        _shown(show)
        begun = time.perf_counter()
        loop.perform(end + DELAY)
        print(f"{name}: {len(load_of.series):,} series; the first evaluation {time.perf_counter() - begun:.1f} s")
        costs = []
        for step in range(1, _STEPS + 1):
            now = end + step * EVERY
            before, outside = _cpu(None), _cpu(server) if server else 0.0
            store.live.write_points(load_of.points(now - EVERY))
            written = _cpu(None)
            _shown(show)
            began = time.perf_counter()
            loop.perform(now + DELAY)
            took = time.perf_counter() - began
            outside = _cpu(server) - outside if server else 0.0
            costs.append((written - before, _cpu(None) - written, outside, took))
        assert not loop.progress.problem, loop.progress.problem
        writing, judging, served, took = np.median(np.array(costs), axis=0)
        print(
            f"  for 10 s of it, CPU s: writing {writing:.2f}, judging {judging:.2f}, server of its own {served:.2f}; "
            f"an evaluation takes {took:.1f} s; {sum(loop.progress.judged.values()):,} limits are judged"
        )
        pages(store, loop, file, site, folder)


def _shown(flush: str | None) -> None:
    if flush:
        urllib3.request("GET", flush)


def _cpu(process: psutil.Process | None) -> float:
    """The CPU seconds of a process; without one, of this one."""
    if process is None:
        return time.process_time()
    used = process.cpu_times()
    return used.user + used.system


def pages(store: Store, loop: AlertLoop, file: AlertsFile, site: Site, folder: Path) -> None:
    """Print how long pages take."""
    with serving_pages(store, loop, file, site, folder) as address, urllib3.PoolManager() as pools:
        pools.request("GET", f"{address}/")
        _quiet()
        for name, path in PAGES.items():
            taken: list[float] = []
            used = time.process_time()
            for _ in range(_TURNS):
                began = time.perf_counter()
                answer = pools.request("GET", f"{address}{path}")
                taken.append(time.perf_counter() - began)
                assert answer.status == 200, (path, answer.status)
            shown = np.quantile(taken, [0.5, 0.95]) * 1000
            each = (time.process_time() - used) / _TURNS * 1000
            print(f"  page of {name}: {shown[0]:.0f} ms, p95 {shown[1]:.0f} ms, CPU {each:.0f} ms")


def _quiet() -> None:
    """Wait until the last hour of each host has been read, which begins with the first page."""
    while True:
        before = time.process_time()
        time.sleep(3)
        if time.process_time() - before < 0.2:
            return


def main() -> None:
    """Print the figures of each store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--stores", default="victoriametrics,duckdb")
    asked = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    fleet = Load(asked.hosts)
    for name in asked.stores.split(","):
        measure(fleet, name)


if __name__ == "__main__":
    main()

"""Measures the pages of `plimsoll up`, with the hosts of a fleet after 80 minutes of samples.

Run `python -m bench.pages [--hosts 1000] [--minutes 10]` for Health after evaluations: the CPU seconds of the first
request and of the next one, server and client together, when the page was open before.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import urllib3

from bench import fleet
from plimsoll.__main__ import COLLECTING
from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.host_inventory import HostInventory
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.points import Points
from plimsoll.model.times import SECOND, Zone
from plimsoll.pages.application import list_routes
from plimsoll.receive.write_queue import WriteQueue, WriteState
from plimsoll.rules.load import load
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.serve.access import Access
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen
from plimsoll.serve.server import create_app
from plimsoll.serve.serving import Serving
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.store import Store
from plimsoll.up import overview
from plimsoll.up.watched import Watched

PAGES = {
    "page of health": "/",
    "page of alerts": "/alerts",
    "page of a host": "/hosts/WIN00",
    "page of a dashboard": "/dashboards/cpu",
    "page of runs": "/runs",
    "page of rules": "/rules",
}
_SIGNALS = (
    "cpu.busy",
    "cpu.privileged",
    "cpu.context_switches",
    "cpu.queue_length",
    "memory.available",
    "memory.available_percent",
    "memory.committed",
    "memory.pages",
    "disk.free",
    "disk.read_latency",
    "disk.write_latency",
    "disk.queue_length",
    "network.bytes",
)
_LENGTH = 4800 * SECOND
_EVALUATIONS = 3
_FOLLOWED_S = 5.0  # until what the next visitor needs has been prepared, even on a busy machine
_TURNS = 15  # what else the process does at the time varies threefold


def seconds(hosts: int) -> dict[str, float]:
    """Return the CPU seconds of each page, server and client together: the lowest of several warm requests."""
    found: dict[str, float] = {}
    with served(hosts) as (address, _), urllib3.PoolManager() as pools:
        for name, path in PAGES.items():
            taken: list[float] = []
            for _ in range(_TURNS):
                before = time.process_time()
                answer = pools.request("GET", f"{address}{path}")
                taken.append(time.process_time() - before)
                if answer.status != 200:
                    raise SystemExit(f"{path}: status {answer.status}")
            found[name] = min(taken)
    return found


def main() -> None:
    """Print what Health takes after each of some evaluations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--minutes", type=int, default=10, help="of samples")
    arguments = parser.parse_args()
    with served(arguments.hosts, arguments.minutes * 60 * SECOND) as (address, loop), urllib3.PoolManager() as pools:

        def taken() -> float:
            before = time.process_time()
            pools.request("GET", f"{address}/api/health")
            return time.process_time() - before

        taken()
        for _ in range(_EVALUATIONS):
            loop.perform((loop.progress.evaluated or 0) + EVALUATION_INTERVAL + DELAY)
            time.sleep(_FOLLOWED_S)
            print(
                f"{arguments.hosts:,} hosts: Health takes {taken():.2f} CPU s first, {taken():.2f} s next", flush=True
            )


@contextmanager
def served(count: int, length: int = _LENGTH) -> Generator[tuple[str, AlertLoop]]:
    """Yield the address of a running server with this number of hosts, after one evaluation, and its alert loop."""
    gc.set_threshold(*COLLECTING)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        store = open_embedded(folder / "plimsoll.duckdb")
        start = time.time_ns() // (10 * SECOND) * 10 * SECOND - length
        for one in fleet.hosts(count):
            recorded = fleet.log(one, fleet.times(start, start + length), _SIGNALS)
            if not recorded.series:
                continue
            columns = np.array([recorded.column(at) for at in range(len(recorded.series))])
            which, row = np.nonzero(np.isfinite(columns))
            times = recorded.times[row]
            store.live.write_points(Points(recorded.series, which.astype(np.int32), times, columns[which, row]))
        file = AlertsFile(folder / NAME)
        site = Site(load())
        history = AlertHistory(file, site.catalogue.signals)
        loop = AlertLoop(store.live, site, {}, history, HostInventory(file))
        loop.perform(start + length + DELAY)
        try:
            with serving_pages(store, loop, file, site, folder) as address:
                yield address, loop
        finally:
            file.close()
            store.close()


@contextmanager
def serving_pages(store: Store, loop: AlertLoop, file: AlertsFile, site: Site, folder: Path) -> Generator[str]:
    """Yield the address of a server of the pages for the evaluations of a loop."""
    watched = Watched(
        store=store,
        file=file,
        site=site,
        configured={},
        zone=Zone.parse("UTC"),
        folder=folder,
        progress=lambda: loop.progress,
        judged=lambda: loop.judged,
        health=lambda: overview.summarize_health(
            file, loop.progress, [], WriteState(), store.name, None, time.time_ns()
        ),
    )
    writing, listen = WriteQueue(store.live), Listen(port=0)
    app = create_app(store, writing, Access(listen, Credentials(folder)), watched.health, pages=list_routes(watched))
    serving = Serving(app, listen)
    try:
        yield serving.address
    finally:
        watched.closing.close()
        serving.stop()
        writing.close()


if __name__ == "__main__":
    main()

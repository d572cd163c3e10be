"""How long an update of the health page takes: `python -m bench.health_page [HOSTS]`.

Simulated hosts have 80 minutes of samples in a DuckDB store; the alert loop judges them, and a running server is asked
for the page as browsers do. The figures are of single requests, wall and processor
time, after a new evaluation and without one.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import urllib3

from bench import fleet
from plimsoll.alerting.book.book import AlertBook
from plimsoll.alerting.book.database import NAME, AlertsFile
from plimsoll.alerting.loop import DELAY, AlertLoop
from plimsoll.alerting.planning import Site
from plimsoll.alerting.roster import Roster
from plimsoll.hosts.facts import GivenFacts
from plimsoll.model.times import SECOND, Zone
from plimsoll.pages.application import routes
from plimsoll.receive.writing import Writing, WritingState
from plimsoll.rules.load import load
from plimsoll.serve.access import Access
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen
from plimsoll.serve.server import create_app
from plimsoll.serve.serving import Serving
from plimsoll.store.duck.store import DuckStore
from plimsoll.up import overview
from plimsoll.up.watched import Watched

_LENGTH = 4800 * SECOND
_ROUNDS = 20
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


def main(count: int) -> None:
    """Measure with so many hosts."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        store = DuckStore.open(folder / "plimsoll.duckdb")
        start = time.time_ns() // (10 * SECOND) * 10 * SECOND - _LENGTH
        written = store.write(
            fleet.log(one, fleet.times(start, start + _LENGTH), _SIGNALS) for one in fleet.hosts(count)
        )
        print(f"{count} hosts, {sum(one.values for one in written):,} values")
        file = AlertsFile(folder / NAME)
        site = Site(load())
        loop = AlertLoop(store, site, GivenFacts(), AlertBook(file, site.catalogue.signals), Roster(file))
        now = start + _LENGTH - _ROUNDS * 10 * SECOND + DELAY
        loop.perform(now)
        print(f"{len(loop.judged):,} limits judged; an evaluation takes", end=" ")
        watched = Watched(
            store=store,
            file=file,
            site=site,
            given=GivenFacts(),
            zone=Zone.parse("UTC"),
            folder=folder,
            progress=lambda: loop.progress,
            judged=lambda: loop.judged,
            health=lambda: overview.health(file, loop.progress, [], WritingState(), store.name, None, time.time_ns()),
        )
        writing = Writing(store)
        listen = Listen(port=0)
        app = create_app(store, writing, Access(listen, Credentials(folder)), watched.health, pages=routes(watched))
        serving = Serving(app, listen)
        try:
            _measure(loop, serving.address, now)
        finally:
            watched.closing.close()
            serving.stop()
            writing.close()
            file.close()
            store.close()


def _measure(loop: AlertLoop, address: str, now: int) -> None:
    address = f"{address}/api/health"
    begun = time.perf_counter()
    length, drawn = 0, -1
    evaluations: list[float] = []
    renewed: list[_Took] = []
    again: list[_Took] = []
    with urllib3.PoolManager() as pools:
        first = _took(pools, address)
        while (answer := pools.request("GET", address).data).count(b'class="line"') > drawn:
            length, drawn = len(answer), answer.count(b'class="line"')
            time.sleep(0.5)
        filled = time.perf_counter() - begun
        for _ in range(_ROUNDS):
            now += 10 * SECOND
            before = time.perf_counter()
            loop.perform(now)
            evaluations.append(1000 * (time.perf_counter() - before))
            renewed.append(_took(pools, address))
            again.append(_took(pools, address))
    print(f"{statistics.median(evaluations):.0f} ms")
    print(f"first answer {first.wall:.0f} ms, {drawn} sparklines after {filled:.1f} s")
    print(f"update of {length / 1000:.0f} KB after an evaluation: {_spread(renewed)}; without one: {_spread(again)}")


class _Took(NamedTuple):
    wall: float
    processor: float


def _took(pools: urllib3.PoolManager, address: str) -> _Took:
    """How long a request took (ms), and how much of the processor server and client together."""
    begun, used = time.perf_counter(), time.process_time()
    answer = pools.request("GET", address)
    if answer.status != 200:
        raise RuntimeError(f"status {answer.status}")
    return _Took(1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - used))


def _spread(times: list[_Took]) -> str:
    wall, processor = zip(*times, strict=True)
    figures = f"median {statistics.median(wall):.0f} ms, shortest {min(wall):.0f} ms"
    return f"{figures} (processor: {statistics.median(processor):.0f} and {min(processor):.0f} ms)"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

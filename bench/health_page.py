"""How long an update of the health page takes: `python -m bench.health_page [HOSTS]`.

Simulated hosts, each with 12 alerts, have 80 minutes of samples in a DuckDB store; the alert loop judges them, and a
running server is asked for the page as browsers do. The figures are of single requests, wall and processor time, after
a new evaluation, without one, and while evaluations run in the same process; then of other views after an evaluation.
"""

import shutil
import statistics
import sys
import threading
import time
from math import ceil
from typing import NamedTuple

import urllib3

from bench.pages import SIGNALS, served
from plimsoll.alerting.loop import AlertLoop
from plimsoll.model.times import SECOND
from plimsoll.pages.health.latest_health import READER

_ROUNDS = 20
# Other views of the same, each asked for after an evaluation of its own.
_VIEWS = {
    "hosts by a part of their names": "/api/health?q=7",
    "hosts of a state, grouped": "/api/health?state=warning&group=name",
    "wall": "/api/health?wall=1",
    "alerts": "/alerts",
    "alerts of some hosts": "/alerts?severity=all&host=*7*&last=now-24h",
}
_VIEW_ROUNDS = 4


class _Took(NamedTuple):
    wall: float
    processor: float


def main(count: int) -> None:
    """Measure with so many hosts."""
    with served(count, SIGNALS, 2 * _ROUNDS + _VIEW_ROUNDS * len(_VIEWS)) as (loop, address, now):
        print(f"{count} hosts, {len(loop.judged):,} limits judged; an evaluation takes", end=" ")
        _measure(loop, address, now)


def _measure(loop: AlertLoop, address: str, now: int) -> None:
    page, address = address, f"{address}/api/health"
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
        while any(one.name == READER for one in threading.enumerate()):  # it would be counted with the requests
            time.sleep(0.5)
        for _ in range(_ROUNDS):
            now += 10 * SECOND
            before = time.perf_counter()
            loop.perform(now)
            evaluations.append(1000 * (time.perf_counter() - before))
            renewed.append(_took(pools, address))
            again.append(_took(pools, address))
        meanwhile = _while_judging(loop, address, now, pools)
        now += _ROUNDS * 10 * SECOND
        views: dict[str, list[_Took]] = {}
        for name, path in _VIEWS.items():
            for _ in range(_VIEW_ROUNDS):
                now += 10 * SECOND
                loop.perform(now)
                views.setdefault(name, []).append(_took(pools, f"{page}{path}"))
    print(f"{statistics.median(evaluations):.0f} ms")
    print(f"first answer {first.wall:.0f} ms, {drawn} sparklines after {filled:.1f} s")
    print(f"first paint in Chromium: {_first_paint(page)}")
    print(f"update of {length / 1000:.0f} KB after an evaluation: {_spread(renewed)}; without one: {_spread(again)}")
    print(f"update while evaluations run, one after the other: {_wall(meanwhile)}")
    for name, took in views.items():
        print(f"{name}, after an evaluation: {_spread(took)}")


def _while_judging(loop: AlertLoop, address: str, now: int, pools: urllib3.PoolManager) -> list[_Took]:
    """Requests one after the other, as long as evaluations run."""

    def judge() -> None:
        for turn in range(_ROUNDS):
            loop.perform(now + (turn + 1) * 10 * SECOND)

    judging, found = threading.Thread(target=judge), list[_Took]()
    judging.start()
    while judging.is_alive():
        found.append(_took(pools, address))
    return found


def _first_paint(address: str) -> str:
    """When the page shows something (ms), in five windows; without Chromium that is not known."""
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415

    asked = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox"]
            )
            found: list[float] = []
            for _ in range(5):
                window = browser.new_page()
                window.goto(address)
                window.wait_for_timeout(500)
                found.append(window.evaluate(asked))
                window.close()
            browser.close()
    except Error as error:
        return str(error).splitlines()[0]
    return f"median {statistics.median(found):.0f} ms, longest {max(found):.0f} ms"


def _took(pools: urllib3.PoolManager, address: str) -> _Took:
    """How long a request took (ms), and how much of the processor server and client together."""
    begun, used = time.perf_counter(), time.process_time()
    answer = pools.request("GET", address)
    if answer.status != 200:
        raise RuntimeError(f"status {answer.status}")
    return _Took(1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - used))


def _spread(times: list[_Took]) -> str:
    processor = [one.processor for one in times]
    return f"{_wall(times)} (processor: {statistics.median(processor):.0f} and {min(processor):.0f} ms)"


def _wall(times: list[_Took]) -> str:
    wall = sorted(one.wall for one in times)
    p95 = wall[ceil(0.95 * len(wall)) - 1]
    return f"{len(wall)} requests, median {statistics.median(wall):.0f} ms, p95 {p95:.0f} ms, shortest {wall[0]:.0f} ms"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

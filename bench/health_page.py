"""How long an update of the health page takes: `python -m bench.health_page [HOSTS]`.

Simulated hosts have 80 minutes of samples in a DuckDB store; the alert loop judges them, and a running server is asked
for the page as browsers do. The figures are of single requests, wall and processor
time, after a new evaluation and without one.
"""

import shutil
import statistics
import sys
import time
from typing import NamedTuple

import urllib3

from bench.pages import SIGNALS, served
from plimsoll.alerting.loop import AlertLoop
from plimsoll.model.times import SECOND

_ROUNDS = 20


def main(count: int) -> None:
    """Measure with so many hosts."""
    with served(count, SIGNALS, _ROUNDS) as (loop, address, now):
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
        for _ in range(_ROUNDS):
            now += 10 * SECOND
            before = time.perf_counter()
            loop.perform(now)
            evaluations.append(1000 * (time.perf_counter() - before))
            renewed.append(_took(pools, address))
            again.append(_took(pools, address))
    print(f"{statistics.median(evaluations):.0f} ms")
    print(f"first answer {first.wall:.0f} ms, {drawn} sparklines after {filled:.1f} s")
    print(f"first paint in Chromium: {_first_paint(page)}")
    print(f"update of {length / 1000:.0f} KB after an evaluation: {_spread(renewed)}; without one: {_spread(again)}")


def _first_paint(address: str) -> str:
    """When the page shows something (ms), in five windows; without Chromium that is not known."""
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415

    asked = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
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
    figures = f"median {statistics.median(wall):.0f} ms, p95 {sorted(wall)[-2]:.0f} ms, shortest {min(wall):.0f} ms"
    return f"{figures} (processor: {statistics.median(processor):.0f} and {min(processor):.0f} ms)"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

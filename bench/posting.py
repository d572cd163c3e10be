"""Posts bodies of line protocol to a server, as fast as it answers or at a rate, and measures what came of it."""

import http.client
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from typing import NamedTuple
from urllib.parse import urlsplit

import psutil

_LOOK_S = 0.5


class Body(NamedTuple):
    """Gzipped line protocol, and how many numbers it has."""

    content: bytes
    values: int


@dataclass
class Target:
    """A server to write to."""

    name: str
    url: str
    path: str
    token: str
    process: psutil.Process


class Load(NamedTuple):
    """What came of writing: values that were acknowledged, seconds, processor seconds of the server, memory, waits."""

    values: int
    seconds: float
    processor_s: float
    peak_mb: float
    waits_s: list[float]

    @property
    def rate(self) -> float:
        return self.values / self.seconds


def post(
    target: Target,
    bodies: Sequence[Body],
    connections: int,
    *,
    rate: float | None = None,
    seconds: float = float("inf"),
    look: Callable[[], None] = lambda: None,
) -> Load:
    """Post bodies over some connections, as long as there are any and the time is not over.

    With a `rate` (values a second) each is posted when it is due. `look` is called every half second meanwhile.
    """
    left, lock, ended = iter(bodies), Lock(), Event()
    done: list[int] = []
    waits: list[float] = []
    peak = [0]
    due = [time.perf_counter()]

    def run() -> None:
        address = urlsplit(target.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        headers = {"Content-Encoding": "gzip", "Authorization": f"Token {target.token}"}
        while time.perf_counter() < began + seconds:
            with lock:
                body = next(left, None)
                at = due[0]
                due[0] += body.values / rate if body and rate else 0
            if body is None:
                break
            if rate:
                time.sleep(max(0.0, at - time.perf_counter()))
            asked = time.perf_counter()
            connection.request("POST", target.path, body.content, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status != 204:
                raise SystemExit(f"{target.name}: {answer.status} {said[:300]!r}")
            waits.append(time.perf_counter() - asked)
            done.append(body.values)
        connection.close()

    def watch() -> None:
        while not ended.wait(_LOOK_S):
            peak[0] = max(peak[0], target.process.memory_info().rss)
            look()

    before = sum(target.process.cpu_times()[:2])
    began = time.perf_counter()
    with ThreadPoolExecutor(connections + 1) as threads:
        watching = threads.submit(watch)
        posting = [threads.submit(run) for _ in range(connections)]
        wait(posting)
        took = time.perf_counter() - began
        ended.set()
        for one in posting:
            one.result()
        watching.result()
    used = sum(target.process.cpu_times()[:2]) - before
    return Load(sum(done), took, used, peak[0] / 2**20, sorted(waits))


def shown(name: str, found: Load) -> str:
    """A line of the table."""
    waits = found.waits_s
    return (
        f"{name:<10} {found.rate:>10,.0f} values/s {found.values:>12,} values in {found.seconds:5.1f} s "
        f"{found.processor_s / found.seconds:5.2f} processors {found.peak_mb:6.0f} MB "
        f"answers {waits[len(waits) // 2] * 1e3:6.0f} ms, 99 % {waits[len(waits) * 99 // 100] * 1e3:6.0f} ms"
    )

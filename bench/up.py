"""Whether alerts are judged on time while many values are written: `plimsoll up` as a whole, then InfluxDB.

    python bench/up.py [--rate 100000] [--seconds 60] [--hosts 50]

What a real Telegraf collects here is multiplied to many hosts, so often a second that the rate is met, and posted on
time to `plimsoll up`; then the same bodies to InfluxDB. Printed are processors, memory and answers of both, and by how
much evaluations were late; each is performed 30 s after its time.
"""

import argparse
import http.client
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from urllib.parse import urlsplit

import psutil
from write_endpoint import SECOND, Body, Load, Target, collected, influxdb, shown, stream

DELAY_S, EVERY_S = 30, 10


@contextmanager
def plimsoll_up(folder: Path) -> Iterator[Target]:
    """The whole program in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "plimsoll",
        "up",
        "--data",
        folder,
        "--listen",
        f"127.0.0.1:{free_port()}",
        "--no-collect",
    ]
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)
    try:
        address = ""
        for line in process.stdout or ():
            address = address or (found[0] if (found := re.search(r"http://\S+", line)) else "")
            if "Ctrl-C" in line:
                break
        yield Target("plimsoll", address, "/api/v2/write?org=o&bucket=b", "", psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def last_evaluation(folder: Path) -> int | None:
    with sqlite3.connect(f"file:{folder / 'alerts.db'}?mode=ro", uri=True) as connection:
        row = connection.execute("SELECT value FROM meta WHERE name = 'last evaluation'").fetchone()
    return row[0] if row else None


def paced(
    target: Target, bodies: Sequence[Body], rate: float, connections: int, folder: Path | None
) -> tuple[Load, list[float]]:
    """Post bodies at a rate; what came of it, and how late evaluations were (s) beyond their due time."""
    left, lock, ended = iter(bodies), Lock(), Event()
    done, waits, lags = [], [], []
    peak = [0]
    due = [time.perf_counter()]

    def post() -> None:
        address = urlsplit(target.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        headers = {"Content-Encoding": "gzip", "Authorization": f"Token {target.token}"}
        while True:
            with lock:
                body = next(left, None)
                at = due[0]
                due[0] += body.values / rate if body else 0
            if body is None:
                break
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
        while not ended.wait(0.5):
            peak[0] = max(peak[0], target.process.memory_info().rss)
            last = last_evaluation(folder) if folder else None
            if last is not None:
                lags.append((time.time_ns() - last) / SECOND - DELAY_S - EVERY_S)

    before = sum(target.process.cpu_times()[:2])
    began = time.perf_counter()
    with ThreadPoolExecutor(connections + 1) as threads:
        watching = threads.submit(watch)
        posting = [threads.submit(post) for _ in range(connections)]
        wait(posting)
        took = time.perf_counter() - began
        ended.set()
        for one in posting:
            one.result()
        watching.result()
    used = sum(target.process.cpu_times()[:2]) - before
    return Load(sum(done), took, used, peak[0] / 2**20, sorted(waits)), lags


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rate", type=float, default=100_000)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--hosts", type=int, default=50)
    arguments.add_argument("--connections", type=int, default=4)
    asked = arguments.parse_args()
    lines = collected()
    ahead = 1.5 * asked.seconds + 30  # to make the bodies, which have the times at which they are sent
    start = time.time_ns() + int(ahead * SECOND)
    host = sum(body.values for body in [next(stream(lines * 50, 1))]) / 1000 * len(lines)
    every = int(asked.hosts * host / asked.rate * SECOND)
    bodies: list[Body] = []
    values = 0
    for body in stream(lines, asked.hosts, start, every):
        bodies.append(body)
        values += body.values
        if values >= asked.rate * asked.seconds:
            break
    print(f"{asked.hosts} hosts of {host:.0f} values every {every / SECOND:.3f} s, {psutil.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir(mode=0o700)
        with plimsoll_up(folder) as target:
            late = time.time_ns() - start
            if late > 0:
                raise SystemExit(f"the bodies took {late / SECOND:.0f} s too long to make")
            time.sleep(-late / SECOND)
            ours, lags = paced(target, bodies, asked.rate, asked.connections, folder)
            time.sleep(DELAY_S + EVERY_S)
            behind = [(time.time_ns() - (last_evaluation(folder) or 0)) / SECOND - DELAY_S - EVERY_S]
        print(shown("plimsoll", ours))
        print(f"{'':<10} evaluations late by {max(lags + behind):.1f} s at most")
        with influxdb(Path(name, "influxdb")) as target:
            theirs, _ = paced(target, bodies, asked.rate, asked.connections, None)
        print(shown("InfluxDB", theirs))
    return 0 if ours.rate >= 0.99 * asked.rate and max(lags + behind) < EVERY_S else 1


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())

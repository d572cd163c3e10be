"""Whether alerts are judged on time while many values are written: `plimsoll up` as a whole, then InfluxDB.

    python bench/up.py [--rate 100000] [--seconds 60] [--hosts 50]

What a real Telegraf collects here is multiplied to many hosts, so often a second that the rate is met, and posted on
time to `plimsoll up`; then the same bodies to InfluxDB. Printed are processors, memory and answers of both, and by how
much evaluations were late; each is performed 30 s after its time.
"""

import argparse
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
from posting import Body, Load, Target, post, shown
from write_endpoint import LINES_A_BODY, SECOND, collected, influxdb, stream

DELAY_S, EVERY_S = 30, 10


@contextmanager
def plimsoll_up(folder: Path) -> Iterator[Target]:
    """The whole program in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "plimsoll",
        "up",
        "--store",
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
    lags: list[float] = []

    def look() -> None:
        last = last_evaluation(folder) if folder else None
        if last is not None:
            lags.append((time.time_ns() - last) / SECOND - DELAY_S - EVERY_S)

    return post(target, bodies, connections, rate=rate, look=look), lags


def bodies_ahead(lines: Sequence[bytes], hosts: int, rate: float, seconds: float) -> tuple[int, list[Body]]:
    """Bodies with samples of now on, for a time at a rate; and when the first are due (UTC ns).

    They are made before, and have the times at which they are sent.
    """
    start = time.time_ns() + int((1.5 * seconds + 30) * SECOND)
    every = int(hosts * values_of(lines) / rate * SECOND)
    bodies: list[Body] = []
    values = 0
    for body in stream(lines, hosts, start, every):
        bodies.append(body)
        values += body.values
        if values >= rate * seconds:
            break
    print(
        f"{hosts} hosts of {values_of(lines):.0f} values every {every / SECOND:.3f} s, {psutil.cpu_count()} processors"
    )
    return start, bodies


def values_of(lines: Sequence[bytes]) -> float:
    """How many values the lines of a host have."""
    return next(stream(lines * 50, 1)).values / LINES_A_BODY * len(lines)


def await_start(start: int) -> None:
    """Wait until bodies are due."""
    late = time.time_ns() - start
    if late > 0:
        raise SystemExit(f"the bodies took {late / SECOND:.0f} s too long to make")
    time.sleep(-late / SECOND)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rate", type=float, default=100_000)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--hosts", type=int, default=50)
    arguments.add_argument("--connections", type=int, default=4)
    asked = arguments.parse_args()
    lines = collected()
    start, bodies = bodies_ahead(lines, asked.hosts, asked.rate, asked.seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir(mode=0o700)
        with plimsoll_up(folder) as target:
            await_start(start)
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

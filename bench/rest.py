"""Measures what `plimsoll up` takes without viewers: python -m bench.rest [--hosts 0 1 50 1000] [--minutes 5].

Each host sends 60 values every 10 seconds, as Telegraf does, compressed. CPU and memory are those of the second half of
the time, when the first evaluations, which plan, are done. The bytes a value on disk are those of the whole data
folder, before days are compacted: docs/store.md has what a value takes then. 0 hosts are this computer alone, collected
by itself.
"""

import argparse
import gzip
import os
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import numpy as np
import psutil
import urllib3

from bench.fleet import Host, log
from plimsoll.model.log import Times
from plimsoll.model.times import SECOND
from plimsoll.store.line_protocol import encode

_SERIES = 60  # of a host
_STEP_S = 10
_ROWS = 30  # that a host sends again and again
_AT_ONCE = 16


def main() -> None:
    """Print a line for each number of hosts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, nargs="+", default=[0, 1, 50, 1000])
    parser.add_argument("--minutes", type=float, default=5)
    arguments = parser.parse_args()
    for hosts in arguments.hosts:
        print(f"{hosts:,} hosts: {measure(hosts, arguments.minutes)}", flush=True)


def measure(hosts: int, minutes: float) -> str:
    """Return the CPU and memory for a number of hosts, as text."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-collect"] if hosts else []
        command = [sys.executable, "-m", "plimsoll", "up", *options, "--store", folder, "--listen", listen]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as up:
            try:
                sent = _send(listen, hosts, minutes / 2)
                process = psutil.Process(up.pid)
                before, begun = process.cpu_times(), time.monotonic()
                sent += _send(listen, hosts, minutes / 2)
                after, seconds = process.cpu_times(), time.monotonic() - begun
                memory = process.memory_info().rss / 1e6
                stored_bytes = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
            finally:
                up.terminate()
    cpu = after.user + after.system - before.user - before.system
    used = f"{100 * cpu / seconds:.1f} % of a core, {memory:.0f} MB"
    if not hosts:
        return used
    steps = 2 * _steps(minutes / 2)
    disk, network = stored_bytes / (hosts * steps * _SERIES), sent / (steps * _STEP_S * 1000)
    return f"{used}, {disk:.0f} bytes a value on disk, {network:.2f} kB/s received"


def _steps(minutes: float) -> int:
    return int(60 * minutes / _STEP_S) + 1


def _send(listen: str, hosts: int, minutes: float) -> int:
    """Send the values of all hosts every 10 seconds, many at once; return the bytes of the requests' bodies.

    Each host sends other rows of one recording of a host.
    """
    steps = _steps(minutes)
    times: Times = np.arange(hosts + _ROWS, dtype=np.int64)
    recorded = log(Host("lnx", "telegraf"), times)
    recorded = replace(recorded, series=recorded.series[:_SERIES], columns=recorded.columns[:_SERIES])
    at = np.array([SECOND], dtype=np.int64)
    rows = [
        b"".join(encode(replace(recorded.rows(row, row + 1), times=at))) for row in range(len(times) if hosts else 0)
    ]
    address = f"http://{listen}/api/v2/write?org=plimsoll&bucket=plimsoll"
    retries = urllib3.Retry(30, backoff_factor=0.2, backoff_max=2)
    with urllib3.PoolManager(retries=retries, maxsize=_AT_ONCE) as pools, ThreadPoolExecutor(_AT_ONCE) as threads:

        def send(number: int, step: int, now: int) -> int:
            row = rows[number + step % _ROWS].replace(b"host=lnx", b"host=lnx%d" % number)
            body = gzip.compress(row.replace(b" %d\n" % SECOND, b" %d\n" % now))
            answer = pools.request("POST", address, body=body, headers={"Content-Encoding": "gzip"})
            if answer.status != 204:
                raise SystemExit(f"status {answer.status}: {answer.data[:200]!r}")
            return len(body)

        sent = 0
        for step in range(steps):
            begun, now = time.monotonic(), time.time_ns() // SECOND * SECOND
            sent += sum(threads.map(send, range(hosts), repeat(step), repeat(now)))
            if (left := _STEP_S - (time.monotonic() - begun)) < 0:
                raise SystemExit(f"sending took {_STEP_S - left:.0f} s of {_STEP_S} s: too slow a machine")
            time.sleep(left)
    return sent


if __name__ == "__main__":
    main()

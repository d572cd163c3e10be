"""Honest hosts beside a writer that floods: are they judged, how fast are pages, how much memory is taken.

    python bench/hostile/flood.py [--hosts 1000] [--seconds 300]

Starts `plimsoll up` on a free port of the loopback address. Honest hosts send 60 values each every 10 s from 127.0.0.2;
a flooder sends bodies of new hosts and series from 127.0.0.3 as fast as they are answered. Every 10 s the page is asked
for. Linux has these addresses; other systems may not.
"""

import argparse
import gzip
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from threading import Event, Thread

import psutil
import urllib3

WRITE = "/api/v2/write?org=o&bucket=b"
LINES_A_BODY = 5000


def main() -> None:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=300)
    asked = parser.parse_args()
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "plimsoll", "up", "--no-collect", "--data", f"{folder}/data"]
        process = subprocess.Popen([*command, "--listen", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            assert any("Ctrl-C" in line for line in process.stdout)
            _measure(process.pid, port, asked.hosts, asked.seconds)
        finally:
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(120)
            print(f"ended {time.monotonic() - begun:.1f} s after SIGTERM, status {process.returncode}")


def _measure(pid: int, port: int, hosts: int, seconds: int) -> None:
    stop = Event()
    honest, flood = Counter[int](), Counter[int]()
    threads = [Thread(target=_send, args=(port, "127.0.0.2", _honest(hosts, stop), honest))]
    threads += [Thread(target=_send, args=(port, "127.0.0.3", _flood(at, stop), flood)) for at in range(2)]
    for thread in threads:
        thread.start()
    pool, process, until = urllib3.HTTPConnectionPool("127.0.0.1", port, timeout=120), psutil.Process(pid), seconds
    slowest, most, begun = 0.0, 0, time.monotonic()
    while time.monotonic() - begun < until:
        asked = time.monotonic()
        page = pool.request("GET", "/").data.decode()
        slowest, most = max(slowest, time.monotonic() - asked), max(most, process.memory_info().rss)
        basis = re.search(r"[\d,]+ limits? judged on [\d,]+ hosts?", page)
        print(
            f"{time.monotonic() - begun:4.0f} s: {basis[0] if basis else 'nothing judged'}; page "
            f"{time.monotonic() - asked:.1f} s, {len(page) / 1e6:.2f} MB; {process.memory_info().rss / 2**20:.0f} MB",
            flush=True,
        )
        time.sleep(10)
    stop.set()
    for thread in threads:
        thread.join(60)
    print(f"slowest page {slowest:.1f} s, most memory {most / 2**20:.0f} MB")
    print(f"honest answers {dict(honest)}, the flooder's {dict(flood)}")


def _honest(hosts: int, stop: Event) -> Iterator[bytes]:
    while not stop.is_set():
        due = time.monotonic() + 10
        now = time.time_ns() // 10**10 * 10**10
        for first in range(0, hosts, 100):
            yield b"".join(_lines(host, now) for host in range(first, min(first + 100, hosts)))
        stop.wait(max(0.0, due - time.monotonic()))


def _lines(host: int, now: int) -> bytes:
    """The 60 values of a Linux host."""
    name = f"host=web{host:04}"
    cpus = "".join(
        f"cpu,{name},cpu={cpu} usage_idle=50,usage_user=40,usage_system=5,usage_iowait=1,usage_steal=0 {now}\n"
        for cpu in ("cpu-total", "cpu0", "cpu1", "cpu2", "cpu3")
    )
    disks = "".join(
        f"disk,{name},path=/d{at},device=sd{at},fstype=ext4,mode=rw used_percent=40,free=9e9,total=2e10 {now}\n"
        for at in range(5)
    )
    memory = ",".join(f"m{at}={at}" for at in range(14))
    rest = f"mem,{name} available_percent=60,total=8e9,available=5e9,{memory} {now}\n"
    return (cpus + disks + rest + f"system,{name} load1=1,n_cpus=4,uptime=99 {now}\n").encode()


def _flood(thread: int, stop: Event) -> Iterator[bytes]:
    number = 0
    while not stop.is_set():
        now = time.time_ns()
        lines = (
            f"cpu,host=x{thread}-{number + at},cpu=cpu-total usage_idle=1,usage_iowait=0,usage_steal=0 {now}\n"
            for at in range(LINES_A_BODY)
        )
        yield "".join(lines).encode()
        number += LINES_A_BODY


def _send(port: int, source: str, bodies: Iterator[bytes], statuses: Counter[int]) -> None:
    pool = urllib3.HTTPConnectionPool("127.0.0.1", port, source_address=(source, 0), timeout=120, retries=False)
    for body in bodies:
        try:
            packed = gzip.compress(body, 1)
            statuses[pool.request("POST", WRITE, body=packed, headers={"Content-Encoding": "gzip"}).status] += 1
        except urllib3.exceptions.HTTPError:
            statuses[0] += 1


if __name__ == "__main__":
    main()

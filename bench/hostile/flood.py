"""Honest hosts beside a writer that floods: are they judged, how fast are pages, how much memory is taken.

    python bench/hostile/flood.py [--hosts 1000] [--seconds 300] [--kind hosts]

Starts `plimsoll up` on a free port of the loopback address. Honest hosts send 60 values each every 10 s from 127.0.0.2;
a flooder sends bodies from 127.0.0.3 as fast as they are answered: of ever new hosts, of one host with ever new
`disks`, or of such a host whose values are hours `late`. Every 10 s the page is asked for. The memory of the first
honest host is stalled from the beginning, which is an alert after 40 s. Linux has these addresses; other systems may
not.
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
from collections.abc import Callable, Iterator
from itertools import count
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
    parser.add_argument("--kind", choices=_FLOODS, default="hosts")
    asked = parser.parse_args()
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "plimsoll", "up", "--no-collect", "--store", f"{folder}/data"]
        process = subprocess.Popen([*command, "--listen", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            assert any("Ctrl-C" in line for line in process.stdout)
            _measure(process.pid, port, asked.hosts, asked.seconds, _FLOODS[asked.kind])
        finally:
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.wait(120)
            print(f"ended {time.monotonic() - begun:.1f} s after SIGTERM, status {process.returncode}")


def _measure(pid: int, port: int, hosts: int, seconds: int, flood_of: Callable[[int], Iterator[str]]) -> None:
    stop = Event()
    honest, flood = Counter[int](), Counter[int]()
    threads = [Thread(target=_send, args=(port, "127.0.0.2", _honest(hosts, stop), honest))]
    threads += [Thread(target=_send, args=(port, "127.0.0.3", _flood(at, stop, flood_of), flood)) for at in range(2)]
    for thread in threads:
        thread.start()
    pool, process, until = urllib3.HTTPConnectionPool("127.0.0.1", port, timeout=120), psutil.Process(pid), seconds
    slowest, most, begun, alerted = 0.0, 0, time.monotonic(), False
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
        if not alerted and "web0000" in pool.request("GET", "/alerts").data.decode():
            alerted = True
            print(f"     the alert was seen after {time.monotonic() - begun:.0f} s; due after 70 s")
        time.sleep(10)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert alerted or seconds < 120, "the alert of an honest host did not fire"
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
    full = 90 if host == 0 else 0
    stalled = f"pressure,{name},resource=memory,type=full avg10={full},avg60={full},avg300={full},total=1i {now}\n"
    rest = f"mem,{name} available_percent=60,total=8e9,available=5e9,{memory} {now}\n"
    return (cpus + disks + rest + stalled + f"system,{name} load1=1,n_cpus=4,uptime=99 {now}\n").encode()


def _flood(thread: int, stop: Event, of: Callable[[int], Iterator[str]]) -> Iterator[bytes]:
    lines = of(thread)
    while not stop.is_set():
        yield "".join(next(lines) for _ in range(LINES_A_BODY)).encode()


def _new_hosts(thread: int) -> Iterator[str]:
    for number in count():
        idle = "usage_idle=1,usage_iowait=0,usage_steal=0"
        yield f"cpu,host=x{thread}-{number},cpu=cpu-total {idle} {time.time_ns()}\n"


def _disks(thread: int, late_s: int = 0) -> Iterator[str]:
    """Of a host with 8,000 disks, which brings the 100,000 series that an address may have."""
    for number in count():
        at = time.time_ns() - late_s * 10**9 - number % 3600 * 10**9 * bool(late_s)
        counts = ",".join(f"{name}={number}i" for name in _DISK)
        yield f"diskio,host=big{thread},name=disk{number % 8000} {counts} {at}\n"


_DISK = ("reads", "writes", "read_bytes", "write_bytes", "read_time", "write_time", "io_time", "weighted_io_time")
_FLOODS = {"hosts": _new_hosts, "disks": _disks, "late": lambda thread: _disks(thread, 4 * 3600)}


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

"""Kills `plimsoll up` at random under load, again and again, and counts what it had acknowledged.

    python bench/up_kills.py [--kills 10] [--hosts 20]

Hosts whose processors are busy send a sample each second. After every kill it is started again on the same folder. At
the end each acknowledged sample must be in the store, and the alerts must be those that a replay of the store finds.
"""

import argparse
import http.client
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

from up import plimsoll_up
from write_endpoint import SECOND

from plimsoll.store.duck.store import DuckStore


def body(hosts: int, at: int) -> bytes:
    """A sample of each host: every second one is busy."""
    lines = (
        f"cpu,host=h{host:02},cpu=cpu-total usage_idle={2 if host % 2 else 60},usage_iowait=0,usage_steal=0 {at}"
        for host in range(hosts)
    )
    return "\n".join(lines).encode()


def send(url: str, hosts: int, stop: Event, acknowledged: set[int]) -> None:
    """Send as fast as it is answered, with a time of its own for each body, until the server is gone."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    at = 0
    while not stop.is_set():
        at = max(time.time_ns() // 10**6 * 10**6, at + 10**6)
        try:
            connection.request("POST", "/api/v2/write?org=o&bucket=b", body(hosts, at))
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return
        if answer.status == 204:
            acknowledged.add(at)
        time.sleep(0.05)


def kill_again_and_again(folder: Path, kills: int, hosts: int) -> Iterator[set[int]]:
    """Yield what was acknowledged before each kill."""
    for _ in range(kills):
        with plimsoll_up(folder) as target:
            acknowledged: set[int] = set()
            stop = Event()
            sending = Thread(target=send, args=(target.url, hosts, stop, acknowledged))
            sending.start()
            time.sleep(random.uniform(2, 15))
            target.process.send_signal(signal.SIGKILL)
            stop.set()
            sending.join()
        yield acknowledged


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kills", type=int, default=10)
    arguments.add_argument("--hosts", type=int, default=20)
    asked = arguments.parse_args()
    began = time.time_ns()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir(mode=0o700)
        known: set[int] = set()
        for at, acknowledged in enumerate(kill_again_and_again(folder, asked.kills, asked.hosts), 1):
            known |= acknowledged
            print(f"kill {at}: {len(acknowledged) * asked.hosts * 3:,} values had been acknowledged")
        with plimsoll_up(folder) as target:
            print("started once more; six minutes, so that what is crossed fires")
            stop = Event()
            sending = Thread(target=send, args=(target.url, asked.hosts, stop, known))
            sending.start()
            time.sleep(360)
            stop.set()
            sending.join()
            time.sleep(60)
        first = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began // SECOND))
        replay = [sys.executable, "-m", "plimsoll", "alerts", "replay", "--store", folder, "--from", first]
        done = subprocess.run([*map(str, replay)], capture_output=True, text=True, check=False)
        print(done.stdout + done.stderr, end="")
        store = DuckStore.open(folder)
        series = store.series(began, time.time_ns()).series
        lost = 0
        for samples in store.read(series, began, time.time_ns()):
            lost += len(known - set(samples.times.tolist()))
        print(f"{len(series)} series, {len(known) * len(series):,} values acknowledged, {lost:,} of them lost")
        store.close()
    return 1 if lost or done.returncode or len(series) != asked.hosts * 3 else 0


if __name__ == "__main__":
    sys.exit(main())

"""How many values a second the write endpoint takes, beside InfluxDB on the same stream.

    python bench/write_endpoint.py [--seconds 60] [--hosts 50] [--connections 4]

What a real Telegraf collects on this machine is multiplied to many hosts with values of their own, put into gzipped
bodies of 1000 lines as Telegraf sends them, and posted over some connections as fast as it is answered: for the given
time to `plimsoll up`'s server with an embedded store, which runs in a process of its own, then the same bodies to
InfluxDB. Every value that was answered for has to be in the store at the end.
"""

import argparse
import gzip
import multiprocessing
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
from posting import Body, Target, post, shown

from plimsoll.alerting.health import Health
from plimsoll.native import programs, settings
from plimsoll.native.influx import InfluxDB
from plimsoll.receive.writing import Writing
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.guard.access import Access
from plimsoll.serve.listen import Listen
from plimsoll.serve.server import create_app
from plimsoll.serve.serving import Serving
from plimsoll.store.duck.store import DuckStore

SECOND = 10**9
LINES_A_BODY = 1000  # Telegraf's metric_batch_size
EVERY_S = 10
START = 1_790_000_000 * SECOND
VARIANTS = 20
_TELEGRAF = """\
[agent]
  interval = "1s"
  flush_interval = "1s"
  hostname = "HOST"
[[outputs.file]]
  files = ["stdout"]
  data_format = "influx"
[global_tags]
  datacenter = "berlin-1"
  environment = "production"
  rack = "r17"
[[inputs.cpu]]
[[inputs.mem]]
[[inputs.swap]]
[[inputs.system]]
[[inputs.processes]]
[[inputs.kernel]]
[[inputs.net]]
  ignore_protocol_stats = true
[[inputs.netstat]]
[[inputs.disk]]
[[inputs.diskio]]
"""
_NAME = re.compile(rb"(?:^|,)([a-z_0-9]+)=")
_NUMBER = re.compile(rb"=(-?[0-9]+)(\.[0-9]+)?(i?)(?=[, ])")


def collected() -> list[bytes]:
    """The lines that Telegraf collects here at one time, without times; text fields are part of them."""
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder, "telegraf.conf")
        configuration.write_text(_TELEGRAF)
        command = [programs.TELEGRAF.path, "--config", str(configuration), "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as telegraf:
            time.sleep(5)
            telegraf.terminate()
            assert telegraf.stdout
            lines = telegraf.stdout.read().splitlines()
    last: dict[tuple[bytes, frozenset[bytes]], bytes] = {}
    for line in lines:
        text, _, _ = line.rpartition(b" ")
        head, _, fields = text.partition(b" ")
        names = frozenset(_NAME.findall(fields))
        # A later collection may have fields more: no field is to be there twice.
        last = {key: other for key, other in last.items() if key[0] != head or not key[1] & names}
        last[head, names] = text
    return list(last.values())


def varied(line: bytes) -> list[bytes]:
    """A line with other numbers of the same kind."""

    def other(found: re.Match[bytes]) -> bytes:
        whole, part, kind = found.groups()
        if part:
            return b"=%f" % (float(whole + part) * random.uniform(0.5, 1.5))
        return b"=%d%b" % (int(int(whole) * random.uniform(0.5, 1.5)), kind)

    return [_NUMBER.sub(other, line + b" ").rstrip() for _ in range(VARIANTS)]


def stream(lines: Sequence[bytes], hosts: int, start: int = START, every: int = EVERY_S * SECOND) -> Iterator[Body]:
    """The bodies of all hosts from `start` on, a sample `every` so often (ns), without an end."""
    known = [varied(line) for line in lines]
    numbers = [len(_NUMBER.findall(line + b" ")) for line in lines]
    names = [b"host=host%02d.example.org" % n for n in range(hosts)]
    held: list[bytes] = []
    values = 0
    for at in count():
        stamp = b" %d\n" % (start + at * every)
        for host in names:
            for variants, number in zip(known, numbers, strict=True):
                held.append(variants[random.randrange(VARIANTS)].replace(b"host=HOST", host, 1) + stamp)
                values += number
                if len(held) == LINES_A_BODY:
                    yield Body(gzip.compress(b"".join(held), 6), values)
                    held, values = [], 0


def serve(
    folder: Path, ready: Connection, alongside: Callable[[DuckStore, Writing], AbstractContextManager[None]]
) -> None:
    """Run the server in this process until something is received; then answer how many values are stored.

    `alongside` is what else runs meanwhile, such as the alert loop.
    """
    store = DuckStore.open(folder / "plimsoll.duckdb")
    writing = Writing(store)
    listen = Listen(port=0)
    app = create_app(store, writing, Access(listen, Credentials(folder)), Health)
    serving = Serving(app, listen)
    with alongside(store, writing):
        ready.send(serving.address)
        ready.recv()
    serving.stop()
    writing.close()
    ever = (START, START + 10**9 * SECOND)
    series = store.series(*ever).series
    ready.send(sum(store.counts(series, *ever)))
    store.close()


def nothing_else(_store: DuckStore, _writing: Writing) -> AbstractContextManager[None]:
    """The server alone."""
    return nullcontext()


@contextmanager
def plimsoll(folder: Path, stored: list[int]) -> Iterator[Target]:
    """The server in a process of its own; `stored` gets how many values it has at the end."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, theirs, nothing_else))
    process.start()
    try:
        url = ours.recv()
        yield Target("plimsoll", url, "/api/v2/write?org=o&bucket=b", "", psutil.Process(process.pid))
        ours.send(None)
        stored.append(ours.recv())
    finally:
        process.join(60)


@contextmanager
def influxdb(folder: Path) -> Iterator[Target]:
    """A new InfluxDB."""
    made = InfluxDB(folder)
    with made as known:
        running = made.background.running()
        assert running
        path = f"/api/v2/write?org={known[settings.ORG]}&bucket={known[settings.BUCKET]}"
        yield Target("InfluxDB", known[settings.URL], path, known[settings.ADMIN_TOKEN], psutil.Process(running.pid))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--hosts", type=int, default=50)
    arguments.add_argument("--connections", type=int, default=4)
    arguments.add_argument("--least", type=int, default=100_000, help="values a second below which it fails")
    asked = arguments.parse_args()
    lines = collected()
    source = stream(lines, asked.hosts)
    bodies = [next(source)]
    # More than can be sent in the time.
    while sum(body.values for body in bodies[-1:]) * len(bodies) < 400_000 * asked.seconds:
        bodies.append(next(source))
    values = sum(body.values for body in bodies)
    size = sum(len(body.content) for body in bodies)
    print(
        f"{len(lines)} lines a host, {asked.hosts} hosts, {values / len(bodies):,.0f} values a body, "
        f"{size / values:.1f} bytes a value gzipped, {psutil.cpu_count()} processors"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "plimsoll")
        place.mkdir(mode=0o700)
        stored: list[int] = []
        with plimsoll(place, stored) as target:
            ours = post(target, bodies, asked.connections, seconds=asked.seconds)
        print(shown(target.name, ours))
        on_disk = sum(file.stat().st_size for file in place.iterdir())
        print(f"{'':<10} {stored[0]:,} values stored, {on_disk / stored[0]:.1f} bytes a value on disk")
        with influxdb(Path(folder, "influxdb")) as target:
            theirs = post(target, bodies, asked.connections, seconds=asked.seconds)
        print(shown(target.name, theirs))
    print(f"Plimsoll takes {ours.rate / theirs.rate:.2f} times the values a second of InfluxDB")
    if stored[0] != ours.values:
        print(f"{ours.values:,} values were acknowledged, and {stored[0]:,} are stored", file=sys.stderr)
        return 1
    return 0 if ours.rate >= asked.least else 1


if __name__ == "__main__":
    sys.exit(main())

"""How fast a large log goes into InfluxDB, against the same bytes ready-made and against other ways of writing it.

    python bench/loading.py [--rows 5000] [--columns 1000] [--repeats 3]

Each way writes to its own bucket in the same InfluxDB; medians are printed. `ready-made` posts the line protocol of
ingest, encoded beforehand, on one connection. `plimsoll ingest` is the whole command, including reading the log, with
its peak memory. influxdb-client is given points, and writes a twentieth of the rows. Telegraf's csv parser writes each
column as a field of one measurement.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from big_log import write_big_log
from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS

from plimsoll.ingest.read import read_log
from plimsoll.model.log import Log
from plimsoll.native import influx_api, programs, settings
from plimsoll.native.influx import InfluxDB
from plimsoll.store.influx.server import Address, Server
from plimsoll.store.line_protocol import encode, request_bodies

_POINTS_SHARE = 20
_TELEGRAF = """\
[agent]
  interval = "1s"
  metric_batch_size = 100
  metric_buffer_limit = 1000000
[[outputs.influxdb_v2]]
  urls = ["{url}"]
  token = "{token}"
  organization = "{org}"
  bucket = "{bucket}"
  timeout = "300s"
[[inputs.file]]
  files = ["{log}"]
  data_format = "csv"
  csv_header_row_count = 1
  csv_skip_values = [" "]
  csv_timestamp_column = "(PDH-CSV 4.0) (UTC)(0)"
  csv_timestamp_format = "01/02/2006 15:04:05.000"
"""


class Buckets:
    """Fresh buckets of one InfluxDB."""

    def __init__(self, made: Mapping[str, str]) -> None:
        self._made = made
        self._api = influx_api.Api(made[settings.URL], made[settings.ADMIN_TOKEN])
        self._count = 0

    def fresh(self) -> Address:
        self._count += 1
        name = f"bench-{self._count}"
        self._api.add_bucket(self._api.bucket(self._made[settings.BUCKET]), name, 0)
        return Address(self._made[settings.URL], self._made[settings.ORG], name, self._made[settings.ADMIN_TOKEN])


def ready_made(pieces: list[bytes], address: Address) -> None:
    server = Server(address)
    for piece in pieces:
        server.post(piece)
    server.close()


def whole_command(path: Path, address: Address) -> None:
    env = {
        **os.environ,
        "INFLUX_URL": address.url,
        "INFLUX_ORG": address.org,
        "INFLUX_BUCKET": address.bucket,
        "INFLUX_TOKEN": address.token,
    }
    command = [sys.executable, "-m", "plimsoll", "ingest", str(path), "--run", "bench"]
    subprocess.run(command, env=env, check=True, capture_output=True)


def points(log: Log, address: Address) -> None:
    """A point per object and row, as people do it: its counters are fields, its instance is a tag."""
    rows = len(log.times) // _POINTS_SHARE
    times = log.times[:rows].tolist()
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, list[float | None]]] = {}
    for at, series in enumerate(log.series):
        groups.setdefault((series.measurement, series.tags), {})[series.field] = log.columns[at][:rows].to_list()
    client = InfluxDBClient(address.url, address.token, org=address.org)
    writing = client.write_api(write_options=SYNCHRONOUS)
    for (measurement, tags), fields in groups.items():
        named = {"host": log.hosts[0], **dict(tags)}
        record = [
            {"measurement": measurement, "tags": named, "time": time, "fields": dict(zip(fields, row, strict=True))}
            for time, row in zip(times, zip(*fields.values(), strict=True), strict=True)
        ]
        writing.write(address.bucket, record=record)
    client.close()


def telegraf(path: Path, address: Address, folder: Path) -> None:
    configuration = folder / "csv.conf"
    made = {"url": address.url, "token": address.token, "org": address.org, "bucket": address.bucket}
    configuration.write_text(_TELEGRAF.format(log=path, **made))
    program = programs.PROGRAMS["telegraf"].path
    subprocess.run([program, "--config", configuration, "--once", "--quiet"], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", help="measure only this way beside ready-made")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, InfluxDB(Path(name) / "influxdb") as made:
        folder = Path(name)
        path = folder / "big.csv"
        write_big_log(path, asked.rows, asked.columns)
        log = read_log(path)
        pieces = list(request_bodies(encode(log)))
        buckets = Buckets(made)
        ways: dict[str, tuple[float, Callable[[Address], object]]] = {
            "ready-made": (1, lambda address: ready_made(pieces, address)),
            "plimsoll ingest": (1, lambda address: whole_command(path, address)),
            "influxdb-client, points": (1 / _POINTS_SHARE, lambda address: points(log, address)),
            "Telegraf's csv parser": (1, lambda address: telegraf(path, address, folder)),
        }
        if asked.only:
            ways = {way: made for way, made in ways.items() if way == "ready-made" or way in asked.only}
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(asked.repeats):
            for way, (_, write) in ways.items():
                address = buckets.fresh()
                start = time.perf_counter()
                write(address)
                seconds[way].append(time.perf_counter() - start)
        size = path.stat().st_size / 1e6
        print(f"{asked.rows:,} rows x {asked.columns:,} counters, {size:.0f} MB, {log.present:,} values")
        base = log.present / statistics.median(seconds["ready-made"])
        for way, (share, _) in ways.items():
            rate = share * log.present / statistics.median(seconds[way])
            print(f"{way:<28} {rate:>10,.0f} values/s  {rate / base:.2f} x ready-made")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"largest memory of a child: {peak:,.0f} MB (InfluxDB is none of them)")


if __name__ == "__main__":
    main()

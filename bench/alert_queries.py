"""Measures how fast InfluxDB answers the queries of all dashboards, over 24 hours of 20 hosts.

    python bench/alert_queries.py [--hosts 20] [--hours 24] [--repeats 3] [--keep FOLDER]

Starts an InfluxDB (build it with `python3 -m native.build influxd`), writes a sample of each signal every 10 s, runs
each query as Grafana sends it, and prints the time of the answers (ms) and the slowest query for each dashboard. With
--keep, the data is kept in a folder and reused.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import fleet

from grafana.dashboard_files import files
from grafana.panel_queries import questions
from model.times import SECOND
from native import settings
from native.influx import InfluxDB
from store.influx import InfluxStore
from store.influx_server import Address, Server

STEP = 10 * SECOND
LIMIT_MS = 300
START_S = 1_790_000_000 // 3_600 * 3_600


def fill(made: dict[str, str], hosts: int, hours: int) -> int:
    """Write the samples of a fleet. Returns how many."""
    server = Server(Address(made[settings.URL], made[settings.ORG], made[settings.BUCKET], made[settings.TOKEN_INGEST]))
    store = InfluxStore(server)
    written = 0
    for hour in range(hours):
        start = (START_S + hour * 3_600) * SECOND
        logs = [fleet.log(host, fleet.times(start, start + 3_600 * SECOND)) for host in fleet.hosts(hosts)]
        written += sum(one.values for one in store.write(logs))
        print(f"\r{written:,} values, hour {hour + 1} of {hours}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return written


def answer_ms(made: dict[str, str], query: str) -> float:
    """The time of an answer up to its last byte (ms)."""
    address = f"{made[settings.URL]}/query?{urlencode({'db': made[settings.BUCKET], 'epoch': 'ms'})}"
    headers = {
        "Authorization": f"Token {made[settings.TOKEN_GRAFANA]}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    request = Request(address, data=urlencode({"q": query}).encode(), headers=headers)
    start = time.perf_counter()
    try:
        with urlopen(request, timeout=120) as response:
            body = response.read()
    except HTTPError as error:
        raise SystemExit(f"{error.read().decode()}: {query}") from None
    took = (time.perf_counter() - start) * 1_000
    answer = json.loads(body)["results"][0]
    if "error" in answer:
        raise SystemExit(f"{answer['error']}: {query}")
    return took


def measure(made: dict[str, str], hours: int, repeats: int) -> bool:
    """Run all queries and print their times. Returns whether the 95th percentile is within the limit."""
    start_ms, end_ms = START_S * 1_000, (START_S + hours * 3_600) * 1_000
    took: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for name, text in files().items():
        for question in questions(json.loads(text)):
            query = question.asked(start_ms, end_ms)
            for _ in range(repeats):
                took[name].append((answer_ms(made, query), question.where))
    p95 = 0.0
    print(f"{'dashboard':<16}{'queries':>8}{'p50':>8}{'p95':>8}{'max':>8}  ms; slowest")
    for name, found in [*took.items(), ("all", [one for each in took.values() for one in each])]:
        times = sorted(ms for ms, _ in found)
        p95 = statistics.quantiles(times, n=20)[-1]
        slowest = max(found)[1]
        count = len(times) // repeats
        print(f"{name:<16}{count:>8}{statistics.median(times):>8.0f}{p95:>8.0f}{times[-1]:>8.0f}  {slowest}")
    return p95 <= LIMIT_MS


def main() -> None:
    """Fill an InfluxDB unless it was kept, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept: Path = options.keep or Path(folder)
        done = kept / "filled"
        with InfluxDB(kept) as made:
            if not done.exists():
                fill(made, options.hosts, options.hours)
                done.touch()
            within = measure(made, options.hours, options.repeats)
    raise SystemExit(0 if within else 1)


if __name__ == "__main__":
    main()

"""The logs of a simulated load test: Performance Monitor's CSV or sadf's of each host, and JMeter's JTL."""

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.simulators.events import Seen
from tests.simulators.load_tested import Case

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def write_logs(folder: Path, case: Case, seen: Seen, seed: int) -> None:
    """Write what was recorded into the folder."""
    draw = random.Random(seed)
    hosts = sorted({name.split()[0] for name in case.system.stations})
    interval = draw.choice((5, 10, 15))
    facts: list[str] = []
    for host in hosts:
        stations = {name.split()[1]: name for name in case.system.stations if name.startswith(host)}
        servers = case.system.stations[stations["cpu"]]
        uses = {
            kind: _means(seen.busy[name], interval, case.system.stations[name], draw) for kind, name in stations.items()
        }
        _perfmon(folder / f"{host}.csv", host, interval, servers, uses)
        facts.append(f"[hosts.{host}]\nprocessors = {servers}\nmemory_mb = 32768\n")
    (folder / "plimsoll.toml").write_text("\n".join(facts))
    _jtl(folder / "results.jtl", seen)


def _means(busy: list[float], interval: int, servers: int, draw: random.Random) -> list[float]:
    """The use in each interval, in percent, with what the counters are off by."""
    return [
        min(100.0, max(0.0, 100 * sum(busy[at : at + interval]) / interval / servers + draw.gauss(0, 0.2)))
        for at in range(0, len(busy) - interval, interval)
    ]


def _perfmon(path: Path, host: str, interval: int, servers: int, uses: dict[str, list[float]]) -> None:
    def counter(text: str) -> str:
        return f"\\\\{host}\\{text}"

    names = [
        *(f"Processor Information(0,{at})\\% Processor Time" for at in range(servers)),
        "Processor Information(_Total)\\% Processor Time",
        "PhysicalDisk(0 C:)\\% Idle Time",
        "Memory\\Available MBytes",
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["(PDH-CSV 4.0) (Coordinated Universal Time)(0)", *map(counter, names)])
        for at, (cpu, disk) in enumerate(zip(uses["cpu"], uses["disk"], strict=True)):
            time = START + timedelta(seconds=interval * (at + 1))
            writer.writerow([
                time.strftime("%m/%d/%Y %H:%M:%S.000"), *[f"{cpu:.4f}"] * (servers + 1), f"{100 - disk:.4f}", "16384",
            ])  # fmt: skip


def _jtl(path: Path, seen: Seen) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "timeStamp",
                "elapsed",
                "label",
                "responseCode",
                "responseMessage",
                "threadName",
                "dataType",
                "success",
                "failureMessage",
                "bytes",
                "sentBytes",
                "grpThreads",
                "allThreads",
                "URL",
                "Latency",
                "IdleTime",
                "Connect",
            ]
        )
        began = round(START.timestamp() * 1000)
        for start, end, operation, users in seen.requests:
            writer.writerow([
                began + round(start * 1000), round((end - start) * 1000), operation, 200, "OK", "Users 1-1", "text", "true", "", 1024,
                128, users, users, f"http://app01/{operation}", round((end - start) * 900), 0, 1,
            ])  # fmt: skip

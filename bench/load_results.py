"""What reading load drivers' results costs, of a million rows each: python -m bench.load_results [--rows N] [FORMAT...]

CPU seconds of ours over those of bare polars reading the same table, all of its columns; of JSON and XML, MB for each
CPU second. Each is the least of several turns in a process of its own. The files are as the drivers write them: every
metric of k6 has its rows, and Gatling's users theirs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

_START_MS = 1_767_610_800_000
_OPERATIONS = ("GET /", "GET /search", "GET /item/{id}", "POST /basket", "POST /checkout")
_METRICS = (
    "http_reqs", "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking",
    "http_req_sending", "http_req_waiting", "http_req_receiving", "http_req_failed",
)  # fmt: skip
_BARE = """
import sys, time, polars as pl
taken = []
for _ in range(4):
    start = time.process_time()
    pl.read_csv(sys.argv[1], **eval(sys.argv[2]))
    taken.append(time.process_time() - start)
print(min(taken))
"""
_READ = """
import sys, time
from pathlib import Path
from plimsoll.ingest.read import read_log
taken = []
for _ in range(4):
    start = time.process_time()
    read_log(Path(sys.argv[1]))
    taken.append(time.process_time() - start)
print(min(taken))
"""


def _requests(count: int) -> Iterator[tuple[int, int, str, bool, int]]:
    """Start (ms), milliseconds taken, operation, whether it succeeded, and users at work; about 400 a second."""
    draw = Random(7)
    for at in range(count):
        took = int(draw.lognormvariate(4.5, 0.7))
        yield _START_MS + int(at * 2.5), took, draw.choice(_OPERATIONS), draw.random() > 0.002, 20 + at * 60 // count


def _jtl(rows: int) -> Iterator[str]:
    yield "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,"
    yield "sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
    for start, took, name, good, users in _requests(rows):
        code, why = (200, "OK") if good else (503, "Service Unavailable")
        yield f"{start},{took},{name},{code},{why},Thread Group 1-{users},text,{str(good).lower()},,14203,128,{users},"
        yield f"{users},http://shop.example.com{name[name.index('/') :]},{took - 1},0,1\n"


def _xml(rows: int) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
    for start, took, name, good, users in _requests(rows):
        yield f'<httpSample t="{took}" it="0" lt="{took - 1}" ct="1" ts="{start}" s="{str(good).lower()}" '
        yield f'lb="{name}" rc="200" rm="OK" tn="Thread Group 1-{users}" dt="text" by="14203" '
        yield f'sby="128" ng="{users}" na="{users}">\n'
        yield "  <java.net.URL>http://shop.example.com/</java.net.URL>\n</httpSample>\n"
    yield "</testResults>\n"


def _k6_csv(rows: int) -> Iterator[str]:
    yield "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,"
    yield "scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n"
    for start, took, name, good, users in _requests(rows // len(_METRICS)):
        at = (start + took) // 1000
        for metric in _METRICS:
            value = {"http_reqs": 1, "http_req_failed": int(not good)}.get(metric, took)
            yield f"{metric},{at},{value:.6f},,,,{str(good).lower()},,GET,http://shop.example.com{name[4:]},HTTP/1.1,"
            yield f"default,,200,,,http://shop.example.com{name[4:]},,\n"
        if not start % 1000:
            yield f"vus,{at},{users:.6f},,,,,,,,,,,,,,,,\n"


def _k6_json(rows: int) -> Iterator[str]:
    yield '{"type":"Metric","data":{"name":"http_reqs","type":"counter","contains":"default","thresholds":[],'
    yield '"submetrics":null},"metric":"http_reqs"}\n'
    for start, took, name, good, users in _requests(rows // len(_METRICS)):
        time = datetime.fromtimestamp((start + took) / 1000, UTC).isoformat(timespec="microseconds")
        tags = {"expected_response": str(good).lower(), "group": "", "method": "GET", "name": name, "proto": "HTTP/1.1"}
        tags |= {"scenario": "default", "status": "200", "url": f"http://shop.example.com{name[4:]}"}
        for metric in _METRICS:
            value = {"http_reqs": 1, "http_req_failed": int(not good)}.get(metric, took)
            point = {"metric": metric, "type": "Point", "data": {"time": time, "value": value, "tags": tags}}
            yield json.dumps(point, separators=(",", ":")) + "\n"
        if not start % 1000:
            point = {"metric": "vus", "type": "Point", "data": {"time": time, "value": users, "tags": None}}
            yield json.dumps(point, separators=(",", ":")) + "\n"


def _gatling(rows: int) -> Iterator[str]:
    yield f"RUN\tcom.example.Shop\tshop\t{_START_MS}\t \t3.9.5\n"
    for at, (start, took, name, good, _) in enumerate(_requests(rows)):
        if not at % 100:
            yield f"USER\tShoppers\tSTART\t{start}\n"
        yield f"REQUEST\t\t{name}\t{start}\t{start + took}\t{'OK' if good else 'KO'}\t \n"


def _locust(rows: int) -> Iterator[str]:
    """A row for each operation every second, and one of all."""
    shares = ("50%", "66%", "75%", "80%", "90%", "95%", "98%", "99%", "99.9%", "99.99%", "100%")
    yield f"Timestamp,User Count,Type,Name,Requests/s,Failures/s,{','.join(shares)},Total Request Count,"
    yield "Total Failure Count,Total Median Response Time,Total Average Response Time,Total Min Response Time,"
    yield "Total Max Response Time,Total Average Content Size\n"
    draw = Random(7)
    for at in range(rows // (len(_OPERATIONS) + 1)):
        for name in (*_OPERATIONS, "Aggregated"):
            half = draw.randint(60, 90)
            times = ",".join(str(half + 10 * more) for more in range(len(shares)))
            kind, label = ("", name) if name == "Aggregated" else name.split(" ")
            yield f"{_START_MS // 1000 + at},{20 + at % 60},{kind},{label},{draw.random() * 40:.6f},0.000000,{times},"
            yield f"{at * 40},{at // 90},{half},{half * 1.1:.12f},{4.2:.12f},{900.5:.12f},14203.5\n"


_FORMATS: dict[str, tuple[Callable[[int], Iterator[str]], str | None]] = {
    "JMeter-CSV": (_jtl, "{}"),
    "k6-CSV": (_k6_csv, "{}"),
    "Gatling": (
        _gatling,
        "dict(has_header=False, separator='\\t', truncate_ragged_lines=True, new_columns=list('abcdefg'))",
    ),
    "Locust": (_locust, "{}"),
    "k6-JSON": (_k6_json, None),
    "JMeter-XML": (_xml, None),
}


def main() -> None:
    """Write, read and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("formats", nargs="*", default=list(_FORMATS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for format_ in given.formats:
            write, bare = _FORMATS[format_]
            path = Path(name) / "results"
            with path.open("w") as file:
                file.writelines(write(given.rows))
            ours, size = _seconds(_READ, str(path)), path.stat().st_size / 1e6
            told = f"{format_:<11} {size:6.0f} MB {ours:6.2f} s"
            if bare is None:
                print(f"{told} {size / ours:6.1f} MB for each second", flush=True)
            else:
                polars = _seconds(_BARE, str(path), bare)
                print(f"{told} {ours / polars:6.2f} times bare polars, {polars:.2f} s", flush=True)


def _seconds(program: str, *arguments: str) -> float:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()

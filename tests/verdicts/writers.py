"""Writes recordings as their recorders do: columns are names with values, NaN is no sample."""

import re
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import yaml

RESTART = "LINUX-RESTART\t(4 CPU)"
_AFTER_FIRST = re.compile(r"/sec|%|Avg\.")


def pdh(host, times, columns, **_):
    """Performance Monitor's CSV. Names are counter paths; one with a computer of its own keeps it."""
    head = ["(PDH-CSV 4.0) (UTC)(0)", *(name if name[:2] == "\\\\" else rf"\\{host}{name}" for name in columns)]
    first = [bool(_AFTER_FIRST.search(name)) for name in columns]
    rows = [
        [f"{when(time):%m/%d/%Y %H:%M:%S.%f}"[:-3], *map(_pdh_cell, values, first if not at else [False] * len(first))]
        for at, (time, *values) in enumerate(zip(times, *columns.values(), strict=True))
    ]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in [head, *rows])


def _pdh_cell(value, is_first):
    return " " if is_first or np.isnan(value) else f"{value:.15g}"


def sadf(host, times, columns, restarts=(), **_):
    """`sadf -d`. Names are `SECTION|device|column`; sections of a host have no device, and no name in the header."""
    lines, interval = [], round(float(np.median(np.diff(times))))
    for section, names in groupby(
        sorted(columns, key=lambda name: name.split("|")[0]), lambda name: name.split("|")[0]
    ):
        devices = {}
        for _, device, column in (name.split("|") for name in names):
            devices.setdefault(device, []).append(column)
        label = [section] if "" not in devices else []
        lines.append(";".join(["# hostname", "interval", "timestamp", *label, *next(iter(devices.values()))]))
        rows = []
        for device, of_device in devices.items():
            values = [columns[f"{section}|{device}|{column}"] for column in of_device]
            for time, *row in zip(times, *values, strict=True):
                if not np.isnan(row).any():
                    cells = [host, str(interval), f"{when(time):%Y-%m-%d %H:%M:%S} UTC", *([device] if device else [])]
                    rows.append((time, ";".join([*cells, *(f"{value:.2f}" for value in row)])))
        rows += [(time, f"{host};-1;{when(time):%Y-%m-%d %H:%M:%S} UTC;{RESTART}") for time in restarts]
        lines += [row for _, row in sorted(rows, key=lambda row: row[0])]
    return "\n".join(lines) + "\n"


def telegraf(host, times, columns, **_):
    """Line protocol. Names are `measurement,tags field`."""
    lines = []
    for name, values in columns.items():
        head, field = name.rsplit(" ", 1)
        measurement, _, tags = head.partition(",")
        key = ",".join(part for part in (measurement, f"host={host}", tags) if part)
        lines += [f"{key} {field}={value!r} {round(time * 1e9)}" for time, value in _pairs(times, values)]
    return "\n".join(lines) + "\n"


def node(host, times, columns, **_):
    """What node_exporter is asked for at each time: `# TIME`, and its metrics."""
    scrapes = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [
        f"{name} {value!r}" if name else "# TIME"
        for scrape in scrapes
        for name, value in (("", 0), *zip(columns, scrape, strict=True))
    ]
    return "\n".join(line for line in lines if not line.endswith(" nan")) + "\n"


def perfmon(host, times, columns, **_):
    """A JTL of the PerfMon Metrics Collector. Names are labels without the host."""
    rows = [
        f"{round(1000 * time)},{int(1000 * value)},{host} {name},,,,true,0,0,0,0\n"
        for name, values in columns.items()
        for time, value in _pairs(times, values)
    ]
    return _drivers()["jtl"]["head"] + "\n" + "".join(sorted(rows))


def _pairs(times, values):
    return [(time, value) for time, value in zip(times.tolist(), values.tolist(), strict=True) if not np.isnan(value)]


def driver(kind, requests, users):
    """The results of a load driver, by the lines of drivers.yaml."""
    lines = _drivers()[kind]
    parts = [(lines["head"], [_moment(*users[0])]), (lines.get("begin"), [_moment(*users[0])] * users[0][1])]
    of_requests = [
        _moment(request.at, request.users, number) | request.fields() for number, request in enumerate(requests)
    ]
    parts += [(lines["request"], of_requests), (lines.get("second"), [_moment(*user) for user in users])]
    parts += [(lines.get("end"), [_moment(*users[-1])] * users[0][1]), (lines.get("foot"), [{}])]
    return "".join(f"{line.format(**fields)}\n" for line, rows in parts if line for fields in rows)


@cache
def _drivers():
    return yaml.safe_load((Path(__file__).parent / "drivers.yaml").read_text("utf-8"))


def _moment(at, users, number=0):
    return {"at": at, "iso": when(at / 1000).isoformat(), "users": users, "thread": number % users + 1}


def locust(requests, users):
    """Locust's NAME_stats_history.csv, a row each second; its percentiles are of the last ten seconds."""
    shares = (50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99, 100)
    head = (
        "Timestamp,User Count,Type,Name,Requests/s,Failures/s,"
        + ",".join(f"{share}%" for share in shares)
        + (
            ",Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,"
            "Total Min Response Time,Total Max Response Time,Total Average Content Size"
        )
    )
    ends = np.array([request.at + request.took for request in requests])
    order = np.argsort(ends, kind="stable")
    ends, took = ends[order], np.array([request.took for request in requests])[order]
    bad = np.array([not request.good for request in requests])[order]
    rows, last = [], ["N/A"] * len(shares)
    for time, count in users:
        before, done = np.searchsorted(ends, (time - 10_000, time))
        recent = took[before:done]
        last = [f"{np.percentile(recent, share):.0f}" for share in shares] if len(recent) else last
        means = (
            [np.median(took[:done]), np.mean(took[:done]), took[:done].min(), took[:done].max()] if done else [0] * 4
        )
        rates = [f"{len(recent) / 10:.6f}", f"{bad[before:done].sum() / 10:.6f}"]
        totals = [str(done), str(int(bad[:done].sum())), *(f"{mean:.3f}" for mean in means), "12"]
        rows.append(",".join([str(time // 1000), str(count), "", "Aggregated", *rates, *last, *totals]))
    return "\n".join([head, *rows, ""])


def when(seconds):
    """Return a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)

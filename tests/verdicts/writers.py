"""Writes recordings as their recorders do: columns are names with values, NaN is no sample."""

import json
import re
from datetime import UTC, datetime
from itertools import groupby

import numpy as np

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


def _pairs(times, values):
    return [(time, value) for time, value in zip(times.tolist(), values.tolist(), strict=True) if not np.isnan(value)]


def jtl(requests, **_):
    """JMeter's CSV."""
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,Latency"
    rows = [
        f"{request.at},{request.took},{request.name},{request.code},,{request.group} 1-{at % request.users + 1},"
        f"{str(request.good).lower()},900,{request.users},{request.users},{request.took}"
        for at, request in enumerate(requests)
    ]
    return "\n".join([head, *rows, ""])


def jtl_xml(requests, **_):
    """JMeter's XML."""
    rows = [
        f'<httpSample t="{request.took}" lt="{request.took}" ts="{request.at}" s="{str(request.good).lower()}" '
        f'lb="{request.name}" rc="{request.code}" tn="{request.group} 1-{at % request.users + 1}" '
        f'ng="{request.users}" na="{request.users}"/>'
        for at, request in enumerate(requests)
    ]
    return "\n".join(
        ['<?xml version="1.0" encoding="UTF-8"?>', '<testResults version="1.2">', *rows, "</testResults>\n"]
    )


def k6_csv(requests, users, **_):
    """k6's CSV, with times in ms."""
    head = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,status,url"
    rows = [
        f"{metric},{request.at + request.took},{value},,,,{str(request.good).lower()},,GET,{request.name},{request.code},u"
        for request in requests
        for metric, value in (("http_reqs", 1), ("http_req_duration", request.took))
    ]
    return "\n".join([head, *rows, *(f"vus,{time},{count},,,,,,,,," for time, count in users), ""])


def k6_json(requests, users, **_):
    """k6's JSON lines."""

    def line(metric, at, value, **tags):
        data = {"time": when(at / 1000).isoformat(), "value": value, "tags": tags}
        return json.dumps({"metric": metric, "type": "Point", "data": data})

    rows = [
        line("http_req_duration", one.at + one.took, one.took, name=one.name, expected_response=str(one.good).lower())
        for one in requests
    ]
    return "\n".join(
        ['{"type":"Metric","data":{"name":"vus"},"metric":"vus"}', *(line("vus", *user) for user in users), *rows, ""]
    )


def gatling(requests, users, **_):
    """The text of Gatling's simulation.log, up to 3.11."""
    rows = [
        f"REQUEST\t\t{one.name}\t{one.at}\t{one.at + one.took}\t{'OK' if one.good else 'KO'}\t " for one in requests
    ]
    begun = users[0][0]
    started = [f"USER\tU\tSTART\t{begun}"] * users[0][1]
    ended = [f"USER\tU\tEND\t{users[-1][0]}"] * users[0][1]
    return "\n".join([f"RUN\ta.B\tb\t{begun}\t \t3.9.5", *started, *rows, *ended, ""])


def locust(requests, users, **_):
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

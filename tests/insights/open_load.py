"""A second simulation of load tests with a known limit, by other means than saturation.py: to check with, not to tune by.

Users send requests at a rate of their own, whatever comes back. The throughput is the lesser of what they ask for and
what the busiest part can do; utilizations are that throughput times a cost, and each counter has noise of its own. Logs
are written as Performance Monitor writes them, and read again.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.ingest.read import read_logs
from plimsoll.model.times import SECOND

KINDS = ("cpu", "disk", "memory", "network", "queue", "load")
START = 1_720_000_000 * SECOND
MB = 2**20


@dataclass(frozen=True)
class Plan:
    kind: str
    seed: int
    shape: str
    processors: int
    single: bool
    names: str  # old, new
    shown: str  # both, requests, connections, nothing
    inside: str  # asp, own, none
    rows: int
    interval: int
    down: bool
    hosts: int
    falls: float
    cache: bool


def planned(kind, seed):
    rng = np.random.default_rng([5, seed, KINDS.index(kind)])
    rows = int(rng.choice([120, 240, 360, 720, 1440]))
    shown = str(rng.choice(["both", "both", "requests", "connections"]))
    inside = str(rng.choice(["asp", "own", "none"]))
    if kind == "queue":
        shown = "both" if inside == "none" else str(rng.choice(["both", "both", "requests"]))
    if kind in ("cpu", "disk", "network") and rng.random() < 0.15:
        shown = "nothing"
    return Plan(
        kind,
        seed,
        shape=str(rng.choice(["ramp", "stairs", "constant", "waves"])),
        processors=int(rng.choice([2, 6, 12, 32])),
        single=bool(kind == "cpu" and rng.random() < 0.25),
        names=str(rng.choice(["old", "new"])),
        shown=shown,
        inside=inside,
        rows=rows,
        interval=int(rng.choice([2, 5, 15, 60])),
        down=bool(rng.random() < 0.4),
        hosts=int(rng.choice([1, 1, 1, 2])),
        falls=float(rng.choice([0, 0, 0.15, 0.3])),
        cache=bool(kind == "memory" and rng.random() < 0.25),
    )


def noise(rng, rows, deviation):
    out, last = np.empty(rows), rng.normal(0, deviation)
    for at in range(rows):
        last = 0.7 * last + rng.normal(0, deviation * np.sqrt(0.51))
        out[at] = last
    return out


def users_of(plan, rng):
    at = np.linspace(0, 1, plan.rows)
    level = {
        "ramp": at,
        "stairs": np.ceil(at * (steps := int(rng.integers(4, 9))) + 1e-9) / steps,
        "constant": np.minimum(at / 0.1, 1),
        "waves": 0.6 + 0.4 * np.sin(2 * np.pi * 3 * at - np.pi / 2),
    }[plan.shape]
    if plan.down:
        level = np.where(at > 0.93, level * np.maximum((1 - at) / 0.07, 0), level)
    return np.clip(level, 0.02, 1)


def simulate(plan):
    rng = np.random.default_rng([9, plan.seed, KINDS.index(plan.kind)])
    n, jitter = plan.rows, lambda values, part: np.maximum(values * (1 + noise(rng, n, part)), 0)
    peak = 0.55 if plan.kind == "load" else rng.uniform(1.35, 2.6)  # of the capacity
    peak *= rng.uniform(0.4, 1) if plan.kind == "load" else 1
    offered = users_of(plan, rng) * peak
    rho = np.minimum(offered, 1.0)
    beyond = np.maximum(offered - 1, 0)
    done = rho / (1 + plan.falls * beyond)
    capacity = rng.uniform(50, 5000)
    requests = jitter(done * capacity, 0.03)
    load = {r: rng.uniform(0.05, 0.55) for r in ("cpu", "disk", "network")}
    if plan.kind in load:
        load[plan.kind] = 1.0
    use = {r: np.clip(share * (rho if share == 1 else done), 0, 1) for r, share in load.items()}
    grown = beyond * rng.uniform(10, 60)  # requests waiting where it is saturated
    text = {}
    cores = plan.processors
    objects = ("Processor", "PhysicalDisk") if plan.names == "old" else ("Processor Information", "LogicalDisk")
    # processors
    total = 100 * use["cpu"]
    if plan.single:
        first = np.clip(100 * use["cpu"] + noise(rng, n, 0.8), 0, 100)
        others = np.clip(rng.uniform(3, 30) * done + np.abs(noise(rng, n, 2)), 0, 100)
        each = [others] * cores
        each[1] = np.where(first > 99, 99.4 + noise(rng, n, 0.2), first).clip(0, 100)
        total = np.mean(each, axis=0)
    else:
        # each counter reads a little below 100 % also where there is no idle time left
        total = np.clip(np.minimum(total, 98.5) + noise(rng, n, 1.0), 0.5, 100)
        each = [np.clip(total + noise(rng, n, 1.5), 0, 100) for _ in range(min(cores, 8))]
    prefix = "0," if plan.names == "new" else ""
    if plan.single or rng.random() < 0.6:
        for k, values in enumerate(each):
            text[rf"\{objects[0]}({prefix}{k})\% Processor Time"] = values
        if rng.random() < 0.7:
            text[rf"\{objects[0]}(_Total)\% Processor Time"] = total
    else:
        text[rf"\{objects[0]}(_Total)\% Processor Time"] = total
    if rng.random() < 0.7:
        text[r"\System\Processor Queue Length"] = np.rint(
            rng.poisson(0.4, n) + (grown * cores / 4 if plan.kind == "cpu" and not plan.single else 0)
        )
    text[r"\System\Context Switches/sec"] = jitter(requests * 9 + 500, 0.05)
    # disks: the last one is the busy one
    service = rng.uniform(0.0008, 0.007)
    lines = ["C:", "D:", "E:"][: int(rng.integers(1, 4))]
    if plan.names == "old":
        lines = [f"{k} {one}" for k, one in enumerate(lines)]
    pages = np.full(n, 3.0)
    available = np.full(n, rng.uniform(1.2, 6) * 1024.0)
    if plan.kind == "memory" and not plan.cache:
        lack = np.clip((offered - 0.85) / 0.3, 0, 1)
        available = available * (1 - lack) + rng.uniform(20, 300) * lack
        pages = pages + lack * rng.uniform(1300, 6000)
        use["disk"] = np.clip(use["disk"] * (1 - lack) + lack * rng.uniform(0.7, 0.99), 0, 1)
        requests = requests * (1 - 0.2 * lack)
    if plan.cache:
        short = np.clip((offered - 0.5) / 0.3, 0, 1)
        text[r"\SQLServer:Buffer Manager\Page life expectancy"] = np.maximum(
            4000 * (1 - short) + rng.uniform(60, 220) * short + noise(rng, n, 10), 5
        )
        text[r"\SQLServer:Buffer Manager\Lazy writes/sec"] = jitter(45 * short, 0.1)
        use["disk"] = np.clip(use["disk"] * (1 - short) + short * rng.uniform(0.75, 0.98), 0, 1)
    for k, line in enumerate(lines):
        busy = use["disk"] if k == len(lines) - 1 else np.full(n, 0.02)
        u = np.clip(busy + noise(rng, n, 0.01), 0, 1)
        wait = grown * 0.3 if plan.kind == "disk" and k == len(lines) - 1 else 0
        queue = np.minimum(u / np.maximum(1 - u, 0.06), 12) + wait
        rate = u / service
        latency = np.where(rate > 0.1, queue / np.maximum(rate, 0.1), 0)
        path = rf"\{objects[1]}({line})"
        text[rf"{path}\% Idle Time"] = 100 * (1 - u)
        text[rf"{path}\Disk Reads/sec"] = rate * 0.6
        text[rf"{path}\Disk Writes/sec"] = rate * 0.4
        text[rf"{path}\Avg. Disk sec/Read"] = jitter(latency, 0.1)
        text[rf"{path}\Avg. Disk sec/Write"] = jitter(latency, 0.1)
        text[rf"{path}\Current Disk Queue Length"] = np.rint(rng.poisson(np.minimum(queue, 1e4)))
    text[r"\Memory\Available Bytes"] = np.rint(jitter(available, 0.02)) * MB
    text[r"\Memory\Pages/sec"] = jitter(pages, 0.3)
    text[r"\Memory\Pages Input/sec"] = jitter(pages * 0.8, 0.3)
    # network
    link = float(rng.choice([1e8, 1e9, 1e10]))
    card = "vmxnet3 Ethernet Adapter" if plan.names == "new" else "HP NC373i Multifunction Gigabit Server Adapter"
    sent = jitter(use["network"] * link / 8 * rng.uniform(0.9, 0.97), 0.005)
    text[rf"\Network Interface({card})\Bytes Total/sec"] = sent * 1.08
    text[rf"\Network Interface({card})\Current Bandwidth"] = np.full(n, link)
    if rng.random() < 0.6:
        text[rf"\Network Interface({card})\Bytes Sent/sec"] = sent
        text[rf"\Network Interface({card})\Bytes Received/sec"] = sent * 0.08
    # what the application tells
    front = {}
    latency = 20 + 15 * rho / np.maximum(1 - rho, 0.05) + 1000 * grown * cores / np.maximum(requests, 1)
    if plan.shown in ("both", "requests"):
        front[r"\Web Service(_Total)\Total Method Requests/sec"] = requests
    if plan.shown in ("both", "connections"):
        front[r"\Web Service(_Total)\Current Connections"] = np.rint(offered * 900 * (1 + noise(rng, n, 0.02)))
    waits = grown if plan.kind == "queue" else np.zeros(n)
    if plan.inside == "asp":
        front[r"\ASP.NET\Requests Queued"] = np.rint(rng.poisson(waits))
        front[r"\ASP.NET\Request Wait Time"] = np.rint(jitter(waits * 40, 0.2))
    elif plan.inside == "own":
        front[r"\Shop Orders\Orders Queued"] = np.rint(rng.poisson(waits + 0.05))
        front[r"\Shop Orders\Average Response Time"] = jitter(latency if plan.kind != "load" else np.full(n, 30.0), 0.1)
    every = {"web1": {**front, **text}} if plan.hosts == 1 else {"app1": {**front, **calm(rng, n, done)}, "web1": text}
    times = START + np.arange(n, dtype=np.int64) * plan.interval * SECOND
    logs = []
    with tempfile.TemporaryDirectory() as folder:
        for host, columns in every.items():
            path = Path(folder) / f"{host}.csv"
            blank = np.arange(n) == 0  # rates and shares of time have no first sample
            shown = {
                name: np.where(blank, np.nan, values)
                if name.endswith("/sec") or "%" in name
                else np.asarray(values, float)
                for name, values in columns.items()
            }
            named = [(rf"\\{host}{name}", values) for name, values in shown.items()]
            write_pdh(path, WallClock("W. Europe Standard Time", -60), times, named)
            logs += read_logs(path)[0]
    return logs


def calm(rng, n, done):
    return {
        r"\Processor(_Total)\% Processor Time": np.clip(20 * done + noise(rng, n, 2), 1, 100),
        r"\PhysicalDisk(0 C:)\% Idle Time": 98 + noise(rng, n, 0.3),
        r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": np.abs(0.003 + noise(rng, n, 0.0003)),
        r"\Memory\Available MBytes": np.rint(3000 + noise(rng, n, 20)),
        r"\Memory\Pages/sec": np.abs(noise(rng, n, 3)),
        r"\Network Interface(nic)\Bytes Total/sec": 2e6 * done,
        r"\Network Interface(nic)\Current Bandwidth": np.full(n, 1e9),
    }

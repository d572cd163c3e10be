"""Simulates load tests whose limit is known: closed-loop clients of a server with processors, disks, memory, a link and a lock.

The throughput, the queues and the utilizations follow from the demands by mean value analysis (Schweitzer's
approximation, with Seidmann's for several processors), so a resource is saturated only where the load makes it so.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from plimsoll.model.log import Log
from plimsoll.model.names import Names
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from tests.simulated import ar1

KINDS = ("cpu", "disk", "memory", "network", "queue", "load")
GB = 2.0**30
START = 1_700_000_000 * SECOND


@dataclass
class Plan:
    """What one run is made of; every field may be set by hand."""

    kind: str
    seed: int
    system: str = "windows"  # or linux
    shape: str = "steps"  # ramp, constant, hold
    load: str = "both"  # operations, connections, bytes
    application: str = "sql"  # ad, sql, openldap: whose counters show the load
    processors: int = 4
    disks: int = 2
    totals: bool = True
    instances: bool = True
    hosts: int = 1
    background: bool = False
    minutes: float = 30
    interval: int = 10
    noise: float = 0.06
    rng: np.random.Generator = field(init=False)

    def __post_init__(self):
        self.rng = np.random.default_rng([self.seed, sum(map(ord, self.kind))])


def planned(kind, seed):
    """A plan with everything but the kind drawn from the seed."""
    rng = np.random.default_rng([seed, 77, sum(map(ord, kind))])
    system = str(rng.choice(["windows", "windows", "linux"]))
    loads = ["both", "both", "operations", "connections", "bytes"]
    if kind == "queue":  # nothing else shows it
        loads = ["both", "both", "operations"]
    interval = int(rng.choice([1, 5, 10, 15, 30]))
    return Plan(
        kind,
        seed,
        system=system,
        shape=str(rng.choice(["steps", "ramp", "constant", "hold"])),
        load=str(rng.choice(loads)),
        application="openldap" if system == "linux" else str(rng.choice(["sql", "ad"])),
        processors=int(rng.choice([2, 4, 8, 16, 64])),
        disks=int(rng.choice([1, 2, 4])),
        totals=bool(rng.random() < 0.8),
        instances=bool(rng.random() < 0.8),
        hosts=int(rng.choice([1, 1, 2])),
        background=bool(rng.random() < 0.3),
        minutes=float(rng.choice([15, 30, 60])) if interval < 30 else 60.0,
        interval=interval,
    )


def clients_of(plan, n, most):
    """The number of clients over the run."""
    at = np.arange(n) / n
    if plan.shape == "steps":
        steps = int(plan.rng.integers(5, 11))
        level = np.ceil((at + 1e-9) * steps) / steps
    elif plan.shape == "ramp":
        level = 0.03 + 0.97 * at
    elif plan.shape == "hold":
        level = np.clip(at / plan.rng.uniform(0.3, 0.6), 0.03, 1)
    else:
        level = np.clip(at / plan.rng.uniform(0.04, 0.12), 0.05, 1)
    return np.maximum(most * level * (1 + ar1(plan.rng, n, deviation=0.01)), 1)


def solve(clients, think, demands, servers):
    """Throughput, and the mean queue (in service included) of each station, for each number of clients."""
    queueing = demands / servers[:, None]
    delay = (demands - queueing).sum(axis=0)
    queue = np.tile(clients / (len(demands) + 1), (len(demands), 1))
    throughput = np.zeros_like(clients)
    for _ in range(400):
        response = queueing * (1 + (clients - 1) / clients * queue)
        throughput = clients / (think + delay + response.sum(axis=0))
        queue = throughput * response
    return throughput, queue + throughput * (demands - queueing)


def simulate(plan):
    """The logs of a run, one for each host."""
    rng = plan.rng
    n = int(plan.minutes * 60 / plan.interval)
    at_most = rng.uniform(20, 2000)  # transactions a second at saturation
    think = rng.uniform(1, 5)
    names = ["cpu", *(f"disk{k}" for k in range(plan.disks)), "network", "lock"]
    servers = np.array([plan.processors, *[1] * plan.disks, 1, 1], dtype=float)
    utilization = {name: rng.uniform(0.03, 0.5) for name in names}
    for k in range(1, plan.disks):
        utilization[f"disk{k}"] = rng.uniform(0.0, 0.1)
    utilization["lock"] = 0.05
    busiest = {"disk": "disk0", "queue": "lock"}.get(plan.kind) or plan.kind
    if plan.kind in ("cpu", "disk", "network", "queue"):
        utilization[busiest] = 1.0
    service = {name: utilization[name] * m / at_most for name, m in zip(names, servers, strict=True)}
    saturation = at_most * (think + sum(service.values()))
    most = saturation * (
        rng.uniform(0.15, 0.6)
        if plan.kind == "load"
        else rng.uniform(0.6, 1.1)
        if plan.kind == "memory"
        else rng.uniform(1.5, 3)
    )
    clients = clients_of(plan, n, most)
    demands = np.array([service[name] * np.maximum(1 + ar1(rng, n, deviation=plan.noise), 0.3) for name in names])
    installed = float(rng.choice([4, 8, 16, 64])) * GB
    base = installed * rng.uniform(0.2, 0.4)
    short_at = most * (rng.uniform(0.45, 0.75) if plan.kind == "memory" else rng.uniform(1.6, 3))
    needed = base + (installed - base) * clients / short_at
    lacking = np.maximum(needed - installed, 0) / needed
    transfer = float(rng.choice([0.004, 0.008]))
    pages_each = lacking * (8 / transfer) * (rng.uniform(2, 4) / at_most) / max(lacking.max(), 1e-9)
    if plan.kind == "memory":
        demands[1] += pages_each / 8 * transfer
    else:
        pages_each = np.zeros(n)
    throughput, queue = solve(clients, think, demands, servers)
    used = np.minimum(throughput * demands / servers[:, None], 1.0)
    index = {name: k for k, name in enumerate(names)}
    free = np.maximum(installed - needed, installed * 0.008) * (1 + ar1(rng, n, deviation=0.05))
    facts = Facts(
        plan, n, clients, throughput, used, queue, index, free, installed, throughput * pages_each, transfer, most
    )
    limiting = windows(facts) if plan.system == "windows" else linux(facts)
    names_of = ["db1"] if plan.hosts == 1 else ["front1", "db1"]
    columns = {"db1": limiting}
    load = load_counters(facts)
    columns[names_of[0]] = {**load, **(limiting if plan.hosts == 1 else idle(facts))}
    return [log_of(plan, n, host, columns[host]) for host in names_of]


@dataclass
class Facts:
    plan: Plan
    n: int
    clients: np.ndarray
    throughput: np.ndarray
    used: np.ndarray
    queue: np.ndarray
    index: dict[str, int]
    free: np.ndarray
    installed: float
    pages: np.ndarray
    transfer: float
    most: float

    def of(self, name):
        return self.used[self.index[name]]

    def waiting(self, name):
        return self.queue[self.index[name]]

    def jitter(self, values, deviation=0.03):
        return np.maximum(values * (1 + ar1(self.plan.rng, self.n, deviation=deviation)), 0)


def per_processor(facts):
    """The utilization of each processor (0 to 1)."""
    plan, rng = facts.plan, facts.plan.rng
    parts = [facts.of("cpu")] * plan.processors
    return [np.clip(part + np.abs(ar1(rng, facts.n, deviation=0.01)) * (part < 0.98), 0, 1) for part in parts]


def disk_figures(facts, k):
    """The share of time busy, the queue, the transfers and the latency of a disk."""
    plan = facts.plan
    used, queue = facts.of(f"disk{k}"), facts.waiting(f"disk{k}")
    if plan.background and k == plan.disks - 1 and k > 0:  # a backup now and then
        burst = (np.arange(facts.n) % max(facts.n // 5, 10)) < max(facts.n // 40, 2)
        used, queue = np.where(burst, 0.9, used), np.where(burst, 4.0, queue)
    transfers = used / facts.transfer
    latency = np.where(transfers > 0, queue / np.maximum(transfers, 1e-9), 0)
    return used, queue, transfers, latency


def windows(facts):
    plan, rng = facts.plan, facts.plan.rng
    out = {}
    item = per_processor(facts)
    if plan.instances:
        for k, values in enumerate(item):
            out[rf"\Processor({k})\% Processor Time"] = 100 * values
    if plan.totals or not plan.instances:
        out[r"\Processor(_Total)\% Processor Time"] = 100 * np.mean(item, axis=0)
    runnable = np.maximum(facts.waiting("cpu") - plan.processors * facts.of("cpu"), 0) + rng.poisson(0.3, facts.n)
    out[r"\System\Processor Queue Length"] = np.rint(runnable)
    switches = facts.throughput * 12 * (1 + 0.5 * np.tanh(facts.waiting("cpu") / plan.processors / 4)) + 300
    out[r"\System\Context Switches/sec"] = facts.jitter(switches)
    out[r"\Process(app)\% Processor Time"] = 92 * plan.processors * np.mean(item, axis=0)
    out[r"\Process(Idle)\% Processor Time"] = 100 * (plan.processors - np.sum(item, axis=0))
    figures = [disk_figures(facts, k) for k in range(plan.disks)]
    labels = [f"{k} {'CDEFGH'[k]}:" for k in range(plan.disks)]
    used, queue, transfers, latency = (np.array(entry) for entry in zip(*figures, strict=True))
    total = (
        used.mean(axis=0),
        queue.sum(axis=0),
        transfers.sum(axis=0),
        (transfers * latency).sum(axis=0) / np.maximum(transfers.sum(axis=0), 1e-9),
    )
    shown = list(zip(labels, figures, strict=True)) if plan.instances else []
    shown += [("_Total", total)] if plan.totals or not plan.instances else []
    for label, (u, q, t, s) in shown:
        path = rf"\PhysicalDisk({label})"
        out[rf"{path}\% Disk Time"] = facts.jitter(100 * q)
        out[rf"{path}\% Idle Time"] = np.clip(100 * (1 - u), 0, 100)
        out[rf"{path}\Avg. Disk Queue Length"] = q
        out[rf"{path}\Disk Transfers/sec"] = t
        out[rf"{path}\Disk Reads/sec"] = 0.7 * t
        out[rf"{path}\Avg. Disk sec/Transfer"] = s
        out[rf"{path}\Avg. Disk sec/Read"] = s
    out[r"\Memory\Available MBytes"] = np.rint(facts.free / 2**20)
    out[r"\Memory\Pages/sec"] = facts.jitter(facts.pages + rng.exponential(5, facts.n))
    link = float(rng.choice([1e8, 1e9, 1e10]))
    carried = facts.of("network") * 0.95 * link / 8
    path = r"\Network Interface(Intel[R] Ethernet)"
    out[rf"{path}\Bytes Sent/sec"] = carried
    out[rf"{path}\Bytes Received/sec"] = 0.1 * carried
    out[rf"{path}\Bytes Total/sec"] = 1.1 * carried
    out[rf"{path}\Current Bandwidth"] = np.full(facts.n, link)
    out[rf"{path}\Output Queue Length"] = np.zeros(facts.n)
    return out


def linux(facts):
    """Telegraf's series: gauges, and counts that grow."""
    plan, rng = facts.plan, facts.plan.rng
    out = {}
    seconds = plan.interval

    def grows(per_second):
        return 1e6 + np.floor(np.cumsum(per_second) * seconds)

    item = per_processor(facts)
    waiting = 0.6 * np.max([facts.of(f"disk{k}") for k in range(plan.disks)], axis=0)
    rows = [(f"cpu{k}", values) for k, values in enumerate(item)] if plan.instances else []
    rows += [("cpu-total", np.mean(item, axis=0))] if plan.totals or not plan.instances else []
    for name, busy in rows:
        tags = (("cpu", name),)
        iowait = (1 - busy) * waiting
        out["cpu", tags, "usage_idle"] = 100 * (1 - busy - iowait)
        out["cpu", tags, "usage_iowait"] = 100 * iowait
        out["cpu", tags, "usage_steal"] = np.zeros(facts.n)
    out["system", (), "load1"] = facts.waiting("cpu") + sum(facts.waiting(f"disk{k}") for k in range(plan.disks))
    out["system", (), "n_cpus"] = np.full(facts.n, float(plan.processors))
    out["kernel", (), "context_switches"] = grows(facts.throughput * 12 + 300)
    for k in range(plan.disks):
        used, queue, transfers, latency = disk_figures(facts, k)
        tags = (("name", f"sd{'abcdefg'[k]}"),)
        out["diskio", tags, "reads"] = grows(0.7 * transfers)
        out["diskio", tags, "writes"] = grows(0.3 * transfers)
        out["diskio", tags, "read_time"] = grows(700 * transfers * latency)
        out["diskio", tags, "write_time"] = grows(300 * transfers * latency)
        out["diskio", tags, "io_time"] = grows(1000 * used)
        out["diskio", tags, "weighted_io_time"] = grows(1000 * queue)
    out["mem", (), "total"] = np.full(facts.n, facts.installed)
    out["mem", (), "available"] = facts.free
    out["mem", (), "available_percent"] = 100 * facts.free / facts.installed
    out["kernel_vmstat", (), "pswpout"] = grows(facts.pages * 0.4)
    out["kernel_vmstat", (), "pswpin"] = grows(facts.pages * 0.6)
    out["kernel_vmstat", (), "pgmajfault"] = grows(facts.pages / 8 + 0.2)
    link = float(rng.choice([100, 1000, 10000]))
    carried = facts.of("network") * 0.95 * link * 125_000
    tags = (("interface", "eth0"),)
    out["net", tags, "bytes_sent"] = grows(carried)
    out["net", tags, "bytes_recv"] = grows(0.1 * carried)
    out["net", tags, "speed"] = np.full(facts.n, link)
    return out


def load_counters(facts):
    """What the application counts: operations, connections, and what waits inside it."""
    plan = facts.plan
    operations = plan.load in ("both", "operations")
    connections = plan.load in ("both", "connections")
    inside, delay = np.rint(np.maximum(facts.waiting("lock") - 1, 0)), 1000 * facts.waiting("lock") / facts.throughput
    done, users = facts.jitter(facts.throughput), np.rint(facts.clients)
    out = {}
    if plan.application == "openldap":
        out["openldap", (), "operations_search_completed"] = np.floor(np.cumsum(facts.throughput) * plan.interval)
        out["openldap", (), "connections_current"] = users
        beside = {"processing_ms": 3 + delay, "connect_ms": np.full(facts.n, 1.0), "response_ms": 4 + delay}
        result = {("ldap_probe", (), field): facts.jitter(values) for field, values in beside.items()}
    elif plan.application == "ad":
        out = {r"\NTDS\LDAP Searches/sec": done, r"\NTDS\LDAP Client Sessions": users}
        result = {r"\NTDS\ATQ Outstanding Queued Requests": inside}
    else:
        out = {r"\SQLServer:SQL Statistics\Batch Requests/sec": done}
        out[r"\SQLServer:General Statistics\User Connections"] = users
        result = {
            r"\SQLServer:Buffer Manager\Page life expectancy": 4000 + plan.interval * np.arange(facts.n, dtype=float),
            r"\SQLServer:Memory Manager\Memory Grants Pending": inside,
            r"\SQLServer:Locks(_Total)\Average Wait Time (ms)": delay,
        }
    return {name: out[name] for name, is_shown in zip(out, (operations, connections), strict=True) if is_shown} | result


def idle(facts):
    """A host that only passes the requests on."""
    few = Plan("load", facts.plan.seed + 1000, system=facts.plan.system, interval=facts.plan.interval, disks=1)
    little = np.full_like(facts.used, 0.15) * facts.throughput / facts.throughput.max()
    free, none = np.full(facts.n, 6 * GB), np.zeros(facts.n)
    room = {"free": free, "installed": 8 * GB, "pages": none, "transfer": 0.006}
    spare = replace(facts, plan=few, used=little, queue=little.copy(), **room)
    return windows(spare) if facts.plan.system == "windows" else linux(spare)


def log_of(plan, n, host, columns):
    """A log of these columns; Windows' are named by their paths."""
    names = Names()
    series, values = [], []
    for name, column in columns.items():
        if isinstance(name, str):
            series.append(names.series(CounterPath.parse(rf"\\{host}{name}"), host))
        else:
            series.append(Series(host, *name))
        values.append(np.asarray(column, dtype=float))
    times = START + np.arange(n, dtype=np.int64) * plan.interval * SECOND
    form = "PDH-CSV" if plan.system == "windows" else "telegraf"
    return Log(Path(f"{host}.csv"), form, times, tuple(values), tuple(series), Zone.parse("UTC"))

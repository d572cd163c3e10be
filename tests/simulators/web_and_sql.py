"""A web server and its SQL Server under a load test, for trials of comparisons: numpy alone, nothing of the code.

What a build costs is in `Build`. Two runs of one build differ by more than their noise: `SPREAD` has by how much the
cost of an operation, the service time of disks and the memory held vary from run to run. Within a run there is
autocorrelated noise, bursts, garbage collections, checkpoints, and caches that are cold or warm at the start.
"""

from dataclasses import dataclass, replace

import numpy as np

from tests.simulated import a_log, reviewed

SPREAD = {"cpu": 0.0175, "disk": 0.06, "memory": 0.03, "load": 0.005, "network": 0.01}
WEB, SQL = "WEB1", "SQL1"


@dataclass(frozen=True)
class Build:
    """What a build costs, and the load it is under."""

    load: float = 400.0  # requests/s
    cpu_ms: float = 4.4  # of a request on the web server, which has 4 processors
    sql_cpu_ms: float = 2.2  # the same on the database
    service_ms: float = 4.0  # of a disk access
    reads_each: float = 0.05  # disk reads of a request, with a warm cache
    memory_mb: float = 3000.0
    leak_mb: float = 0.0  # an hour
    noise: float = 0.05  # of the load
    stall_s: float = 0.0  # every quarter of an hour nothing answers for so long
    slow_share: float = 0.0  # of the samples whose response time is three times as long
    page_life: bool = True
    spread: float = 1.0  # times SPREAD

    def a_run(self, rng):
        """A run of this build: what it costs, varied as runs of one build vary."""

        def vary(value, kind):
            return value * float(np.exp(self.spread * SPREAD[kind] * rng.standard_normal()))

        return replace(
            self,
            load=vary(self.load, "load"),
            cpu_ms=vary(self.cpu_ms, "cpu"),
            sql_cpu_ms=vary(self.sql_cpu_ms, "cpu"),
            service_ms=vary(self.service_ms, "disk"),
            memory_mb=vary(self.memory_mb, "memory"),
        )


def columns(build, seed, rows=720, interval_s=5):
    """The counters of both hosts in one run of a build, by host."""
    rng = np.random.default_rng(seed)
    a_run = build.a_run(rng)
    at_s = np.arange(rows) * interval_s
    ramp = np.minimum(1.0, at_s / (0.1 * at_s[-1]))
    stalled = (at_s % 900 < a_run.stall_s) & (at_s > 60) if a_run.stall_s else np.zeros(rows, dtype=bool)
    load = a_run.load * ramp * (1 + slow(rng, rows, 0.8, a_run.noise)) * _bursts(rng, rows, 0.01, 1.25)
    load = np.where(stalled, 0.02 * load, load).clip(0)
    reads_each = a_run.reads_each * (1 + rng.uniform(1, 12) * np.exp(-at_s / rng.uniform(60, 180)))
    web, busy = _web(a_run, rng, load, at_s, stalled)
    sql, waited_ms = _sql(a_run, rng, load, reads_each, at_s)
    slow_ones = rng.random(rows) < a_run.slow_share
    answer_ms = (9 + a_run.cpu_ms / (1 - busy.clip(0, 0.97)) + waited_ms) * np.exp(slow(rng, rows, 0.5, 0.06))
    answer_ms = np.where(slow_ones, 3 * answer_ms, answer_ms) + np.where(stalled, 20_000, 0)
    web[r"\ASP.NET\Request Execution Time"] = answer_ms
    web[r"\ASP.NET\Requests Current"] = (load * answer_ms / 1000).round()
    web[r"\Web Service(_Total)\Current Connections"] = (
        0.5 * a_run.load * ramp * (1 + slow(rng, rows, 0.9, 0.01))
    ).round()
    web[r"\ASP.NET\Requests Queued"] = np.where(stalled, 60.0, rng.poisson(0.05, rows))
    return {WEB: web, SQL: sql}


def a_review(build, seed, rows=720, interval_s=5, more=None):
    """The review of a run. `more` may change the columns of each host."""
    result = columns(build, seed, rows, interval_s)
    if more:
        more(result, np.random.default_rng(seed + 10**6))
    return reviewed(*(a_log(item, host, interval_s) for host, item in result.items()))


def slow(rng, rows, phi, deviation):
    """Autocorrelated noise."""
    shocks = rng.standard_normal(rows) * np.sqrt(1 - phi**2)
    out = np.empty(rows)
    last = rng.standard_normal()
    for at in range(rows):
        last = out[at] = phi * last + shocks[at]
    return deviation * out


def _bursts(rng, rows, share, height):
    out = np.ones(rows)
    for start in np.flatnonzero(rng.random(rows) < share / 3):
        out[start : start + int(rng.integers(1, 6))] *= rng.uniform(1, height)
    return out


def _web(entry, rng, load, at_s, stalled):
    rows = len(load)
    item = 35 * (1 + 0.04 * rng.standard_normal())
    collecting = ((at_s + rng.uniform(0, item)) % item < 5) & (load > 0.1 * entry.load)
    busy = 0.02 + load * entry.cpu_ms / 4000 * np.exp(slow(rng, rows, 0.6, 0.04)) + 0.06 * collecting
    busy = np.where(stalled, 0.03, busy).clip(0, 1)
    heap = 400e6 * (0.6 + 0.4 * ((at_s / item) % 1)) * entry.memory_mb / 3000
    result = entry.memory_mb * (0.85 + 0.15 * (1 - np.exp(-at_s / 400))) + entry.leak_mb * at_s / 3600 + heap / 2e7
    queue = rng.poisson((2 * busy**4 / (1 - busy.clip(0, 0.95))).clip(0, 60))
    sent = load * 14_000 * np.exp(slow(rng, rows, 0.4, 0.03))
    fields = {
        r"\Processor(_Total)\% Processor Time": 100 * busy,
        r"\Processor(_Total)\% Privileged Time": 22 * busy * np.exp(slow(rng, rows, 0.5, 0.05)),
        r"\System\Processor Queue Length": queue.astype(float),
        r"\System\Context Switches/sec": 1500 + 22 * load * np.exp(slow(rng, rows, 0.7, 0.05)),
        r"\Memory\Available MBytes": 8192 - result - slow(rng, rows, 0.9, 20),
        r"\Memory\Pages/sec": rng.gamma(0.3, 10, rows),
        r"\Memory\Committed Bytes": (result + 1500) * 1e6,
        r"\Process(w3wp)\Private Bytes": result * 0.5e6,
        r"\Process(w3wp)\Handle Count": (1800 + 30 * slow(rng, rows, 0.9, 1.0)).round(),
        r"\.NET CLR Memory(w3wp)\% Time in GC": 1.5 + 10 * collecting * rng.uniform(0.5, 1.5, rows),
        r"\.NET CLR Memory(w3wp)\# Bytes in all Heaps": heap,
        r"\Web Service(_Total)\Total Method Requests/sec": load,
        r"\Network Interface(Intel)\Bytes Sent/sec": sent,
        r"\Network Interface(Intel)\Bytes Received/sec": 0.2 * sent,
        r"\Network Interface(Intel)\Bytes Total/sec": 1.2 * sent,
        **_disk(entry, rng, "0 C:", 0.5 * np.ones(rows), 4 + 0.01 * load),
    }
    return fields, busy


def _sql(item, rng, load, reads_each, at_s):
    rows = len(load)
    batches = 3 * load * np.exp(slow(rng, rows, 0.5, 0.02))
    busy = (0.03 + load * item.sql_cpu_ms / 4000 * np.exp(slow(rng, rows, 0.7, 0.05))).clip(0, 1)
    first = rng.uniform(0, 60)
    checkpoint = (at_s + first) % 60 < 10
    reads, writes = reads_each * load, 0.06 * load + 80 * checkpoint * rng.uniform(0.7, 1.3, rows)
    disk = _disk(item, rng, "1 D:", reads, writes)
    waited_ms = 1000 * disk[r"\PhysicalDisk(1 D:)\Avg. Disk sec/Read"] * reads_each
    started = rng.uniform(0, 20_000)
    out = {
        r"\Processor(_Total)\% Processor Time": 100 * busy,
        r"\System\Processor Queue Length": rng.poisson(busy**4 * 2).astype(float),
        r"\System\Context Switches/sec": 900 + 16 * load * np.exp(slow(rng, rows, 0.7, 0.05)),
        r"\Memory\Available MBytes": 2500 - 0.2 * (item.memory_mb - 3000) + slow(rng, rows, 0.95, 15),
        r"\Memory\Pages/sec": rng.gamma(0.3, 8, rows),
        r"\SQLServer:SQL Statistics\Batch Requests/sec": batches,
        r"\SQLServer:Buffer Manager\Buffer cache hit ratio": 100 - 3 * reads_each * np.exp(slow(rng, rows, 0.8, 0.1)),
        r"\SQLServer:Buffer Manager\Checkpoint pages/sec": 80.0 * checkpoint * rng.uniform(0.7, 1.3, rows),
        r"\SQLServer:Buffer Manager\Page reads/sec": reads * 1.4,
        r"\SQLServer:General Statistics\User Connections": np.full(rows, 60.0) + rng.integers(0, 3, rows),
        r"\SQLServer:Locks(_Total)\Average Wait Time (ms)": rng.gamma(0.4, 12, rows),
        r"\Network Interface(Intel)\Bytes Total/sec": load * 6000 * np.exp(slow(rng, rows, 0.4, 0.03)),
        **disk,
    }
    if item.page_life:
        out[r"\SQLServer:Buffer Manager\Page life expectancy"] = started + at_s
    return out, waited_ms


def _disk(item, rng, name, reads, writes):
    rows = len(reads)
    service_s = item.service_ms / 1000 * np.exp(slow(rng, rows, 0.7, 0.10))
    busy = ((reads + 0.3 * writes) * service_s).clip(0, 0.97)
    wait_s = service_s / (1 - busy)
    write_s = 0.5 * wait_s * np.exp(slow(rng, rows, 0.5, 0.1))
    reads, writes = rng.poisson(5 * reads) / 5, rng.poisson(5 * writes) / 5
    path = rf"\PhysicalDisk({name})"
    return {
        path + r"\Avg. Disk sec/Read": np.where(reads > 0, wait_s, 0.0),
        path + r"\Avg. Disk sec/Write": np.where(writes > 0, write_s, 0.0),
        path + r"\Disk Reads/sec": reads,
        path + r"\Disk Writes/sec": writes,
        path + r"\Current Disk Queue Length": rng.poisson(busy / (1 - busy)).astype(float),
        path + r"\Avg. Disk Queue Length": reads * wait_s + writes * write_s,
        path + r"\% Idle Time": 100 * (1 - busy),
    }

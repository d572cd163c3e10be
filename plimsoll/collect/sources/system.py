"""Processors, memory, network adapters, processes and counts of the Linux kernel, named as Telegraf's plugins do.

The fields are those that telegraf/linux.conf keeps. If a kernel lacks a file, the readings from it are left out.
"""

import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import psutil

from plimsoll.collect.sources.reading import PROC, SYS, Reading, read_kernel_file

_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
# The kernel counts the time of guests in user and nice as well.
_ADDED_UP = _STATES[:8]
_TOTAL = "cpu-total"
Times: TypeAlias = Mapping[str, float]


class ProcessorShares:
    """Reads the share of time (%) that each processor spent in each state since the last call."""

    def __init__(self) -> None:
        self._last: Mapping[str, Times] = {}

    def __call__(self) -> Iterator[Reading]:
        """Yield a reading `cpu` for each processor and for all together; the first call yields none."""
        now, last = _read_times(), self._last
        self._last = now
        for name, times in now.items():
            if name not in last:
                continue
            spent = {state: times.get(state, 0) - last[name].get(state, 0) for state in _STATES}
            whole = sum(spent[state] for state in _ADDED_UP)
            if whole <= 0:
                continue
            spent["user"] -= spent["guest"]
            spent["nice"] -= spent["guest_nice"]
            shares = {f"usage_{state}": 100 * ticks / whole for state, ticks in spent.items()}
            yield Reading("cpu", shares, (("cpu", name),))


def _read_times() -> Mapping[str, Times]:
    """Return each processor's time by state since the system started, in a unit that depends on the system."""
    if sys.platform != "linux":
        processors = {f"cpu{at}": times._asdict() for at, times in enumerate(psutil.cpu_times(percpu=True))}
        return processors | {_TOTAL: psutil.cpu_times()._asdict()}
    # psutil numbers processors by line, which is wrong if one is offline.
    processors: dict[str, Times] = {}
    for line in (PROC / "stat").read_text().splitlines():
        name, *ticks = line.split()
        if not name.startswith("cpu"):
            break
        processors[_TOTAL if name == "cpu" else name] = dict(zip(_STATES, map(float, ticks), strict=False))
    return processors


def read_system() -> Iterator[Reading]:
    """Yield a reading `system`: load averages, number of processors, and uptime (s)."""
    load1, load5, load15 = psutil.getloadavg()
    fields = {"load1": load1, "load5": load5, "load15": load15, "uptime": float(int(time.time() - psutil.boot_time()))}
    for name, logical in (("n_cpus", True), ("n_physical_cpus", False)):
        if (count := psutil.cpu_count(logical=logical)) is not None:
            fields[name] = count
    yield Reading("system", fields)


# psutil's names where Telegraf's differ.
_MEMORY_NAMES = {"buffers": "buffered"}
_MEMORY_FIELDS = (
    *("total", "available", "used", "free", "active", "inactive"),
    *("wired", "buffers", "cached", "shared", "slab"),
)


def read_memory() -> Iterator[Reading]:
    """Yield a reading `mem`: the use of physical memory."""
    memory_values = psutil.virtual_memory()._asdict()
    fields: dict[str, float] = {
        _MEMORY_NAMES.get(name, name): memory_values[name] for name in _MEMORY_FIELDS if name in memory_values
    }
    for part in ("used", "available"):
        fields[f"{part}_percent"] = 100 * fields[part] / fields["total"]
    yield Reading("mem", fields)


def swap() -> Iterator[Reading]:
    """Yield a reading `swap`: the use of swap space."""
    usage = psutil.swap_memory()
    used = 100 * usage.used / usage.total if usage.total else 0.0
    fields = {"total": usage.total, "used": usage.used, "free": usage.free, "used_percent": used}
    if sys.platform == "linux":  # psutil's value on macOS also counts pages of mapped files
        fields |= {"in": usage.sin, "out": usage.sout}
    yield Reading("swap", fields)


_ADAPTER_NAMES = {"errin": "err_in", "errout": "err_out", "dropin": "drop_in", "dropout": "drop_out"}
_UNKNOWN_SPEED = -1.0


def read_adapters() -> Iterator[Reading]:
    """Yield a reading `net` for each network adapter that is up, except the loopback."""
    stats = psutil.net_if_stats()
    # nowrap=False: rates must see a reset of a counter, which psutil would hide.
    for name, counts in psutil.net_io_counters(pernic=True, nowrap=False).items():
        if name not in stats:
            continue
        flags = stats[name].flags.split(",")
        if "up" in flags and "loopback" not in flags:
            fields: dict[str, float] = {_ADAPTER_NAMES.get(key, key): value for key, value in counts._asdict().items()}
            yield Reading("net", {**fields, "speed": _read_speed(name, stats[name].speed)}, (("interface", name),))


def _read_speed(name: str, fallback: int) -> float:
    """Return the speed of a network adapter's link (Mbit/s); -1 if the system does not tell it."""
    if sys.platform != "linux":
        return fallback or _UNKNOWN_SPEED
    try:
        return float(read_kernel_file(SYS / "class" / "net" / name / "speed") or _UNKNOWN_SPEED)
    except ValueError:
        return _UNKNOWN_SPEED


_PROCESS_STATES = ("blocked", "zombies", "stopped", "running", "sleeping", "unknown", "idle")
_ON_LINUX = (*_PROCESS_STATES, "dead", "paging")
# The kernel's letters of states, and Telegraf's names.
_LETTERS = {
    "R": "running",
    "S": "sleeping",
    "D": "blocked",
    "Z": "zombies",
    "X": "dead",
    "T": "stopped",
    "t": "stopped",
    "W": "paging",
    "I": "idle",
}
_STATUSES = {
    psutil.STATUS_RUNNING: "running",
    psutil.STATUS_SLEEPING: "sleeping",
    psutil.STATUS_DISK_SLEEP: "blocked",
    psutil.STATUS_ZOMBIE: "zombies",
    psutil.STATUS_STOPPED: "stopped",
    psutil.STATUS_IDLE: "idle",
}


def read_processes() -> Iterator[Reading]:
    """Yield a reading `processes`: the number of processes in each state."""
    if sys.platform != "linux":
        states = (_STATUSES.get(process.info["status"], "unknown") for process in psutil.process_iter(["status"]))
        counted = Counter(states)
        yield Reading("processes", {**{state: counted[state] for state in _PROCESS_STATES}, "total": counted.total()})
        return
    counted, threads = Counter[str](), 0
    for number in filter(str.isdecimal, os.listdir(PROC)):  # psutil takes ten times as long, and pathlib twice
        try:
            with open(f"{PROC}/{number}/stat", "rb", buffering=0) as file:
                stat = file.read()
        except OSError:  # the process has ended
            continue
        # The name, in brackets, may contain any character.
        letter, *rest = stat[stat.rindex(b")") + 2 :].split(maxsplit=18)
        counted[_LETTERS.get(letter.decode(), "unknown")] += 1
        threads += int(rest[16])
    fields: dict[str, float] = {state: counted[state] for state in _ON_LINUX}
    yield Reading("processes", {**fields, "total": counted.total(), "total_threads": threads})


_STAT = {"intr": "interrupts", "ctxt": "context_switches", "processes": "processes_forked", "btime": "boot_time"}
_VMSTAT = ("pgpgin", "pgpgout", "pswpin", "pswpout", "pgmajfault", "oom_kill")
_NETSTAT = {"netstat": ("TcpExt", "ListenOverflows"), "snmp": ("Tcp", "OutSegs", "RetransSegs")}  # file: group, names


def read_counts() -> Iterator[Reading]:
    """Yield a reading `kernel`: context switches, interrupts and started processes since the system started."""
    lines = (line.split(maxsplit=2) for line in (PROC / "stat").read_text().splitlines())
    yield Reading("kernel", {_STAT[line[0]]: float(line[1]) for line in lines if line and line[0] in _STAT})


def read_paging() -> Iterator[Reading]:
    """Yield a reading `kernel_vmstat`: the kernel's counts of paging."""
    counts = dict(line.split() for line in (PROC / "vmstat").read_text().splitlines())
    yield Reading("kernel_vmstat", {name: float(counts[name]) for name in _VMSTAT if name in counts})


def read_pressure() -> Iterator[Reading]:
    """Yield readings `pressure` for each resource: pressure stall information."""
    for resource in ("cpu", "memory", "io"):
        for line in (read_kernel_file(PROC / "pressure" / resource) or "").splitlines():
            kind, *averages = line.split()
            if (resource, kind) == ("cpu", "full"):  # always 0, and Telegraf leaves it out
                continue
            fields = {name: float(value) for name, _, value in (average.partition("=") for average in averages)}
            yield Reading("pressure", fields, (("resource", resource), ("type", kind)))


def read_connections_tracked() -> Iterator[Reading]:
    """Yield a reading `conntrack` with the number of tracked connections; none without the kernel module."""
    folder = PROC / "sys" / "net" / "netfilter"
    count, most = read_kernel_file(folder / "nf_conntrack_count"), read_kernel_file(folder / "nf_conntrack_max")
    if count and most:
        yield Reading("conntrack", {"ip_conntrack_count": float(count), "ip_conntrack_max": float(most)})


def read_accept_queues() -> Iterator[Reading]:
    """Yield readings `nstat` with counts of TCP since the system started.

    They are connections that found the accept queue of a socket full, and segments sent and retransmitted.
    """
    for file, (group, *names) in _NETSTAT.items():
        # A line of names, and below it one of values.
        for heads, values in itertools.pairwise((read_kernel_file(PROC / "net" / file) or "").splitlines()):
            counts = dict(zip(heads.split(), values.split(), strict=False))
            if heads.startswith(f"{group}:") and counts[f"{group}:"] == f"{group}:" and {*names} <= counts.keys():
                yield Reading("nstat", {group + name: float(counts[name]) for name in names}, (("name", file),))
                break


def open_files() -> Iterator[Reading]:
    """Yield a reading `linux_sysctl_fs` with the number of open file handles, and its limit."""
    in_use, _, most = (PROC / "sys" / "fs" / "file-nr").read_text().split()
    yield Reading("linux_sysctl_fs", {"file-nr": float(in_use), "file-max": float(most)})

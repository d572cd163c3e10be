r"""What psutil gives on Windows, under the names of the performance counters that mean the same.

It stands in for counters that cannot be read from Windows: those that were switched off (`lodctr /D:PerfDisk`), or
whose names were damaged. It has no queues, no latencies, no paging and no committed memory, and its times of disk
requests have another unit than it says. Disks are named by their number (0, not "0 C:"), adapters as in the network
settings.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import psutil

from plimsoll.collect.sources.reading import Group, Lookup, Reading
from plimsoll.model.names import shipped
from plimsoll.model.perfmon import CounterPath

_MB = 2**20
_DRIVE = "PhysicalDrive"
_GROUP = 64

Counters: TypeAlias = Mapping[str, float]  # by counter path


def groups(host: str, is_known: Callable[[CounterPath], bool] = lambda _: False) -> Mapping[str, Group]:
    """What can be read, by the name that people see when it fails. Counters that are known otherwise are left out."""
    counted: dict[str, Callable[[], Counters]] = {
        "processor time": ProcessorTime(),
        "context switches and interrupts": Rates(_switches),
        "uptime": _uptime,
        "memory": _memory,
        "paging file": _paging_file,
        "disk requests": Rates(_disks),
        "free space": FreeSpace(),
        "network throughput": Rates(_throughput),
        "network errors": _network_errors,
    }
    return {name: _group(host, counters, is_known) for name, counters in counted.items()}


def _group(host: str, counters: Callable[[], Counters], is_known: Callable[[CounterPath], bool]) -> Group:
    def read() -> Iterator[Reading]:
        for text, value in counters().items():
            path = CounterPath.parse(text)
            if is_known(path):
                continue
            series = shipped().series(path, host)
            yield Reading(series.measurement, {series.field: value}, series.tags)

    return read


class Rates:
    """Counters per second since the last call, from counts; none of a count that began anew."""

    def __init__(self, counts: Callable[[], Counters]) -> None:
        self._counts = counts
        self._last: Counters = {}
        self._read_at = 0.0

    def __call__(self) -> Counters:
        """The rates by counter path."""
        now, last, at = self._counts(), self._last, time.monotonic()
        elapsed = at - self._read_at
        self._last, self._read_at = now, at
        return {
            path: (value - last[path]) / elapsed for path, value in now.items() if value >= last.get(path, value + 1)
        }


class ProcessorTime:
    """The share of time that each processor spent working since the last call."""

    def __init__(self) -> None:
        self._last: Mapping[str, Counters] = {}

    def __call__(self) -> Counters:
        """Each processor and all together, by counter path."""
        _check_processors()
        each = {str(at): one._asdict() for at, one in enumerate(psutil.cpu_times(percpu=True))}
        now = each | {"_Total": _sums(each.values())}
        last, self._last = self._last, now
        shares: dict[str, float] = {}
        for name, times in now.items():
            spent = {state: value - last[name][state] for state, value in times.items()} if name in last else {}
            whole = sum(spent.get(state, 0) for state in ("user", "system", "idle"))
            if whole > 0:
                path = f"\\Processor({name})\\"
                shares[path + "% Processor Time"] = 100 - 100 * spent["idle"] / whole
                shares[path + "% Privileged Time"] = 100 * spent["system"] / whole
                shares[path + "% Interrupt Time"] = 100 * spent["interrupt"] / whole
                shares[path + "% DPC Time"] = 100 * spent["dpc"] / whole
        return shares


def _sums(parts: Iterable[Counters]) -> Counters:
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _check_processors() -> None:
    """RuntimeError if there are more than a group of processors, of which alone psutil reads the times and counts."""
    if (count := psutil.cpu_count() or 1) > _GROUP:
        raise RuntimeError(f"psutil knows {_GROUP} of {count} processors; use Telegraf on this host")


def _switches() -> Counters:
    _check_processors()
    stats = psutil.cpu_stats()
    return {
        "\\System\\Context Switches/sec": stats.ctx_switches,
        "\\Processor(_Total)\\Interrupts/sec": stats.interrupts,
    }


def _uptime() -> Counters:
    return {"\\System\\System Up Time": time.time() - psutil.boot_time()}


def _memory() -> Counters:
    found = psutil.virtual_memory()
    return {
        "\\Memory\\Available Bytes": found.available,
        "\\NUMA Node Memory(_Total)\\Total MBytes": found.total / _MB,
    }


def _paging_file() -> Counters:
    return {"\\Paging File(_Total)\\% Usage": psutil.swap_memory().percent}


def _disks() -> Counters:
    found: dict[str, float] = {}
    whole = 0
    for name, one in (psutil.disk_io_counters(perdisk=True, nowrap=False) or {}).items():
        path = f"\\PhysicalDisk({name.removeprefix(_DRIVE)})\\"
        found[path + "Disk Reads/sec"] = one.read_count
        found[path + "Disk Writes/sec"] = one.write_count
        found[path + "Disk Transfers/sec"] = one.read_count + one.write_count
        whole += one.read_bytes + one.write_bytes
    return {**found, "\\PhysicalDisk(_Total)\\Disk Bytes/sec": whole} if found else {}


def _throughput() -> Counters:
    found: dict[str, float] = {}
    for name, one in psutil.net_io_counters(pernic=True, nowrap=False).items():
        path = _adapter(name)
        found[path + "Bytes Sent/sec"] = one.bytes_sent
        found[path + "Bytes Received/sec"] = one.bytes_recv
        found[path + "Bytes Total/sec"] = one.bytes_sent + one.bytes_recv
        found[path + "Packets Sent/sec"] = one.packets_sent
        found[path + "Packets Received/sec"] = one.packets_recv
    return found


def _network_errors() -> Counters:
    found: dict[str, float] = {}
    stats = psutil.net_if_stats()
    for name, one in psutil.net_io_counters(pernic=True, nowrap=False).items():
        path = _adapter(name)
        found[path + "Packets Outbound Errors"] = one.errout
        found[path + "Packets Received Errors"] = one.errin
        found[path + "Packets Outbound Discarded"] = one.dropout
        found[path + "Packets Received Discarded"] = one.dropin
        if name in stats and stats[name].speed:
            found[path + "Current Bandwidth"] = 1e6 * stats[name].speed
    return found


def _adapter(name: str) -> str:
    # Windows writes square brackets where the name of an adapter has round ones.
    return f"\\Network Interface({name.replace('(', '[').replace(')', ']')})\\"


class FreeSpace:
    """How much of each volume is free."""

    def __init__(self) -> None:
        self._usages = Lookup(psutil.disk_usage)

    def __call__(self) -> Counters:
        """By counter path."""
        volumes = [one.mountpoint for one in psutil.disk_partitions() if "cdrom" not in one.opts.split(",")]
        found: dict[str, float] = {}
        for volume, usage in self._usages.results(volumes).items():
            if usage.total:
                path = f"\\LogicalDisk({volume.rstrip(chr(92))})\\"
                found[path + "% Free Space"] = 100 * usage.free / usage.total
                found[path + "Free Megabytes"] = usage.free / _MB
        return found

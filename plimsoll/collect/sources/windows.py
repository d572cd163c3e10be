"""The counters of a Windows host: those that signals need, from Windows itself, and psutil's for what it does not have.

Those of psutil stand in for counters that were switched off (`lodctr /D:PerfDisk`), or whose names were damaged. It has
no queues, no latencies, no paging and no committed memory. Disks are named by their number (0, not "0 C:"), adapters as
in the network settings.

They are the counters that `plimsoll rules counters` puts into a Data Collector Set, under the names that Telegraf's
win_perf_counters gives them.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import psutil

from plimsoll.collect.pdh import ObjectCounters, Pdh
from plimsoll.collect.sources.reading import Group, Lookup, Patient, Reading
from plimsoll.export.counters.counter_list import counters
from plimsoll.model.names import shipped
from plimsoll.model.perfmon import SQL_NAMED, CounterPath
from plimsoll.rules.schema.signal import Signal

_MB = 2**20
_DRIVE = "PhysicalDrive"
_GROUP = 64
Counters: TypeAlias = Mapping[str, float]  # by counter path


class Rates:
    """Counters per second since the last call, from counts; none of a count that began anew."""

    def __init__(self, counts: Callable[[], Counters]) -> None:
        self._counts = counts
        self._last: Counters = {}
        self._read_at = 0.0

    def __call__(self) -> Counters:
        """Return the rates by counter path."""
        counts, last, now = self._counts(), self._last, time.monotonic()
        elapsed = now - self._read_at
        self._last, self._read_at = counts, now
        return {
            path: (count - last[path]) / elapsed for path, count in counts.items() if count >= last.get(path, count + 1)
        }


class ProcessorTime:
    """The share of time that each processor spent working since the last call."""

    def __init__(self) -> None:
        self._last: Mapping[str, Counters] = {}

    def __call__(self) -> Counters:
        """Return the shares of each processor and all together, by counter path."""
        _check_processors()
        times = {str(number): processor._asdict() for number, processor in enumerate(psutil.cpu_times(percpu=True))}
        times["_Total"] = {state: sum(processor[state] for processor in times.values()) for state in next(iter(times.values()))}
        last, self._last = self._last, times
        shares: dict[str, float] = {}
        for name in times.keys() & last.keys():
            spent = {state: seconds - last[name][state] for state, seconds in times[name].items()}
            whole = spent["user"] + spent["system"] + spent["idle"]
            if whole > 0:
                path = f"\\Processor({name})\\"
                shares[path + "% Processor Time"] = 100 - 100 * spent["idle"] / whole
                shares[path + "% Privileged Time"] = 100 * spent["system"] / whole
                shares[path + "% Interrupt Time"] = 100 * spent["interrupt"] / whole
                shares[path + "% DPC Time"] = 100 * spent["dpc"] / whole
        return shares


class FreeSpace:
    """How much of each volume is free."""

    def __init__(self) -> None:
        self._usages = Lookup(psutil.disk_usage)

    def __call__(self) -> Counters:
        """Return the shares and sizes by counter path."""
        volumes = [partition.mountpoint for partition in psutil.disk_partitions() if "cdrom" not in partition.opts.split(",")]
        return {
            f"\\LogicalDisk({volume.rstrip(chr(92))})\\{counter}": value
            for volume, usage in self._usages.results(volumes).items()
            if usage.total
            for counter, value in (
                ("% Free Space", 100 * usage.free / usage.total),
                ("Free Megabytes", usage.free / _MB),
            )
        }


# How often new instances of SQL Server, and the objects of services that were started, are looked for.
_AGAIN_S = 60.0
_SQL_INSTANCE = re.compile(rf"{re.escape(SQL_NAMED)}([^:]+):", re.IGNORECASE)
# What psutil counts of processors, by the object that is read instead.
_SAME = {"Processor": "Processor Information"}


def groups(host: str, signals: Mapping[str, Signal], pdh: Pdh | None) -> Mapping[str, Group]:
    """What can be read, by the name that people see when it fails: a group for each object. More come with time."""
    if pdh is None:
        return stand_in_groups(host)
    groups: dict[str, Group] = {}
    objects = PerformanceObjects(pdh, host, signals, groups)
    groups["list of performance objects"] = Patient(objects.look)
    objects.read_of(())
    groups.update(stand_in_groups(host, objects.has))
    return groups


class PerformanceObjects:
    """Puts a group for each object into `found`, and those of instances of SQL Server when they are there."""

    def __init__(self, pdh: Pdh, host: str, signals: Mapping[str, Signal], groups: dict[str, Group]) -> None:
        self._pdh = pdh
        self._host = host
        self._signals = signals
        self._found = groups
        self._objects: dict[str, ObjectCounters] = {}
        self._sql: frozenset[str] = frozenset()
        self._looked_at = -_AGAIN_S

    def look(self) -> Iterable[Reading]:
        """Have Windows look for objects, once a minute. It gives no readings."""
        now = time.monotonic()
        if now - self._looked_at >= _AGAIN_S:
            self._looked_at = now
            matches = (_SQL_INSTANCE.match(name) for name in self._pdh.objects())
            sql = self._sql | {match[1] for match in matches if match}
            if sql != self._sql:
                self._sql = sql
                self.read_of(sorted(sql))
        return ()

    def read_of(self, sql_instances: Iterable[str]) -> None:
        """Read what the signals need, of these instances of SQL Server besides the default one."""
        needed = counters(tuple(self._signals), self._signals, tuple(sql_instances))
        for name, paths in needed.by_object().items():
            if name not in self._objects:
                self._objects[name] = ObjectCounters(self._pdh, self._host, paths)
                self._found[name] = Patient(self._objects[name])

    def has(self, path: CounterPath) -> bool:
        """Whether Windows has this counter, or for one with instances its object, whose instances it names itself."""
        counters = self._objects.get(_SAME.get(path.object, path.object))
        here = counters.here if counters else frozenset[str]()
        return bool(here) if path.instance is not None else path.counter in here


def stand_in_groups(host: str, is_known: Callable[[CounterPath], bool] = lambda _: False) -> Mapping[str, Group]:
    """What can be read, by the name that people see when it fails. Counters that are known otherwise are left out."""
    counted: dict[str, Callable[[], Counters]] = {
        "processor time": ProcessorTime(),
        "context switches and interrupts": Rates(_switches),
        "uptime": lambda: {"\\System\\System Up Time": time.time() - psutil.boot_time()},
        "memory": _memory,
        "paging file": lambda: {"\\Paging File(_Total)\\% Usage": psutil.swap_memory().percent},
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
            if not is_known(path):
                series = shipped().series(path, host)
                yield Reading(series.measurement, {series.field: value}, series.tags)

    return read


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


def _memory() -> Counters:
    memory = psutil.virtual_memory()
    return {
        "\\Memory\\Available Bytes": memory.available,
        "\\NUMA Node Memory(_Total)\\Total MBytes": memory.total / _MB,
    }


def _disks() -> Counters:
    counts: dict[str, float] = {}
    for name, disk in (psutil.disk_io_counters(perdisk=True, nowrap=False) or {}).items():
        path = f"\\PhysicalDisk({name.removeprefix(_DRIVE)})\\"
        counts[path + "Disk Reads/sec"] = disk.read_count
        counts[path + "Disk Writes/sec"] = disk.write_count
        counts[path + "Disk Transfers/sec"] = disk.read_count + disk.write_count
        total = "\\PhysicalDisk(_Total)\\Disk Bytes/sec"
        counts[total] = counts.get(total, 0) + disk.read_bytes + disk.write_bytes
    return counts


def _throughput() -> Counters:
    return {
        _adapter(name) + counter: count
        for name, adapter in psutil.net_io_counters(pernic=True, nowrap=False).items()
        for counter, count in (
            ("Bytes Sent/sec", adapter.bytes_sent),
            ("Bytes Received/sec", adapter.bytes_recv),
            ("Bytes Total/sec", adapter.bytes_sent + adapter.bytes_recv),
            ("Packets Sent/sec", adapter.packets_sent),
            ("Packets Received/sec", adapter.packets_recv),
        )
    }


def _network_errors() -> Counters:
    stats = psutil.net_if_stats()
    return {
        _adapter(name) + counter: value
        for name, adapter in psutil.net_io_counters(pernic=True, nowrap=False).items()
        for counter, value in (
            ("Packets Outbound Errors", adapter.errout),
            ("Packets Received Errors", adapter.errin),
            ("Packets Outbound Discarded", adapter.dropout),
            ("Packets Received Discarded", adapter.dropin),
            ("Current Bandwidth", 1e6 * stats[name].speed if name in stats else 0),
        )
        if value or counter != "Current Bandwidth"
    }


def _adapter(name: str) -> str:
    # Windows writes square brackets where the name of an adapter has round ones.
    return f"\\Network Interface({name.replace('(', '[').replace(')', ']')})\\"

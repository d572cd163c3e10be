"""Computes the usual counters of a Windows host from its load."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.model.log import Values

PAGE = 4096
MB = 2**20
TOTAL = "_Total"
NIC = "HP NC373i Multifunction Gigabit Server Adapter"


class DemoRecording(dict[str, Values]):
    """The simulated columns of one host by counter path, for `write_pdh`."""

    def gauge(self, path: str, values: Values) -> None:
        """Add a counter of instantaneous values, rounded to whole numbers."""
        self[path] = np.rint(values)

    def fraction(self, path: str, values: Values) -> None:
        """Add a counter of instantaneous values with decimals."""
        self[path] = significant(values)

    def interval(self, path: str, values: Values) -> None:
        """Add a counter over intervals (a rate, time or average), which has no value in the first row."""
        self[path] = significant(values)
        self[path][0] = np.nan


def significant(values: Values, digits: int = 6) -> Values:
    """Return values rounded to significant digits, so that all platforms give the same output."""
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    decimals = digits - 1 - magnitude
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    return np.rint(values * up / down) / up * down


def added(parts: Iterable[Values]) -> Values:
    """Return the sum of arrays, added in a fixed order; numpy's order differs between processors."""
    total, *rest = parts
    for part in rest:
        total = total + part
    return total


@dataclass(frozen=True)
class Disk:
    """The load of one disk or array: operations per second, and seconds per operation."""

    instance: str
    reads: Values
    writes: Values
    read_s: Values
    write_s: Values

    @property
    def queue(self) -> Values:
        """The number of outstanding requests, by Little's law."""
        return self.reads * self.read_s + self.writes * self.write_s

    @property
    def busy(self) -> Values:
        """The share of time with a request in service, if requests arrive independently."""
        return 1 - np.exp(-self.queue)


def disks(out: DemoRecording, all_disks: Sequence[Disk]) -> None:
    """Add the PhysicalDisk counters. In `_Total`, rates and queues are sums, times per operation weighted means."""
    reads, writes = added(d.reads for d in all_disks), added(d.writes for d in all_disks)
    read_s = _ratio(added(d.reads * d.read_s for d in all_disks), reads)
    write_s = _ratio(added(d.writes * d.write_s for d in all_disks), writes)
    total = Disk(TOTAL, reads, writes, read_s, write_s)
    mean_busy = added(d.busy for d in all_disks) / len(all_disks)
    for disk in (*all_disks, total):
        path = f"\\PhysicalDisk({disk.instance})\\"
        out.interval(path + "% Disk Time", 100 * (mean_busy if disk is total else disk.busy))
        out.interval(path + "Avg. Disk Queue Length", disk.queue)
        out.interval(path + "Disk Reads/sec", disk.reads)
        out.interval(path + "Disk Writes/sec", disk.writes)
        out.interval(path + "Avg. Disk sec/Read", np.where(disk.reads > 0, disk.read_s, 0))
        out.interval(path + "Avg. Disk sec/Write", np.where(disk.writes > 0, disk.write_s, 0))


def _ratio(over: Values, under: Values) -> Values:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


def processors(out: DemoRecording, busy: Sequence[Values], switches: Values, waiting: Values) -> Values:
    """Add the Processor and System counters; return the processor time of the whole machine (%).

    `busy` is percent of each processor, `switches` is context switches per second, `waiting` the number of waiting
    threads.
    """
    total = added(busy) / len(busy)
    out.interval(f"\\Processor({TOTAL})\\% Processor Time", total)
    for number, percent in enumerate(busy):
        out.interval(f"\\Processor({number})\\% Processor Time", percent)
    out.interval("\\System\\Context Switches/sec", switches)
    out.gauge("\\System\\Processor Queue Length", waiting)
    return total


@dataclass(frozen=True)
class DemoService:
    """The main process of a host: its share of the processor time, and its memory (bytes)."""

    process: str
    share_of_busy: float
    private_bytes: Values


def memory_and_processes(
    out: DemoRecording, installed: int, system: Values, service: DemoService, pages: Values, cpu: Values, cores: int
) -> None:
    """Add the Memory and Process counters. Available memory is what the service and the system leave (bytes)."""
    private = service.private_bytes
    out.gauge("\\Memory\\Available Bytes", PAGE * np.rint((installed - system - private) / PAGE))
    out.interval("\\Memory\\Pages/sec", pages)
    # Process counts 100 % per processor, and `_Total` includes Idle.
    for process, percent in (
        (service.process, cpu * cores * service.share_of_busy),
        ("Idle", (100 - cpu) * cores),
        (TOTAL, np.full_like(cpu, 100.0 * cores)),
    ):
        out.interval(f"\\Process({process})\\% Processor Time", percent)
    # About half of the system's memory belongs to other processes; Idle has none.
    everything = private + system / 2
    for process, values in ((service.process, private), ("Idle", np.zeros_like(private)), (TOTAL, everything)):
        out.gauge(f"\\Process({process})\\Private Bytes", PAGE * np.rint(values / PAGE))


def network(out: DemoRecording, bytes_per_s: Values) -> None:
    """Add the Network Interface counters, without errors."""
    path = f"\\Network Interface({NIC})\\"
    out.interval(path + "Bytes Total/sec", bytes_per_s)
    out.gauge(path + "Packets Outbound Errors", np.zeros_like(bytes_per_s))
    out.gauge(path + "Packets Received Errors", np.zeros_like(bytes_per_s))

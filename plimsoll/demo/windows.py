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
    """The simulated columns of one host by counter path, as `write_pdh` takes them."""

    def gauge(self, path: str, values: Values) -> None:
        """Add a column of instantaneous values, rounded to whole numbers."""
        self[path] = np.rint(values)

    def fraction(self, path: str, values: Values) -> None:
        """Add a column of instantaneous values, not rounded to whole numbers."""
        self[path] = round_significant(values)

    def interval(self, path: str, values: Values) -> None:
        """Add a column of values over intervals (rates, times, averages), which is empty in the first row."""
        self[path] = round_significant(values)
        self[path][0] = np.nan


def round_significant(values: Values) -> Values:
    """Return values rounded to six significant digits, so that all platforms give the same output."""
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    decimals = 5 - magnitude
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    return np.rint(values * up / down) / up * down


def add_arrays(parts: Iterable[Values]) -> Values:
    """Return the elementwise sum of arrays, added in their order, so that all platforms give the same sum."""
    total, *rest = parts
    for part in rest:
        total = total + part
    return total


@dataclass(frozen=True)
class Disk:
    """The load on one disk or array, as reads and writes per second, and seconds per read and write, at each sample."""

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
        """The share of time in which a request is in service, assuming that requests arrive independently."""
        return 1 - np.exp(-self.queue)


def add_disks(out: DemoRecording, all_disks: Sequence[Disk]) -> None:
    """Add the PhysicalDisk counters of each disk and of `_Total`.

    For `_Total`, rates and queues are summed; times per operation are means weighted by the operations.
    """
    reads, writes = add_arrays(d.reads for d in all_disks), add_arrays(d.writes for d in all_disks)
    read_s = _divide(add_arrays(d.reads * d.read_s for d in all_disks), reads)
    write_s = _divide(add_arrays(d.writes * d.write_s for d in all_disks), writes)
    total = Disk(TOTAL, reads, writes, read_s, write_s)
    mean_busy = add_arrays(d.busy for d in all_disks) / len(all_disks)
    for disk in (*all_disks, total):
        path = f"\\PhysicalDisk({disk.instance})\\"
        out.interval(path + "% Disk Time", 100 * (mean_busy if disk is total else disk.busy))
        out.interval(path + "Avg. Disk Queue Length", disk.queue)
        out.interval(path + "Disk Reads/sec", disk.reads)
        out.interval(path + "Disk Writes/sec", disk.writes)
        out.interval(path + "Avg. Disk sec/Read", np.where(disk.reads > 0, disk.read_s, 0))
        out.interval(path + "Avg. Disk sec/Write", np.where(disk.writes > 0, disk.write_s, 0))


def _divide(over: Values, under: Values) -> Values:
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)


def add_processors(out: DemoRecording, busy: Sequence[Values], switches: Values, waiting: Values) -> Values:
    """Add the Processor and System counters; return the processor time of the whole machine (%).

    `busy` is percent of each processor, `switches` is context switches per second, `waiting` the number of waiting
    threads.
    """
    total = add_arrays(busy) / len(busy)
    out.interval(f"\\Processor({TOTAL})\\% Processor Time", total)
    for number, percent in enumerate(busy):
        out.interval(f"\\Processor({number})\\% Processor Time", percent)
    out.interval("\\System\\Context Switches/sec", switches)
    out.gauge("\\System\\Processor Queue Length", waiting)
    return total


@dataclass(frozen=True)
class DemoService:
    """The main process of a host, with its share of the processor time in use, and its memory (bytes)."""

    process: str
    share_of_busy: float
    private_bytes: Values


def add_memory_and_processes(
    out: DemoRecording, installed: int, system: Values, service: DemoService, pages: Values, cpu: Values, cores: int
) -> None:
    """Add the Memory and Process counters.

    `installed`, and `system` (memory in use by everything but the service), are in bytes; `cpu` is in percent, and
    `pages` per second.
    """
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


def add_network(out: DemoRecording, bytes_per_s: Values) -> None:
    """Add the Network Interface counters for a number of bytes per second, without errors."""
    path = f"\\Network Interface({NIC})\\"
    out.interval(path + "Bytes Total/sec", bytes_per_s)
    out.gauge(path + "Packets Outbound Errors", np.zeros_like(bytes_per_s))
    out.gauge(path + "Packets Received Errors", np.zeros_like(bytes_per_s))

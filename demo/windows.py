"""The counters every Windows host has, made from what the host does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from model.log import Values

PAGE = 4096
MB = 2**20
TOTAL = "_Total"
NIC = "HP NC373i Multifunction Gigabit Server Adapter"


class Recording(dict[str, Values]):
    """The columns of one host by counter path, as `write_pdh` takes them."""

    def gauge(self, path: str, values: Values) -> None:
        """A value of the moment, a whole number."""
        self[path] = np.rint(values)

    def fraction(self, path: str, values: Values) -> None:
        """A value of the moment with decimals."""
        self[path] = significant(values)

    def interval(self, path: str, values: Values) -> None:
        """A rate, time or average between two samples: the first row has none yet."""
        self[path] = significant(values)
        self[path][0] = np.nan


def significant(values: Values, digits: int = 6) -> Values:
    """Values rounded to significant digits, so that the last bits of a platform's arithmetic do not show."""
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    decimals = digits - 1 - magnitude
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    return np.rint(values * up / down) / up * down


def added(parts: Iterable[Values]) -> Values:
    """The sum, one after the other: numpy's own order of summing differs between processors."""
    total, *others = parts
    for part in others:
        total = total + part
    return total


@dataclass(frozen=True)
class Disk:
    """What one disk or array does: operations per second, and seconds each takes."""

    instance: str
    reads: Values
    writes: Values
    read_s: Values
    write_s: Values

    @property
    def queue(self) -> Values:
        """Requests outstanding, by Little's law."""
        return self.reads * self.read_s + self.writes * self.write_s

    @property
    def busy(self) -> Values:
        """Share of time with a request in service, if requests come independently of each other."""
        return 1 - np.exp(-self.queue)


def disks(out: Recording, all_disks: Sequence[Disk]) -> None:
    """PhysicalDisk: rates and queues of `_Total` are sums, times per operation weighted means."""
    reads, writes = added(d.reads for d in all_disks), added(d.writes for d in all_disks)
    total = Disk(
        TOTAL,
        reads,
        writes,
        _ratio(added(d.reads * d.read_s for d in all_disks), reads),
        _ratio(added(d.writes * d.write_s for d in all_disks), writes),
    )
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


def processors(out: Recording, busy: Sequence[Values], switches: Values, waiting: Values) -> Values:
    """Processor and System; gives the percentage of the whole machine.

    Args:
        out: Where the counters go.
        busy: Percent busy of each processor.
        switches: Context switches per second.
        waiting: Threads waiting for a processor.
    """
    total = added(busy) / len(busy)
    out.interval(f"\\Processor({TOTAL})\\% Processor Time", total)
    for number, percent in enumerate(busy):
        out.interval(f"\\Processor({number})\\% Processor Time", percent)
    out.interval("\\System\\Context Switches/sec", switches)
    out.gauge("\\System\\Processor Queue Length", waiting)
    return total


@dataclass(frozen=True)
class Service:
    """The process a host is there for: its share of the busy time, and its memory in bytes."""

    process: str
    share_of_busy: float
    private_bytes: Values


def memory_and_processes(
    out: Recording, installed: int, system: Values, service: Service, pages: Values, cpu: Values, cores: int
) -> None:
    """Memory and Process. What neither the service nor the system (bytes) holds is available."""
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
    # Of what the system holds, about half is other processes; Idle has no memory of its own.
    everything = private + system / 2
    for process, held in ((service.process, private), ("Idle", np.zeros_like(private)), (TOTAL, everything)):
        out.gauge(f"\\Process({process})\\Private Bytes", PAGE * np.rint(held / PAGE))


def network(out: Recording, bytes_per_s: Values) -> None:
    """Network Interface, without errors."""
    path = f"\\Network Interface({NIC})\\"
    out.interval(path + "Bytes Total/sec", bytes_per_s)
    out.gauge(path + "Packets Outbound Errors", np.zeros_like(bytes_per_s))
    out.gauge(path + "Packets Received Errors", np.zeros_like(bytes_per_s))

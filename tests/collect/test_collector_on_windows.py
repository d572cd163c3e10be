"""What the collector gives on Windows whose performance counters cannot be read, from what psutil says there."""

import sys
import time
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest

from plimsoll.collect.collector import Collector
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder

AT = 1_800_000_000 * SECOND
MB = 2**20
# The signals of a Windows host that psutil has.
FOUND = {
    "cpu.busy",
    "cpu.processor_busy",
    "cpu.privileged",
    "cpu.privileged_share",
    "cpu.interrupt_time",
    "cpu.dpc_time",
    "cpu.context_switches",
    "cpu.interrupts",
    "system.uptime",
    "memory.available",
    "memory.total",
    "paging_file.used",
    "disk.reads",
    "disk.writes",
    "disk.transfers",
    "disk.reads_and_writes",
    "disk.bytes",
    "disk.free",
    "disk.free_bytes",
    "disk.size_percent",
    "network.bytes",
    "network.bytes_total",
    "network.to_disk_bytes",
    "network.sent",
    "network.received",
    "network.link_percent",
    "network.sent_utilization",
    "network.received_utilization",
    "network.sent_packets",
    "network.received_packets",
    "network.outbound_errors",
    "network.received_errors",
    "network.errors",
    "network.sent_discards",
    "network.sent_discard_share",
    "network.received_discards",
    "network.received_discard_share",
    "network.sent_error_rate",
    "network.sent_error_share",
    "network.received_error_rate",
    "network.received_error_share",
}


class Times(NamedTuple):
    user: float
    system: float
    idle: float
    interrupt: float
    dpc: float


class Windows:
    """What psutil says; after each `step` the counts have grown."""

    def __init__(self):
        self.steps = 0
        self.processors = 2

    def step(self):
        self.steps += 1
        time.sleep(0.1)

    def cpu_times(self, percpu):
        n = self.steps
        return [Times(50.0 + 2 * n, 30.0 + n, 900.0 + 7 * n, 1.0, 2.0 + n / 2)] * 2

    def cpu_count(self):
        return self.processors

    def cpu_stats(self):
        return SimpleNamespace(ctx_switches=3 + self.steps if self.steps else 2**32 - 6, interrupts=70 * self.steps)

    def virtual_memory(self):
        return SimpleNamespace(total=8192 * MB, available=3072 * MB)

    def swap_memory(self):
        return SimpleNamespace(percent=12.5)

    def boot_time(self):
        return time.time() - 3600

    def disk_io_counters(self, **_):
        n = self.steps
        counts = {"read_count": 10 * n, "write_count": 20 * n, "read_bytes": 4096 * n, "write_bytes": 0}
        return {"PhysicalDrive0": SimpleNamespace(**counts, read_time=n, write_time=n)}

    def disk_partitions(self):
        mounts = (("C:\\", "rw,fixed"), ("D:\\", "cdrom"), ("E:\\data\\", "rw,fixed"))
        return [SimpleNamespace(mountpoint=path, opts=opts) for path, opts in mounts]

    def disk_usage(self, path):
        return SimpleNamespace(total=2000 * MB, free=500 * MB)

    def net_io_counters(self, **_):
        names = ("bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout")
        return {"Ethernet (2)": SimpleNamespace(**dict.fromkeys(names, self.steps))}

    def net_if_stats(self):
        return {"Ethernet (2)": SimpleNamespace(speed=1000)}


@pytest.fixture
def windows(monkeypatch):
    """Windows, as psutil sees it."""
    system = Windows()
    monkeypatch.setattr(sys, "platform", "win32")
    for name in dir(system):
        if hasattr(psutil, name) and not name.startswith("_"):
            monkeypatch.setattr(psutil, name, getattr(system, name))
    return system


def found(points):
    signals = load_signals()
    finder = Finder(signals, list(points.series), lambda one: True)
    return {name for name, signal in signals.items() if finder.find(name) and not signal.fact}


def test_has_the_names_of_performance_counters(windows):
    collector = Collector("WIN1")
    collector.collect(AT)
    windows.step()
    assert found(collector.collect(AT + 10 * SECOND)) == FOUND - {"cpu.context_switches"}, "this count began anew"
    windows.step()
    points = collector.collect(AT + 20 * SECOND)
    assert found(points) == FOUND
    given = {(one.tag("instance"), one.field): value for one, value in zip(points.series, points.values, strict=True)}
    assert given["_Total", "Percent_Processor_Time"] == pytest.approx(30)
    assert given["1", "Percent_Privileged_Time"] == pytest.approx(10)
    assert given["_Total", "Percent_DPC_Time"] == pytest.approx(5)
    assert given["C:", "Percent_Free_Space"] == 25
    assert given["E:\\data", "Free_Megabytes"] == 500
    assert given["Ethernet [2]", "Current_Bandwidth"] == 1e9
    assert given[None, "System_Up_Time"] == pytest.approx(3600, abs=5)
    assert {one.host for one in points.series} == {one.tag("source") for one in points.series} == {"WIN1"}
    assert {one.measurement for one in points.series} >= {"win_cpu", "win_system", "win_mem", "win_disk", "win_net"}


def test_processors_that_psutil_misreads_are_left_out(windows, caplog):
    windows.processors = 72
    collector = Collector("WIN1")
    collector.collect(AT)
    windows.step()
    names = found(collector.collect(AT + 10 * SECOND))
    assert "disk.reads" in names
    assert not {"cpu.busy", "cpu.context_switches"} & names
    assert caplog.text.count("64 of 72 processors") == 2

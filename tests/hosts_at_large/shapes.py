"""Hosts whose counters move as no level does: caches that are flushed, leaks, guests of which one processor is busy."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .recording import INTERVAL, Host, Level
from .windows import base

_LIFE = r"\MSSQL$PAYROLL:Buffer Manager\Page life expectancy"
_FREE = r"\Memory\Available MBytes"
_COMMITTED, _LIMIT = r"\Memory\Committed Bytes", r"\Memory\Commit Limit"
_SHARE = r"\Memory\% Committed Bytes In Use"
_LINK = r"\Network Interface(Intel[R] Ethernet Connection [7] I219-V)"
_GB = 2.0**30


@dataclass(frozen=True)
class Shape(Level):
    """A value that is a function of the row."""

    of: Callable[[int], float] = float
    well: float = 0.0

    def at(self, row: int, chance: random.Random) -> float:
        """The value of a row."""
        return self.of(row) * (1 + chance.uniform(-0.004, 0.004))


def shapes() -> Iterator[Host]:
    """Each as it is well and as it is sick."""
    for name, life, verdict in (
        ("flushed once", lambda row: 40_000 + INTERVAL * row if row < 60 else INTERVAL * (row - 60), "healthy"),
        ("restarted", lambda row: 40 + INTERVAL * row, "healthy"),
        ("flushed and not filled again", lambda row: 40_000 if row < 60 else 200, "not-healthy"),
        ("thrown out again and again", lambda row: INTERVAL * (row % 32), "not-healthy"),
    ):
        yield Host(f"a cache {name}", base() | {_LIFE: Shape(of=life)}, verdict)
    yield Host(
        "a leak of memory",
        base() | {_FREE: Shape(of=lambda row: 14_000 - 50 * row)},
        "healthy",
        needs="At the rate of this run Available memory of SRV01 would reach its limit of 1,000 MB",
    )
    for name, busy, verdict in (("one processor", (2,), "healthy"), ("all", range(4), "not-healthy")):
        columns = {r"\Hyper-V Hypervisor Logical Processor(_Total)\% Total Run Time": Level(42)} | {
            rf"\Hyper-V Hypervisor Virtual Processor({guest}:Hv VP {n})\% Total Run Time": Level(
                97 if guest == "SQL02" and n in busy else 24, spread=0.01
            )
            for guest in ("APP01", "SQL02")
            for n in range(4)
        }
        yield Host(f"a guest with {name} busy", base() | columns, verdict)
    committed = {
        _SHARE: Level(92, spread=0.002),
        _COMMITTED: Level(506 * _GB, spread=0.002),
        _LIMIT: Level(550 * _GB, spread=0),
    }
    yield Host("512 GB, committed to 92 %", base() | committed | {_FREE: Level(60_000)}, "healthy")
    small = {
        _SHARE: Level(56, spread=0.01),
        _COMMITTED: Level(1.8 * _GB, spread=0.01),
        _LIMIT: Level(3.2 * _GB, spread=0),
    }
    yield Host("a guest of 2 GB", base() | small | {_FREE: Level(350)}, "healthy")
    yield Host("a guest of 2 GB that is short", base() | small | {_FREE: Level(350, 60)}, "not-healthy")
    invented = {rf"{_LINK}\Current Bandwidth": Level(1e7, spread=0), rf"{_LINK}\Bytes Total/sec": Level(2.2e6)}
    yield Host("an adapter with an invented speed", base() | invented, "healthy")
    full = {r"\Paging File(_Total)\% Usage": Level(97, spread=0)}
    yield Host("a full paging file, beside an unknown share of committed memory", base() | full, "unknown",
               needs="which counts or not by Committed memory; record that, too.")  # fmt: skip
    yield Host("a full paging file, and little committed", base() | full | {_SHARE: Level(40)}, "healthy")
    pool = {r"\Memory\Pool Nonpaged Bytes": Level(10.6 * _GB, spread=0.001)}
    yield Host("a nonpaged pool that grew", base() | pool, "not-healthy", settings="[hosts.SRV01]\nmemory_mb = 16384\n")
    volume = {r"\LogicalDisk(E:)\% Free Space": Shape(of=lambda row: 45 - 0.016 * row)}
    volume |= {rf"\PhysicalDisk(1 E:)\Avg. Disk sec/{way}": Level(0.003) for way in ("Read", "Write")}
    yield Host("a volume that fills up", base() | volume, "healthy", needs="E: would reach its limit of 10 %")
    growing = {r"\MSSQL$PAYROLL:Database Replica(Sales)\Log Send Queue": Shape(of=lambda row: 8_000.0 * row)}
    yield Host("a replica that falls behind", base() | growing, "not-healthy")
    slow = {
        r"\SQLServer:Latches\Total Latch Wait Time (ms)": Level(18_000),
        r"\SQLServer:Latches\Latch Waits/sec": Level(300),
    }
    yield Host("latches waited for long", base() | slow, "not-healthy")
    node = {r"\SQLServer:Buffer Node(001)\Page life expectancy": Shape(of=lambda row: 21_000 if row < 40 else 110)}
    yield Host("a starved NUMA node", base() | node, "not-healthy")
    lost = {
        rf"{_LINK}\Packets Received Discarded": Shape(of=lambda row: 4_000.0 * row),
        rf"{_LINK}\Packets Received/sec": Level(5_000),
    }
    yield Host("packets that are discarded", base() | lost, "not-healthy")
    yield Host(
        "128 GB with 6 GB left",
        base() | {_FREE: Level(6_100)},
        "healthy",
        settings="[hosts.SRV01]\nmemory_mb = 131072\n",
    )

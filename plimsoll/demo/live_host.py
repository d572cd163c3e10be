"""The simulated host of `plimsoll up --demo`: a SQL Server on which, now and then, a report reads whole tables.

Then SQL Server throws pages out of memory sooner than it should (rule sql-page-life-expectancy). When the report has
ended, pages stay again: page life grows by a second per second.
"""

import zlib
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.demo.sql_server_today import BUFFER, LOCKS, MEMORY, PAGE_LIFE, STATISTICS
from plimsoll.demo.windows_host import CORES, EACH, NIC
from plimsoll.model.log import Times, Values
from plimsoll.model.names import shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND

HOST = "demo-sql"
EVERY = 10 * SECOND
MINUTE = 60 * SECOND
BACK = 20 * MINUTE  # how much there is of the time before the start
CYCLE = 24 * MINUTE
REPORT = 970 * SECOND  # how long it reads
# Ten minutes after its fall page life may no longer climb again, and the rule fires when it stayed low for 5 more.
FIRST_REPORT = -860 * SECOND  # from the start
PAGE_LIFE_GOOD_S, PAGE_LIFE_BAD_S = 3900.0, 3500.0  # the limit is 3,600 s

Shares: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """A counter: its value without and with a report, and how far samples are from it, as a share."""

    usual: float
    in_report: float | None = None
    spread: float = 0.05


_ADAPTER = f"\\Network Interface({NIC})\\"
_DATA, _LOG, _SYSTEM = "\\LogicalDisk(E:)\\", "\\LogicalDisk(L:)\\", "\\LogicalDisk(C:)\\"
_DISK = "\\PhysicalDisk(1 E:)\\"
_GB = 2**30
_LEVELS = {
    **{path: Level(34, 58, 0.2) for path in EACH},
    "\\Processor(_Total)\\% Privileged Time": Level(6, 9, 0.15),
    "\\System\\Context Switches/sec": Level(4100, 4600, 0.1),
    "\\System\\Processor Queue Length": Level(1, 1, 0.9),
    "\\Memory\\Available Bytes": Level(9.5 * _GB, 9.3 * _GB, 0.01),
    "\\Memory\\% Committed Bytes In Use": Level(58, 59, 0.01),
    "\\Memory\\Pages/sec": Level(12, 40, 0.5),
    "\\NUMA Node Memory(_Total)\\Total MBytes": Level(65_536, spread=0),
    _SYSTEM + "% Free Space": Level(48, spread=0),
    _SYSTEM + "Free Megabytes": Level(98_000, spread=0),
    _DATA + "% Free Space": Level(35, spread=0),
    _DATA + "Free Megabytes": Level(700_000, spread=0),
    _LOG + "% Free Space": Level(60, spread=0),
    _LOG + "Free Megabytes": Level(120_000, spread=0),
    _DISK + "Disk Reads/sec": Level(8, 34, 0.2),
    _DISK + "Disk Writes/sec": Level(11, 13, 0.2),
    _DISK + "Avg. Disk sec/Read": Level(0.003, 0.009, 0.2),
    _DISK + "Avg. Disk sec/Write": Level(0.002, 0.003, 0.2),
    _DISK + "Avg. Disk Queue Length": Level(0.05, 0.4, 0.3),
    _ADAPTER + "Bytes Sent/sec": Level(6e6, 9e6, 0.1),
    _ADAPTER + "Bytes Received/sec": Level(3e6, 3e6, 0.1),
    _ADAPTER + "Current Bandwidth": Level(1e10, spread=0),
    _ADAPTER + "Packets Outbound Errors": Level(0),
    _ADAPTER + "Packets Received Errors": Level(0),
    BUFFER + "Database pages": Level(48 * _GB / 8192, spread=0.001),
    BUFFER + "Buffer cache hit ratio": Level(99.9, 98.4, 0.0005),
    BUFFER + "Lazy writes/sec": Level(0.5, 14, 0.3),
    BUFFER + "Free list stalls/sec": Level(0, 0.8, 0.5),
    BUFFER + "Checkpoint pages/sec": Level(120, 130, 0.4),
    MEMORY + "Memory Grants Pending": Level(0),
    MEMORY + "Target Server Memory (KB)": Level(54 * 2**20, spread=0),
    MEMORY + "Total Server Memory (KB)": Level(54 * 2**20, spread=0),
    LOCKS + "Number of Deadlocks/sec": Level(0),
    LOCKS + "Average Wait Time (ms)": Level(40, 160, 0.3),
    STATISTICS + "Batch Requests/sec": Level(2400, 2050, 0.06),
    STATISTICS + "SQL Compilations/sec": Level(60, 62, 0.1),
    STATISTICS + "SQL Re-Compilations/sec": Level(1, 1, 0.1),
    "\\SQLServer:General Statistics\\User Connections": Level(240, 241, 0.01),
    "\\Process(sqlservr)\\% Processor Time": Level(240, 255, 0.1),
    "\\Process(ReportingServices)\\% Processor Time": Level(3, 170, 0.15),
    "\\Process(MsMpEng)\\% Processor Time": Level(6, 6, 0.4),
    "\\Process(sqlservr)\\Private Bytes": Level(54 * _GB, spread=0.0001),
    "\\Process(ReportingServices)\\Private Bytes": Level(0.4 * _GB, 1.1 * _GB, 0.02),
}
_BUSY = "\\Processor(_Total)\\% Processor Time"  # the mean of the processors


def demo_points(start_ns: int, from_ns: int, to_ns: int) -> Points:
    """The samples of the host at the multiples of 10 s from `from_ns` to `to_ns`, both included.

    The demo was started at `start_ns`: an alert fires half a minute later, and again every 24 minutes. Each sample
    depends on its time and `start_ns` alone.
    """
    times = np.arange(-(-from_ns // EVERY) * EVERY, to_ns + 1, EVERY, dtype=np.int64)
    since = times - (start_ns // EVERY * EVERY + FIRST_REPORT)
    reporting = ((since >= 0) & (since % CYCLE < REPORT)).astype(np.float64)
    columns = {path: _values(path, level, times, reporting) for path, level in _LEVELS.items()}
    columns[_BUSY] = sum((columns[path] for path in EACH), np.zeros(len(times))) / CORES
    columns[PAGE_LIFE] = _page_life(since) * (1 + 0.005 * _chance(PAGE_LIFE, times))
    series = [_series(path) for path in columns]
    which = np.repeat(np.arange(len(series), dtype=np.int32), len(times))
    return Points(series, which, np.tile(times, len(series)), np.concatenate(list(columns.values())))


@cache
def _series(path: str) -> Series:
    return shipped().series(CounterPath.parse(path), HOST)


def _values(path: str, level: Level, times: Times, reporting: Shares) -> Values:
    in_report = level.usual if level.in_report is None else level.in_report
    base = level.usual + (in_report - level.usual) * reporting
    return base * (1 + level.spread * _chance(path, times))


def _page_life(since: Times) -> Values:
    """Seconds that a page stays in memory: short during a report, then it grows by a second per second."""
    phase = since % CYCLE
    grown = PAGE_LIFE_BAD_S + np.maximum(phase - REPORT, 0) / SECOND
    return np.where(since < 0, PAGE_LIFE_GOOD_S, np.minimum(grown, PAGE_LIFE_GOOD_S))


def _chance(path: str, times: Times) -> Values:
    """Numbers between -1 and 1 that look like chance, always the same for a path and a time."""
    seeds = (times // EVERY).astype(np.uint64) + np.uint64(zlib.crc32(path.encode()) << 24)
    mixed = seeds * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2**52 - 1

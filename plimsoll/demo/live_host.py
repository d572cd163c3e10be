"""The simulated host of `plimsoll up --demo`: a SQL Server on which a report sometimes reads whole tables.

During a report, SQL Server evicts pages from memory too soon (rule sql-page-life-expectancy). Afterwards the page life
expectancy grows again, by one second per second.
"""

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from plimsoll.demo.site import PROCESSORS
from plimsoll.model.log import Times, Values
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import SECOND

HOST = "demo-sql"
INTERVAL = 10 * SECOND
MINUTE = 60 * SECOND
BACK = 20 * MINUTE  # how much there is of the time before the start
CYCLE = 24 * MINUTE
REPORT = 970 * SECOND  # how long it reads
# Ten minutes after its fall page life may no longer climb again, and the rule fires when it stayed low for 5 more.
FIRST_REPORT = -860 * SECOND  # from the start
PAGE_LIFE_GOOD_S, PAGE_LIFE_BAD_S = 3900.0, 3500.0  # the limit is 3,600 s


@dataclass(frozen=True)
class LiveLevel:
    """The level of a simulated counter: `usual`, and `in_report` while a report runs (None: no change).

    Samples vary randomly around the level by `spread`, a share of the level.
    """

    usual: float
    in_report: float | None = None
    spread: float = 0.05


_PAGE_LIFE = "\\SQLServer:Buffer Manager\\Page life expectancy"
_BUSY = "\\Processor(_Total)\\% Processor Time"  # the mean of the processors


def simulate_points(start_ns: int, from_ns: int, to_ns: int) -> Points:
    """Return the host's samples at each multiple of 10 s from `from_ns` to `to_ns`, both included.

    The demo starts at `start_ns`; an alert fires half a minute later, and then every 24 minutes. A sample depends only
    on its own time and on `start_ns`.
    """
    times = np.arange(-(-from_ns // INTERVAL) * INTERVAL, to_ns + 1, INTERVAL, dtype=np.int64)
    since = times - (start_ns // INTERVAL * INTERVAL + FIRST_REPORT)
    reporting = ((since >= 0) & (since % CYCLE < REPORT)).astype(np.float64)
    levels = load_shipped_table("plimsoll.demo", "live_host.yaml", dict[str, LiveLevel])
    columns: dict[str, Values] = {}
    for path, level in levels.items():
        in_report = level.usual if level.in_report is None else level.in_report
        base = level.usual + (in_report - level.usual) * reporting
        columns[path] = base * (1 + level.spread * _draw_chance(path, times))
    columns[_BUSY] = sum((columns[path] for path in PROCESSORS), np.zeros(len(times))) / len(PROCESSORS)
    columns[_PAGE_LIFE] = _simulate_page_life(since) * (1 + 0.005 * _draw_chance(_PAGE_LIFE, times))
    series = [_parse_series(path) for path in columns]
    which = np.repeat(np.arange(len(series), dtype=np.int32), len(times))
    return Points(series, which, np.tile(times, len(series)), np.concatenate(list(columns.values())))


@cache
def _parse_series(path: str) -> Series:
    return load_shipped().series(CounterPath.parse(path), HOST)


def _simulate_page_life(since: Times) -> Values:
    """Return the page life expectancy (s), which is low during a report, then grows by one second per second."""
    phase = since % CYCLE
    grown = PAGE_LIFE_BAD_S + np.maximum(phase - REPORT, 0) / SECOND
    return np.where(since < 0, PAGE_LIFE_GOOD_S, np.minimum(grown, PAGE_LIFE_GOOD_S))


def _draw_chance(path: str, times: Times) -> Values:
    """Return pseudo-random numbers between -1 and 1, which are always the same for a path and a time."""
    seeds = (times // INTERVAL).astype(np.uint64) + np.uint64(zlib.crc32(path.encode()) << 24)
    mixed = seeds * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2**52 - 1

"""The counters of a Windows host that signals need.

They are the counters that `plimsoll rules counters` writes into a Data Collector Set, with the names that Telegraf's
win_perf_counters gives them.
"""

import re
import time
from collections.abc import Iterable, Mapping

from plimsoll.collect.pdh import ObjectCounters, Pdh
from plimsoll.collect.sources.reading import Group, Patient, Reading
from plimsoll.export.counters.counter_list import counters
from plimsoll.model.perfmon import SQL_NAMED
from plimsoll.rules.schema.signal import Signal

# The time (s) between two searches for new instances of SQL Server, and for objects of services that were started.
_SEARCH_INTERVAL_S = 60.0
_SQL_INSTANCE = re.compile(rf"{re.escape(SQL_NAMED)}([^:]+):", re.IGNORECASE)
# The objects of every Windows, with the service whose counters `lodctr` disables and enables.
_BASIC = {
    "LogicalDisk": "PerfDisk",
    "Memory": "PerfOS",
    "Network Interface": "Tcpip",
    "PhysicalDisk": "PerfDisk",
    "Processor Information": "PerfOS",
    "System": "PerfOS",
}


class CountersOff(Exception):
    """The error that an object of every Windows has no counters; the text says how to restore them."""

    def __init__(self, name: str, service: str) -> None:
        super().__init__(
            f"Windows has no counters of {name}: switch them on with lodctr /E:{service}, or rebuild damaged ones with "
            "lodctr /R, both as administrator"
        )


def groups(host: str, signals: Mapping[str, Signal], pdh: Pdh) -> Mapping[str, Group]:
    """Return a group for each performance object, by its name; objects of services are added when they start."""
    groups: dict[str, Group] = {}
    objects = PerformanceObjects(pdh, host, signals, groups)
    groups["list of performance objects"] = Patient(objects.search)
    objects.read_of(())
    return groups


class PerformanceObjects:
    """The performance objects to read: updates `groups`, also with objects of new SQL Server instances."""

    def __init__(self, pdh: Pdh, host: str, signals: Mapping[str, Signal], groups: dict[str, Group]) -> None:
        self._pdh = pdh
        self._host = host
        self._signals = signals
        self._groups = groups
        self._sql: frozenset[str] = frozenset()
        self._searched_at = -_SEARCH_INTERVAL_S

    def search(self) -> Iterable[Reading]:
        """Search for objects of SQL Server, once a minute. Return no readings."""
        now = time.monotonic()
        if now - self._searched_at >= _SEARCH_INTERVAL_S:
            self._searched_at = now
            matches = (_SQL_INSTANCE.match(name) for name in self._pdh.objects())
            sql = self._sql | {match[1] for match in matches if match}
            if sql != self._sql:
                self._sql = sql
                self.read_of(sorted(sql))
        return ()

    def read_of(self, sql_instances: Iterable[str]) -> None:
        """Add the objects of these named SQL Server instances, and all other objects that signals need."""
        needed = counters(tuple(self._signals), self._signals, tuple(sql_instances))
        for name, paths in needed.by_object().items():
            if name not in self._groups:
                self._groups[name] = Patient(_group(name, ObjectCounters(self._pdh, self._host, paths)))


def _group(name: str, read: ObjectCounters) -> Group:
    """Return the group of an object; raise CountersOff if it lacks counters that every Windows should have."""
    if name not in _BASIC:
        return read

    def read_basic() -> Iterable[Reading]:
        yield from read()
        if not read.here:
            raise CountersOff(name, _BASIC[name])

    return read_basic

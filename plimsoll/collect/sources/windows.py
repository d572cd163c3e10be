"""The counters of a Windows host, as far as signals need them.

They are the counters that `plimsoll rules counters` writes into a Data Collector Set, named as Telegraf's
win_perf_counters does.
"""

import re
import time
from collections.abc import Iterable, Mapping

from plimsoll.collect.pdh import ObjectCounters, Pdh
from plimsoll.collect.sources.reading import Group, Patient, Reading
from plimsoll.export.counters.counter_list import make_counter_list
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
    """The error that a performance object that every Windows host should have has no counters.

    The message says how to restore the counters.
    """

    def __init__(self, name: str, service: str) -> None:
        super().__init__(
            f"Windows has no counters of {name}: switch them on with lodctr /E:{service}, or rebuild damaged ones with "
            "lodctr /R, both as administrator"
        )


def list_object_groups(host: str, signals: Mapping[str, Signal], pdh: Pdh) -> Mapping[str, Group]:
    """Return a group for each performance object that signals need, by the object's name.

    The mapping is updated later: objects of SQL Server instances are added when these appear.
    """
    groups: dict[str, Group] = {}
    objects = PerformanceObjects(pdh, host, signals, groups)
    groups["list of performance objects"] = Patient(objects.search)
    objects.read_of(())
    return groups


class PerformanceObjects:
    """Determines the performance objects to read, and keeps `groups` up to date as SQL Server instances appear."""

    def __init__(self, pdh: Pdh, host: str, signals: Mapping[str, Signal], groups: dict[str, Group]) -> None:
        self._pdh = pdh
        self._host = host
        self._signals = signals
        self._groups = groups
        self._sql: frozenset[str] = frozenset()
        self._searched_at = -_SEARCH_INTERVAL_S

    def search(self) -> Iterable[Reading]:
        """Search for SQL Server instances, at most once a minute; return no readings."""
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
        """Add to `groups` the objects that signals need, including the objects of these SQL Server instances."""
        needed = make_counter_list(tuple(self._signals), self._signals, tuple(sql_instances))
        for name, paths in needed.by_object().items():
            if name not in self._groups:
                self._groups[name] = Patient(_group(name, ObjectCounters(self._pdh, self._host, paths)))


def _group(name: str, read: ObjectCounters) -> Group:
    """Return `read` as a group; for an object that every Windows has, one that raises CountersOff without counters."""
    if name not in _BASIC:
        return read

    def read_basic() -> Iterable[Reading]:
        yield from read()
        if not read.here:
            raise CountersOff(name, _BASIC[name])

    return read_basic

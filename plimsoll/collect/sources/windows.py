"""The counters of a Windows host: those that signals need, from Windows itself, and psutil's for what it does not have.

They are the counters that `plimsoll rules counters` puts into a Data Collector Set, under the names that Telegraf's
win_perf_counters gives them.
"""

import re
import time
from collections.abc import Iterable, Mapping

from plimsoll.collect.pdh import ObjectCounters, Pdh
from plimsoll.collect.sources import windows_stand_ins
from plimsoll.collect.sources.reading import Group, Patient, Reading
from plimsoll.export.counters.counters import counters
from plimsoll.model.perfmon import SQL_NAMED, CounterPath
from plimsoll.rules.schema.signal import Signal

# How often new instances of SQL Server, and the objects of services that were started, are looked for.
_AGAIN_S = 60.0
_SQL_INSTANCE = re.compile(rf"{re.escape(SQL_NAMED)}([^:]+):", re.IGNORECASE)
# What psutil counts of processors, by the object that is read instead.
_SAME = {"Processor": "Processor Information"}


def groups(host: str, signals: Mapping[str, Signal], pdh: Pdh | None) -> Mapping[str, Group]:
    """What can be read, by the name that people see when it fails: a group for each object. More come with time."""
    if pdh is None:
        return windows_stand_ins.groups(host)
    found: dict[str, Group] = {}
    objects = PerformanceObjects(pdh, host, signals, found)
    found["list of performance objects"] = Patient(objects.look)
    objects.read_of(())
    found.update(windows_stand_ins.groups(host, objects.has))
    return found


class PerformanceObjects:
    """Puts a group for each object into `found`, and those of instances of SQL Server when they are there."""

    def __init__(self, pdh: Pdh, host: str, signals: Mapping[str, Signal], found: dict[str, Group]) -> None:
        self._pdh = pdh
        self._host = host
        self._signals = signals
        self._found = found
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
        found = self._objects.get(_SAME.get(path.object, path.object))
        here = found.here if found else frozenset[str]()
        return bool(here) if path.instance is not None else path.counter in here

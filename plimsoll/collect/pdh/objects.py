"""Reads the counters of one object of Windows, all its instances."""

import time
from collections import Counter as Count
from collections.abc import Iterator, Sequence

from plimsoll.collect.pdh.library import Counter, Pdh, Query
from plimsoll.collect.sources.reading import Reading
from plimsoll.model.names import shipped
from plimsoll.model.perfmon import TOTAL, CounterPath
from plimsoll.rules.schema.field_types import EACH

# How long a host lacks an object, or an object a counter, before it is looked for again: a service may have started.
_AGAIN_S = 60.0
_EMPTY = 6  # so many samples without a value, and the counters are looked for anew


class ObjectCounters:
    """The counters of one object, by a query of its own, so that what is wrong with one costs no other.

    Instances that begin and end are there and gone in the next sample, with their names as Performance Monitor gives
    them: `svchost`, `svchost#1`.
    """

    def __init__(self, pdh: Pdh, host: str, paths: Sequence[CounterPath]) -> None:
        self._pdh = pdh
        self._host = host
        whole = {path.counter for path in paths if path.instance == EACH}
        self._left_out = "" if any(path.instance == TOTAL for path in paths) else TOTAL
        self._paths = [path for path in paths if path.instance == EACH or path.counter not in whole]
        self._query: Query | None = None
        self._counters: dict[CounterPath, Counter] = {}
        self._looked_at = -_AGAIN_S
        self._empty = 0

    @property
    def here(self) -> frozenset[str]:
        """The counters that this host has."""
        return frozenset(path.counter for path in [*self._counters])  # another thread may be adding some

    def __call__(self) -> Iterator[Reading]:
        """The values now. Rates are there from the second time on: they are those of the time since the last."""
        now = time.monotonic()
        if now - self._looked_at >= _AGAIN_S and len(self._counters) < len(self._paths):
            self._looked_at = now
            self._look()
        if self._query is None:
            return
        if not self._pdh.collect(self._query):
            self.close()
            return
        self._empty += 1
        for path, counter in self._counters.items():
            for instance, value in self._values(path, counter):
                self._empty = 0
                series = shipped().series(path._replace(instance=instance), self._host)
                yield Reading(series.measurement, {series.field: value}, series.tags)
        if self._empty >= _EMPTY:
            self.close()

    def close(self) -> None:
        """End the query; the next call begins a new one. A service that was set up anew may have other counters."""
        if self._query is not None:
            self._pdh.close(self._query)
        self._query = None
        self._counters.clear()
        self._looked_at = -_AGAIN_S
        self._empty = 0

    def _look(self) -> None:
        """Add the counters that were not there yet."""
        query = self._pdh.open() if self._query is None else self._query
        try:
            for path in self._paths:
                if path not in self._counters and (counter := self._pdh.add(query, str(path))) is not None:
                    self._counters[path] = counter
        finally:
            if self._counters:
                self._query = query
            else:
                self._pdh.close(query)

    def _values(self, path: CounterPath, counter: Counter) -> Iterator[tuple[str | None, float]]:
        if path.instance != EACH:
            value = self._pdh.value(counter)
            if value is not None:
                yield path.instance, value
            return
        seen: Count[str] = Count()
        for name, value in self._pdh.values(counter):
            before = seen[name.casefold()]
            seen[name.casefold()] += 1
            if value is not None and name != self._left_out:
                yield f"{name}#{before}" if before else name, value

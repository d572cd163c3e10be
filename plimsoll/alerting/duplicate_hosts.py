"""Finds host names under which two computers send samples."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from plimsoll.model.names import load_shipped
from plimsoll.model.points import Points
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.signal import Signal

_UPTIME = "system.uptime"
_BOOT = {("system", "uptime"), ("kernel", "boot_time")}
_WATCHED = 8  # series of a host: one may be all that differs
_SIGNS = 3  # a counter may be reset, and a batch may be sent twice
_WITHIN = 300 * SECOND
_APART, _SAME = 30 * SECOND, 2 * SECOND  # of two clocks; what catches up comes nearer
_MOST_SERIES = 100_000
DUPLICATE = "two computers send under this name; give one of them a name of its own (hostname in its agent)"


@dataclass(slots=True)
class _Watch:
    """A watched series: its newest sample, and of a growing count that fell, the highest value before the drop.

    `lag` is how far the last late sample was behind the newest sample (ns); `is_newer` is whether a sample newer than
    the newest came after the late sample.
    """

    host: str
    series: Series
    is_growing: bool
    time: int = 0
    value: float = 0.0
    top: float | None = None
    lag: int = 0
    is_newer: bool = False

    def is_sign(self, time: int, value: float) -> bool:
        """Add a sample; return whether the sample can only come from a second computer.

        There is a second computer if the sample's time already has another value, if a growing count that fell is back
        at its earlier value, or if two clocks take turns: the sample is as far behind the newest sample as the previous
        late sample was.
        """
        if time < self.time:
            lag, was_newer = self.time - time, self.is_newer
            is_second_clock = was_newer and lag > _APART and abs(lag - self.lag) <= _SAME
            self.lag, self.is_newer = lag, False
            return is_second_clock
        is_other = time == self.time and value != self.value
        if self.is_growing and time > self.time:
            if self.time and value < self.value:
                self.top = self.value if self.top is None else self.top
            elif self.top is not None and value >= self.top:
                self.top, is_other = None, True
        self.is_newer = self.is_newer or time > self.time
        self.time, self.value = time, value
        return is_other


@dataclass(slots=True)
class _Signs:
    """The name of a host, and the times (UTC ns) of the latest signs that two computers use it."""

    name: str
    times: list[int] = field(default_factory=list[int])


class DuplicateHosts:
    """A record of host names under which two computers send; `host_of` returns the host of a series."""

    def __init__(self, signals: Mapping[str, Signal], host_of: Callable[[Series], str]) -> None:
        self._fields = dict(_list_fields(signals))
        self._host_of = host_of
        self._watched: dict[int, tuple[Series, _Watch | None]] = {}  # by the id of a series, which is kept
        self._by_key: dict[object, _Watch] = {}
        self._counts: dict[tuple[HostKey, bool], int] = {}
        self._signs: dict[HostKey, _Signs] = {}
        self._lock = Lock()

    def written(self, points: Points, now: int) -> None:
        """Search a batch of samples, written at `now` (UTC ns), for signs of second computers."""
        watches = {at: watch for at, series in enumerate(points.series) if (watch := self._watch(series))}
        if not watches:
            return
        places = np.flatnonzero(np.isin(points.which, [*watches]))
        columns = (points.which[places], points.times[places], points.values[places])
        for which, time, value in zip(*(column.tolist() for column in columns), strict=True):
            watch = watches[which]
            if watch.is_sign(time, value):
                with self._lock:
                    signs = self._signs.setdefault(make_host_key(watch.host), _Signs(watch.host))
                    signs.times = [*signs.times[1 - _SIGNS :], now]

    def hosts(self, now: int) -> Mapping[HostKey, str]:
        """Return the host names under which two computers sent in the last minutes, by case-folded name."""
        with self._lock:
            self._signs = {key: signs for key, signs in self._signs.items() if 0 <= now - signs.times[-1] <= _WITHIN}
            return {
                key: signs.name
                for key, signs in self._signs.items()
                if len(signs.times) == _SIGNS and now - signs.times[0] <= 2 * _WITHIN
            }

    def _watch(self, series: Series) -> _Watch | None:
        entry = self._watched.get(id(series))
        if entry is None:
            if len(self._watched) > _MOST_SERIES:
                self._watched, self._by_key, self._counts = {}, {}, {}
            entry = self._watched[id(series)] = series, self._choose(series)
        return entry[1]

    def _choose(self, series: Series) -> _Watch | None:
        """Return the watch of a series; None if it may be constant, or if enough series of its host are watched."""
        is_growing = self._fields.get((series.measurement, series.field))
        if is_growing is None or series.key in self._by_key:
            return self._by_key.get(series.key)
        host = self._host_of(series)
        place = make_host_key(host), is_growing
        self._counts[place] = self._counts.get(place, 0) + 1
        if self._counts[place] > _WATCHED:
            return None
        watch = self._by_key[series.key] = _Watch(host, series, is_growing)
        return watch


def _list_fields(signals: Mapping[str, Signal]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield measurement and field of each series that always changes, and whether it is a growing count."""
    for name, signal in signals.items():
        for source in signal.sources if signal.moves or name == _UPTIME else ():
            if source.path:
                series = load_shipped().series(source.path, "")
                yield (series.measurement, series.field), name == _UPTIME
            for part in source.fields:
                yield (source.measurement or "", part), source.rate or name == _UPTIME
    yield from ((place, True) for place in _BOOT)

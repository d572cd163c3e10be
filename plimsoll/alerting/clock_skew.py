"""Hosts whose clock is wrong: ahead, so that samples are judged only when their time has come, or behind, so that they
come too late to be judged.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times
from plimsoll.model.points import Points
from plimsoll.model.series import HostKey, Series, host_key
from plimsoll.model.times import SECOND, duration_text
from plimsoll.rules.subjects import host_of

_TOLERATED = 60 * SECOND
_REMEMBERED = 300 * SECOND
_REMEMBERED_LATE = 900 * SECOND  # some agents write every few minutes
_MOST_SERIES = 500_000
_STEADY = 120 * SECOND  # a host that catches up after an outage is later at first, and soon in time


def wrong(by: int, side: Literal["ahead", "behind"]) -> str:
    """That a clock is wrong (by ns): `its clock is 5 min behind; set it right`."""
    return f"its clock is {duration_text(by // SECOND * SECOND)} {side}; set it right"


@dataclass(frozen=True, slots=True)
class _Late:
    """A host whose samples come late: the newest one, from when to when, and how late at least and at most (ns)."""

    host: str
    newest: int
    first: int
    last: int
    lowest: int
    highest: int

    def after(self, newest: int, now: int) -> "_Late":
        """Return the same after newer samples; begun anew if these are much more or less late than the others."""
        lag = now - newest
        low, high = min(self.lowest, lag), max(self.highest, lag)
        if high - low > _TOLERATED or now - self.last > _REMEMBERED_LATE:
            return _Late(self.host, newest, now, now, lag, lag)
        return replace(self, newest=newest, last=now, lowest=low, highest=high)


@dataclass(frozen=True, slots=True)
class _Early:
    """A host whose newest sample is from the future, and when it was written (UTC ns)."""

    host: str
    newest: int
    written: int


class SeriesHosts:
    """Numbers for the hosts of series; `names` has the host of each. `tags` name it: see `rules.subjects.host_of`."""

    def __init__(self, tags: Collection[str]) -> None:
        self._tags = tags
        # By the id of a series, which is looked up faster than the series itself; held, so that no other one gets it.
        self._series_numbers: dict[int, tuple[int, Series]] = {}
        self._numbers: dict[str, int] = {}
        self.names: list[str] = []

    def numbers(self, series: Sequence[Series]) -> NDArray[np.intp]:
        """Return the number of each series' host."""
        if len(self._series_numbers) > _MOST_SERIES:  # series come and go
            self._series_numbers.clear()
        for item in series:
            if id(item) not in self._series_numbers:
                host = host_of(item, self._tags)
                if host not in self._numbers:
                    self._numbers[host] = len(self.names)
                    self.names.append(host)
                self._series_numbers[id(item)] = self._numbers[host], item
        return np.array([self._series_numbers[id(series)][0] for series in series], np.intp)


class ClockSkew:
    """Notes samples from the future, and those that come late. `tags` name the host; see `rules.subjects.host_of`."""

    def __init__(self, tags: Collection[str]) -> None:
        self.hosts = SeriesHosts(tags)
        self._ahead: dict[HostKey, _Early] = {}
        self._late: dict[str, _Late] = {}
        self._lock = Lock()

    def written(self, points: Points, now: int) -> None:
        """Note the hosts whose newest sample is more than a minute from `now` (UTC ns); forget those in time again."""
        if not len(points):
            return
        newest = np.full(len(points.series), np.iinfo(np.int64).min)
        np.maximum.at(newest, points.which, points.times)
        used = np.unique(points.which)
        with self._lock:
            if self._late or self._ahead or (np.abs(newest[used] - now) > _TOLERATED).any():
                for host, its_newest in self._by_host(points, used, newest[used]):
                    self._note(host, its_newest, now)

    def reasons(self, now: int) -> Mapping[HostKey, str]:
        """Why the samples of hosts (case-folded) cannot be judged, in words."""
        behind = {host_key(host): wrong(by, "behind") for host, (by, _) in self.behind(now).items()}
        return behind | {host_key(host): wrong(by, "ahead") for host, by in self.ahead(now).items()}

    def ahead(self, now: int) -> Mapping[str, int]:
        """Return how far (ns) the clocks of hosts are ahead that sent such samples in the last five minutes."""
        with self._lock:
            self._forget(now)
            recent = (early for early in self._ahead.values() if now - early.written <= _REMEMBERED)
            return {early.host: early.newest - early.written for early in recent}

    def last_sent(self, now: int) -> Mapping[HostKey, int]:
        """Return when hosts last wrote (UTC ns) whose newest samples are of a time that has not come."""
        with self._lock:
            self._forget(now)
            return {key: early.written for key, early in self._ahead.items()}

    def behind(self, now: int) -> Mapping[str, tuple[int, int]]:
        """Return how far (ns) the clocks of hosts are behind, and their newest sample (UTC ns).

        Of hosts whose samples have been as late as that for two minutes, and none in time.
        """
        with self._lock:
            self._late = {key: late for key, late in self._late.items() if now - late.last <= _REMEMBERED_LATE}
            steady = (late for late in self._late.values() if late.last - late.first >= _STEADY)
            return {late.host: (late.lowest, late.newest) for late in steady}

    def _by_host(self, points: Points, used: NDArray[np.int32], newest: Times) -> Iterator[tuple[str, int]]:
        """Yield the hosts of the series that are used, and the newest sample of each."""
        of_host = self.hosts.numbers(points.series)[used]
        its_newest = np.full(len(self.hosts.names), np.iinfo(np.int64).min)
        np.maximum.at(its_newest, of_host, newest)
        for number in np.unique(of_host).tolist():
            yield self.hosts.names[number], int(its_newest[number])

    def _forget(self, now: int) -> None:
        kept = self._ahead.items()
        self._ahead = {key: early for key, early in kept if now - early.written <= _REMEMBERED or now < early.newest}

    def _note(self, host: str, newest: int, now: int) -> None:
        key = host_key(host)
        if newest > now + _TOLERATED:
            self._ahead[key] = _Early(host, newest, now)
        elif newest >= now - _TOLERATED:
            self._ahead.pop(key, None)
        if newest >= now - _TOLERATED:
            self._late.pop(key, None)
        elif key in self._late:
            self._late[key] = self._late[key].after(newest, now)
        else:
            self._late[key] = _Late(host, newest, now, now, now - newest, now - newest)

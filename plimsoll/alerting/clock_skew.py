"""Finds hosts with wrong clocks: a clock that is ahead gives samples future times, a clock that is behind old times."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.points import Points
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.rules.subjects import find_host

_TOLERATED = 60 * SECOND
_REMEMBERED = 300 * SECOND
_REMEMBERED_LATE = 900 * SECOND  # some agents write every few minutes
_MOST_SERIES = 500_000
_AGREED = 30 * SECOND  # for so long hosts must be off alike, to say that this machine's clock is wrong
_STEADY = 120 * SECOND  # a host that catches up after an outage is later at first, and soon in time


def describe_skew(by: int, side: Literal["ahead", "behind"]) -> str:
    """Return a phrase on a host's clock that is `by` ns off: `its clock is 5 min behind; set it right`."""
    return f"its clock is {format_duration(by // SECOND * SECOND)} {side}; set it right"


@dataclass(frozen=True, slots=True)
class _Late:
    """A host with late samples: newest sample, first and last late write (UTC ns), and range of the delays (ns)."""

    host: str
    newest: int
    first: int
    last: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class _Early:
    """A host whose newest sample is from the future, and when that sample was written (UTC ns)."""

    host: str
    newest: int
    written: int


@dataclass(frozen=True, slots=True)
class _Lag:
    """The lag (ns) of a host's newest sample, and the first and last write (UTC ns) with about this lag."""

    lag: int
    first: int
    last: int


class SeriesHosts:
    """A numbering of the hosts of series: `names[number]` is the host. For `tags` see `subjects.find_host`."""

    def __init__(self, tags: Collection[str]) -> None:
        self._tags = tags
        # By the id of a series, which is faster to look up. The series is kept, so that no other gets its id.
        self._series_numbers: dict[int, tuple[int, Series]] = {}
        self._numbers: dict[str, int] = {}
        self.names: list[str] = []

    def numbers(self, series: Sequence[Series]) -> NDArray[np.intp]:
        """Return, for each of these series, the number of its host."""
        if len(self._series_numbers) > _MOST_SERIES:  # series come and go
            self._series_numbers.clear()
        for member in series:
            if id(member) not in self._series_numbers:
                host = find_host(member, self._tags)
                if host not in self._numbers:
                    self._numbers[host] = len(self.names)
                    self.names.append(host)
                self._series_numbers[id(member)] = self._numbers[host], member
        return np.array([self._series_numbers[id(member)][0] for member in series], np.intp)


class ClockSkew:
    """A record of hosts whose samples come from the future or late. For `tags` see `subjects.find_host`.

    While `is_compared` is true, hosts on time are recorded as well, for `consensus`.
    """

    def __init__(self, tags: Collection[str]) -> None:
        self.hosts = SeriesHosts(tags)
        self.is_compared = False
        self._lags: dict[HostKey, _Lag] = {}
        self._ahead: dict[HostKey, _Early] = {}
        self._late: dict[str, _Late] = {}
        self._lock = Lock()

    def written(self, points: Points, now: int) -> None:
        """Record the hosts in a write whose newest sample is over a minute off `now` (UTC ns).

        Forget hosts in the write whose samples are on time again.
        """
        if not len(points):
            return
        newest = np.full(len(points.series), np.iinfo(np.int64).min)
        np.maximum.at(newest, points.which, points.times)
        used = np.unique(points.which)
        with self._lock:
            if self.is_compared or self._late or self._ahead or (np.abs(newest[used] - now) > _TOLERATED).any():
                of_host = self.hosts.numbers(points.series)[used]
                newest_of = np.full(len(self.hosts.names), np.iinfo(np.int64).min)
                np.maximum.at(newest_of, of_host, newest[used])
                for number in np.unique(of_host).tolist():
                    self._record(self.hosts.names[number], int(newest_of[number]), now)

    def reasons(self, now: int) -> Mapping[HostKey, str]:
        """Return, by host (case-folded), a sentence on why the host's samples cannot be judged."""
        behind = {make_host_key(host): describe_skew(by, "behind") for host, (by, _) in self.behind(now).items()}
        return behind | {make_host_key(host): describe_skew(by, "ahead") for host, by in self.ahead(now).items()}

    def ahead(self, now: int) -> Mapping[str, int]:
        """Return, by host, how far (ns) its clock is ahead, for hosts that sent in the last five minutes."""
        with self._lock:
            self._forget(now)
            recent = (early for early in self._ahead.values() if now - early.written <= _REMEMBERED)
            return {early.host: early.newest - early.written for early in recent}

    def last_sent(self, now: int) -> Mapping[HostKey, int]:
        """Return, by host, the last write (UTC ns), for hosts whose newest samples are from the future."""
        with self._lock:
            self._forget(now)
            return {key: early.written for key, early in self._ahead.items()}

    def behind(self, now: int) -> Mapping[str, tuple[int, int]]:
        """Return, by host, how far (ns) its clock is behind, and the time (UTC ns) of its newest sample.

        A clock counts as behind if all samples of the host have been late by about the same time for two minutes.
        """
        with self._lock:
            self._late = {key: late for key, late in self._late.items() if now - late.last <= _REMEMBERED_LATE}
            steady = (late for late in self._late.values() if late.last - late.first >= _STEADY)
            return {late.host: (late.lowest, late.newest) for late in steady}

    def consensus(self, now: int, local_hosts: Collection[str]) -> int | None:
        """Return how far (ns) this machine's clock is ahead of most hosts that sent lately; negative if behind.

        0: most hosts are on time. None: too few hosts sent samples, or their clocks differ. `local_hosts` do not count.
        """
        local = {make_host_key(host) for host in local_hosts}
        with self._lock:
            sent = [lag for key, lag in self._lags.items() if key not in local and 0 <= now - lag.last <= _REMEMBERED]
        lags = np.array([lag.lag for lag in sent if abs(lag.lag) <= _TOLERATED or lag.last - lag.first >= _AGREED])
        if not len(lags):
            return None
        middle = int(np.sort(lags)[len(lags) // 2])
        if 2 * np.count_nonzero(np.abs(lags - middle) <= _TOLERATED) <= len(sent):
            return None
        return 0 if abs(middle) <= _TOLERATED else middle

    def _forget(self, now: int) -> None:
        kept = self._ahead.items()
        self._ahead = {key: early for key, early in kept if now - early.written <= _REMEMBERED or now < early.newest}

    def _record(self, host: str, newest: int, now: int) -> None:
        """Record whether a host is ahead, late or on time, from its newest sample."""
        key, lag = make_host_key(host), now - newest
        before = self._lags.get(key)
        is_alike = before and abs(before.lag - lag) <= _TOLERATED and 0 <= now - before.last <= _REMEMBERED
        self._lags[key] = _Lag(lag, before.first if before and is_alike else now, now)
        if lag < -_TOLERATED:
            self._ahead[key] = _Early(host, newest, now)
        elif lag <= _TOLERATED:
            self._ahead.pop(key, None)
        if lag <= _TOLERATED:
            self._late.pop(key, None)
            return
        late = self._late.get(key) or _Late(host, newest, now, now, lag, lag)
        low, high = min(late.lowest, lag), max(late.highest, lag)
        if high - low > _TOLERATED or now - late.last > _REMEMBERED_LATE:  # much more or less late than before
            self._late[key] = _Late(late.host, newest, now, now, lag, lag)
        else:
            self._late[key] = replace(late, newest=newest, last=now, lowest=low, highest=high)

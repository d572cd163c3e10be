"""Amends the history of alerts by samples that came after their evaluation, and goes on from what they show."""

import logging
import time
from collections.abc import Sequence
from math import isnan
from threading import Lock
from typing import NamedTuple

import numpy as np

from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alert_intervals import AlertInterval
from plimsoll.alerting.alert_queries import history
from plimsoll.alerting.clock_skew import ClockSkew
from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.host_inventory import retired
from plimsoll.alerting.replay import episodes_of, judged_again, pending_of
from plimsoll.alerting.rule_targets import Key, Site
from plimsoll.alerting.series_index import GoOn, within
from plimsoll.hosts.facts import GivenFacts
from plimsoll.model.host_key import host_key
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.states import State
from plimsoll.store.protocol import Store

_LONGEST = 24 * 3600 * SECOND  # what is older is left as it is
_EVERY = 60 * SECOND  # for one host
_AGAIN = 600 * SECOND  # for one that took too long
_APART = 9  # times what the last one took: late samples take no more than a tenth of the time
_MOST_S = 3.0  # of a processor; what takes longer is left as it is
_STILL = 360 * SECOND  # an agent that writes every 5 min: what was true so long ago is taken for true now

_log = logging.getLogger(__name__)


class _Again(NamedTuple):
    """What a host's samples show from `start` to `last`, now that all are there.

    Attributes:
        episodes: When each rule fired; an empty list for what fired before and does not now.
        pending: Since when a rule is pending at the end, and the worst value since.
    """

    host: str
    start: int
    last: int
    episodes: dict[Key, list[AlertInterval]]
    pending: dict[Key, tuple[int, float]]


class LateSamples:
    """Amends one host at a time, so that late samples do not hold up what is in time. `check` may raise to end it."""

    def __init__(self, store: Store, book: AlertHistory, clocks: ClockSkew, check: GoOn) -> None:
        self._store = store
        self._book = book
        self._clocks = clocks
        self._check = check
        self._first_late: dict[str, int] = {}  # the time of each host's first late sample
        self._series: dict[int, Series] = {}  # by id
        self._lock = Lock()
        self._amended: dict[str, int] = {}
        self._next = 0

    def written(self, points: Points, last: int) -> None:
        """Note which of the samples are not after `last`, the evaluation for which samples were last read (UTC ns)."""
        if not len(points) or int(points.times.min()) > last:
            return
        late = points.times <= last
        which, hosts = points.which[late], self._clocks.hosts
        of_host = hosts.numbers(points.series)[which]
        first = np.full(len(hosts.names), last)
        np.minimum.at(first, of_host, points.times[late])
        with self._lock:
            for number in np.unique(of_host).tolist():
                self._note(hosts.names[number], int(first[number]))
            late_ones = [points.series[one] for one in np.unique(which).tolist()]
            self._series.update(zip(map(id, late_ones), late_ones, strict=True))

    def amend(self, judge: Evaluator, site: Site, given: GivenFacts, last: int, now: int) -> bool:
        """Amend the history of one host up to `last`, the last evaluation that was kept; `judge` goes on from it.

        Whether there was one to amend.
        """
        if now < self._next:
            return False
        with self._lock:
            due = [host for host in self._first_late if now - self._amended.get(host, 0) >= _EVERY]
            if not due:
                return False
            host, series = due[0], self._series.values()
            start = min(max(self._first_late.pop(host), last - _LONGEST), last)
            self._series = {}
        if host_key(host) in retired(self._book.file):
            return False
        self._amended[host] = now
        begun = time.thread_time()
        judge.reread(series)
        try:
            found = self._again(site, given, host, start, last)
        except TimeoutError:
            _log.warning("%s: its history is not amended by late samples: it has too many series", host)
            self._amended[host] = now + _AGAIN - _EVERY
            return False
        finally:
            self._next = now + int(_APART * (time.thread_time() - begun) * SECOND)
        self._take(judge, found, now)
        return True

    def _again(self, site: Site, given: GivenFacts, host: str, start: int, last: int) -> _Again:
        """Judge a host once more. TimeoutError if that takes too long."""
        before = (one for one in history(self._book.file, start, last) if host_key(one.host) == host_key(host))
        again = _Again(host, start, last, {one.key: [] for one in before}, {})
        check = within(_MOST_S, self._check)
        for one, conditions in judged_again(self._store, site, given, start, last, [host], check):
            for episode in episodes_of(one, conditions, start):
                again.episodes.setdefault(one.key, []).append(episode)
            if waits := pending_of(one, conditions):
                again.pending[one.key] = waits
        return again

    def _take(self, judge: Evaluator, found: _Again, now: int) -> None:
        """Keep what was found, and go on from it."""
        is_behind = host_key(found.host) in {host_key(other) for other in self._clocks.behind(now)}
        for key, episodes in found.episodes.items():
            self._amend_one(judge, key, episodes, found, now, is_behind=is_behind)
        for key, (since, worst) in found.pending.items() if not is_behind else ():
            judge.wait(key, since, worst)
        firing = {key for key, status in judge.statuses.items() if status.state == State.FIRING}
        if any(one.ended_at is None and key not in firing for key, some in found.episodes.items() for one in some):
            # It would fire still, had its samples come in time: look again when its end is known.
            with self._lock:
                self._note(found.host, found.start)

    def _amend_one(
        self, judge: Evaluator, key: Key, episodes: Sequence[AlertInterval], found: _Again, now: int, *, is_behind: bool
    ) -> None:
        """Amend the history of one rule and subject. What late samples show to fire now fires, and what ended ends."""
        fires = judge.state(key) == State.FIRING
        open_one = next((one for one in episodes if one.ended_at is None), None)
        if fires and open_one is None and isnan(judge.value(key)):
            latest = max(episodes, key=lambda one: one.fired_at, default=None)
            self._book.end_late(key, latest, found.last, now=now)
            judge.forget([key])
        self._book.amend(key, found.start, episodes, now=now)
        known = None if open_one is None else open_one.known
        if fires or open_one is None or known is None or is_behind:  # the samples of one behind have no certain time
            return
        if found.last - known <= _STILL:
            self._book.fire_late(open_one, now=now)
            judge.take(key, open_one.since)

    def _note(self, host: str, first: int) -> None:
        self._first_late[host] = min(first, self._first_late.get(host, first))

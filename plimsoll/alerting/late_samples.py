"""Amends the history of alerts, and the current states, by samples that came after the evaluation of their time."""

import logging
import time
from math import isnan
from threading import Lock
from typing import NamedTuple

import numpy as np

from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alert_queries import read_history
from plimsoll.alerting.clock_skew import ClockSkew
from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.host_inventory import read_retirements
from plimsoll.alerting.replay import evaluate_again, find_pending, list_alert_intervals
from plimsoll.alerting.rule_targets import Key, Site
from plimsoll.alerting.series_index import Check, limit_time
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.points import Points
from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.states import State, Status
from plimsoll.store.protocol import SampleReader

_LONGEST = 24 * 3600 * SECOND  # what is older is left as it is
_INTERVAL = 60 * SECOND  # for one host
_AGAIN = 600 * SECOND  # for one that took too long
_APART = 9  # times what the last one took: late samples take no more than a tenth of the time
_MOST_S = 3.0  # of a processor; what takes longer is left as it is
_STILL = 360 * SECOND  # an agent that writes every 5 min: what was true so long ago is taken for true now
_log = logging.getLogger(__name__)


class _Replay(NamedTuple):
    """The alerts of a host from `start` to `last`, judged again by all samples that have arrived.

    Attributes:
        intervals: The intervals in which each rule fired; empty for a rule that fired only without the late samples.
        pending: For each rule that is pending at `last`: since when (UTC ns), and the worst value since.
    """

    host: str
    start: int
    last: int
    intervals: dict[Key, list[AlertInterval]]
    pending: dict[Key, tuple[int, float]]


class LateSamples:
    """A queue of hosts with late samples, amended one host at a time; `check` may raise to interrupt an amendment."""

    def __init__(self, store: SampleReader, history: AlertHistory, skew: ClockSkew, check: Check) -> None:
        self._store = store
        self._history = history
        self._skew = skew
        self._check = check
        self._first_late: dict[str, int] = {}  # the time of each host's first late sample
        self._series: dict[int, Series] = {}  # by id
        self._lock = Lock()
        self._amended: dict[str, int] = {}
        self._next = 0

    def written(self, points: Points, last: int) -> None:
        """Note the late samples in a write: those not later than `last` (UTC ns), up to which samples were read."""
        if not len(points) or int(points.times.min()) > last:
            return
        late = points.times <= last
        which, hosts = points.which[late], self._skew.hosts
        of_host = hosts.numbers(points.series)[which]
        first = np.full(len(hosts.names), last)
        np.minimum.at(first, of_host, points.times[late])
        with self._lock:
            for number in np.unique(of_host).tolist():
                self._note_late_sample(hosts.names[number], int(first[number]))
            self._series.update((id(points.series[at]), points.series[at]) for at in np.unique(which).tolist())

    @property
    def are_waiting(self) -> bool:
        """Whether samples came that the history is not amended by yet."""
        return bool(self._first_late)

    def amend(self, evaluator: Evaluator, site: Site, configured: ConfiguredFacts, last: int, now: int) -> None:
        """Amend the history and the current states of the next host in the queue, up to the evaluation `last`."""
        if now < self._next:
            return
        with self._lock:
            due = [host for host in self._first_late if now - self._amended.get(host, 0) >= _INTERVAL]
            if not due:
                return
            host, series = due[0], self._series.values()
            start = min(max(self._first_late.pop(host), last - _LONGEST), last)
            self._series = {}
        if make_host_key(host) in read_retirements(self._history.file):
            return
        self._amended[host] = now
        begun = time.thread_time()
        evaluator.reread(series)
        try:
            replay = self._replay(site, configured, host, start, last)
        except TimeoutError:
            _log.warning("%s: its history is not amended by late samples: it has too many series", host)
            self._amended[host] = now + _AGAIN - _INTERVAL
            return
        finally:
            self._next = now + int(_APART * (time.thread_time() - begun) * SECOND)
        self._apply(evaluator, replay, now)

    def _replay(self, site: Site, configured: ConfiguredFacts, host: str, start: int, last: int) -> _Replay:
        """Judge a host again over a range. Raise TimeoutError if that takes too long."""
        before = read_history(self._history.file, start, last)
        fired = (alert.key for alert in before if make_host_key(alert.host) == make_host_key(host))
        replay = _Replay(host, start, last, {key: [] for key in fired}, {})
        check = limit_time(_MOST_S, self._check)
        for target, conditions in evaluate_again(self._store, site, configured, start, last, [host], check):
            for interval in list_alert_intervals(target, conditions, start):
                replay.intervals.setdefault(target.key, []).append(interval)
            if pending := find_pending(target, conditions):
                replay.pending[target.key] = pending
        return replay

    def _apply(self, evaluator: Evaluator, replay: _Replay, now: int) -> None:
        """Save the alerts of a replay in the history, and adjust the current states."""
        # The samples of a host that is behind have no certain time.
        is_behind = make_host_key(replay.host) in {make_host_key(host) for host in self._skew.behind(now)}
        states = evaluator.states
        for key, intervals in replay.intervals.items():
            still_open = next((interval for interval in intervals if interval.ended_at is None), None)
            fires = states.state(key) == State.FIRING
            # An alert that fires without data ends, if it has ended by the replay.
            if fires and still_open is None and isnan(states.value(key)):
                latest = max(intervals, key=lambda interval: interval.fired_at, default=None)
                self._history.end_late(key, latest, replay.last, now=now)
                states.forget([key])
            self._history.amend(key, replay.start, intervals, now=now)
            if fires or is_behind or still_open is None or still_open.last_data is None:
                continue
            if replay.last - still_open.last_data <= _STILL:
                self._history.fire_late(still_open, now=now)
                states.put(key, Status(State.FIRING, still_open.since))
        for key, (since, worst) in replay.pending.items() if not is_behind else ():
            states.put_pending(key, since, worst)
        firing = {key for key, status in states.statuses.items() if status.state == State.FIRING}
        if any(
            interval.ended_at is None and key not in firing
            for key, intervals in replay.intervals.items()
            for interval in intervals
        ):
            # It would still fire, had its samples come in time: look again when its end is known.
            with self._lock:
                self._note_late_sample(replay.host, replay.start)

    def _note_late_sample(self, host: str, first: int) -> None:
        self._first_late[host] = min(first, self._first_late.get(host, first))

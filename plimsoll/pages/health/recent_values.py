"""What was judged in the last hour, kept in memory while somebody looks at the health page.

Values are added at each evaluation. What was before somebody looked is read from the store in the background.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import nan
from threading import Event, Lock, Thread

import numpy as np

from plimsoll.alerting.latest_evaluation import LatestEvaluation, RuleState
from plimsoll.alerting.replay import conditions_of
from plimsoll.alerting.rule_targets import Key
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import HostKey, Series, host_key
from plimsoll.model.times import SECOND
from plimsoll.pages.health.host_cells import has_cell
from plimsoll.pages.health.sparkline import LastHour, Sparkline
from plimsoll.rules.schema.healthy import Worse
from plimsoll.rules.states import State
from plimsoll.rules.subjects import host_of, host_tags
from plimsoll.up.watched import Watched

READER = "recent values"  # the name of the thread that reads what was before
_HOUR = 3600 * SECOND
_WINDOW = 900 * SECOND  # read before the hour, for the windows of its first evaluations
_GAP = 60 * SECOND  # a longer pause is read from the store
_AT_ONCE = 20  # hosts: half the work of one by one, and no more at once than a page need wait for

_log = logging.getLogger(__name__)


class RecentValues:
    """The values of every rule and subject in the last hour, and what silent hosts were judged on."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lock = Lock()
        self._evaluated: int | None = None
        self._hour = LastHour()
        self._judged = LatestEvaluation()
        self._silent: Collection[HostKey] = ()
        self._gone: Mapping[HostKey, Sequence[RuleState]] = {}
        self._drawn: dict[tuple[Key, float | None], Sparkline | None] = {}
        self._reader: Thread | None = None
        self._ends = Event()
        watched.closing.callback(self._end)

    def follow(
        self, evaluated: int, judged: LatestEvaluation, silent: Collection[HostKey]
    ) -> Mapping[HostKey, Sequence[RuleState]]:
        """What hosts that are now silent were judged on and no longer are, without data.

        To be called with each evaluation, or the last one again.
        """
        with self._lock:
            if evaluated != self._evaluated:
                # Most evaluations judge the same subjects as the last one.
                if judged.places is not self._judged.places or silent != self._silent:
                    self._gone = {host: gone for host in silent if (gone := self._gone_from(host, judged))}
                    self._silent = silent
                    self._hour.keep(_worse(judged, self._gone))
                self._judged = judged
                self._add(evaluated)
            return self._gone

    def _gone_from(self, host: HostKey, judged: LatestEvaluation) -> Sequence[RuleState]:
        now = {one.key for one in judged.on(host)}
        known = [one for one in self._judged.on(host) if has_cell(one.rule)]
        return [
            replace(one, value=nan, state=State.NO_DATA, since=None)
            for one in chain(known, self._gone.get(host, ()))
            if one.key not in now
        ]

    def newest(self, key: Key) -> int | None:
        """The last evaluation with a value (UTC ns), if it is known."""
        with self._lock:
            return self._hour.newest(key)

    def sparklines(self, wanted: Sequence[tuple[Key, float | None]]) -> Sequence[Sparkline | None]:
        """The last hour of rules and subjects, each with its limit; None while there is nothing to draw."""
        with self._lock:
            missing = [one for one in wanted if one not in self._drawn]
            self._drawn.update(zip(missing, self._safely(missing), strict=True))
            return [self._drawn[one] for one in wanted]

    def _safely(self, wanted: Sequence[tuple[Key, float | None]]) -> Sequence[Sparkline | None]:
        try:
            return self._hour.drawn(wanted, self._evaluated or 0)
        except (ArithmeticError, LookupError, ValueError):  # one value that cannot be drawn must not break the page
            if len(wanted) > 1:
                return [line for one in wanted for line in self._safely([one])]
            ((rule, host, _), _) = wanted[0]
            _log.exception("%s of %s is not drawn on the health page", rule, host)
            return [None]

    def _add(self, evaluated: int) -> None:
        values = [one.values for one in self._judged.rules if has_cell(one.rule)]
        gone = np.full(sum(map(len, self._gone.values())), nan)
        self._hour.add_newest(evaluated, np.concatenate([*values, gone]))
        is_late = self._evaluated is None or evaluated - self._evaluated > _GAP
        self._evaluated = evaluated
        self._drawn = {}
        if is_late and values and not (self._reader and self._reader.is_alive()) and not self._ends.is_set():
            self._reader = Thread(target=self._read, args=(evaluated,), name=READER)
            self._reader.start()

    def _end(self) -> None:
        self._ends.set()
        with self._lock:
            reader = self._reader
        if reader:
            reader.join()

    def _read(self, end: int) -> None:
        """Read the last hour from the store, some hosts at a time."""
        watched = self._watched
        try:
            tags = host_tags(watched.site.catalogue.signals)
            by_host: dict[str, list[Series]] = {}
            for one in watched.store.live.series(end - _HOUR, end).series:
                by_host.setdefault(host_key(host_of(one, tags)), []).append(one)
            hosts = [*by_host.values()]
            for first in range(0, len(hosts), _AT_ONCE):
                if self._ends.is_set():
                    return
                self._read_hosts([*chain(*hosts[first : first + _AT_ONCE])], end)
        except (Unreachable, Unusable) as error:
            _log.warning("the last hour is not drawn on the health page: %s", error)

    def _read_hosts(self, series: Sequence[Series], end: int) -> None:
        watched = self._watched
        start = end - _HOUR
        for one, found in conditions_of(watched.store.live, watched.site, watched.given, series, start - _WINDOW, end):
            with self._lock:
                if one.key in self._hour and len(found.times):
                    self._hour.add(one.key, found.times, found.values)
        with self._lock:
            self._drawn = {}


def _worse(judged: LatestEvaluation, gone: Mapping[HostKey, Sequence[RuleState]]) -> Mapping[Key, Worse]:
    """The direction in which the values of each key become unhealthy, in the order in which `_add` has the values."""
    found: dict[Key, Worse] = {}
    for limits in (one.limits for one in judged.rules if has_cell(one.rule)):
        for one, healthy in zip(limits.judged, limits.each, strict=True):
            found[one.key] = (healthy or one.rule.healthy).worse
    for some in gone.values():
        for one in some:
            found[one.key] = one.healthy.worse
    return found

"""The content of the health page, prepared once for all viewers: the last evaluation, and the values of an hour.

From the first visit of any page on, the values of each evaluation are added even if nobody has the page open. The
values before that are read from the store in the background.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import nan
from threading import Event, RLock, Thread

import numpy as np

from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.firing import Firing
from plimsoll.alerting.health import Health, HostState
from plimsoll.alerting.latest_evaluation import LatestEvaluation, RuleState
from plimsoll.alerting.replay import list_conditions
from plimsoll.alerting.rule_targets import Key
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.pages.health.host_cells import has_cell
from plimsoll.pages.health.host_table import HostChoice, HostOverview, HostTable, build_host_table
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.pages.health.sparkline import LastHour, Sparkline
from plimsoll.rules.schema.field_types import Worse
from plimsoll.rules.states import State
from plimsoll.rules.subjects import find_host, list_host_tags
from plimsoll.up.watched import Watched

READER = "recent values"  # the name of the thread that reads the values before the first evaluation
_EVERY_S = 1.0  # how often a new evaluation is looked for, if nothing tells of it
_SEEN_S = 60.0  # how long after a visit the table is made again with each evaluation, so that the next need not wait
_HOUR = 3600 * SECOND
_WINDOW = 900 * SECOND  # read before the hour, for the windows of its first evaluations
_GAP = 60 * SECOND  # a longer pause is read from the store
_AT_ONCE = 20  # hosts: half the work of reading them one by one, and short enough for a page to wait for
_MOST_RENDERED = 20  # tables with other hosts, groups or zones
_log = logging.getLogger(__name__)


class LatestHealth:
    """The hosts at the last evaluation, and their values in the last hour. Thread-safe."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lock = RLock()
        self._version: tuple[int | None, Collection[HostKey], Firing] | None = None
        self._hosts = JudgedHosts(LatestEvaluation(), {}, Firing(), watched.site.catalogue)
        self._evaluated: int | None = None
        self._judged = LatestEvaluation()
        self._silent: Collection[HostKey] = ()
        self._gone: Mapping[HostKey, Sequence[RuleState]] = {}
        self._hour = LastHour()
        self._drawn: dict[tuple[Key, float | None], Sparkline | None] = {}
        self._rendered: dict[Hashable, tuple[HostTable, str]] = {}
        self._seen = -_SEEN_S
        self._ends = Event()
        self._reader: Thread | None = None
        self._follower = Thread(target=self._follow, name="health follower", daemon=True)
        self._follower.start()
        watched.closing.callback(self._end)

    def hosts(self) -> tuple[Health, HostOverview]:
        """Return the health of the whole system, and the state of every host."""
        health = self._watched.health()
        silent = frozenset(make_host_key(host.name) for host in health.hosts if host.state == HostState.SILENT)
        version = health.evaluated, silent, health.firing
        with self._lock:
            if self._version != version:
                judged = self._watched.judged() if health.evaluated else LatestEvaluation()
                if health.evaluated and health.evaluated != self._evaluated:
                    self._add(health.evaluated, judged, silent)
                gone = self._gone if health.evaluated else {}
                self._hosts = JudgedHosts(judged, gone, health.firing, self._watched.site.catalogue)
                self._version = version
            hosts = self._hosts
        return health, HostOverview(health.hosts, health.firing, hosts, self._watched.site.labels)

    def table(
        self,
        hosts: HostOverview,
        choice: HostChoice,
        render: Callable[[HostTable, Mapping[Key, Sparkline | None]], str],
        look: Hashable,
    ) -> tuple[HostTable, str]:
        """Return the table of the chosen hosts, and what `render` returns for it and the sparklines of its cells.

        It is rendered once for all visitors of the same `look`, until the hosts or their values change. For a minute
        after a call, the cells are prepared at each evaluation, so that the next call is fast.
        """
        self._seen = time.monotonic()
        rendered, key = self._rendered, (hosts.judged, tuple(hosts.health), choice, look)
        if (rendering := rendered.get(key)) is None:
            if len(rendered) >= _MOST_RENDERED:
                rendered.clear()
            table, lines = self._build_table(hosts, choice)
            rendering = rendered[key] = table, render(table, lines)
        return rendering

    def _build_table(self, hosts: HostOverview, choice: HostChoice) -> tuple[HostTable, Mapping[Key, Sparkline | None]]:
        table = build_host_table(hosts, choice, self._watched.site.catalogue)
        cells = [cell for row in table.rows for cell in (*row.cells, *row.crossed) if cell and cell.standing != "none"]
        lines = self.sparklines([(cell.key, cell.healthy.limit if cell.healthy else None) for cell in cells])
        return table, {cell.key: line for cell, line in zip(cells, lines, strict=True)}

    def newest(self, key: Key) -> int | None:
        """Return the time (UTC ns) of the last value of a rule on a host or instance; None if unknown."""
        with self._lock:
            return self._hour.newest(key)

    def sparklines(self, keys: Sequence[tuple[Key, float | None]]) -> Sequence[Sparkline | None]:
        """Return a sparkline of the last hour for each pair of key and limit; None for a key without values."""
        with self._lock:
            missing = [key for key in keys if key not in self._drawn]
            self._drawn.update(zip(missing, self._draw(missing), strict=True))
            return [self._drawn[key] for key in keys]

    def _draw(self, keys: Sequence[tuple[Key, float | None]]) -> Sequence[Sparkline | None]:
        try:
            return self._hour.drawn(keys, self._evaluated or 0)
        except (ArithmeticError, LookupError, ValueError):  # one value that cannot be drawn must not break the page
            if len(keys) > 1:
                return [line for key in keys for line in self._draw([key])]
            ((rule, host, _), _) = keys[0]
            _log.exception("%s of %s is not drawn on the health page", rule, host)
            return [None]

    def _follow(self) -> None:
        """Add each evaluation until the server stops, so that the first viewer finds an hour of values."""
        latest: int | None = None
        stepped = self._watched.stepped
        while not self._ends.is_set():
            stepped.wait(_EVERY_S)
            stepped.clear()
            try:
                evaluated = self._watched.progress().evaluated
                if evaluated is not None and evaluated != latest:
                    latest = evaluated
                    _, hosts = self.hosts()
                    if time.monotonic() - self._seen < _SEEN_S:
                        self._build_table(hosts, HostChoice())
            except (sqlite3.Error, NotKept, Unusable) as error:
                _log.warning("the health page does not follow the evaluation: %s", error)

    def _end(self) -> None:
        self._ends.set()
        self._watched.stepped.set()
        self._follower.join()
        if self._reader:
            self._reader.join()

    def _add(self, evaluated: int, judged: LatestEvaluation, silent: Collection[HostKey]) -> None:
        """Add the values of an evaluation to the last hour. Values of missed evaluations are read from the store."""
        # Most evaluations judge the same subjects as the last one.
        if judged.places is not self._judged.places or silent != self._silent:
            self._gone = {host: gone for host in silent if (gone := self._find_gone(host, judged))}
            self._silent = silent
            self._hour.keep(_map_directions(judged, self._gone))
        self._judged = judged
        values = [rule.values for rule in judged.rules if has_cell(rule.rule)]
        gone = np.full(sum(map(len, self._gone.values())), nan)
        self._hour.add_newest(evaluated, np.concatenate([*values, gone]))
        is_late = self._evaluated is None or evaluated - self._evaluated > _GAP
        self._evaluated = evaluated
        self._drawn = {}
        if is_late and values and not (self._reader and self._reader.is_alive()) and not self._ends.is_set():
            self._reader = Thread(target=self._read, args=(evaluated,), name=READER)
            self._reader.start()

    def _find_gone(self, host: HostKey, judged: LatestEvaluation) -> Sequence[RuleState]:
        """Return the states of the rules that are not judged any more on a silent host, changed to `no data`."""
        now = {state.key for state in judged.on(host)}
        before = [state for state in self._judged.on(host) if has_cell(state.rule)]
        return [
            replace(state, value=nan, state=State.NO_DATA, since=None)
            for state in chain(before, self._gone.get(host, ()))
            if state.key not in now
        ]

    def _read(self, end: int) -> None:
        """Read the values of the hour before `end` (UTC ns) from the store, a few hosts at a time."""
        watched = self._watched
        try:
            tags = list_host_tags(watched.site.catalogue.signals)
            by_host = group_pairs(
                (make_host_key(find_host(series, tags)), series)
                for series in watched.store.live.series(end - _HOUR, end).series
            )
            hosts = [*by_host.values()]
            for first in range(0, len(hosts), _AT_ONCE):
                if self._ends.is_set():
                    return
                self._read_hosts([*chain(*hosts[first : first + _AT_ONCE])], end)
        except (Unreachable, Unusable) as error:
            _log.warning("the last hour is not drawn on the health page: %s", error)

    def _read_hosts(self, series: Sequence[Series], end: int) -> None:
        watched, start = self._watched, end - _HOUR - _WINDOW
        for target, condition in list_conditions(
            watched.store.live, watched.site, watched.configured, series, start, end
        ):
            with self._lock:
                if target.key in self._hour and len(condition.times):
                    self._hour.add(target.key, condition.times, condition.values)
        with self._lock:
            self._drawn, self._rendered = {}, {}


def _map_directions(judged: LatestEvaluation, gone: Mapping[HostKey, Sequence[RuleState]]) -> Mapping[Key, Worse]:
    """Return the direction in which each key's values become unhealthy, in the order in which values are added."""
    directions: dict[Key, Worse] = {}
    for limits in (rule.limits for rule in judged.rules if has_cell(rule.rule)):
        for target, healthy in zip(limits.judged, limits.by_row, strict=True):
            directions[target.key] = (healthy or target.rule.healthy).worse
    for state in chain(*gone.values()):
        directions[state.key] = state.healthy.worse
    return directions

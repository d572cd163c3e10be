"""What the health page shows of the last evaluation, made once for everybody who looks."""

import logging
import sqlite3
from collections.abc import Collection
from threading import Event, Lock, Thread

from plimsoll.alerting.alerts_file import NotKept
from plimsoll.alerting.firing import Firing
from plimsoll.alerting.health import Health, HostState
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.model.errors import Unusable
from plimsoll.model.series import HostKey, host_key
from plimsoll.pages.health.host_table import Hosts
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.pages.health.recent_values import RecentValues
from plimsoll.up.watched import Watched

_EVERY_S = 0.1  # a request soon after an evaluation need not wait for what is made of it
_log = logging.getLogger(__name__)


class HealthNow:
    """The hosts of the last evaluation. Requests may come from several threads.

    Evaluations are followed also while nobody looks, so that the first view has the last hour.
    """

    def __init__(self, watched: Watched, recent: RecentValues) -> None:
        self._watched = watched
        self._recent = recent
        self._lock = Lock()
        self._made: tuple[tuple[int | None, Collection[HostKey], Firing], JudgedHosts] | None = None
        self._ends = Event()
        self._follower = Thread(target=self._follow, name="health follower")
        self._follower.start()
        watched.closing.callback(self._end)

    def hosts(self) -> tuple[Health, Hosts]:
        """The state of everything, and of each host."""
        health = self._watched.health()
        silent = frozenset(host_key(one.name) for one in health.hosts if one.state == HostState.SILENT)
        version = health.evaluated, silent, health.firing
        with self._lock:
            if self._made is None or self._made[0] != version:
                self._made = version, self._found(health, silent)
            judged = self._made[1]
        return health, Hosts(health.hosts, health.firing, judged, self._watched.site.labels)

    def _follow(self) -> None:
        seen: int | None = None
        while not self._ends.wait(_EVERY_S):
            try:
                evaluated = self._watched.progress().evaluated
                if evaluated is None or evaluated == seen:
                    continue
                seen = evaluated
                self.hosts()
            except (sqlite3.Error, NotKept, Unusable) as error:
                _log.warning("the health page does not follow the evaluation: %s", error)

    def _end(self) -> None:
        self._ends.set()
        self._follower.join()

    def _found(self, health: Health, silent: Collection[HostKey]) -> JudgedHosts:
        judged = self._watched.judged() if health.evaluated else LatestEvaluation()
        gone = self._recent.follow(health.evaluated, judged, silent) if health.evaluated else {}
        return JudgedHosts(judged, gone, health.firing, self._watched.site.catalogue)

"""Leader election: of several `plimsoll up` on one VictoriaMetrics, the one that started first sends alerts.

Each process writes a sample every few seconds, with the name and start of the process as labels. The server sets the
time of the sample, so only the server's clock counts. When two processes start at once, or one takes over, two
processes may send alerts for some seconds, or none for less than a minute; a new leader sends the notifications that
are then due.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from uuid import uuid4

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.times import SECOND, format_iso
from plimsoll.store.lease import this_process
from plimsoll.store.victoriametrics.names import format_line
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer

BEAT_S = 5.0
LIFE_S = 40.0  # a sample can be read up to 10 s after it was written
_UNKNOWN_S = 60.0
_METRIC = "plimsoll_alerting"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """A process in the election: its start (ms, server's clock), its identifier, and its name for people."""

    since: int
    holder: str
    who: str


class LeaderElection:
    """A process in the election. Call `run`, or `step` every few seconds, in one thread; other methods in any."""

    def __init__(
        self, server: VictoriaMetricsServer, who: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._server = server
        self._who = who or this_process()
        self._clock = clock
        self._begun = clock()
        self._own: _Candidate | None = None
        self._last_beat = clock()
        self._leader: _Candidate | None = None
        self._logged: _Candidate | None = None

    def run(self, stop: Event) -> None:
        """Call `step` repeatedly until `stop` is set."""
        while True:
            self.step()
            if stop.wait(BEAT_S):
                return

    def is_leader(self) -> bool:
        """Return whether this process leads; also true if the leader has been unknown for a minute."""
        if self._leader is None:
            return self._clock() - self._begun > _UNKNOWN_S
        return self._leader == self._own

    @property
    def status(self) -> str:
        """Which process sends the alerts, as a sentence; empty if this process does."""
        if self.is_leader():
            return ""
        if self._leader is None:
            return "It is not known yet whether another plimsoll up that reads this store alerts."
        since = format_iso(self._leader.since * (SECOND // 1000))[:19]
        return (
            f"{self._leader.who}, which reads this store since {since}Z, alerts. This plimsoll up judges, but notifies "
            "of nothing but itself, and takes over if that one ends."
        )

    def step(self) -> None:
        """Send a heartbeat, and find out which process leads; log errors and changes of the leader."""
        try:
            self._take_step()
        except (Unreachable, Unusable) as error:
            _log.warning("who alerts cannot be known now: %s", error)
        if self._leader is not None and self._leader != self._logged:
            self._logged = self._leader
            _log.warning("%s", self.status or "this plimsoll up alerts")

    def _take_step(self) -> None:
        """Send a heartbeat, and find the leader among the candidates. Raise Unreachable or Unusable."""
        if self._own is None or self._clock() - self._last_beat > LIFE_S:
            # The others assume that this process has ended, so it joins again.
            self._own = _Candidate(self._server.clock(), uuid4().hex, self._who)
        candidate = self._own
        tags = {"holder": candidate.holder, "since": str(candidate.since), "who": candidate.who}
        self._server.write(format_line("plimsoll", tags, "alerting", 1.0))
        self._last_beat = self._clock()
        rows = self._server.ages(f'{{__name__="{_METRIC}"}}', LIFE_S)
        candidates = [
            _Candidate(int(labels["since"]), labels["holder"], labels["who"]) for labels, age in rows if age <= LIFE_S
        ]
        if candidate in candidates:
            self._leader = min(candidates)
        elif self._leader == candidate or self._leader not in candidates:
            self._leader = None  # its own sample is not readable yet
            self._begun = self._clock()

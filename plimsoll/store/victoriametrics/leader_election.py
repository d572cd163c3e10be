"""Leader election: of several `plimsoll up` that read one VictoriaMetrics, the one there for the longest time alerts.

Each writes a sample every few seconds, with its name and the time since which it is there as labels; the server gives
the time of the sample, so that no other clock counts. Who finds no other that was there before it alerts. Between two
that start at the same time, and when one takes over, both may alert for some seconds, and none for less than a minute:
the one that takes over sends the notifications that are due then.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol
from uuid import uuid4

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.times import SECOND, iso
from plimsoll.store.lease import this_process
from plimsoll.store.victoriametrics import names
from plimsoll.store.victoriametrics.names import line

BEAT_S = 5.0
LIFE_S = 40.0  # a sample can be read up to 10 s after it was written
_UNKNOWN_S = 60.0
_METRIC = "plimsoll_alerting"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """One that is there: since when (ms by the server's clock), its number, and who it is."""

    since: int
    holder: str
    who: str


class Heartbeats(Protocol):
    """What is needed of a `plimsoll.store.victoriametrics.server.Server`."""

    def clock(self) -> int:
        """Return the time by the server's clock (ms)."""
        ...

    def write(self, lines: bytes) -> None:
        """Write line protocol."""
        ...

    def ages(self, selector: str, within_s: float) -> Sequence[tuple[Mapping[str, str], float]]:
        """Return the labels of series, and how old the newest sample of each is (s) by the server's clock."""
        ...


class LeaderElection:
    """The part of this process in the election. `step` is called every few seconds, other methods in any thread."""

    def __init__(self, server: Heartbeats, who: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._who = who or this_process()
        self._clock = clock
        self._begun = clock()
        self._own: _Candidate | None = None
        self._last_beat = clock()
        self._leader: _Candidate | None = None
        self._logged: _Candidate | None = None

    def run(self, stop: Event) -> None:
        """Step until `stop` is set."""
        while True:
            self.step()
            if stop.wait(BEAT_S):
                return

    def is_leader(self) -> bool:
        """Return whether this process is the one that alerts; also if the server does not say for a minute who does."""
        if self._leader is None:
            return self._clock() - self._begun > _UNKNOWN_S
        return self._leader == self._own

    @property
    def status(self) -> str:
        """Who alerts, in a sentence; empty if it is this process."""
        if self.is_leader():
            return ""
        if self._leader is None:
            return "It is not known yet whether another plimsoll up that reads this store alerts."
        since = iso(self._leader.since * (SECOND // 1000))[:19]
        return (
            f"{self._leader.who}, which reads this store since {since}Z, alerts. This plimsoll up judges, but notifies "
            "of nothing but itself, and takes over if that one ends."
        )

    def step(self) -> None:
        """Say that this process is there, and see who else is."""
        try:
            self._step()
        except (Unreachable, Unusable) as error:
            _log.warning("who alerts cannot be known now: %s", error)
        if self._leader is not None and self._leader != self._logged:
            self._logged = self._leader
            _log.warning("%s", self.status or "this plimsoll up alerts")

    def _step(self) -> None:
        if self._own is None or self._clock() - self._last_beat > LIFE_S:
            # Others took it for ended meanwhile: it is there anew.
            self._own = _Candidate(self._server.clock(), uuid4().hex, self._who)
        candidate = self._own
        tags = {"holder": candidate.holder, "since": str(candidate.since), "who": candidate.who}
        self._server.write(line("plimsoll", tags, "alerting", 1.0))
        self._last_beat = self._clock()
        rows = self._server.ages("{__name__=" + names.text(_METRIC) + "}", LIFE_S)
        candidates = [
            _Candidate(int(entry["since"]), entry["holder"], entry["who"]) for entry, age in rows if age <= LIFE_S
        ]
        if candidate in candidates:
            self._leader = min(candidates)
        elif self._leader == candidate or self._leader not in candidates:
            self._leader = None  # not even its own sample can be read yet: it is not known
            self._begun = self._clock()

"""Samples that a VictoriaMetrics acknowledged. They are sent again if it may have lost them, and checked for later.

It keeps samples in memory for up to 5 s (`-inmemoryDataFlushInterval`) before they are on its disk. If it is killed,
it loses them, though it acknowledged them.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from plimsoll.model.series import Series
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer

_UNSURE_S = 12.0
_MOST_BYTES = 256 << 20
_SEEN_AFTER_S = 30.0  # vmagent, or a cluster, may take some time until what was written can be read
_WITNESS_S = 3600.0


class Acknowledged:
    """Writes samples, and writes again those that the server may have lost when it was restarted."""

    def __init__(self, server: VictoriaMetricsServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._lock = Lock()
        self._kept: deque[tuple[float, bytes]] = deque()
        self._bytes = 0
        self._started: float | None = None

    def write(self, lines: bytes) -> None:
        """Write line protocol; if the server was restarted since the last call, also what it may have lost."""
        self._server.write(lines)
        with self._lock:
            self._keep(lines)
            if self._has_restarted():
                again = [body for _, body in self._kept]
                for body in again:
                    self._server.write(body)
                now = self._clock()
                self._kept = deque((now, body) for body in again)

    def _has_restarted(self) -> bool:
        """Return whether the server was restarted, or was away if it does not tell when it started."""
        is_new, has_failed = self._server.was_away()
        if not is_new:
            return has_failed and self._started is None
        before, self._started = self._started, self._server.started()
        return has_failed if self._started is None else before not in (None, self._started)

    def _keep(self, lines: bytes) -> None:
        """Keep the lines, and drop those written over `_UNSURE_S` ago: they are on the server's disk."""
        now = self._clock()
        self._kept.append((now, lines))
        self._bytes += len(lines)
        while len(self._kept) > 1 and (self._kept[0][0] < now - _UNSURE_S or self._bytes > _MOST_BYTES):
            self._bytes -= len(self._kept.popleft()[1])


@dataclass(frozen=True)
class Witness:
    """A sample that the server acknowledged, and when (s)."""

    series: Series
    at: int
    written: float


class Witnesses:
    """One sample that must be readable by now, and a newer one that becomes readable soon."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now: Witness | None = None
        self._next: Witness | None = None

    def add(self, series: Series, at: int) -> None:
        """Add a sample at an instant (UTC ns) that the server has acknowledged just now."""
        now = self._clock()
        if self._next is None or now - self._next.written >= _SEEN_AFTER_S:
            self._now, self._next = self._next, Witness(series, at, now)

    @property
    def ready(self) -> Witness | None:
        """A sample that the server must be able to give; None if there is none of the last hour."""
        usable = (
            witness
            for witness in (self._next, self._now)
            if witness and _SEEN_AFTER_S <= self.age_s(witness) <= _WITNESS_S
        )
        return next(usable, None)

    def age_s(self, witness: Witness) -> float:
        """Seconds since it was acknowledged."""
        return self._clock() - witness.written

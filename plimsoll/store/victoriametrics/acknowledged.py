"""Samples acknowledged by a VictoriaMetrics: sent again if the server may have lost them, and checked later.

The server keeps samples in memory for up to 5 s (`-inmemoryDataFlushInterval`) before writing them to disk. A server
that is killed loses these samples, which it has acknowledged.
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
_SEEN_AFTER_S = 30.0  # with vmagent or a cluster, written samples may become readable late
_WITNESS_S = 3600.0


class Acknowledged:
    """Writes samples, and sends again the samples that the server may have lost at a restart."""

    def __init__(self, server: VictoriaMetricsServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._clock = clock
        self._lock = Lock()
        self._kept: deque[tuple[float, bytes]] = deque()
        self._bytes = 0
        self._started: float | None = None

    def write(self, lines: bytes) -> None:
        """Write line protocol; if the server has restarted, also write again the lines that it may have lost."""
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
        """Return whether the server restarted since the last call.

        If the server does not publish its start time, a failed request counts as a restart.
        """
        is_new, has_failed = self._server.was_away()
        if not is_new:
            return has_failed and self._started is None
        before, self._started = self._started, self._server.started()
        return has_failed if self._started is None else before not in (None, self._started)

    def _keep(self, lines: bytes) -> None:
        """Keep lines to send again; drop lines older than `_UNSURE_S`, which the server has on disk by now."""
        now = self._clock()
        self._kept.append((now, lines))
        self._bytes += len(lines)
        while len(self._kept) > 1 and (self._kept[0][0] < now - _UNSURE_S or self._bytes > _MOST_BYTES):
            self._bytes -= len(self._kept.popleft()[1])


@dataclass(frozen=True)
class Witness:
    """A sample acknowledged by the server: series, time (UTC ns), and when it was written (s, monotonic)."""

    series: Series
    at: int
    written: float


class Witnesses:
    """Two acknowledged samples: one that the server must return by now, and a newer one to take its place."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now: Witness | None = None
        self._next: Witness | None = None

    def add(self, series: Series, at: int) -> None:
        """Keep a sample (at UTC ns) that the server has just acknowledged, unless the newest is recent enough."""
        now = self._clock()
        if self._next is None or now - self._next.written >= _SEEN_AFTER_S:
            self._now, self._next = self._next, Witness(series, at, now)

    @property
    def ready(self) -> Witness | None:
        """A sample of the last hour that the server must return; None if there is none."""
        usable = (
            witness
            for witness in (self._next, self._now)
            if witness and _SEEN_AFTER_S <= self.age_s(witness) <= _WITNESS_S
        )
        return next(usable, None)

    def age_s(self, witness: Witness) -> float:
        """Return the seconds since a sample was acknowledged."""
        return self._clock() - witness.written

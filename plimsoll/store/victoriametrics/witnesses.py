"""Samples that a server acknowledged, which tell whether an answer without any can be true."""

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.model.series import Series

_SEEN_AFTER_S = 30.0  # vmagent, or a cluster, may take some time until what was written can be read
_WITNESS_S = 3600.0


@dataclass(frozen=True)
class Witness:
    """A sample that the server acknowledged, and when (s)."""

    series: Series
    at: int
    written: float


class Witnesses:
    """One sample that can be read by now, and one that can be read from some time on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now: Witness | None = None
        self._next: Witness | None = None

    def add(self, series: Series, at: int) -> None:
        """Note a sample at an instant (UTC ns) that was acknowledged now."""
        now = self._clock()
        if self._next is None or now - self._next.written >= _SEEN_AFTER_S:
            self._now, self._next = self._next, Witness(series, at, now)

    @property
    def ready(self) -> Witness | None:
        """A sample that the server must be able to give; None if there is none of the last hour."""
        usable = (one for one in (self._next, self._now) if one and _SEEN_AFTER_S <= self.age_s(one) <= _WITNESS_S)
        return next(usable, None)

    def age_s(self, one: Witness) -> float:
        """Seconds since it was acknowledged."""
        return self._clock() - one.written

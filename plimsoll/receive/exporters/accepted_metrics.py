"""The metrics that are accepted of one message."""

import time
from collections.abc import Callable, Hashable, Sequence

from plimsoll.receive.exporters.translate import Place, TooManyKept, Translator

MOST_SAMPLES = 1_000_000
_AT_ONCE = 50_000  # samples, some tenths of a second: other senders wait for no more than that
_MOST_NAMES, _LONGEST_NAME = 1_000, 100  # of metrics that are left out
_FIRST, _LAST = -(2**63), 2**63 - 1


class NotMetrics(Exception):
    """The data is not in the format that it is said to have; the text is the reason."""


class TooManySamples(Exception):
    """A message has more samples than are taken at once."""


class AcceptedMetrics:
    """The samples of a message as line protocol, and how many it had.

    `histograms` were left out, `refused` samples as there is no room for what they need to be put together, `nameless`
    as nothing says which host they are of, and `unread` as nothing reads metrics of these `names` (the first ones).
    """

    def __init__(self, translator: Translator, now: int) -> None:
        self.lines = b""
        self.samples = self.histograms = self.refused = self.nameless = self.unread = 0
        self.names: set[str] = set()
        self.known = translator.known
        self._translator = translator
        self._now = now
        self._found: list[tuple[Place, int, float]] = []

    def add(
        self,
        key: Hashable,
        series: Callable[[], tuple[str, dict[str, str], str]],
        samples: Sequence[tuple[int, float]],
    ) -> None:
        """Take samples of a series: their times (UTC ns) and values. TooManySamples if there are too many."""
        self.samples += len(samples)
        if self.samples > MOST_SAMPLES:
            raise TooManySamples
        try:
            with self._translator.lock:
                place = self._translator.place(key, series)
        except TooManyKept:
            self.refused += len(samples)
            return
        if place is None:
            name, _, host = series()
            if name not in self.known:
                self.samples -= len(samples)
                self.leave_out(name, len(samples))
            elif not host:
                self.nameless += len(samples)
            return
        self._found += [(place, at, value) for at, value in samples if _FIRST < at < _LAST]

    def leave_out(self, name: str, samples: int) -> None:
        """Count samples of a metric that nothing reads."""
        self.samples += samples
        self.unread += samples
        if samples and len(self.names) < _MOST_NAMES:
            self.names.add(name[:_LONGEST_NAME])

    def finish(self) -> None:
        """Make the lines of what was added."""
        made: list[bytes] = []
        self._found.sort(key=lambda one: one[1])
        for first in range(0, len(self._found), _AT_ONCE):
            with self._translator.lock:
                made.append(self._translator.lines(self._found[first : first + _AT_ONCE], self._now))
            time.sleep(0)  # a lock is given to whoever is running, else
        self.lines, self._found = b"\n".join(made), []

"""Has a group of counters read in a thread of its own, so that one that does not answer holds up no other.

What Windows reads a counter with is a library of whoever wrote the provider, which may wait for ever.
"""

import time
from collections.abc import Callable, Iterable
from threading import Thread

from plimsoll.collect.sources.reading import Group, Reading

PATIENCE_S = 5.0  # more than a loaded machine takes, and less than the 10 s until the next time


class NoAnswer(Exception):
    """A group has not answered for so long (s)."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it has not answered for {seconds:.0f} s")
        self.seconds = seconds


class Patient:
    """A group that is read within `patience_s`. While it does not answer it is not asked again: NoAnswer.

    What it says too late is of a time that is over, and is left out.
    """

    def __init__(
        self, group: Group, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._group = group
        self.patience_s = patience_s
        self._clock = clock
        self._thread: Thread | None = None
        self._asked = 0.0

    def __call__(self) -> Iterable[Reading]:
        """The readings now, or what the group raises."""
        if self._thread is not None and self._thread.is_alive():
            raise NoAnswer(self._clock() - self._asked)
        found: list[Reading] = []
        failed: list[Exception] = []
        self._asked = self._clock()
        self._thread = Thread(target=self._read, args=(found, failed), name="counters", daemon=True)
        self._thread.start()
        self._thread.join(self.patience_s)
        if self._thread.is_alive():
            raise NoAnswer(self._clock() - self._asked)
        if failed:
            raise failed[0]
        return found

    def _read(self, found: list[Reading], failed: list[Exception]) -> None:
        try:
            found.extend(self._group())
        except Exception as error:  # raised again in the thread that asked
            failed.append(error)

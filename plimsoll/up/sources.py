"""Sources of points in this process: the collector, and the simulated host of the demo."""

import logging
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import TypeAlias

from plimsoll.model.points import Points
from plimsoll.model.times import SECOND
from plimsoll.receive.writing import Busy, NotWritten, Writing
from plimsoll.rules.grid import EVERY

# Gives the points of now (UTC ns).
Source: TypeAlias = Callable[[int], Points]
_WRITTEN_WITHIN_S = 60

_log = logging.getLogger(__name__)


class Sources:
    """Asks each source for its points every 10 s, on the grid of evaluations, and has them written."""

    def __init__(self, sources: Sequence[Source], writing: Writing) -> None:
        self._sources = sources
        self._writing = writing
        self._stop = Event()
        self._thread = Thread(target=self._run, name="sources", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is being collected."""
        self._stop.set()
        if self._thread.ident:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait((EVERY - time.time_ns() % EVERY) / SECOND):
            now = time.time_ns()
            for source in self._sources:
                try:
                    self._writing.put(source(now)).result(_WRITTEN_WITHIN_S)
                except Busy:
                    _log.warning("more samples wait to be written than are held: those of this computer are left out")
                except (NotWritten, TimeoutError) as error:
                    _log.error("the samples of this computer cannot be written: %s", error)
                except Exception:  # the others are to go on
                    _log.exception("collecting failed")

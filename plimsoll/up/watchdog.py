"""Watches the alert loop from another thread, as a hanging loop cannot report itself."""

import logging
import time
from collections.abc import Callable
from threading import Event

PATIENCE_S = 60.0
_LOOKS_EVERY_S = 5.0
_log = logging.getLogger(__name__)


class Watchdog:
    """A check of the alert loop, which notifies people if the loop has evaluated nothing for a minute.

    `last` returns the last evaluation, also while the loop catches up on past evaluations. `tell` sends a title and a
    text without using alerts.db. The log says when the loop goes on.
    """

    def __init__(self, last: Callable[[], object], tell: Callable[[str, str], None]) -> None:
        self._last = last
        self._tell = tell
        self._last_value: object = None
        self._since: float | None = None
        self._barked = False

    def run(self, stop: Event) -> None:
        """Check the alert loop every 5 s until `stop` is set."""
        while not stop.wait(_LOOKS_EVERY_S):
            self.look(time.monotonic())

    def look(self, now_s: float) -> None:
        """Check whether there is a new evaluation since the last check. `now_s` is a monotonic time (s)."""
        last = self._last()
        if self._since is None or last != self._last_value:
            self._last_value, self._since = last, now_s
            if self._barked:
                _log.info("limits are judged again")
            self._barked = False
        elif not self._barked and now_s - self._since >= PATIENCE_S:
            self._barked = True
            _log.error("nothing has been judged for a minute: the alert loop does not go on")
            self._tell(
                "Nothing is judged",
                "Plimsoll has evaluated no limit for a minute: until it does, no alert can fire. Its log may say why; "
                "look at the machine it runs on, and restart it if this stays.",
            )

"""Watches the alert loop from outside it: a loop that hangs cannot tell so itself."""

import logging
import time
from collections.abc import Callable
from threading import Event

PATIENCE_S = 60.0
_LOOKS_EVERY_S = 5.0

_log = logging.getLogger(__name__)


class Watchdog:
    """Tells people when the loop has evaluated nothing for a minute, and the log when it goes on.

    `last` gives the last evaluation, which moves while evaluations are caught up, too; `tell` sends a message, with a
    title, that needs no `alerts.db`.
    """

    def __init__(self, last: Callable[[], object], tell: Callable[[str, str], None]) -> None:
        self._last = last
        self._tell = tell
        self._last_value: object = None
        self._since: float | None = None
        self._barked = False

    def run(self, stop: Event) -> None:
        """Look until `stop` is set."""
        while not stop.wait(_LOOKS_EVERY_S):
            self.look(time.monotonic())

    def look(self, now_s: float) -> None:
        """Look whether the loop has gone on."""
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

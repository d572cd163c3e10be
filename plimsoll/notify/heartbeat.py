"""A dead man's switch, which requests an address every minute while evaluations and notifications work.

The service at the address (such as healthchecks.io) notifies somebody when the requests stop.
"""

import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from threading import Event, Thread

from urllib3.exceptions import HTTPError

from plimsoll.model.http_connections import find_last_cause
from plimsoll.model.times import SECOND
from plimsoll.notify.redaction import hide, redact_address
from plimsoll.notify.webhooks import open_pool

INTERVAL = 60 * SECOND
_TIMEOUT_S = 10
_log = logging.getLogger(__name__)


class Heartbeat:
    """Requests `address` every minute while everything works.

    `trouble` returns what does not work, so that the address must not be requested; None if everything works.
    """

    def __init__(self, address: str, trouble: Callable[[int], str | None]) -> None:
        self._address = address
        self._trouble = trouble
        self._last = 0
        self._missed = False
        self._stop = Event()
        self._thread = Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread that sends the requests."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread that sends the requests."""
        self._stop.set()
        self._thread.join(1.0)

    def tick(self, now: int) -> None:
        """Request the address if the last attempt was at least a minute ago and everything works."""
        if 0 <= now - self._last < INTERVAL:
            return
        self._last = now
        why = self._trouble(now) or self._request()
        if why and not self._missed:
            _log.warning("no heartbeat: %s", why)
        elif self._missed and not why:
            _log.info("heartbeat again")
        self._missed = bool(why)

    def _request(self) -> str | None:
        try:
            with open_pool(self._address) as pool:
                answer = pool.request("GET", self._address, timeout=_TIMEOUT_S, redirect=False)
        except (OSError, ValueError, HTTPError) as error:
            return self._explain_failure(find_last_cause(error))
        if answer.status >= HTTPStatus.BAD_REQUEST:
            return self._explain_failure(f"it answers {answer.status}")
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            return self._explain_failure(
                f"it answers {answer.status}; redirects are not followed: write the address it leads to"
            )
        return None

    def _explain_failure(self, text: str) -> str:
        return f"{redact_address(self._address)}: {hide(text, (self._address,))}"

    def _run(self) -> None:
        while not self._stop.wait(1.0):
            try:
                self.tick(time.time_ns())
            except Exception:  # the thread must continue; the missing request alerts people
                _log.exception("the heartbeat failed")

"""Retries calls to a server that is busy or away."""

import math
import time
from collections.abc import Callable
from http import HTTPStatus
from threading import Event, Lock
from typing import TypeVar

from influxdb_client.rest import ApiException
from urllib3.exceptions import HTTPError, LocationParseError

from plimsoll.model.errors import Unreachable
from plimsoll.model.http_connections import last_cause
from plimsoll.model.times import SECOND, duration_text
from plimsoll.store.influx.address import Address, bad_address
from plimsoll.store.influx.errors import NO_TLS, server_message, tls_error, unanswered_advice

# Of the server's errors (5xx, which a stalled InfluxDB answers too) these never end.
_NOT_POSSIBLE = (HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0

Answer = TypeVar("Answer")


class Retry:
    """Repeats a call until it is answered, for at most `seconds`. Safe to use from several threads.

    `notify` gets a sentence when the first call begins to wait, and another when no call waits any more.
    """

    def __init__(self, address: Address, seconds: float, notify: Callable[[str], None]) -> None:
        self._address = address
        self._seconds = seconds
        self._notify = notify
        self._given_up = Event()
        self._lock = Lock()
        self._waiting = 0

    def call(self, call: Callable[[], Answer]) -> Answer:
        """The result of `call`.

        Raises:
            ApiException: The server answered with an error other than being busy.
            Unreachable: It did not answer in time.
        """
        until, pause, waits = time.monotonic() + self._seconds, _FIRST_PAUSE_S, False
        url, answered = self._address.url, False
        try:
            while True:
                try:
                    answer = call()
                except (LocationParseError, UnicodeError):
                    raise bad_address(url) from None
                except (ApiException, HTTPError, OSError) as error:
                    why, wished_s = self._away(error)
                    hint = unanswered_advice(error, self._address)
                else:
                    answered = True
                    return answer
                left = until - time.monotonic()
                if left <= 0:
                    raise Unreachable(f"{url}: {why}; {hint}")
                if not waits:
                    waits = True
                    self._begins(f"{url} {why}: trying again for {duration_text(math.ceil(left) * SECOND)}")
                if self._given_up.wait(min(max(pause, wished_s), max(left, 0.1))):
                    raise Unreachable(f"{url}: {why}")
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        finally:
            if waits:
                self._ends(f"{url} answers again: going on" if answered else "")

    def give_up(self) -> None:
        """Stop waiting in all threads."""
        self._given_up.set()

    def _away(self, error: Exception) -> tuple[str, float]:
        """Why there is no answer, and the pause the server asks for (s). Raises the error if it is an answer."""
        if not isinstance(error, ApiException):
            return f"does not answer ({last_cause(error)})", 0
        if error.status == NO_TLS:
            if found := tls_error(error, self._address):
                raise found from None
            return f"does not answer ({last_cause(error)})", 0
        busy = error.status == HTTPStatus.TOO_MANY_REQUESTS or (error.status or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR
        if not busy or error.status in _NOT_POSSIBLE:
            raise error
        wished = (error.headers or {}).get("Retry-After", "")
        why = f"answers {error.status} ({server_message(error) or HTTPStatus(error.status).phrase})"
        return why, float(wished) if wished.isdecimal() else 0

    def _begins(self, text: str) -> None:
        with self._lock:
            self._waiting += 1
            if self._waiting == 1:
                self._notify(text)

    def _ends(self, text: str) -> None:
        with self._lock:
            self._waiting -= 1
            if self._waiting == 0 and text:
                self._notify(text)

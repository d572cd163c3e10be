"""Patience with a server that is busy or away."""

import time
from collections.abc import Callable
from http import HTTPStatus
from threading import Event, Lock
from typing import TypeVar

from influxdb_client.rest import ApiException
from urllib3.exceptions import HTTPError, LocationParseError

from model.errors import Unreachable
from model.times import duration_text
from store.influx_address import Address, bad_address
from store.influx_errors import NO_TLS, last_cause, server_message, tls_error, unanswered_advice

_BUSY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0

Answer = TypeVar("Answer")


class Retry:
    """Makes each call until it is answered, from several threads if need be, but for no longer than `seconds`.

    `tell` is told in a sentence that the server is waited for, once until all calls that wait are
    answered, and then that it answers again.
    """

    def __init__(self, address: Address, seconds: float, tell: Callable[[str], None]) -> None:
        self._address = address
        self._seconds = seconds
        self._tell = tell
        self._given_up = Event()
        self._lock = Lock()
        self._waiting = 0

    def call(self, call: Callable[[], Answer]) -> Answer:
        """What a call returns. ApiException for any answer but that the server is busy; Unreachable without one."""
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
                    self._begins(f"{url} {why}: trying again for {duration_text(left * 1e9)}")
                if self._given_up.wait(min(max(pause, wished_s), max(left, 0.1))):
                    raise Unreachable(f"{url}: {why}")
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        finally:
            if waits:
                self._ends(f"{url} answers again: going on" if answered else "")

    def give_up(self) -> None:
        """Wait no longer, in any thread: nobody wants the answer any more."""
        self._given_up.set()

    def _away(self, error: Exception) -> tuple[str, float]:
        """Why a server does not answer, and for how long it wishes to be left alone. Raises what is an answer."""
        if not isinstance(error, ApiException):
            return f"does not answer ({last_cause(error)})", 0
        if error.status == NO_TLS:
            if found := tls_error(error, self._address):
                raise found from None
            return f"does not answer ({last_cause(error)})", 0
        if error.status not in _BUSY:
            raise error
        wished = (error.headers or {}).get("Retry-After", "")
        why = f"answers {error.status} ({server_message(error) or HTTPStatus(error.status).phrase})"
        return why, float(wished) if wished.isdecimal() else 0

    def _begins(self, text: str) -> None:
        with self._lock:
            self._waiting += 1
            if self._waiting == 1:
                self._tell(text)

    def _ends(self, text: str) -> None:
        with self._lock:
            self._waiting -= 1
            if self._waiting == 0 and text:
                self._tell(text)

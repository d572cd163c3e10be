"""Tests passwords: few at a time, counted before they are tested, and each failure in the log."""

import asyncio
import logging
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto

from plimsoll.model.errors import printable
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.people import Person
from plimsoll.serve.throttle import Throttle, network_of

_MOST_TESTED = 8
_MOST_KNOWN = 10_000

_log = logging.getLogger(__name__)


class Answer(Enum):
    """Why a password does not let somebody in."""

    WRONG = auto()
    THROTTLED = auto()
    BUSY = auto()


class Login:
    """The passwords that are tested, and those that were right, by address.

    A password takes a part of a second of a thread of its own: nothing else waits for it.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._throttle = Throttle()
        self._pool = ThreadPoolExecutor(1, "passwords")
        self._tested: dict[tuple[str, bytes], asyncio.Task[Person | None]] = {}
        self._known: OrderedDict[tuple[str, bytes], Person] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """How long an address has to wait until its next password is tested; 0 if it need not."""
        return self._throttle.wait_s(address)

    async def answer(self, address: str, name: str, password: str) -> Person | Answer:
        """Who sends a name and password from an address. Each request of a browser that is logged in has them."""
        place, mark = network_of(address), self._credentials.mark(name, password)
        if known := self._known.get((place, mark)):
            return known
        # A browser that has just been told the password sends several requests at once: that is one attempt.
        task = self._tested.get((place, mark))
        if task is None:
            if self._throttle.wait_s(address):
                return Answer.THROTTLED
            if len(self._tested) >= _MOST_TESTED:
                return Answer.BUSY
            self._throttle.attempt(address)
            task = self._tested[place, mark] = asyncio.create_task(self._test(address, name, password, mark))
        return await asyncio.shield(task) or Answer.WRONG

    async def _test(self, address: str, name: str, password: str, mark: bytes) -> Person | None:
        place = network_of(address)
        try:
            loop = asyncio.get_running_loop()
            person = await loop.run_in_executor(self._pool, self._credentials.person, name, password)
        finally:
            del self._tested[place, mark]
        if person:
            self._throttle.succeeded(address)
            self._known[place, mark] = person
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        else:
            wrong("password", address)
        return person


def wrong(what: str, address: str) -> None:
    """Log that an address sent a wrong password or token."""
    _log.warning("a wrong %s from %s", what, printable(address) or "an unknown address")

"""Tests the password for reading: few at a time, counted before they are tested, and each failure in the log."""

import asyncio
import logging
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto

from plimsoll.model.errors import printable
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.throttle import Throttle, network_of

_MOST_TESTED = 8
_MOST_KNOWN = 10_000

_log = logging.getLogger(__name__)


class Answer(Enum):
    """What became of a password."""

    RIGHT = auto()
    WRONG = auto()
    THROTTLED = auto()
    BUSY = auto()


class Login:
    """The passwords that are tested, and those that were right, by address.

    A password takes some tens of milliseconds of a thread of its own: nothing else waits for it.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._throttle = Throttle()
        self._pool = ThreadPoolExecutor(1, "passwords")
        self._tested: dict[tuple[str, bytes], asyncio.Task[bool]] = {}
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """How long an address has to wait until its next password is tested; 0 if it need not."""
        return self._throttle.wait_s(address)

    async def answer(self, address: str, password: str) -> Answer:
        """Whether a password from an address is right. Each request of a browser that is logged in has it."""
        place, mark = network_of(address), self._credentials.mark(password)
        if self._known.get(place) == mark:
            return Answer.RIGHT
        # A browser that has just been told the password sends several requests at once: that is one attempt.
        task = self._tested.get((place, mark))
        if task is None:
            if self._throttle.wait_s(address):
                return Answer.THROTTLED
            if len(self._tested) >= _MOST_TESTED:
                return Answer.BUSY
            self._throttle.attempt(address)
            task = self._tested[place, mark] = asyncio.create_task(self._test(address, password, mark))
        return Answer.RIGHT if await asyncio.shield(task) else Answer.WRONG

    async def _test(self, address: str, password: str, mark: bytes) -> bool:
        place = network_of(address)
        try:
            loop = asyncio.get_running_loop()
            is_right = await loop.run_in_executor(self._pool, self._credentials.may_read, password)
        finally:
            del self._tested[place, mark]
        if is_right:
            self._throttle.succeeded(address)
            self._known[place] = mark
            self._known.move_to_end(place)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        else:
            wrong("password", address)
        return is_right


def wrong(what: str, address: str) -> None:
    """Log that an address sent a wrong password or token."""
    _log.warning("a wrong %s from %s", what, printable(address) or "an unknown address")

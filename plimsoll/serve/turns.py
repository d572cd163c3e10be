"""Lets an address have only so much done at a time, so that the others, and the judging, have their turn."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.serve.answers import later
from plimsoll.serve.throttle import network_of

AT_ONCE = 2  # a page and its charts; a browser asks for some more at a time, and waits
_MOST_WAITING = 64
_AGAIN_S = 5


class Turns:
    """The requests for pages that are being answered, by address. What is being sent does not count."""

    def __init__(self) -> None:
        self._of: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    async def answer(self, app: ASGIApp, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered when its turn comes; refuse it if too many of its address wait."""
        turn = self._of.setdefault(network_of(address), _Turn())
        if turn.waiting >= _MOST_WAITING:
            await later("too much is asked for at the moment", _AGAIN_S)(scope, receive, send)
            return
        async with turn.taken() as done:

            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start":
                    done()
                await send(message)

            await app(scope, receive, sent)


class _Turn:
    """The turn of one address."""

    def __init__(self) -> None:
        self.waiting = 0
        self._free = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[Callable[[], None]]:
        """Wait for the turn. It is given back when the block ends, or earlier, by the function that it gives."""
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        with ExitStack() as held:
            held.callback(self._free.release)
            yield held.close

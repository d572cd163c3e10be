"""uvicorn's protocol, which also closes connections on which no request arrives, and refuses agents beyond a number."""

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from plimsoll.serve.guard.agents import without_agents
from plimsoll.serve.limits import Limits
from plimsoll.serve.throttle import network_of


class Held:
    """The connections that are open, by address."""

    def __init__(self) -> None:
        self.by_address: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many are open."""
        return self.by_address.total()


def guarded_protocol(limits: Limits, connections: Held, *, behind_proxy: bool = False) -> type[H11Protocol]:
    """The protocol. An address may hold so many connections, unless a proxy passes on what others send.

    On a connection beyond those of agents, only people are answered: whoever writes is told when to come back.
    """
    most = limits.connections + limits.reserved if behind_proxy else limits.address_connections
    held = connections.by_address

    class Counted(_guarded(limits)):
        _place = ""

        def connection_made(self, transport: Any) -> None:
            peer = transport.get_extra_info("peername")
            self._place = network_of(str(peer[0])) if peer else ""
            held[self._place] += 1
            super().connection_made(transport)
            if held[self._place] > most or held.total() > limits.connections + limits.reserved:
                transport.abort()
            elif held.total() > limits.connections:
                self.app = without_agents(self.app)

        def connection_lost(self, exc: Exception | None) -> None:
            held[self._place] -= 1
            if not held[self._place]:
                del held[self._place]
            super().connection_lost(exc)

    return Counted


def _guarded(limits: Limits) -> type[H11Protocol]:
    """The protocol. The head of a request must arrive within `head_s` from its first byte, or from connecting.

    As long may a client send on what was answered already.
    """

    class Guarded(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_head()

        def data_received(self, data: bytes) -> None:
            # uvicorn's own limit, for idle connections, ends at the first byte.
            self._expect_head()
            super().data_received(data)
            self._see_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect_head()
            self._see_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _expect_head(self) -> None:
            if self._deadline is None:
                self._deadline = self.loop.call_later(limits.head_s, self.transport.abort)

        def _see_head(self) -> None:
            """Whether a request is being handled, or nothing of the next one was received: then nothing is awaited."""
            handled = bool(self.cycle) and not self.cycle.response_complete  # there is none before the first request
            idle = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            if handled or idle:
                self._forget()

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Guarded

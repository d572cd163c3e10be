"""Connections within limits: a socket that takes only so many, and a protocol that closes those without requests.

The socket counts them before TLS is agreed upon: until then a connection has no protocol yet, but takes a file, of
which a process may have so many.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from plimsoll.serve.access import WRITING
from plimsoll.serve.limits import Limits
from plimsoll.serve.listen import network_of
from plimsoll.serve.responses import later

_COME_BACK_S = 30


def guarded_protocol(limits: Limits, connections: Counter[str], *, behind_proxy: bool = False) -> type[H11Protocol]:
    """Return the protocol. `connections` counts those that are open, by address.

    An address may hold so many connections, unless a proxy passes on what others send. On a connection beyond those of
    agents, only people are answered: agents are sent when to come back. The head of a request must arrive within
    `head_s` from its first byte, or from connecting; as long may a client send on what was answered already.
    """
    max_of_address = limits.connections + limits.reserved if behind_proxy else limits.address_connections

    class Guarded(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _address = ""

        def connection_made(self, transport: Any) -> None:
            peer = transport.get_extra_info("peername")
            self._address = network_of(str(peer[0])) if peer else ""
            connections[self._address] += 1
            super().connection_made(transport)
            self._expect_head()
            if (
                connections[self._address] > max_of_address
                or connections.total() > limits.connections + limits.reserved
            ):
                transport.abort()
            elif connections.total() > limits.connections:
                self.app = without_agents(self.app)

        def data_received(self, data: bytes) -> None:
            # uvicorn's own limit, for idle connections, ends at the first byte.
            self._expect_head()
            super().data_received(data)
            self._check_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect_head()
            self._check_head()

        def connection_lost(self, exc: Exception | None) -> None:
            connections[self._address] -= 1
            if not connections[self._address]:
                del connections[self._address]
            self._cancel_deadline()
            super().connection_lost(exc)

        def _expect_head(self) -> None:
            if self._deadline is None:
                self._deadline = self.loop.call_later(limits.head_s, self.transport.abort)

        def _check_head(self) -> None:
            """Cancel the deadline if a request is being handled, or nothing of the next one was received."""
            is_handled = bool(self.cycle) and not self.cycle.response_complete  # no cycle before the first request
            is_idle = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            if is_handled or is_idle:
                self._cancel_deadline()

        def _cancel_deadline(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Guarded


def without_agents(app: ASGIApp) -> ASGIApp:
    """The application for a connection beyond those for agents: what they send is refused, with the time to come back.

    The connection is closed after the answer, so that it is free for others.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] == "http" and scope["path"] in WRITING:
            await later("too many agents are connected", _COME_BACK_S)(scope, receive, closing)
        else:
            await app(scope, receive, closing)

    return answer


class Listener(socket.socket):
    """Closes a connection at once if its address, or all together, have as many as they may.

    Windows' event loop takes connections in another way; there, only those with a protocol are counted.
    """

    bounds = Limits()
    behind_proxy = False

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._connections: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. ConnectionAbortedError if it is one too many."""
        accepted, address = super().accept()
        network, limits = network_of(str(address[0])), self.bounds
        max_connections = limits.connections + limits.reserved
        max_of_address = max_connections if self.behind_proxy else limits.address_connections
        if self._connections.total() >= max_connections or self._connections[network] >= max_of_address:
            accepted.close()
            raise ConnectionAbortedError
        self._connections[network] += 1
        connection = _Connection(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        connection.on_close = lambda: self._release(network)
        return connection, address

    def _release(self, network: str) -> None:
        self._connections[network] -= 1
        if not self._connections[network]:
            del self._connections[network]


class _Connection(socket.socket):
    """A connection that reports once that it was closed."""

    on_close: Callable[[], None] | None = None

    def close(self) -> None:
        on_close, self.on_close = self.on_close, None
        super().close()
        if on_close is not None:
            on_close()

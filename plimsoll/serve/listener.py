"""A listening socket that takes only so many connections.

It counts them before TLS is agreed upon: until then a connection has no protocol yet, but takes a file, of which a
process may have so many.
"""

import socket
from collections.abc import Callable
from typing import Any

from plimsoll.serve.limits import Limits
from plimsoll.serve.throttle import network_of


class Listener(socket.socket):
    """Closes a connection at once if its address, or all together, have as many as they may.

    Windows' event loop takes connections in another way; there, only those with a protocol are counted.
    """

    bounds = Limits()
    behind_proxy = False

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._held: dict[str, int] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. ConnectionAbortedError if it is one too many."""
        made, address = super().accept()
        place, limits = network_of(str(address[0])), self.bounds
        most = limits.connections + limits.reserved
        own = most if self.behind_proxy else limits.address_connections
        if sum(self._held.values()) >= most or self._held.get(place, 0) >= own:
            made.close()
            raise ConnectionAbortedError
        self._held[place] = self._held.get(place, 0) + 1
        connection = _Connection(made.family, made.type, made.proto, fileno=made.detach())
        connection.ended = lambda: self._release(place)
        return connection, address

    def _release(self, place: str) -> None:
        self._held[place] -= 1
        if not self._held[place]:
            del self._held[place]


class _Connection(socket.socket):
    """A connection that says once that it was closed."""

    ended: Callable[[], None] | None = None

    def close(self) -> None:
        ended, self.ended = self.ended, None
        super().close()
        if ended is not None:
            ended()

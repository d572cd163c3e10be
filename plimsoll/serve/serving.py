"""Serves the web application in a thread, with a limited number of connections.

Connections are counted from before the TLS handshake on: until the handshake ends, uvicorn does not know of the
connection, which already uses a file descriptor.
"""

import asyncio
import logging
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.serve.access import WRITING
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.listen import Listen, find_network
from plimsoll.serve.responses import ask_to_retry

_COME_BACK_S = 30


class Listener(socket.socket):
    """A listening socket that closes a new connection at once if there are too many, of its address or in all.

    On Windows, the event loop does not call `accept`; there, connections are counted only after the TLS handshake.
    """

    bounds = RequestLimits()
    behind_proxy = False

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._connections: Counter[str] = Counter()

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection and its address. Raise ConnectionAbortedError if there are too many."""
        accepted, address = super().accept()
        network, limits = find_network(str(address[0])), self.bounds
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
    """A socket that calls `on_close` when it is closed."""

    on_close: Callable[[], None] | None = None

    def close(self) -> None:
        on_close, self.on_close = self.on_close, None
        super().close()
        if on_close is not None:
            on_close()


_START_S = 30
_BACKLOG = 256
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate chain and its key, in PEM."""

    chain: Path
    key: Path

    def check(self) -> None:
        """Raise Unusable if the certificate and key cannot be used."""
        for file in (self.chain, self.key):
            try:
                file.read_bytes()
            except OSError as error:
                raise Unusable(f"{file}: cannot be read: {error.strerror or error}") from None
        try:
            # An encrypted key would ask for its password on the terminal, which a service lacks.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.chain, self.key, password="")
        except (ssl.SSLError, ValueError, OSError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise Unusable(
                f"{self.chain} and {self.key}: are no certificate and its key in PEM without a password: {reason}"
            ) from None


class _Server(uvicorn.Server):
    """A uvicorn server that waits until it stops, where uvicorn wakes ten times a second."""

    _wake: Callable[[], object] = staticmethod(lambda: None)

    def stop(self) -> None:
        """End the server; any thread may call this."""
        self.should_exit = True
        with suppress(RuntimeError):  # it has ended already
            self._wake()

    async def main_loop(self) -> None:
        """Wait until `stop` is called."""
        stopping = asyncio.Event()
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, stopping.set)
        if not self.should_exit:
            await stopping.wait()


class Serving:
    """An HTTP server running in a thread. Raise Unusable if it cannot listen on its address."""

    def __init__(
        self,
        app: ASGIApp,
        listen: Listen,
        certificate: Certificate | None = None,
        limits: RequestLimits | None = None,
        *,
        behind_proxy: bool = False,
    ) -> None:
        limits = limits or RequestLimits()
        if certificate:
            certificate.check()
        self._socket = _bind_socket(listen)
        self._socket.bounds, self._socket.behind_proxy = limits, behind_proxy
        self._handshake_s = limits.head_s if certificate else None
        host, port = self._socket.getsockname()[:2]
        self.listen = Listen(host, port)
        self._connections = Counter[str]()
        self._most = limits.connections
        self.address = f"{'https' if certificate else 'http'}://{self.listen}"
        config = uvicorn.Config(
            app,
            http=make_guarded_protocol(limits, self._connections, behind_proxy=behind_proxy),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level=logging.ERROR,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=int(limits.idle_s),
            timeout_graceful_shutdown=int(limits.stop_s),
            h11_max_incomplete_event_size=limits.head,
            ssl_certfile=certificate.chain if certificate else None,
            ssl_keyfile=certificate.key if certificate else None,
        )
        self._server = _Server(config)
        self._ended = Event()
        self._thread = Thread(target=self._run, name="web server", daemon=True)
        self._thread.start()
        for _ in range(_START_S * 100):
            if self._server.started or self._ended.wait(0.01):
                break
        if not self._server.started:
            self.stop()
            raise Unusable(f"{self.address}: the web server does not start; see its log")

    def stop(self) -> None:
        """Finish the requests in progress, then close all connections."""
        self._server.stop()
        self._thread.join()
        self._socket.close()

    @property
    def running(self) -> bool:
        """Whether the server runs. If it has ended before `stop` was called, the log says why."""
        return self._thread.is_alive()

    @property
    def connections(self) -> tuple[int, int]:
        """The number of open connections, and the number of connections that agents may have."""
        return self._connections.total(), self._most

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException:  # uvicorn exits
            _log.exception("the web server ended")
        finally:
            self._ended.set()

    async def _serve(self) -> None:
        if self._handshake_s is not None:
            # As long as for the head of a request; uvicorn's default is a minute.
            loop = asyncio.get_running_loop()
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=self._handshake_s)
        await self._server.serve(sockets=[self._socket])


def _bind_socket(listen: Listen) -> Listener:
    """Return a listening socket that is bound to the address. Raise Unusable if that fails."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise Unusable(f"{listen}: cannot listen there: {error.strerror}") from None
    listener = Listener(family, kind, protocol)
    try:
        # On Windows, SO_REUSEADDR would let another program use the same port.
        only_one = socket.SO_EXCLUSIVEADDRUSE if sys.platform == "win32" else socket.SO_REUSEADDR
        listener.setsockopt(socket.SOL_SOCKET, only_one, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise Unusable(
            f"{listen}: cannot listen there: {error.strerror}; stop the other program, "
            f"or choose another with {Parameter.LISTEN}"
        ) from None
    return listener


def make_guarded_protocol(
    limits: RequestLimits, connections: Counter[str], *, behind_proxy: bool = False
) -> type[H11Protocol]:
    """Return the protocol class of connections. `connections` counts the open connections by client address.

    An address may have `address_connections`; behind a proxy, where all requests have one address, it may have all.
    Connections beyond `limits.connections` are for people: on these, agents are told when to retry. The head of a
    request must arrive within `head_s` of its first byte, or of connecting. The rest of a request that was already
    answered must also arrive within `head_s`.
    """
    max_of_address = limits.connections + limits.reserved if behind_proxy else limits.address_connections

    class Guarded(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _address = ""

        def connection_made(self, transport: Any) -> None:
            """Count the connection; if there are too many, close it, or reserve it for people."""
            peer = transport.get_extra_info("peername")
            self._address = find_network(str(peer[0])) if peer else ""
            connections[self._address] += 1
            super().connection_made(transport)
            self._expect_head()
            if (
                connections[self._address] > max_of_address
                or connections.total() > limits.connections + limits.reserved
            ):
                transport.abort()
            elif connections.total() > limits.connections:
                self.app = refuse_agents(self.app)

        def data_received(self, data: bytes) -> None:
            # uvicorn's own limit, on idle connections, ends at the first byte.
            self._expect_head()
            self.server_state.default_headers = [(b"date", formatdate(usegmt=True).encode())]
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
            """Cancel the deadline for a head while a request is handled, or before the next request begins."""
            is_handled = (
                bool(self.cycle) and not self.cycle.response_complete
            )  # there is no cycle before the first request
            is_idle = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            if is_handled or is_idle:
                self._cancel_deadline()

        def _cancel_deadline(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Guarded


def refuse_agents(app: ASGIApp) -> ASGIApp:
    """Return the application for connections reserved for people, which refuses samples of agents.

    The refusal says when to retry. The connection is closed after each response, so that other clients can connect.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] == "http" and scope["path"] in WRITING:
            await ask_to_retry("too many agents are connected", _COME_BACK_S)(scope, receive, closing)
        else:
            await app(scope, receive, closing)

    return answer

"""Serves the web application in a thread."""

import asyncio
import logging
import socket
import ssl
import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread

import uvicorn
from starlette.types import ASGIApp

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.serve.connections import Listener, guarded_protocol
from plimsoll.serve.limits import Limits
from plimsoll.serve.listen import Listen

_START_S = 30
_BACKLOG = 256

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate chain and its key, in PEM."""

    chain: Path
    key: Path

    def check(self) -> None:
        """Raise Unusable if they cannot be used."""
        for file in (self.chain, self.key):
            try:
                file.read_bytes()
            except OSError as error:
                raise Unusable(f"{file}: cannot be read: {error.strerror or error}") from None
        try:
            # A password would be asked for on the terminal, which a service does not have.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.chain, self.key, password="")
        except (ssl.SSLError, ValueError, OSError) as error:
            reason = getattr(error, "reason", None) or str(error)
            raise Unusable(
                f"{self.chain} and {self.key}: are no certificate and its key in PEM without a password: {reason}"
            ) from None


class Serving:
    """A running server. Unusable if it cannot listen."""

    def __init__(
        self,
        app: ASGIApp,
        listen: Listen,
        certificate: Certificate | None = None,
        limits: Limits | None = None,
        *,
        behind_proxy: bool = False,
    ) -> None:
        limits = limits or Limits()
        if certificate:
            certificate.check()
        self._socket = _bound(listen)
        self._socket.bounds, self._socket.behind_proxy = limits, behind_proxy
        self._handshake_s = limits.head_s if certificate else None
        host, port = self._socket.getsockname()[:2]
        self.listen = Listen(host, port)
        self._connections = Counter[str]()
        self._most = limits.connections
        self.address = f"{'https' if certificate else 'http'}://{self.listen}"
        config = uvicorn.Config(
            app,
            http=guarded_protocol(limits, self._connections, behind_proxy=behind_proxy),
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
        self._server = uvicorn.Server(config)
        self._ended = Event()
        self._thread = Thread(target=self._run, name="web server", daemon=True)
        self._thread.start()
        self._wait_until_started()

    def stop(self) -> None:
        """Answer the requests that were begun, then close all connections."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    @property
    def running(self) -> bool:
        """Whether it serves; if not, and `stop` was not called, its log says why."""
        return self._thread.is_alive()

    @property
    def connections(self) -> tuple[int, int]:
        """How many connections are open, and how many may be of agents."""
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
            # As long as for the head of a request; uvicorn leaves it at a minute.
            loop = asyncio.get_running_loop()
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=self._handshake_s)
        await self._server.serve(sockets=[self._socket])

    def _wait_until_started(self) -> None:
        for _ in range(_START_S * 100):
            if self._server.started or self._ended.wait(0.01):
                break
        if not self._server.started:
            self.stop()
            raise Unusable(f"{self.address}: the web server does not start; see its log")


def _bound(listen: Listen) -> Listener:
    """A socket that is bound to the address."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise Unusable(f"{listen}: cannot listen there: {error.strerror}") from None
    made = Listener(family, kind, protocol)
    try:
        # On Windows, SO_REUSEADDR would let another program have the same port.
        only_one = socket.SO_EXCLUSIVEADDRUSE if sys.platform == "win32" else socket.SO_REUSEADDR
        made.setsockopt(socket.SOL_SOCKET, only_one, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise Unusable(
            f"{listen}: cannot listen there: {error.strerror}; stop the other program, "
            f"or choose another with {Parameter.LISTEN}"
        ) from None
    return made

"""The rules: where the server listens, the names it may be called by, and its secrets."""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen, PublicAddress, ip_of
from plimsoll.serve.proxy import TrustedProxy

STORE = "/api/store/"
OWN = "/api/own/"  # other commands of the owner
PUBLIC = "/api/v1"
LOGIN = "/login"
OPEN = frozenset({"/health", "/ping"})
# Of InfluxDB 2 and 1, of Prometheus, and of OpenTelemetry.
WRITING = frozenset({"/api/v2/write", "/write", "/query", "/api/v1/write", "/v1/metrics"})
SAFE = ("GET", "HEAD")
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]]+))(?::[0-9]+)?")


@dataclass(frozen=True)
class Access:
    """The rules: where the server listens, the names it may be called by, and its secrets.

    `login`: the loopback address needs token and password as well. `owner_only`: nothing is answered without the
    owner's token. `url` is the address under which people reach it, by a proxy that may change the scheme and name.
    `proxy` is one that says who asks.
    """

    listen: Listen
    credentials: Credentials
    allowed_hosts: Sequence[str] = ()
    owner_only: bool = False
    login: bool = False
    url: PublicAddress | None = None
    proxy: TrustedProxy | None = None

    @property
    def is_open(self) -> bool:
        """Whether everybody who reaches the server may read and write; to change things where there are users, no."""
        return self.listen.is_loopback and not self.login and not self.owner_only

    @property
    def is_behind_proxy(self) -> bool:
        """Whether a proxy on this machine may pass on what others send."""
        return self.listen.is_loopback and self.login

    def is_named(self, host: str) -> bool:
        """Whether a Host header has a name of this server."""
        found = _HOST.fullmatch(host.lower())
        name = (found["address"] or found["name"].rstrip(".")) if found else ""
        known = {"127.0.0.1", "localhost", "::1", self.listen.host.lower(), *map(str.lower, self.allowed_hosts)}
        if self.listen.is_loopback:
            return name in known
        # A page can only lead a name of its own here, never an IP address.
        return name in known or name == socket.gethostname().lower() or (self.listen.everywhere and bool(ip_of(name)))

"""The rules: where the server listens, the names it may be called by, and its secrets."""

import hmac
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network

from starlette.datastructures import Headers

from plimsoll.model.errors import printable
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen, PublicAddress, ip_of
from plimsoll.serve.principals import Person, RolesOf
from plimsoll.serve.users import UserFile

STORE = "/api/store/"
OWN = "/api/own/"  # other commands of the owner
PUBLIC = "/api/v1"
LOGIN = "/login"
OPEN = frozenset({"/health", "/ping"})
# Of InfluxDB 2 and 1, of Prometheus, and of OpenTelemetry.
WRITING = frozenset({"/api/v2/write", "/write", "/query", "/api/v1/write", "/v1/metrics"})
SAFE = ("GET", "HEAD")
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]]+))(?::[0-9]+)?")
SECRET_HEADER = "X-Plimsoll-Proxy"
_LONGEST = 200
_MOST = 20


class UnknownUser(Exception):
    """The proxy names somebody who has no role here."""


@dataclass(frozen=True)
class TrustedProxy:
    """The proxy: its addresses, the header with the name of who asks, and what else it sends.

    `secret`: of the header X-Plimsoll-Proxy, so that no other program at these addresses can say who asks. `roles`:
    of people whom `plimsoll users add` did not give one, by the values of the header `groups`, if there is one; these
    stand between `separator`s.
    """

    addresses: Sequence[IPv4Network | IPv6Network]
    header: str
    secret: str = ""
    roles: RolesOf = field(default_factory=RolesOf)
    groups: str | None = None
    separator: str = ","

    def is_at(self, address: str) -> bool:
        """Return whether it is at an address."""
        ip = ip_of(address)
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        return ip is not None and any(ip in network for network in self.addresses)

    def person(self, address: str, headers: Headers, users: UserFile) -> Person | None:
        """Return who asks, by what came from an address. None: not of the proxy, or nobody. UnknownUser: no role."""
        names = [name.strip() for name in headers.getlist(self.header)]
        if len(names) != 1 or not names[0] or not self.is_at(address) or not self._is_secret(headers):
            return None
        name = names[0]
        if len(name) > _LONGEST or not name.isprintable():
            raise UnknownUser("the proxy names nobody: the name is too long, or cannot be printed")
        groups = self._groups(headers)
        role = users.role(name) or self.roles.role(groups)
        if role is None:
            have = f", nor has any of the groups {', '.join(map(printable, groups[:_MOST]))}" if groups else ""
            raise UnknownUser(f"{name}: has no role here{have}; plimsoll users add gives one")
        return Person(users.name(name), role, "proxy")

    def _groups(self, headers: Headers) -> list[str]:
        values = headers.getlist(self.groups) if self.groups else []
        return [part.strip() for text in values for part in text.split(self.separator) if part.strip()]

    def _is_secret(self, headers: Headers) -> bool:
        sent = headers.getlist(SECRET_HEADER)
        return not self.secret or (len(sent) == 1 and hmac.compare_digest(sent[0].encode(), self.secret.encode()))


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
        """Return whether a Host header has a name of this server."""
        match = _HOST.fullmatch(host.lower())
        name = (match["address"] or match["name"].rstrip(".")) if match else ""
        names = {"127.0.0.1", "localhost", "::1", self.listen.host.lower(), *map(str.lower, self.allowed_hosts)}
        if self.listen.is_loopback:
            return name in names
        # A page can only lead a name of its own here, never an IP address.
        return name in names or name == socket.gethostname().lower() or (self.listen.everywhere and bool(ip_of(name)))

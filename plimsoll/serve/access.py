"""The rules of access: where the server listens, the host names it answers to, and its secrets."""

import hmac
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network

from starlette.datastructures import Headers

from plimsoll.model.errors import escape
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen, PublicAddress, parse_ip
from plimsoll.serve.principals import Person, RolesOf
from plimsoll.serve.users import UserFile

STORE = "/api/store/"
OWN = "/api/own/"  # for other commands of the owner
PUBLIC = "/api/v1"
LOGIN = "/login"
OPEN = frozenset({"/health", "/ping"})
# The paths for writes of InfluxDB 2 and 1, of Prometheus, and of OpenTelemetry.
WRITING = frozenset({"/api/v2/write", "/write", "/query", "/api/v1/write", "/v1/metrics"})
SAFE = ("GET", "HEAD")
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]]+))(?::[0-9]+)?")
SECRET_HEADER = "X-Plimsoll-Proxy"
_LONGEST = 200
_MOST = 20


class UnknownUser(Exception):
    """The error that the trusted proxy names a person who has no role, or sends an invalid name."""


@dataclass(frozen=True)
class TrustedProxy:
    """A reverse proxy that logs people in: its addresses, and the header in which it sends the person's name.

    The proxy also sends `secret` in the header X-Plimsoll-Proxy, as other programs may use the same addresses. A person
    who is not a user of Plimsoll gets a role by `roles` from the groups in the header `groups`, which are divided by
    `separator`.
    """

    addresses: Sequence[IPv4Network | IPv6Network]
    header: str
    secret: str = ""
    roles: RolesOf = field(default_factory=RolesOf)
    groups: str | None = None
    separator: str = ","

    def is_at(self, address: str) -> bool:
        """Return whether an IP address belongs to the proxy."""
        ip = parse_ip(address)
        if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        return ip is not None and any(ip in network for network in self.addresses)

    def person(self, address: str, headers: Headers, users: UserFile) -> Person | None:
        """Return the person named by the proxy; None if the proxy did not send the request, or named nobody.

        Raise UnknownUser if the person has no role.
        """
        names = [name.strip() for name in headers.getlist(self.header)]
        sent = headers.getlist(SECRET_HEADER)
        is_secret = len(sent) == 1 and hmac.compare_digest(sent[0].encode(), self.secret.encode())
        if len(names) != 1 or not names[0] or not self.is_at(address) or (self.secret and not is_secret):
            return None
        name = names[0]
        if len(name) > _LONGEST or not name.isprintable():
            raise UnknownUser("the proxy names nobody: the name is too long, or cannot be printed")
        values = headers.getlist(self.groups) if self.groups else []
        groups = [part.strip() for text in values for part in text.split(self.separator) if part.strip()]
        role = users.role(name) or self.roles.role(groups)
        if role is None:
            have = f", nor has any of the groups {', '.join(map(escape, groups[:_MOST]))}" if groups else ""
            raise UnknownUser(f"{name}: has no role here{have}; plimsoll users add gives one")
        return Person(users.name(name), role, "proxy")


@dataclass(frozen=True)
class Access:
    """The rules of access: where the server listens, the host names it answers to, and its secrets.

    With `login`, even requests from this machine need a token or password. With `owner_only`, every request needs the
    owner's token. `url` is the public address if a proxy changes scheme or name. `proxy` is a proxy that logs people
    in.
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
        """Whether reading and writing samples needs neither token nor password.

        If there are users, changes need a login nevertheless.
        """
        return self.listen.is_loopback and not self.login and not self.owner_only

    @property
    def is_behind_proxy(self) -> bool:
        """Whether a proxy on this machine may forward requests of other machines."""
        return self.listen.is_loopback and self.login

    def is_named(self, host: str) -> bool:
        """Return whether a Host header has one of this server's names."""
        match = _HOST.fullmatch(host.lower())
        name = (match["address"] or match["name"].rstrip(".")) if match else ""
        names = {"127.0.0.1", "localhost", "::1", self.listen.host.lower(), *map(str.lower, self.allowed_hosts)}
        if self.listen.is_loopback:
            return name in names
        # A foreign page can only make its own host name resolve to here, never an IP address.
        return (
            name in names or name == socket.gethostname().lower() or (self.listen.everywhere and bool(parse_ip(name)))
        )

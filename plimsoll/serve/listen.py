"""The address that `plimsoll up` listens on."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from plimsoll.model.errors import Unusable

DEFAULT_PORT = 8087
_LOOPBACK = "127.0.0.1"
_ADDRESS = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Listen:
    """An address to listen on: a host name or IP address without brackets, and a port (0: any free port)."""

    host: str = _LOOPBACK
    port: int = DEFAULT_PORT

    @classmethod
    def parse(cls, text: str) -> "Listen":
        """Parse `HOST`, `HOST:PORT`, `[IPv6]:PORT` or `:PORT`. Raise Unusable for any other text."""
        match = _ADDRESS.fullmatch(text)
        port = int(match["port"]) if match and match["port"] else DEFAULT_PORT
        if match is None or not text or port > 65_535:
            raise Unusable(f"{text}: is no address to listen on; write HOST:PORT, such as 127.0.0.1:{DEFAULT_PORT}")
        return cls(match["host"].strip("[]") or _LOOPBACK, port)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return self.host.lower() == "localhost" or ((ip := parse_ip(self.host)) is not None and ip.is_loopback)

    @property
    def everywhere(self) -> bool:
        """Whether the address means all addresses of the machine."""
        return (ip := parse_ip(self.host)) is not None and ip.is_unspecified

    def url(self, *, tls: bool) -> str:
        """Return the URL to show to people, with the machine's name if the server listens on all addresses."""
        return f"{'https' if tls else 'http'}://{Listen(socket.gethostname(), self.port) if self.everywhere else self}"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """The address at which people reach the server: `https://plimsoll.example.org`."""

    scheme: str
    host: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "PublicAddress":
        """Parse `https://HOST` or `https://HOST:PORT`. Raise Unusable for any other text, such as a URL with a path."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        extra = parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password
        if parts.scheme not in ("http", "https") or not parts.hostname or extra:
            raise Unusable(f"{text}: is no address of pages; write https://HOST or https://HOST:PORT, without a path")
        return cls(parts.scheme, parts.hostname, port)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return Listen(self.host).is_loopback

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}"


def parse_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a text as an IP address; None if it is no address."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def find_network(address: str) -> str:
    """Return an IPv4 address unchanged; of an IPv6 address, its /64 network, as one host may use all its addresses."""
    ip = parse_ip(address)
    return address if ip is None or ip.version == 4 else ip.exploded[:19]

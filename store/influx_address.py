"""Where an InfluxDB is, and who we are to it."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from model.errors import Unusable


@dataclass(frozen=True)
class Address:
    """A bucket of an InfluxDB, and a token that may use it. Unusable if the URL is none."""

    url: str
    org: str
    bucket: str
    token: str

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise bad_address(self.url)

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def bad_address(url: str) -> Unusable:
    """What is said of a URL that is none."""
    return Unusable(f'store "{url}": is not an address; write it like http://127.0.0.1:8086')

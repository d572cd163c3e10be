"""The address of an InfluxDB bucket, with its token."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll.model.errors import Unusable


@dataclass(frozen=True)
class InfluxAddress:
    """The address of an InfluxDB bucket, with a token. Raise Unusable if the URL is invalid.

    `token_file` is the file of the token; None if the token is from the environment. `policy` is a retention policy of
    InfluxDB 1, if it is not the default one.
    """

    url: str
    org: str
    bucket: str
    token: str
    token_file: Path | None = field(default=None, kw_only=True)
    policy: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise explain_bad_address(self.url)

    @property
    def token_place(self) -> str:
        """The origin of the token, in words for messages."""
        return str(self.token_file or "INFLUX_TOKEN")


def explain_bad_address(url: str) -> Unusable:
    """Return the error for an invalid URL."""
    return Unusable(f'store "{url}": is not an address; write it like http://127.0.0.1:8086')

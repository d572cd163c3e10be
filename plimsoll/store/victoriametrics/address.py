"""The address of a VictoriaMetrics: its URLs for writing and for reading."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from plimsoll.model.errors import Unusable

SCHEMES = {"victoriametrics": "http", "victoriametrics+https": "https"}
TOKEN = "VICTORIAMETRICS_TOKEN"


def is_victoriametrics(store: str) -> bool:
    """Return whether the text that names a store is the address of a VictoriaMetrics."""
    return store.partition("://")[0].casefold() in SCHEMES


@dataclass(frozen=True)
class VictoriaMetricsAddress:
    """The base URLs of a VictoriaMetrics for writing and for reading samples.

    `name` is the address as given by the user, without secrets. `token` is sent as `Authorization: Bearer`, for vmauth.
    """

    name: str
    write: str
    read: str
    token: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str, token: str = "") -> "VictoriaMetricsAddress":
        """Return the address `victoriametrics://HOST:8428`, or of a cluster with two comma-separated paths.

        The paths belong to vminsert and vmselect: `/insert/0/influx,/select/0`. The second may be on another host:
        `victoriametrics://vminsert:8480/insert/0/influx,vmselect:8481/select/0`. Raise Unusable if the text is not such
        an address.
        """
        scheme, _, rest = text.strip().partition("://")
        kind = SCHEMES.get(scheme.casefold())
        written, comma, second = (part.strip().rstrip("/") for part in rest.partition(","))
        if kind is None or not written or (comma and not second) or "," in second:
            raise _explain_bad_address(text)
        to_write = _check_url(f"{kind}://{written}", text)
        if not comma:
            to_read = to_write
        elif second.startswith("/"):
            to_read = _check_url(f"{kind}://{written.partition('/')[0]}{second}", text)
        else:
            to_read = _check_url(f"{kind}://{second}", text)
        if "/insert/" in to_read or "/select/" in to_write:
            raise Unusable(
                f'store "{text}": a cluster is written to at one address and read from at another; name both: '
                "victoriametrics://HOST:8427/insert/0/influx,/select/0"
            )
        if not token.isascii() or (token and not token.isprintable()):
            raise Unusable(f"{text}: what {TOKEN} holds is no token: it has a character no token has")
        return cls(
            text.strip().rstrip("/"), _add_ending(to_write, "/influx"), _add_ending(to_read, "/prometheus"), token
        )


def _check_url(url: str, text: str) -> str:
    """Return a URL unchanged. Raise Unusable, naming the address `text`, if the URL is invalid or contains secrets."""
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0 and not parts.query and not parts.fragment
    except ValueError:
        usable = False
        parts = None
    if not usable or parts is None:
        raise _explain_bad_address(text)
    if parts.username or parts.password:
        raise Unusable(f"store at {parts.hostname}: its address must hold no password; give a token in {TOKEN}")
    return url


def _add_ending(url: str, end: str) -> str:
    """Return a URL with `end`, the start of the path of every call, appended if it is missing."""
    return url if url.endswith(end) else url + end


def _explain_bad_address(text: str) -> Unusable:
    return Unusable(f'store "{text}": is not an address; write it like victoriametrics://127.0.0.1:8428')

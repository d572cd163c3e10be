"""The address of a server as a source of samples: `prometheus://HOST:9090?host=WEB1&from=22:00&to=23:30`."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import parse_qsl, urlsplit

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.time_arguments import TimeRange

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE)
_RANGE = ("from", "to", "last")
_MANY = "host"


@dataclass(frozen=True)
class ServerAddress:
    """The address of a server, and what to read from the server.

    `name` is the address for people, without the query; `url` that of the HTTP API. `hosts` are the hosts to read,
    all hosts if empty. `when` is the range of time in the query, `settings` the rest of the query.
    """

    scheme: str
    name: str
    url: str
    hosts: tuple[str, ...]
    when: TimeRange
    settings: Mapping[str, str]

    @classmethod
    def parse(cls, text: str, settings: Collection[str]) -> "ServerAddress":
        """Return the address in a text that has a scheme (see `find_scheme`). Its query may have these `settings`.

        Raise Unusable if the text is no valid server address, or contains a password.
        """
        whole, _, query = text.partition("?")
        scheme, _, rest = whole.partition(":")
        kind, plus, tls = scheme.casefold().partition("+")
        url = f"{'https' if tls else 'http'}:{rest.rstrip('/')}"
        try:
            parts = urlsplit(url)
            usable = bool(parts.hostname) and parts.port != 0 and not parts.fragment and rest.startswith("//")
        except ValueError:
            raise _explain_address(text, kind) from None
        if not usable or (plus and tls != "https"):
            raise _explain_address(text, kind)
        if parts.username or parts.password:
            raise Unusable(f"{kind}://{parts.hostname}: its address must hold no password; the environment has it")
        # A time has its offset behind a plus sign, which a query otherwise has for a space.
        pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)
        allowed = (_MANY, *_RANGE, *settings)
        if strange := [name for name, value in pairs if name not in allowed or not value]:
            raise Unusable(
                f"{whole}: {strange[0]} in its address is not known, or empty; known are {', '.join(allowed)}"
            )
        fields = dict(pairs)
        hosts = tuple(value for name, value in pairs if name == _MANY)
        when = TimeRange(*(fields.get(name) for name in _RANGE))
        rest_of_query = {name: fields[name] for name in settings if name in fields}
        return cls(kind, whole.rstrip("/"), url, hosts, when, rest_of_query)


def find_scheme(source: str, schemes: Mapping[str, object]) -> str | None:
    """Return the scheme of a source that is the URL of a server; None if the source is no URL.

    Raise Unusable for a URL whose scheme is not in `schemes`, or that lost a slash because it was taken for a path.
    """
    match = _URL.fullmatch(source)
    if match is None:
        return None
    scheme = match[1].casefold().partition("+")[0]
    if scheme in schemes and "://" in source:
        return scheme
    rest = match[2].partition("?")[0].rpartition("@")[2]
    raise Unusable(
        f"{match[1]}://{rest}: is no log; for what a server recorded, write prometheus://HOST:9090 (Prometheus, "
        "VictoriaMetrics, Thanos, Mimir) or influxdb://HOST:8086, with +https behind the first word where it speaks TLS"
    )


def _explain_address(text: str, scheme: str) -> Unusable:
    return Unusable(f'"{text}": is not an address; write it like {scheme}://127.0.0.1:9090')

"""Finds the address of the store and the token for it.

Both come from one place: the environment, or the .env file of the current folder. A token is never sent to
an address of another place, except that a token of the environment goes to an address that the same person typed. So a
.env file in a folder of someone else's logs cannot direct a token to its own address.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.store.influx.address import Address, bad_address

ENV_FILE = Path(".env")  # docker compose reads it, too
_URL = "INFLUX_URL"
_TOKEN = "INFLUX_TOKEN"


@dataclass(frozen=True)
class Place:
    """The environment, or a file of settings."""

    settings: Mapping[str, str]
    file: Path | None = None

    @property
    def url(self) -> str:
        """The address it names; empty if it names none."""
        return self.settings.get(_URL, "")

    @property
    def token(self) -> str:
        """Its token; empty if it has none."""
        return self.settings.get(_TOKEN, "")

    def has_token_for(self, url: str) -> bool:
        """Whether it has a token and names this address, or the same without TLS."""
        # https for a server without TLS: use its token, so that the error is about TLS and not about a missing token.
        return bool(self.token) and _without_query(self.url) in (url, url.replace("https:", "http:", 1))


def store_address(typed: str | None, environment: Mapping[str, str]) -> Address | None:
    """The address, organisation, bucket and token: from --store, else the environment, else .env.

    None if none of them names a server. Unusable if there is no token for it.
    """
    environ = Place(environment)
    whole = typed or environ.url
    if whole:
        url = _without_query(whole)
        place = environ if _is_for(environ, url) else _file_for(url, environ)
    else:
        place = _first_file(environ)
        if place is None:
            return None
        whole, url = place.url, _without_query(place.url)
    token = place.token
    if not token.isascii() or not token.isprintable():
        where = f" in {place.file}" if place.file else ""
        raise Unusable(f"{url}: what {_TOKEN}{where} holds is no token: it has a character no token has")
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(whole).query).items()}
    known = {**place.settings, **environment}
    org, bucket = (asked.get(name) or known.get(f"INFLUX_{name.upper()}") or "plimsoll" for name in ("org", "bucket"))
    return Address(url, org, bucket, token, token_file=place.file)


def _is_for(environ: Place, url: str) -> bool:
    """Whether the environment's token is for this address: it names the same address, or none."""
    return bool(environ.token) and (not environ.url or environ.has_token_for(url))


def _file_for(url: str, environ: Place) -> Place:
    """The file that names this address and has a token."""
    place = _env_file()
    if place.has_token_for(url):
        return place
    if environ.token:
        raise Unusable(
            f"{url}: no token; {_TOKEN} in the environment is for {_without_query(environ.url)}, the {_URL} there; set "
            "both for this address"
        )
    raise Unusable(
        f"{url}: no token; give one that may read and write in {_TOKEN} (docs/docker.md tells where the stack in "
        "Docker has it)"
    )


def _first_file(environ: Place) -> Place | None:
    """The first file that names an address, which must have a token, too; None if none does."""
    place = _env_file()
    if not place.url:
        return None
    if place.token:
        return place
    url = _without_query(place.url)
    if environ.token:
        raise Unusable(
            f"{_TOKEN} in the environment is not sent to {url}, which only {place.file} names; if it "
            f"belongs there, add {Parameter.STORE} {url}, or write {_TOKEN}=... into that file"
        )
    raise Unusable(f"{place.file}: names {url} and no token; write {_TOKEN}=... into it (docs/docker.md tells how)")


def _env_file() -> Place:
    return Place(_pairs(ENV_FILE) if ENV_FILE.is_file() else {}, ENV_FILE.absolute())


def _without_query(whole: str) -> str:
    """An address without its query, user and password."""
    try:
        parts = urlsplit(whole)
    except ValueError:
        raise bad_address(whole) from None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _pairs(path: Path) -> dict[str, str]:
    """The settings of a file of NAME=value lines; other lines are ignored."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}

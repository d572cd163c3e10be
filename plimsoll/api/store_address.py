"""Finds the address of the InfluxDB store, and its token.

A token is only sent to the address that its own source names: the environment, or the .env file of the current
folder. So a .env file in a folder of foreign logs cannot direct the user's token to its address. There is one
exception: a token from the environment is sent to an address that the user typed.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.store.influx.address import InfluxAddress, explain_bad_address

ENV_FILE = Path(".env")  # docker compose reads it, too
_URL, _TOKEN = "INFLUX_URL", "INFLUX_TOKEN"


def store_address(typed: str | None, environment: Mapping[str, str]) -> InfluxAddress | None:
    """Return the address, organisation, bucket and token of InfluxDB: from `typed` (--store), the environment, or .env.

    Return None if none of the three names a server. Raise Unusable if there is no token for the server.
    """
    file = ENV_FILE.absolute()
    in_file = _read_pairs(ENV_FILE) if ENV_FILE.is_file() else {}
    whole = typed or environment.get(_URL) or in_file.get(_URL, "")
    if not whole:
        return None
    url, token_of_environment = _strip_query(whole), environment.get(_TOKEN, "")
    if token_of_environment and (_is_named_url(environment, url) or (typed and not environment.get(_URL))):
        place, token_file = environment, None
    elif in_file.get(_TOKEN) and _is_named_url(in_file, url):
        place, token_file = in_file, file
    else:
        raise _explain_missing_token(url, environment, None if typed or environment.get(_URL) else file)
    token = place[_TOKEN]
    if not token.isascii() or not token.isprintable():
        where = f" in {token_file}" if token_file else ""
        raise Unusable(f"{url}: what {_TOKEN}{where} holds is no token: it has a character no token has")
    query = {name: values[-1] for name, values in parse_qs(urlsplit(whole).query).items()}
    settings = {**place, **environment}
    org, bucket = (
        query.get(name) or settings.get(f"INFLUX_{name.upper()}") or "plimsoll" for name in ("org", "bucket")
    )
    return InfluxAddress(url, org, bucket, token, token_file=token_file)


def _is_named_url(settings: Mapping[str, str], url: str) -> bool:
    """Return whether INFLUX_URL in `settings` is this URL, or the same URL with http in place of https.

    So a token for http is used if https is typed, and the error is about the server's missing TLS, not the token.
    """
    return bool(settings.get(_URL)) and _strip_query(settings[_URL]) in (url, url.replace("https:", "http:", 1))


def _explain_missing_token(url: str, environment: Mapping[str, str], file: Path | None) -> Unusable:
    """Return the error that a URL has no token. `file` is the .env file that alone names the URL, else None."""
    if file and environment.get(_TOKEN):
        return Unusable(
            f"{_TOKEN} in the environment is not sent to {url}, which only {file} names; if it "
            f"belongs there, add {Parameter.STORE} {url}, or write {_TOKEN}=... into that file"
        )
    if file:
        return Unusable(f"{file}: names {url} and no token; write {_TOKEN}=... into it (docs/docker.md tells how)")
    if environment.get(_TOKEN):
        return Unusable(
            f"{url}: no token; {_TOKEN} in the environment is for {_strip_query(environment[_URL])}, the {_URL} "
            "there; set both for this address"
        )
    return Unusable(
        f"{url}: no token; give one that may read and write in {_TOKEN} (docs/docker.md tells where the stack in "
        "Docker has it)"
    )


def _strip_query(whole: str) -> str:
    """Return a URL without its query, user and password. Raise Unusable if it is not a URL."""
    try:
        parts = urlsplit(whole)
    except ValueError:
        raise explain_bad_address(whole) from None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _read_pairs(path: Path) -> dict[str, str]:
    """Return the settings in a file of NAME=value lines, without comments and other lines."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}

"""Opens the store: the one named with --store, in the environment or in .env, else the native stack's."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from rich.console import Console

from model.errors import Unusable
from native import folders
from native.influx import InfluxDB
from store.influx import InfluxStore
from store.influx_address import Address, bad_address
from store.influx_server import Server

ENV_FILE = Path(".env")  # docker compose reads it, too


@contextmanager
def open_store(url: str | None) -> Generator[InfluxStore]:
    """The store at a URL, or the one `store_address` finds. Unusable if there is none, or no token for it."""
    console = Console(stderr=True, emoji=False)

    def print_progress(text: str) -> None:
        console.print(text, soft_wrap=True, highlight=False, markup=False, style="dim")

    server = Server(store_address(url, os.environ), waiting=print_progress)
    try:
        yield InfluxStore(server)
    finally:
        server.close()


def store_address(url: str | None, environment: Mapping[str, str]) -> Address:
    """The address, organisation, bucket and token: from the URL, else the environment, else the stack's settings.

    The stack's token is sent to the stack only. Unusable if there is no store, or no token for it.
    """
    named = url or environment.get("INFLUX_URL")
    stack = _stack(needed=not (named and environment.get("INFLUX_TOKEN")))
    whole = named or stack.get("INFLUX_URL")
    if not whole:
        raise Unusable(
            "no store: name one with --store http://HOST:8086 and its token in INFLUX_TOKEN, or start one with "
            "plimsoll stack start"
        )
    try:
        parts = urlsplit(whole)
    except ValueError:
        raise bad_address(whole) from None
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
    # https for a stack without TLS: use its token, so that the error is about TLS and not about a missing token.
    is_stack = stack.get("INFLUX_URL", "").rstrip("/") in (place, place.replace("https:", "http:", 1))
    known = {**(stack if is_stack else {}), **environment}
    asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    token = environment.get("INFLUX_TOKEN") or known.get("INFLUX_TOKEN") or known.get("INFLUX_TOKEN_INGEST")
    if not token:
        raise Unusable(
            f"{place}: no token; give one that may read and write in INFLUX_TOKEN "
            "(docs/docker.md tells where the stack in Docker has it)"
        )
    if not token.isascii() or not token.isprintable():
        raise Unusable(f"{place}: what INFLUX_TOKEN holds is no token: it has a character no token has")
    org, bucket = (asked.get(name) or known.get(f"INFLUX_{name.upper()}") or "plimsoll" for name in ("org", "bucket"))
    return Address(place, org, bucket, token)


def _stack(*, needed: bool) -> dict[str, str]:
    """The stack's settings: from .env if it names an InfluxDB, else those of the native stack.

    Unusable if they cannot be read and are needed.
    """
    try:
        docker = _pairs(ENV_FILE) if ENV_FILE.is_file() else {}
        return docker if docker.get("INFLUX_URL") else InfluxDB(folders.stack()).settings()
    except Unusable:
        if needed:
            raise
        return {}


def _pairs(path: Path) -> dict[str, str]:
    """The settings of a file of NAME=value lines; other lines are ignored."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, equals, value in pairs if equals}

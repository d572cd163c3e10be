"""The store a command works on: the one named, the environment's, or that of the stack that runs here."""

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
from store.influx_server import Address, Server

ENV_FILE = Path(".env")  # docker compose's own, where the stack runs in Docker


@contextmanager
def opened(url: str | None) -> Generator[InfluxStore]:
    """The store to work on. Unusable if none is known, or its token is not."""
    console = Console(stderr=True, emoji=False)

    def waiting(text: str) -> None:
        console.print(text, soft_wrap=True, highlight=False, markup=False, style="dim")

    server = Server(address(url, os.environ), waiting=waiting)
    try:
        yield InfluxStore(server)
    finally:
        server.close()


def address(url: str | None, environment: Mapping[str, str]) -> Address:
    """Where the store is. Each setting is the URL's, else the environment's, else the stack's that runs here."""
    known = {**_stack(), **environment}
    whole = url or known.get("INFLUX_URL")
    if not whole:
        raise Unusable(
            "no store: name one with --store http://HOST:8086 and its token in INFLUX_TOKEN, or start one with "
            "plimsoll stack start"
        )
    try:
        named = urlsplit(whole)
    except ValueError:
        raise Unusable(f'store "{whole}": is not an address; write it like http://127.0.0.1:8086') from None
    asked = {name: values[-1] for name, values in parse_qs(named.query).items()}
    token = environment.get("INFLUX_TOKEN") or known.get("INFLUX_TOKEN_INGEST")
    if not token:
        raise Unusable(
            f"{named.scheme}://{named.netloc}: no token; give one that may read and write in INFLUX_TOKEN "
            "(docs/docker.md tells where the stack in Docker has it)"
        )
    return Address(
        f"{named.scheme}://{named.netloc}{named.path}",
        asked.get("org") or known.get("INFLUX_ORG", "plimsoll"),
        asked.get("bucket") or known.get("INFLUX_BUCKET", "plimsoll"),
        token,
    )


def _stack() -> dict[str, str]:
    """The settings of the stack in Docker whose folder this is, else of the native one."""
    if ENV_FILE.is_file():
        return _pairs(ENV_FILE)
    return InfluxDB(folders.stack()).settings()


def _pairs(path: Path) -> dict[str, str]:
    """The settings of a file of NAME=value lines that need not all be ours."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}

"""Opens the store that commands read and write."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from plimsoll.store_address import store_address
from store.influx import InfluxStore
from store.influx_server import Server


@contextmanager
def open_store(url: str | None) -> Generator[InfluxStore]:
    """The store at a URL, or the one `store_address` finds. Unusable if there is none, or no token for it."""
    console = Console(stderr=True, emoji=False)

    def print_progress(text: str) -> None:
        console.print(text, soft_wrap=True, highlight=False, markup=False, style="dim")

    address = store_address(url, os.environ)
    if address.token_file:
        print_progress(f"store: {address.url}, with the token in {address.token_file}")
    server = Server(address, waiting=print_progress)
    try:
        yield InfluxStore(server)
    finally:
        server.close()

"""Opens the store that commands read and write."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from plimsoll.console import print_notice
from plimsoll.store_address import store_address
from store.influx import InfluxStore
from store.influx_server import Server


@contextmanager
def open_store(url: str | None) -> Generator[InfluxStore]:
    """The store at a URL, or the one `store_address` finds. Unusable if there is none, or no token for it."""
    address = store_address(url, os.environ)
    if address.token_file:
        print_notice(f"store: {address.url}, with the token in {address.token_file}")
    server = Server(address, waiting=print_notice)
    try:
        yield InfluxStore(server)
    finally:
        server.close()

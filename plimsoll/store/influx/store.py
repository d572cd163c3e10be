"""Opens the store in a bucket of InfluxDB 2: live samples as Telegraf writes them, and runs."""

from collections.abc import Callable

from plimsoll.store.influx.address import Address
from plimsoll.store.influx.runs import InfluxRuns
from plimsoll.store.influx.samples import InfluxSamples
from plimsoll.store.influx.server import Server
from plimsoll.store.store import Store


def open_influx(address: Address, waiting: Callable[[str], None] = lambda _: None) -> Store:
    """Open the store of a bucket. `waiting` is called with a sentence when a call begins or ends to wait."""
    return influx_store(Server(address, waiting=waiting))


def influx_store(server: Server) -> Store:
    """Return the store in the bucket of a server."""
    address = server.address
    place = ("influx", address.url, address.org, address.bucket, address.token)
    return Store(InfluxSamples(server), InfluxRuns(server), runs_place=place)

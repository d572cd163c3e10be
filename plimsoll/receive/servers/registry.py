"""The kinds of servers that can be read: the scheme of the address, its settings, and the reader."""

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.receive.servers.address import ServerAddress

if TYPE_CHECKING:  # `show` of a log needs no rules
    from plimsoll.rules.schema.signal import Signal

Notify = Callable[[str], None]


class ServerKind(NamedTuple):
    """A kind of server: the name of the program, the settings in its address, and a function that opens its samples."""

    title: str
    settings: tuple[str, ...]
    opened: Callable[[ServerAddress, "Mapping[str, Signal]", Notify], closing[Any]]


def _prometheus(address: ServerAddress, signals: "Mapping[str, Signal]", notify: Notify) -> closing[Any]:
    from plimsoll.receive.servers.prometheus import PrometheusSamples  # noqa: PLC0415  few need its client

    return closing(PrometheusSamples(address, signals, notify))


def _influxdb(address: ServerAddress, _: "Mapping[str, Signal]", notify: Notify) -> closing[Any]:
    from plimsoll.receive.servers.influxdb import open_influxdb  # noqa: PLC0415  few need its client

    return closing(open_influxdb(address, notify))


SERVERS: Mapping[str, ServerKind] = {
    "prometheus": ServerKind("Prometheus", ("match",), _prometheus),
    "influxdb": ServerKind("InfluxDB", ("bucket", "db", "rp", "org"), _influxdb),
}

"""The kinds of servers that can be read: the scheme of the address, its settings, and the module that reads it."""

from collections.abc import Callable, Mapping
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll.receive.servers.address import ServerAddress

if TYPE_CHECKING:  # `show` of a log needs no rules
    from plimsoll.receive.servers.renamed import StoredNames
    from plimsoll.rules.schema.signal import Signal

Notify = Callable[[str], None]


class ServerKind(NamedTuple):
    """A kind of server: the name of the program, the settings in its address, and the module that reads it.

    The module is imported when a server of its kind is read, as its client is slow to import.
    """

    title: str
    settings: tuple[str, ...]
    module: str

    def open(
        self, address: ServerAddress, signals: "Mapping[str, Signal]", names: "StoredNames", notify: Notify
    ) -> closing[Any]:
        """Return a context with the reader of a server, closed at its end. Raise Unusable for an unusable address."""
        module = import_module(f"plimsoll.receive.servers.{self.module}")
        return closing(module.open_samples(address, signals, names, notify))


SERVERS: Mapping[str, ServerKind] = {
    "prometheus": ServerKind("Prometheus", ("match",), "prometheus"),
    "influxdb": ServerKind("InfluxDB", ("bucket", "db", "rp", "org"), "influxdb"),
}

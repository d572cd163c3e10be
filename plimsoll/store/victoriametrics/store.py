"""Opens the store that has live samples in VictoriaMetrics, and runs in another store beside it."""

from collections.abc import Callable, Collection

from plimsoll.store.store import Store
from plimsoll.store.victoriametrics.address import Address
from plimsoll.store.victoriametrics.leader_election import LeaderElection
from plimsoll.store.victoriametrics.names import Measurements
from plimsoll.store.victoriametrics.samples import VictoriaSamples
from plimsoll.store.victoriametrics.server import Server


def open_victoria(address: Address, beside: Store, measurements: Callable[[], Collection[str]]) -> Store:
    """Open the store of a VictoriaMetrics. `measurements`: more than the shipped ones, to split metric names."""
    server = Server(address)
    return victoria_store(VictoriaSamples(server, Measurements(measurements)), beside)


def victoria_store(live: VictoriaSamples, beside: Store) -> Store:
    """Return the store of live samples in a VictoriaMetrics and all that the store `beside` has."""
    name = f"{live.name}, runs in {beside.name}"
    return Store(live, beside.runs, name=name, beside=beside, election=LeaderElection(live.server))

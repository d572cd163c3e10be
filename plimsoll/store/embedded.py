"""The embedded store that a store has, or is."""

from plimsoll.store.duck.store import DuckStore
from plimsoll.store.protocol import Store
from plimsoll.store.victoriametrics.store import VictoriaStore


def embedded(store: Store) -> DuckStore | None:
    """The embedded store of this process: the store itself, or the one beside it; None if there is none."""
    found = store.beside if isinstance(store, VictoriaStore) else store
    return found if isinstance(found, DuckStore) else None

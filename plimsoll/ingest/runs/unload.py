"""Deletes a run from a store."""

from collections.abc import Callable

from plimsoll.ingest.runs.load import find
from plimsoll.model.errors import Unusable
from plimsoll.store.lease import leased
from plimsoll.store.protocol import RunStore, State, Work


def unload(store: RunStore, name: str, *, force: bool = False, notify: Callable[[str], None] = lambda _: None) -> None:
    """Delete a run with its samples; live samples and those of other runs stay.

    `force` ends a load or a deletion of it that another command is at. `notify` gets a sentence when another command is
    waited for.

    Raises:
        Unusable: There is no such run, or another command loads or deletes it.
        LeaseEnded: Another command took the run over.
    """
    if not find(store, name):
        names = ", ".join(run.name for run in store.summaries()) or "none"
        raise Unusable(f'run "{name}" is not in {store.name}; it has {names}')
    with leased(store.claims, name, Work.DELETING, force=force, notify=notify) as lease:
        # A run has a second generation if saving it was cut off.
        while listed := find(store, name):
            lease.check()
            if listed.generation:  # a run that an early version wrote to InfluxDB has none
                store.mark(listed, State.DELETING, loaded=0, refused=listed.refused)
            store.forget(listed)

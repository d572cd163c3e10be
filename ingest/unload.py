"""Deletes a run from a store."""

from collections.abc import Callable
from dataclasses import dataclass

from ingest.load import find, recordings
from ingest.loadable import meet
from model.errors import Unusable
from store.lease import Lease, LeaseEnded, leased
from store.protocol import RunSummary, Store
from store.run_states import State, Work


@dataclass(frozen=True)
class Unloaded:
    """A run that was deleted. `known`: the store knew what it had written, and all of that is deleted."""

    run: RunSummary
    known: bool


def unload(store: Store, name: str, *, force: bool = False, notify: Callable[[str], None] = lambda _: None) -> Unloaded:
    """Delete a run: every sample it wrote that no other run contains, and then the run.

    `force` ends a load or a deletion of it that another command is at. `notify` gets a sentence when another command is
    waited for.

    Raises:
        Unusable: There is no such run, or another command loads or deletes it.
        LeaseEnded: Another command took the run over.
    """
    first = _listed(store, name)
    known = True
    with leased(store, name, Work.DELETING, force=force, notify=notify) as lease:
        # A run has a second generation if saving it was cut off.
        while listed := find(store, name):
            known &= _unload(store, listed, lease)
    return Unloaded(first, known)


def _unload(store: Store, listed: RunSummary, lease: Lease) -> bool:
    """Delete one generation. Whether the store knew what it had written."""
    run = store.run(listed.name)
    if run is not None:
        try:
            lease.check()
            store.mark(listed, State.DELETING, loaded=0, refused=listed.refused)
            runs = [one for one in store.runs() if one.name != listed.name and meet(one, run)]
            keep = [held for one in runs for held in recordings(store, one.name)]
            whole = listed.complete and not listed.refused
            # What the command that was taken over from was sending may have arrived since.
            for is_whole in (whole, False) if lease.took_over else (whole,):
                for recording in run.recordings:
                    store.remove(recording, keep, whole=is_whole, before_each=lease.check)
            lease.check()
        except LeaseEnded:
            _mark_incomplete(store, listed.name)
            raise
    store.forget(listed)
    return run is not None


def _mark_incomplete(store: Store, name: str) -> None:
    """Mark a run that another command loads or has loaded: this one may have deleted some of it."""
    if listed := find(store, name):
        store.mark(listed, State.DELETING, loaded=0, refused=listed.refused)


def _listed(store: Store, name: str) -> RunSummary:
    found = find(store, name)
    if found is None:
        names = ", ".join(one.name for one in store.runs()) or "none"
        raise Unusable(f'run "{name}" is not in {store.name}; it has {names}')
    return found

"""Deletes a run from a store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plimsoll.ingest.runs.load import find, recordings
from plimsoll.ingest.runs.loadable import meet
from plimsoll.model.errors import Unusable
from plimsoll.model.run import StoredRun
from plimsoll.store.lease import Lease, LeaseEnded, leased
from plimsoll.store.protocol import RunSummary, Store
from plimsoll.store.run_states import State, Work


@dataclass(frozen=True)
class Unloaded:
    """What became of a run. `known`: the store knew what it had written, and that is deleted.

    `shared` has the runs, in words, of the same hosts and times: values that they contain, too, have stayed.
    """

    known: bool
    shared: tuple[str, ...]


def unload(store: Store, name: str, *, force: bool = False, notify: Callable[[str], None] = lambda _: None) -> Unloaded:
    """Delete a run: every sample it wrote that no other run contains, and then the run.

    `force` ends a load or a deletion of it that another command is at. `notify` gets a sentence when another command is
    waited for.

    Raises:
        Unusable: There is no such run, or another command loads or deletes it.
        LeaseEnded: Another command took the run over.
    """
    _refuse_unknown(store, name)
    known, shared = True, ()
    with leased(store, name, Work.DELETING, force=force, notify=notify) as lease:
        # A run has a second generation if saving it was cut off.
        while listed := find(store, name):
            run = store.run(name)
            known &= run is not None
            if run is not None:
                beside = [one for one in store.runs() if one.name != name and meet(one, run)]
                shared = tuple(f'run "{one.name}"' for one in beside)
                _remove(store, listed, run, beside, lease)
            store.forget(listed)
    return Unloaded(known, shared)


def _remove(store: Store, listed: RunSummary, run: StoredRun, beside: Sequence[RunSummary], lease: Lease) -> None:
    """Remove the values of one generation that no run beside it contains."""
    try:
        lease.check()
        store.mark(listed, State.DELETING, loaded=0, refused=listed.refused)
        keep = [held for one in beside for held in recordings(store, one.name)]
        whole = listed.complete and not listed.refused
        # What the command that was taken over from was sending may have arrived since.
        for is_whole in (whole, False) if lease.took_over else (whole,):
            for recording in run.recordings:
                store.remove(recording, keep, whole=is_whole, before_each=lease.check)
        lease.check()
    except LeaseEnded:
        _mark_incomplete(store, listed.name)
        raise


def _mark_incomplete(store: Store, name: str) -> None:
    """Mark a run that another command loads or has loaded: this one may have deleted some of it."""
    if listed := find(store, name):
        store.mark(listed, State.DELETING, loaded=0, refused=listed.refused)


def _refuse_unknown(store: Store, name: str) -> None:
    if not find(store, name):
        names = ", ".join(one.name for one in store.runs()) or "none"
        raise Unusable(f'run "{name}" is not in {store.name}; it has {names}')

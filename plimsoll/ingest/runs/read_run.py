"""Reads a run back from a store."""

from collections.abc import Iterator

from plimsoll.ingest.reading import LogSet
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, format_count
from plimsoll.model.run import StoredRun
from plimsoll.store.logs import count_lost_values, read_logs
from plimsoll.store.protocol import RunStore, RunSummary, StoreState


def read_run(store: RunStore, name: str) -> LogSet:
    """Return the logs of a run, with a remark if values are lost. Raise Unusable if there is no such run."""
    run = store.get(name)
    listed = {summary.name: summary for summary in store.summaries()}
    if name not in listed:
        raise Unusable(f'run "{escape(name)}" is not in {store.name}; it has {", ".join(listed) or "no runs"}')
    if run is None:
        raise Unusable(f"{store.name}: {explain_unknown_run(name)}")
    logs = read_logs(store.samples(listed[name]).read, run)
    remarks = [*run.remarks, *_remark_incomplete(listed[name], run, count_lost_values(run, logs))]
    return LogSet(logs, remarks, run, whole=run.whole)


def explain_unknown_run(name: str) -> str:
    """Return the error text for a run whose name is in the store, but not the record of its files and values."""
    return (
        f'run "{name}" is incomplete: what it wrote is not known; load its logs again, with {Parameter.MERGE}, '
        "or delete it"
    )


def _remark_incomplete(listed: RunSummary, run: StoredRun, lost: int) -> Iterator[Remark]:
    """Yield a remark if the store lacks values of the run, or may lack some, so that the run cannot be judged."""
    match listed.state:
        case StoreState.COMPLETE if listed.refused:
            why = f"the store refused {format_count(listed.refused, 'point')} when it was loaded"
        case StoreState.COMPLETE if not lost:
            return
        case StoreState.COMPLETE:
            why = "the store has lost them; call plimsoll ingest again"
        case StoreState.LOADING:
            why = "it was loaded in part; call plimsoll ingest again"
        case StoreState.DELETING:
            why = "its deletion was cut off; call plimsoll runs delete or plimsoll ingest again"
    text = f"lacks {lost:,} of {format_count(run.values, 'value')}" if lost else "is not known to be whole"
    yield Remark(Kind.UNREAD, f'run "{run.name}" {text} ({why})')

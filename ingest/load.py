"""Loading a run's logs into a store, once and to the end, however often it is cut off; and taking it out again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ingest.shared.same_time import one_row_a_time
from model.errors import Unusable
from model.log import Log
from model.remark import Kind, Remark, counted
from model.run import Recording, StoredRun
from model.times import duration_text
from store.line_protocol import same_when_written
from store.protocol import RunSummary, Store

VALUES_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Loaded:
    """What became of a run: values dealt with by this call, and by calls before it; points the store refused."""

    values: int
    before: int
    refused: int
    remarks: tuple[Remark, ...] = ()


def load(
    store: Store,
    run: StoredRun,
    logs: Sequence[Log],
    *,
    merge: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Loaded:
    """Load a run, or go on where an earlier call was cut off; a run that is there already stays as it is.

    `progress` is called with the number of values done. Unusable, before anything is written, if a log does
    not say its zone, if two counters could not be told apart once they are written, if the name is another
    run's, if rows are older than the store keeps them, or if the store has data of the same host and time and
    `merge` is not said.
    """
    _zones_known(logs)
    _series_differ(logs)
    listed = {one.name: one for one in store.runs()}.get(run.name)
    earlier = store.run(run.name) if listed else None
    remarks: list[Remark] = []
    if earlier is not None and listed is not None:
        if other := _difference(earlier, run):
            raise Unusable(
                f'run "{run.name}" is in {store.name} already, {other}; delete it first, or choose another name'
            )
        run = earlier
    else:
        _old_rows(store, logs)
        remarks += _others(store, run, merge)
        store.save(run)
    before = listed.loaded if listed else 0
    loaded, refused = before, listed.refused if listed else 0
    reasons: dict[str, int] = {}
    progress(loaded)
    if not (listed and listed.complete):
        passed = 0
        # Of recordings that overlap the first one counts, so it is written last.
        for log in reversed(logs):
            todo: list[Log] = []
            for batch in _batches(log):
                passed += batch.present
                if passed > loaded:
                    todo.append(batch)
            for written in store.write(todo):
                loaded += written.values
                refused += written.refused
                if written.refused:
                    reasons[written.why] = reasons.get(written.why, 0) + written.refused
                store.progress(run, loaded, refused)
                progress(loaded)
        if loaded < run.values:  # rows of the same time were one
            store.progress(run, run.values, refused)
    remarks += [
        Remark(Kind.SKIPPED, f"{counted(count, 'point')} refused by {store.name}: {why}", count=count)
        for why, count in reasons.items()
    ]
    return Loaded(loaded - before, before, refused, tuple(remarks))


def unload(store: Store, name: str) -> StoredRun:
    """Delete a run: every sample it wrote that no other run holds, and then the run. Unusable if there is none."""
    runs = store.runs()
    run = store.run(name) if name.isprintable() else None
    if run is None:
        names = ", ".join(one.name for one in runs) or "none"
        raise Unusable(f'run "{name}" is not in {store.name}; it has {names}')
    whole = any(one.name == name and one.complete and not one.refused for one in runs)
    keep = [
        recording
        for other in runs
        if other.name != name and _meet(other, run)
        for recording in _held(store, other.name)
    ]
    for recording in run.recordings:
        store.remove(recording, keep, whole=whole)
    store.forget(name)
    return run


def _held(store: Store, name: str) -> tuple[Recording, ...]:
    run = store.run(name)
    return run.recordings if run else ()


def _meet(one: RunSummary, run: StoredRun) -> bool:
    hosts = {host.casefold() for host in one.hosts}
    return one.start <= run.end and run.start <= one.end and any(host.casefold() in hosts for host in run.hosts)


def _zones_known(logs: Sequence[Log]) -> None:
    for log in logs:
        if not log.zone.known:
            raise Unusable(f"{log.path}: does not say its time zone; name it with --zone, such as --zone Europe/Berlin")


def _series_differ(logs: Sequence[Log]) -> None:
    places = [(log, series) for log in logs for series in log.series]
    for other, one in same_when_written([series for _, series in places]):
        log, series = places[other]
        first, like = places[one]
        raise Unusable(
            f"{log.path}: {series.path} would be stored as {like.path} of {first.path}: a store keeps no backslash at "
            "the end of a name, and no line end in it; load what is left after plimsoll convert --counter"
        )


def _difference(earlier: StoredRun, run: StoredRun) -> str | None:
    """How a run of the same name differs from this one; None if it is the same."""
    had, has = ([one.sha256 for one in each.recordings] for each in (earlier, run))
    if had != has:
        names = ", ".join(one.path for one in earlier.recordings)
        return f"of other files ({names})"
    for old, new in zip(earlier.recordings, run.recordings, strict=True):
        if not np.array_equal(old.times, new.times):
            return f"with {old.path} read in another zone ({old.zone.name})"
        if old.series != new.series:
            return f"with other names for the counters of {old.path}"
    if earlier.run.labels != run.run.labels:
        labels = ", ".join(f"{name}={value}" for name, value in earlier.run.labels.items())
        return f"with other labels ({labels or 'none'})"
    if (earlier.run, earlier.settings) != (run.run, run.settings):
        return "with another plimsoll.toml"
    return None


def _old_rows(store: Store, logs: Sequence[Log]) -> None:
    oldest = store.oldest()
    if oldest is None:
        return
    for log in logs:
        old = int(np.searchsorted(log.times, oldest))
        if old:
            since = log.zone.clock(oldest)
            raise Unusable(
                f"{log.path}: {counted(old, 'row')} of {len(log.times):,} are older than {store.name} keeps them "
                f"(from {since} on): lengthen its retention, or load what is left after "
                f'plimsoll convert --from "{since}"'
            )


def _others(store: Store, run: StoredRun, merge: bool) -> Iterator[Remark]:
    """What the store has of the same hosts and times. Unusable if that is not to be merged."""
    runs = store.runs()
    for host in run.hosts:
        spans = [one.times for one in run.recordings if len(one.times) and _of_host(one, host)]
        if not spans:
            continue
        start, end = min(int(times[0]) for times in spans), max(int(times[-1]) for times in spans)
        found = store.series(start, end, [host]).series
        if not found:
            continue
        names = [
            f'run "{one.name}"' for one in runs if _meet(one, run) and host.casefold() in map(str.casefold, one.hosts)
        ]
        whose = f"{host} has {len(found):,} series over these {duration_text(end - start)} in {store.name} already"
        if not merge:
            raise Unusable(
                f"{whose}, of {' and '.join(names) or 'live collection'}; load over them with --merge, "
                "or is --zone not right?"
            )
        yield Remark(Kind.NOTED, f"{whose}: values of the same counter and time are replaced", count=len(found))


def _of_host(recording: Recording, host: str) -> bool:
    return any(series.host.casefold() == host.casefold() for series in recording.series)


def _batches(log: Log) -> Iterator[Log]:
    """A log in parts of some million values."""
    log = one_row_a_time(log)
    rows = max(1, VALUES_AT_ONCE // max(1, len(log.series)))
    for start in range(0, len(log.times), rows):
        yield log.rows(start, start + rows)

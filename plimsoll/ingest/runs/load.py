"""Loads the logs of a run into a store. Repeating an interrupted call continues it."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.shared.same_time import join_rows_of_one_time
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, format_count, shorten
from plimsoll.model.run import StoredRun
from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import format_duration
from plimsoll.store.lease import Lease, LeaseEnded, hold_lease
from plimsoll.store.line_protocol import convert_to_stored, find_same_when_written
from plimsoll.store.protocol import RunStore, RunSummary, StoreState, Work
from plimsoll.store.store import Store

VALUES_AT_ONCE = 1_000_000
_TRIES = 3
_LONGEST_NAME = 200


class ZoneUnknown(Unusable):
    """The error that a log does not state its time zone."""


class Overlapping(Unusable):
    """The error that the store already has data of a host at the time of the run."""


@dataclass(frozen=True)
class Loaded:
    """The result of loading a run: numbers of values, and remarks.

    `values` were written by this call, `before` by earlier calls; `missing` had been lost by the store, and were
    written again. `refused` is the number of points that the store refused.
    """

    values: int
    before: int
    missing: int
    refused: int
    remarks: tuple[Remark, ...] = ()


def load(
    store: Store,
    run: StoredRun,
    logs: Sequence[Log],
    *,
    merge: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    notify: Callable[[str], None] = lambda _: None,
) -> Loaded:
    """Load a run, or the rest of it after an interrupted call, and check that the store has all values.

    `progress` is called with the number of values done; `notify` gets a sentence when the call waits for another
    command, and when lost values are written again. Raise Unusable, before anything is written, if a log has no known
    time zone, if two counters would become the same series, if another run has the name, if rows are older than the
    store keeps them, if the store has data of the same host and time without `merge`, or if another command loads or
    deletes the run. Raise LeaseEnded if another command took over the run; what this call wrote afterwards is removed.
    """
    _refuse_unloadable(logs)
    remarks: list[Remark] = []
    loading = None
    try:
        with hold_lease(store.runs.claims, run.name, Work.LOADING, notify=notify) as lease:
            listed = find(store.runs, run.name)
            earlier = store.runs.get(run.name) if listed else None
            if earlier and (difference := _describe_difference(earlier, run)):
                text = f'run "{run.name}" is in {store.name} already, {difference}; delete it first, or choose another '
                raise Unusable(f"{text}name")
            if not earlier:
                _refuse_old(store, logs)
                remarks += _remark_existing_data(store, run, merge=merge)
            if listed is None or earlier is None or listed.state is StoreState.DELETING:
                # A new generation: an interrupted delete, which may continue, affects only the old one.
                listed = store.runs.save(run)
            loading = _Loading(store.runs, lease, listed, logs, progress, notify)
            loaded = loading.finish()
            return replace(loaded, remarks=(*remarks, *loaded.remarks))
    except LeaseEnded:
        # Remove values written since, which no run lists.
        if loading and all(other.generation != loading.run.generation for other in store.runs.summaries()):
            store.runs.forget(loading.run)
        raise


@dataclass
class _Loading:
    """A load in progress. `run` is the run's entry in the store."""

    store: RunStore
    lease: Lease
    run: RunSummary
    logs: Sequence[Log]
    progress: Callable[[int], None]
    notify: Callable[[str], None]
    reasons: Counter[str] = field(default_factory=Counter)
    _wrote: bool = False

    def finish(self) -> Loaded:
        """Write the values that are missing, mark the run as complete, and return the counts."""
        self.lease.check()
        before = self.run.loaded
        self.progress(before)
        if not self.run.complete:
            self._write(self.logs, skip=before)
        written = self.run.loaded - before
        missing = 0 if self.run.refused else self._restore()
        if not self.run.complete:
            self._mark(StoreState.COMPLETE, self.run.values, self.run.refused)
        remarks = tuple(
            Remark(Kind.SKIPPED, f"{format_count(count, 'point')} refused by {self.store.name}: {why}", count=count)
            for why, count in self.reasons.items()
        )
        return Loaded(written, before, missing, self.run.refused, remarks)

    def _write(self, logs: Sequence[Log], skip: int = 0) -> None:
        """Write all values but the first `skip`, which an earlier call wrote."""
        passed = 0
        # Where recordings overlap, the first one counts, so it is written last.
        for log in map(join_rows_of_one_time, reversed(logs)):
            rows = max(1, VALUES_AT_ONCE // max(1, len(log.series)))
            todo: list[Log] = []
            for start in range(0, len(log.times), rows):
                batch = log.rows(start, start + rows)
                passed += batch.present
                if passed > skip:
                    todo.append(batch)
            with closing(self.store.write(self.run, todo)) as answers:
                for written in answers:
                    if written.refused:
                        self.reasons[written.why] += written.refused
                    loaded = min(self.run.loaded + written.values, self.run.values)
                    self._mark(StoreState.LOADING, loaded, self.run.refused + written.refused)
                    self._wrote = True
                    self.progress(loaded)

    def _restore(self) -> int:
        """Write lost values again until the store has them; return how many were lost.

        Raise Unusable if values are still missing after several tries.
        """
        lost = 0
        for _ in range(_TRIES):
            if self._wrote:
                time.sleep(self.store.settle_s)
            lacks = [_count_missing(self.store, self.run, log) for log in self.logs]
            if not any(lacks):
                if lost:
                    self.notify(
                        f'{format_count(lost, "value")} of run "{self.run.name}" were missing in {self.store.name} '
                        "after they were written, and were written again"
                    )
                return lost
            lost = lost or sum(lacks)
            self._mark(StoreState.LOADING, self.run.values - sum(lacks), 0)
            # Earlier logs are written again as well, as they overwrite later ones where they overlap.
            last = max(at for at, count in enumerate(lacks) if count)
            self._write(self.logs[: last + 1])
        raise Unusable(
            f'{self.store.name}: {format_count(lost, "value")} of run "{self.run.name}" were acknowledged, but are not '
            "there; see the log of the server, and call again"
        )

    def _mark(self, state: StoreState, loaded: int, refused: int) -> None:
        self.lease.check()
        self.run = self.store.mark(self.run, state, loaded=loaded, refused=refused)


def find(store: RunStore, name: str) -> RunSummary | None:
    """Return the summary of the run with this name; None if the store has none."""
    return next((run for run in store.summaries() if run.name == name), None)


def _count_missing(store: RunStore, run: RunSummary, log: Log) -> int:
    """Return how many values of a log the store lacks, within the store's retention."""
    log = join_rows_of_one_time(log)
    if not len(log.times):
        return 0
    start = max(int(log.times[0]), store.oldest() or int(log.times[0]))
    expected: dict[object, tuple[Series, NDArray[np.bool_]]] = {}
    for series, column in zip(map(convert_to_stored, log.series), log.columns, strict=True):
        has = ~np.isnan(column) & (log.times >= start)
        expected[series.key] = (series, has | expected[series.key][1]) if series.key in expected else (series, has)
    rows, end, samples = [*expected.values()], int(log.times[-1]), store.samples(run)
    counts = samples.counts([series for series, _ in rows], start, end)
    # Other logs of the run may add values: then only the times tell.
    odd = [(series, has) for (series, has), count in zip(rows, counts, strict=True) if count != has.sum()]
    read = samples.read([series for series, _ in odd], start, end)
    return sum(
        int((~np.isin(log.times[has], present.times)).sum()) for (_, has), present in zip(odd, read, strict=True)
    )


def unload_run(
    store: RunStore, name: str, *, force: bool = False, notify: Callable[[str], None] = lambda _: None
) -> None:
    """Delete a run with its samples, but not live samples or samples of other runs.

    `force` ends another command's load or deletion of the run. `notify` gets a sentence when the call waits for another
    command. Raise Unusable if there is no such run, or if another command loads or deletes it; LeaseEnded if another
    command took over the run.
    """
    if not find(store, name):
        names = ", ".join(run.name for run in store.summaries()) or "none"
        raise Unusable(f'run "{name}" is not in {store.name}; it has {names}')
    with hold_lease(store.claims, name, Work.DELETING, force=force, notify=notify) as lease:
        # A run has a second generation if saving it was interrupted.
        while listed := find(store, name):
            lease.check()
            if listed.generation:  # a run written to InfluxDB by an early version has none
                store.mark(listed, StoreState.DELETING, loaded=0, refused=listed.refused)
            store.forget(listed)


def _refuse_unloadable(logs: Sequence[Log]) -> None:
    """Raise Unusable if a log's time zone is unknown, or if two counters would become the same series."""
    for log in logs:
        if not log.zone.is_specified:
            raise ZoneUnknown(
                f"{log.path}: does not say its time zone; name it with {Parameter.ZONE}, such as Europe/Berlin"
            )
    places = [(log, series) for log in logs for series in log.series]
    for other, value in find_same_when_written([series for _, series in places]):
        log, series = places[other]
        first, like = places[value]
        raise Unusable(
            f"{log.path}: {series.path} would be stored as {like.path} of {first.path}: a store keeps no backslash at "
            "the end of a name, and no line end in it; write the others with plimsoll convert, and load that"
        )


def _refuse_old(store: Store, logs: Sequence[Log]) -> None:
    """Raise Unusable if rows are older than the store's retention."""
    oldest = store.runs.oldest()
    for log in logs:
        if oldest is not None and (old := int(np.searchsorted(log.times, oldest))):
            raise Unusable(
                f"{log.path}: {format_count(old, 'row')} of {len(log.times):,} are older than {store.name} keeps them "
                "(from "
                f"{log.zone.clock(oldest)} on): lengthen its retention, or write what is left with plimsoll convert, "
                "and load that"
            )


def _remark_existing_data(store: Store, run: StoredRun, *, merge: bool) -> Iterator[Remark]:
    """Yield a remark on each host that has data in the store at the run's time. Raise Overlapping unless `merge`."""
    runs = [summary for summary in store.runs.summaries() if summary.start <= run.end and run.start <= summary.end]
    for host in run.hosts:
        key = make_host_key(host)
        spans = [
            recording.times
            for recording in run.recordings
            if len(recording.times) and any(make_host_key(series.host) == key for series in recording.series)
        ]
        if not spans:
            continue
        start, end = min(int(times[0]) for times in spans), max(int(times[-1]) for times in spans)
        series = store.samples.series(start, end, [host]).series
        if not series:
            continue
        names = [f'run "{summary.name}"' for summary in runs if key in map(make_host_key, summary.hosts)]
        whose = f"{host} has {len(series):,} series over these {format_duration(end - start)} in {store.name} already"
        if not merge:
            raise Overlapping(
                f"{whose}, of {' and '.join(names) or 'live collection'}; load over them with {Parameter.MERGE}, "
                f"or is {Parameter.ZONE} not right?"
            )
        yield Remark(
            Kind.NOTED,
            f"{whose}: where both have a value of the same counter and time, that of the run counts",
            count=len(series),
        )


def _describe_difference(earlier: StoredRun, run: StoredRun) -> str | None:
    """Return how an earlier run of the same name differs from this run, as text; None if they are equal."""
    had, has = ([recording.sha256 for recording in stored_run.recordings] for stored_run in (earlier, run))
    if had != has:
        names = ", ".join(recording.path for recording in earlier.recordings)
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


def refuse_name(name: str, place: str) -> None:
    """Raise Unusable if a run cannot have this name; `place` names the option or field it came from."""
    # InfluxDB refuses tags that end in a backslash.
    valid = name.strip() == name and name.isprintable() and not name.endswith("\\") and len(name) <= _LONGEST_NAME
    if not name or not valid:
        raise Unusable(
            f'{place} "{shorten(name)}": give a name of 1 to {_LONGEST_NAME} characters that can be seen, without '
            "spaces at its ends or a last \\"
        )


def run_label(text: str, place: str) -> tuple[str, str]:
    """Return name and value of a label `name=value`. Raise Unusable if it is malformed; `place` names its option."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise Unusable(f'{place} "{text}": write it like logon_rate=36')
    return name.strip(), value.strip()

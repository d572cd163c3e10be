"""What is checked before a run is loaded into a store."""

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, counted, short
from plimsoll.model.run import Recording, StoredRun
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.store.line_protocol import same_when_written
from plimsoll.store.protocol import RunSummary
from plimsoll.store.store import Store

_LONGEST_NAME = 200


class ZoneUnknown(Unusable):
    """A log does not say its time zone."""


class Overlapping(Unusable):
    """The store has data of the same host and time."""


def refuse_unloadable(logs: Sequence[Log]) -> None:
    """Unusable if a log does not have a known time zone, or two counters would be the same series once written."""
    for log in logs:
        if not log.zone.known:
            raise ZoneUnknown(
                f"{log.path}: does not say its time zone; name it with {Parameter.ZONE}, such as Europe/Berlin"
            )
    places = [(log, series) for log in logs for series in log.series]
    for other, value in same_when_written([series for _, series in places]):
        log, series = places[other]
        first, like = places[value]
        raise Unusable(
            f"{log.path}: {series.path} would be stored as {like.path} of {first.path}: a store keeps no backslash at "
            "the end of a name, and no line end in it; write the others with plimsoll convert, and load that"
        )


def refuse_different(store: Store, earlier: StoredRun, run: StoredRun) -> None:
    """Unusable if the run of the same name that is in the store is another one."""
    if other := _difference(earlier, run):
        raise Unusable(f'run "{run.name}" is in {store.name} already, {other}; delete it first, or choose another name')


def refuse_old(store: Store, logs: Sequence[Log]) -> None:
    """Unusable if rows are older than the store keeps them."""
    oldest = store.runs.oldest()
    if oldest is None:
        return
    for log in logs:
        old = int(np.searchsorted(log.times, oldest))
        if old:
            since = log.zone.clock(oldest)
            raise Unusable(
                f"{log.path}: {counted(old, 'row')} of {len(log.times):,} are older than {store.name} keeps them "
                f"(from {since} on): lengthen its retention, or write what is left "
                "with plimsoll convert, and load that"
            )


def others(store: Store, run: StoredRun, *, merge: bool) -> Iterator[Remark]:
    """Yield what the store has of the same hosts and times. Unusable if that is not to be merged."""
    runs = store.runs.summaries()
    for host in run.hosts:
        spans = [recording.times for recording in run.recordings if len(recording.times) and _of_host(recording, host)]
        if not spans:
            continue
        start, end = min(int(times[0]) for times in spans), max(int(times[-1]) for times in spans)
        series = store.samples.series(start, end, [host]).series
        if not series:
            continue
        names = [
            f'run "{run_summary.name}"'
            for run_summary in runs
            if meet(run_summary, run) and host_key(host) in map(host_key, run_summary.hosts)
        ]
        whose = f"{host} has {len(series):,} series over these {duration_text(end - start)} in {store.name} already"
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


def meet(run_summary: RunSummary, run: StoredRun) -> bool:
    """Return whether two runs have a host and a time in common."""
    hosts = {host_key(host) for host in run_summary.hosts}
    return (
        run_summary.start <= run.end
        and run.start <= run_summary.end
        and any(host_key(host) in hosts for host in run.hosts)
    )


def _difference(earlier: StoredRun, run: StoredRun) -> str | None:
    """Return how a run of the same name differs from this one; None if it is the same."""
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


def _of_host(recording: Recording, host: str) -> bool:
    return any(host_key(series.host) == host_key(host) for series in recording.series)


def refuse_name(name: str, place: str) -> None:
    """Unusable if a run cannot have this name; `place` is where it was typed."""
    # InfluxDB takes no tag that ends in a backslash.
    valid = name.strip() == name and name.isprintable() and not name.endswith("\\") and len(name) <= _LONGEST_NAME
    if not name or not valid:
        raise Unusable(
            f'{place} "{short(name)}": give a name of 1 to {_LONGEST_NAME} characters that can be seen, without spaces '
            "at its ends or a last \\"
        )


def run_label(text: str, place: str) -> tuple[str, str]:
    """The name and value of a label written `name=value`. Unusable if it is not; `place` is where it was typed."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise Unusable(f'{place} "{text}": write it like logon_rate=36')
    return name.strip(), value.strip()

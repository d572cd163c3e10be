"""Reads logs back from a store, for reviews."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from plimsoll.model.log import Log, Times, Values, count_samples, find_sampling_interval
from plimsoll.model.names import format_path
from plimsoll.model.remark import Kind, Remark, format_count
from plimsoll.model.run import Recording, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.protocol import SampleReader


def read_logs(read: Callable[[Sequence[Series], int, int], list[Samples]], run: StoredRun) -> list[Log]:
    """Return the logs of a run; `read` returns the values of series in a range, as `SampleReader.read` does."""
    return [_log(read, recording) for recording in run.recordings]


def count_lost_values(run: StoredRun, logs: Sequence[Log]) -> int:
    """Return how many values of a run the store has lost, from the run's logs as read back from the store."""
    lost = 0
    for recording, log in zip(run.recordings, logs, strict=True):
        for at, column in enumerate(log.columns):
            # A store keeps one sample per time.
            stored = recording.present[at] if log.times_differ else len(np.unique(recording.sample_times(at)))
            lost += max(0, stored - count_samples(column))
    return lost


def read_live_logs(
    store: SampleReader,
    start: int,
    end: int,
    hosts: Sequence[str],
    zone: Zone,
    source: str = "live",
    format_: str = "Telegraf",
) -> tuple[list[Log], list[Remark]]:
    """Return the live samples in a range, as one log for each host and sampling interval, and remarks.

    Without `hosts`, all hosts are read. `zone` is the time zone for display. A log's path is `source:HOST`.
    """
    stored = store.series(start, end, hosts)
    by_log: dict[tuple[str, int], list[tuple[Series, Samples]]] = defaultdict(list)
    for series, samples in zip(stored.series, store.read(stored.series, start, end), strict=True):
        interval = round((find_sampling_interval(samples.times) or 0) / SECOND)
        by_log[make_host_key(series.host), interval].append((series, samples))
    logs = [_make_live_log(by_log.pop(key), zone, source, format_) for key in [*by_log]]
    remarks = [Remark(Kind.UNREAD, f"{why}: its values are missing") for why in stored.unread]
    remarks += [Remark(Kind.NOTED, note) for note in stored.notes]
    if stored.text:
        remarks.append(
            Remark(Kind.SKIPPED, f"{format_count(stored.text, 'series')} of text or true and false left out")
        )
    return logs, remarks


def _log(read: Callable[[Sequence[Series], int, int], list[Samples]], recording: Recording) -> Log:
    """Return a stored recording as a log; `read` is called once, for the values of all its series."""
    start, end = (int(recording.times[0]), int(recording.times[-1])) if len(recording.times) else (0, 0)
    columns = [_align_samples(recording.times, column) for column in read(recording.series, start, end)]
    return Log(
        Path(recording.path),
        recording.format,
        recording.times,
        tuple(columns),
        recording.series,
        recording.zone,
        recording.remarks,
        sha256=recording.sha256,
        unread=recording.unread,
    )


def _make_live_log(members: Sequence[tuple[Series, Samples]], zone: Zone, source: str, format_: str) -> Log:
    times = np.unique(np.concatenate([samples.times for _, samples in members]))
    columns = tuple(_align_samples(times, samples) for _, samples in members)
    series = tuple(replace(series, path=series.path or format_path(series)) for series, _ in members)
    return Log(Path(f"{source}:{series[0].host}"), format_, times, columns, series, zone, sha256="")


def _align_samples(times: Times, samples: Samples) -> Values:
    """Return the samples of a series at the times of a log; NaN for missing samples."""
    values = np.full(len(times), np.nan)
    at = np.searchsorted(times, samples.times)
    inside = at < len(times)
    inside[inside] = times[at[inside]] == samples.times[inside]
    values[at[inside]] = samples.values[inside]
    return values

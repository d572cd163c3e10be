"""Reads the values of signals and reduces them to the width of a chart, without losing any extreme or gap."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.alerting.alert import Alert
from plimsoll.model.log import Times, Values, find_pauses
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.signal_finder import ResolvedSeries, ResolvedSource, drop_request_rate, list_read_series
from plimsoll.rules.window import transform_values
from plimsoll.store.m4 import Drawn, compute_bucket_width, reduce_to_m4
from plimsoll.store.protocol import SampleReader

_BEFORE = 60 * SECOND  # the first rate of a range needs the sample before it
_INTERVAL = 10 * SECOND  # how often most series have a sample
_MOST_AT_ONCE = 6_000_000  # samples
_SEARCHED = 6 * 3600 * SECOND  # before an alert
_NOTHING = Samples(np.empty(0, np.int64), np.empty(0))


def draw_signals(
    store: SampleReader, origins: Sequence[ResolvedSource], start: int, end: int, columns: int
) -> list[Drawn]:
    """Return the samples to draw for each signal, at most four per pixel column; NaN marks a gap.

    The store reduces a signal that it has as one series. Other signals are computed from all samples of their
    series, in batches that fit in memory.
    """
    lines: dict[int, Drawn] = {}
    origins = [drop_request_rate(origin) for origin in origins]
    direct = {
        at: origin
        for at, origin in enumerate(origins)
        if isinstance(origin, ResolvedSeries) and not origin.rate and not origin.transform.unknown
    }
    stored = store.drawn([origin.series for origin in direct.values()], start, end, columns) if direct else ()
    for (at, origin), line in zip(direct.items(), stored, strict=True):
        samples = Samples(line.samples.times, transform_values(line.samples.values, origin.transform))
        lines[at] = Drawn(insert_gaps(samples, start, end, columns), line.count)
    for batch in _split_batches([at for at in range(len(origins)) if at not in direct], origins, end - start):
        for at, samples in zip(batch, compute_signals(store, [origins[at] for at in batch], start, end), strict=True):
            lines[at] = reduce_samples(samples, start, end, columns)
    return [lines[at] for at in range(len(origins))]


def compute_signals(store: SampleReader, origins: Sequence[ResolvedSource], start: int, end: int) -> list[Samples]:
    """Return the samples of signals in a range, computed from all of their series."""
    series = [*dict.fromkeys(series for origin in origins for series in list_read_series(origin))]
    raw = dict(zip(series, store.read(series, start - _BEFORE, end), strict=True)) if series else {}
    signals = [
        compute_signal_samples(origin, lambda series: raw.get(series, _NOTHING), where_shared=True)
        for origin in origins
    ]
    return [samples.between(start, end) if samples else _NOTHING for samples in signals]


def find_crossed_since(scenes: Scenes, alert: Alert) -> int | None:
    """Return the time (UTC ns) from which all samples before an alert's begin are past its limit; None if unknown.

    The alert begins later, at the first evaluation whose whole window is past the limit. The time is unknown for an
    alert without a limit, and if no sample of the six hours before the begin is within the limit.
    """
    if alert.kind != "rule" or not alert.healthy or alert.signal not in scenes.signals:
        return None
    scene = scenes.live(alert.begin - _SEARCHED, alert.begin)
    sources = scene.find(Spec(alert.signal, (alert.host,), alert.instance))
    signals = compute_signals(scene.store, [source.origin for source in sources[:1]], scene.start, alert.begin)
    for samples in signals:
        within = np.flatnonzero(Healthy.parse(alert.healthy).holds(samples.present.values))
        if len(within) and within[-1] + 1 < len(samples.present.times):
            return int(samples.present.times[within[-1] + 1])
    return None


def _split_batches(places: Sequence[int], origins: Sequence[ResolvedSource], span: int) -> list[list[int]]:
    """Group the indices of signals (`places`) into batches whose samples over `span` (ns) fit in memory together."""
    most = max(1, _MOST_AT_ONCE // max(1, span // _INTERVAL))
    batches: list[list[int]] = []
    series = most
    for at in places:
        count = len(list_read_series(origins[at]))
        if not batches or series + count > most:
            batches.append([])
            series = 0
        batches[-1].append(at)
        series += count
    return batches


def reduce_samples(samples: Samples, start: int, end: int, columns: int) -> Drawn:
    """Return the samples to draw for a line. Rows without a value and pauses of the recording become gaps (NaN)."""
    present = samples.present
    chosen = reduce_to_m4(present, start, end, columns)
    if not len(chosen.times):
        return Drawn(chosen, 0)
    apart = find_pauses(present.times)
    if len(present.times) < len(samples.times):
        rows = np.flatnonzero(np.isfinite(samples.values))
        apart |= np.diff(rows) > 1
    before = np.concatenate(([0], np.cumsum(apart)))[np.searchsorted(present.times, chosen.times)]
    gaps = np.diff(before) > 0
    if len(chosen.times) < len(present.times):
        gaps &= np.diff(chosen.times) >= compute_bucket_width(start, end, columns)  # others are narrower than a pixel
    return Drawn(_split(chosen, gaps), len(present.times))


def insert_gaps(samples: Samples, start: int, end: int, columns: int) -> Samples:
    """Insert a row of NaN at each pause of the recording into samples that a store reduced to pixel columns.

    The recording interval is estimated from the steps between the last sample of a column and the next sample.
    """
    width = compute_bucket_width(start, end, columns)
    steps = np.diff(samples.times)
    recorded = np.diff((samples.times - start) // width) > 0
    gaps = np.zeros(len(steps), dtype=bool)
    gaps[recorded] = find_pauses(np.concatenate(([0], np.cumsum(steps[recorded]))))
    return _split(samples, gaps)


def _split(samples: Samples, gaps: NDArray[np.bool_]) -> Samples:
    at = np.flatnonzero(gaps) + 1
    if not len(at):
        return samples
    before, after = samples.times[at - 1], samples.times[at]
    times: Times = np.insert(samples.times, at, before + (after - before) // 2)
    values: Values = np.insert(samples.values, at, np.nan)
    return Samples(times, values)

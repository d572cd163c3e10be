"""The values of signals and series in a range: as they were sampled, or in buckets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.pages.charts.hosts_in_range import SignalSource
from plimsoll.pages.charts.signal_values import compute_signals
from plimsoll.rules.signal_finder import ResolvedSeries, recorded_as, series_of
from plimsoll.rules.window import transformed
from plimsoll.store.protocol import SampleReader

# Our bounds: an answer, and what is read to compute it, must fit in memory beside the evaluation.
MOST_LINES = 200
MOST_VALUES = 1_000_000
MOST_READ = 5_000_000


@dataclass(frozen=True, eq=False)
class ApiLine:
    """The values of one signal or series, by column: `value`, or `minimum`, `mean` and `maximum` of buckets.

    `times` (UTC ns) are those of the samples, or the begins of the buckets.
    """

    host: str
    name: str
    unit: str
    instance: str | None
    tags: Mapping[str, str]
    times: Times
    columns: Mapping[str, Values]


def read_signals(
    store: SampleReader, name: str, unit: str, sources: Sequence[SignalSource], start: int, end: int, width: int | None
) -> list[ApiLine]:
    """Return the values of a signal for some subjects. Raises Unusable if they are too many."""
    _check_buckets(len(sources), start, end, width)
    origins = [recorded_as(source.origin) for source in sources]
    direct = [
        origin
        for origin in origins
        # The extremes and the mean of these are those of their series, scaled and shifted.
        if isinstance(origin, ResolvedSeries) and not origin.rate and origin.transform.most is None
    ]
    if width and len(direct) == len(origins):
        values = _reduced_by_store(store, direct, start, end, width)
    else:
        series = [*dict.fromkeys(series for origin in origins for series in series_of(origin))]
        if series:
            _check_read(store, series, start, end, MOST_READ if width else MOST_VALUES)
        values = [_columns(samples, width) for samples in compute_signals(store, origins, start, end)]
    return [
        ApiLine(source.subject.host, name, unit, source.subject.instance, {}, times, columns)
        for source, (times, columns) in zip(sources, values, strict=True)
        if len(times)
    ]


def read_series(
    store: SampleReader, series: Sequence[Series], start: int, end: int, width: int | None
) -> list[ApiLine]:
    """Return the values of series as they were sent. Raises Unusable if they are too many."""
    _check_buckets(len(series), start, end, width)
    if not series:
        return []
    if width:
        values = [
            (buckets.times, {"minimum": buckets.minimum, "mean": buckets.mean, "maximum": buckets.maximum})
            for buckets in store.buckets(series, start, end, width)
        ]
    else:
        _check_read(store, series, start, end, MOST_VALUES)
        values = [_columns(samples, None) for samples in store.read(series, start, end)]
    return [
        ApiLine(series.host, f"{series.measurement}.{series.field}", "", None, dict(series.tags), times, columns)
        for series, (times, columns) in zip(series, values, strict=True)
        if len(times)
    ]


def _reduced_by_store(
    store: SampleReader, origins: Sequence[ResolvedSeries], start: int, end: int, width: int
) -> list[tuple[Times, Mapping[str, Values]]]:
    """Return buckets of signals that a store holds as series, converted to the unit of the signal."""
    stored = store.buckets([origin.series for origin in origins], start, end, width) if origins else ()
    reduced: list[tuple[Times, Mapping[str, Values]]] = []
    for origin, buckets in zip(origins, stored, strict=True):
        columns = (buckets.minimum, buckets.maximum, buckets.mean)
        low, high, mean = (transformed(values, origin.transform) for values in columns)
        low, high = np.minimum(low, high), np.maximum(low, high)  # 100 - x turns them
        reduced.append((buckets.times, {"minimum": low, "mean": mean, "maximum": high}))
    return reduced


def _columns(samples: Samples, width: int | None) -> tuple[Times, Mapping[str, Values]]:
    """Return the samples that have a value, or buckets of them, which begin at multiples of their width."""
    present = samples.present
    if not width or not len(present.times):
        return present.times, {"value": present.values}
    begins, first = np.unique(present.times // width * width, return_index=True)
    count = np.diff(np.append(first, len(present.times)))
    return begins, {
        "minimum": np.minimum.reduceat(present.values, first),
        "mean": np.add.reduceat(present.values, first) / count,
        "maximum": np.maximum.reduceat(present.values, first),
    }


def _check_buckets(lines: int, start: int, end: int, width: int | None) -> None:
    buckets = lines * ((end - start) // width + 1) if width else 0
    if buckets > MOST_VALUES:
        raise Unusable(
            f"{buckets:,} buckets are asked for, and at most {MOST_VALUES:,} are given: ask for longer ones, or fewer "
            "hosts"
        )


def _check_read(store: SampleReader, series: Sequence[Series], start: int, end: int, most: int) -> None:
    values = sum(store.counts(series, start, end))
    if values > most:
        raise Unusable(
            f"the range has {values:,} values, and at most {most:,} are read at once: ask for a shorter one, fewer "
            "hosts, or for buckets (bucket=5m)"
        )

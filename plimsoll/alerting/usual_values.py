"""Values that are usual at an hour of the week, such as Monday 10:00: quantiles of the last eight weeks."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, Zone
from plimsoll.model.value_text import format_value
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.signal_finder import ResolvedSource, list_read_series
from plimsoll.store.protocol import SampleReader

HOUR = 3600 * SECOND
_WEEK = 168 * HOUR
_WIDTH = 300 * SECOND  # of the means that the quantiles are of
_OF_HOUR = HOUR // _WIDTH
# All our choice.
_WEEKS, _FEWEST_WEEKS = 8, 4
_LOW, _HIGH = 0.05, 0.95
LONGEST = 8 * 24 * HOUR


@dataclass(frozen=True, eq=False)
class UsualValues:
    """The usual values of hours: begin (UTC ns), low and high quantile of each; NaN if recorded in under 4 weeks."""

    hours: Times
    low: Values
    high: Values

    def text(self, unit: str) -> str:
        """Return the usual values of the first hour: `20 to 45 %`, `about 20 %`; empty if not known."""
        if not len(self.hours) or not np.isfinite(self.low[0]):
            return ""
        low, high = float(self.low[0]), float(self.high[0])
        first, last = format_value(low, unit), format_value(high, unit)
        return f"about {last}" if first == last else f"{first.removesuffix(f' {unit}')} to {last}"


def find_usual_values(
    store: SampleReader, source: ResolvedSource, start: int, end: int, zone: Zone
) -> UsualValues | None:
    """Return the usual values of the hours from `start` to `end` (UTC ns); None without four weeks of history.

    An hour is compared with the same hour of earlier weeks by the clock of `zone`.
    """
    first = start // HOUR * HOUR
    count = -(-(end - first) // HOUR)
    rows: list[Values] = []
    for week in sorted(range(1, _WEEKS + 1), key=lambda week: week != _FEWEST_WEEKS):
        row = _read_means(store, source, first - week * _WEEK + _shift(first, week, zone), count)
        if week == _FEWEST_WEEKS and not np.isfinite(row).any():
            return None
        rows.append(row.reshape(count, _OF_HOUR))
    means = np.stack(rows)
    has_history = np.isfinite(means).any(axis=2).sum(axis=0) >= _FEWEST_WEEKS
    if not has_history.any():
        return None
    quantiles = np.full((2, count), np.nan)
    quantiles[:, has_history] = np.nanquantile(np.concatenate(means, axis=1)[has_history], (_LOW, _HIGH), axis=1)
    return UsualValues(first + HOUR * np.arange(count), *quantiles)


def _shift(at: int, weeks: int, zone: Zone) -> int:
    """Return by how much (ns) the zone's offset from UTC at `at` exceeds the offset `weeks` weeks before."""
    now, then = (zone.local(moment).utcoffset() or timedelta() for moment in (at, at - weeks * _WEEK))
    return round((now - then).total_seconds()) * SECOND


def _read_means(store: SampleReader, source: ResolvedSource, start: int, hours: int) -> Values:
    """Return the mean of a signal in every five minutes of `hours` hours; NaN where there is no sample."""
    series = [*dict.fromkeys(list_read_series(source))]
    buckets = store.buckets(series, start, start + hours * HOUR - 1, _WIDTH)
    means = {part.key: Samples(bucket.times, bucket.mean) for part, bucket in zip(series, buckets, strict=True)}
    samples = compute_signal_samples(source, lambda part: means[part.key], where_shared=True)
    values = np.full(hours * _OF_HOUR, np.nan)
    if samples is not None:
        values[(samples.times - start) // _WIDTH] = samples.values
    return values

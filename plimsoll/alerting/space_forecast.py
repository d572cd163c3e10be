"""Forecasts in how many hours each volume will be full, as samples of a series that rules judge.

A volume is forecast from the lowest free space of each hour of up to 35 days. Where used space became free
again, as after a rotation, a backup or a dump, the trend is the trend of the lowest value of a week.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from plimsoll.analysis.trend import find_trend
from plimsoll.model.log import Values
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder, ResolvedSeries
from plimsoll.rules.window import transform_values
from plimsoll.store.protocol import Buckets, SampleReader

SPACE = "disk.free_bytes"
SIGNAL = "disk.hours_until_full"
_MEASUREMENT, _FIELD, _VOLUME = "plimsoll_forecast", "hours_until_full", "volume"
HOUR, EVERY = 3600 * SECOND, 600 * SECOND
_RECENT = 300 * SECOND
_AT_ONCE = 100  # series that are read together

# All our choice, as is what follows: hours.
FAR = 720.0  # the highest forecast: later, or not at all
_WEEK, _DAY = 168, 24
_FEWEST = 8 * _DAY
_MOST = 35 * _DAY
_WINDOWS = (4 * _DAY, 8 * _DAY, 14 * _DAY, 28 * _DAY)
_SOON = 72
_SOON_AT_FIRST = 48  # in the first two weeks, when no cleanup every other week can have been seen
_SURE = 0.8  # that the space falls: smooth curves have hardly any independent samples, so this is strict for them
_CAME_BACK = 0.05  # of all the change: from here on, used space became free again; less is noise


class SpaceForecast:
    """A function that forecasts when each volume will be full, from the free bytes that live hosts send."""

    def __init__(self, store: SampleReader, signals: Mapping[str, Signal]) -> None:
        self._store = store
        self._signals = {SPACE: signals[SPACE]} if SPACE in signals else {}
        self._lows: dict[Series, Samples] = {}

    def __call__(self, now: int, check: Callable[[], None] = lambda: None) -> Points:
        """Return a forecast for each volume with eight days of history, at the time of the volume's newest sample.

        `now` is UTC ns. `check` is called often, and may raise to end the work.
        """
        series = self._store.series(now - _RECENT, now).series
        finder = Finder(self._signals, series, lambda _: True)
        sources = [pair for name in self._signals for pair in finder.find(name).values()]
        volumes = [(subject, source) for subject, source in sources if isinstance(source, ResolvedSeries)]
        recorded = [source.series for _, source in volumes]
        self._read(recorded, now // HOUR * HOUR, check)
        forecasts: list[Series] = []
        rows: list[tuple[int, float]] = []
        newest = self._store.read(recorded, now - _RECENT, now)
        for (subject, source), samples in zip(volumes, newest, strict=True):
            check()
            lows = self._lows[source.series]
            if len(samples.times) and len(lows.times) >= _FEWEST:
                free = np.append(_fill_hours(lows), samples.values[-1])
                hours = compute_hours_until_full(transform_values(free, source.transform))
                tags = ((_VOLUME, subject.instance),) if subject.instance else ()
                forecasts.append(Series(subject.host, _MEASUREMENT, tags, _FIELD))
                rows.append((int(samples.times[-1]), hours))
        times, values = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.empty(0),) * 2
        return Points(forecasts, np.arange(len(rows), dtype=np.int32), times.astype(np.int64), values.astype(float))

    def _read(self, series: Sequence[Series], until: int, check: Callable[[], None]) -> None:
        """Read the lowest value of each hour before `until` not yet in memory; forget other series and old hours."""
        oldest = until - _MOST * HOUR
        lows = {volume: self._lows[volume].between(oldest, until) for volume in series if volume in self._lows}
        new_volumes = [volume for volume in series if volume not in lows]
        for start, batch in (
            *((oldest, new_volumes[first : first + _AT_ONCE]) for first in range(0, len(new_volumes), _AT_ONCE)),
            (until - 2 * HOUR, [*lows]),
        ):
            check()
            for volume, hours in zip(batch, self._store.buckets(batch, start, until - 1, HOUR), strict=True):
                lows[volume] = _join_lows(lows.get(volume), hours)
        self._lows = lows


def _join_lows(lows: Samples | None, hours: Buckets) -> Samples:
    """Return the lowest values in memory, and after them the lowest values of the read hours that are later."""
    minima = Samples(hours.times, hours.minimum)
    if lows is None or not len(lows.times):
        return minima
    is_new = minima.times > lows.times[-1]
    return Samples(np.append(lows.times, minima.times[is_new]), np.append(lows.values, minima.values[is_new]))


def _fill_hours(lows: Samples) -> Values:
    """Return a value for each hour; an hour without a sample has the value of the hour before."""
    hours = np.arange(int(lows.times[0]), int(lows.times[-1]) + 1, HOUR)
    return lows.values[np.searchsorted(lows.times, hours, side="right") - 1]


def compute_hours_until_full(free: Values) -> float:
    """Return in how many hours a volume will be full, at most FAR; FAR also if filling is unlikely or cannot be told.

    Args:
        free: The lowest free space of each hour, the current free space last; 8 days or more.
    """
    last, noise = float(free[-1]), _CAME_BACK * float(np.ptp(free))
    if last <= 0:
        return 0.0
    came_back = float((free - np.minimum.accumulate(free)).max()) > noise
    width = min(_WEEK, len(free) - _WINDOWS[0])
    lows, bound = (_find_lowest(free, width), free[:-width].min() - noise) if came_back else (free, free.min() + noise)
    most_lost = float((free[: 1 - _SOON] - _find_lowest(free, _SOON)).max())  # within the hours that count as soon
    if last > most_lost or lows[-1] > bound:
        return FAR  # it has never lost that much so fast, or was as low before, and that came back
    hours = min((FAR, *_predict_by_weeks(free), *_predict_by_lines(lows, last)))
    is_early = len(free) < 2 * _WEEK and hours > _SOON_AT_FIRST
    return FAR if is_early else hours


def _find_lowest(values: Values, width: int) -> Values:
    """Return the minimum of every `width` neighbouring values: a sliding window."""
    return np.lib.stride_tricks.sliding_window_view(values, width).min(axis=1)


def _predict_by_lines(lows: Values, last: float) -> Iterator[float]:
    """Yield the hours until a falling line through the lowest values reaches 0, for each of several spans of days."""
    for width in {*_WINDOWS, len(lows)}:
        hours, part = np.arange(-width, 0.0), lows[-width:]
        line = find_trend(hours, part, _SURE) if len(part) == width else None
        if line is None or line.direction >= 0:
            continue
        slowest = line.slope + line.line.reach(_SURE)
        level = min(last, max(line.end, 0.0))
        if slowest < 0 and level <= -slowest * 2 * _SOON:
            yield level / -line.slope


def _predict_by_weeks(free: Values) -> Iterator[float]:
    """Yield the hours in which both of the last two weeks lost as much as is free now; nothing if a week lost less.

    Of each week, the 72 hours that followed the present hour of the week are examined.
    """
    last, first_full = float(free[-1]), []
    if len(free) > 2 * _WEEK + _SOON:
        for begin in (len(free) - 1 - _WEEK, len(free) - 1 - 2 * _WEEK):
            first_full.append(np.flatnonzero(free[begin] - free[begin : begin + _SOON + 1] >= last)[:1])
    if first_full and all(map(len, first_full)):
        yield float(max(first_full)[0])

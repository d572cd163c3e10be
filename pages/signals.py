"""The values of signals in a store, reduced to what a chart of some width shows: every extreme, and every gap."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from model.log import Times, Values
from model.samples import Samples
from model.sampling import pauses
from model.times import SECOND
from review.signal_samples import signal_samples
from rules.fields import transformed
from rules.origins import Origin, SeriesOrigin, series_of
from store.m4 import bucket_width, m4
from store.protocol import Store

_BEFORE = 60 * SECOND  # the first rate of a range needs the sample before it
_NOTHING = Samples(np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Samples to draw; a row without a value is a gap. They are drawn in place of `count` samples."""

    samples: Samples
    count: int

    @property
    def present(self) -> Samples:
        """Without the gaps."""
        return self.samples.present

    @property
    def is_reduced(self) -> bool:
        """Whether they are fewer than there are."""
        return len(self.present.times) < self.count

    def moved(self, by: int) -> "Drawn":
        """At other times."""
        return replace(self, samples=Samples(self.samples.times + by, self.samples.values))


def drawn(store: Store, origins: Sequence[Origin], start: int, end: int, columns: int) -> list[Drawn]:
    """The samples that draw each signal in a range, at most four for each of so many columns of pixels.

    All are read at once: those that are recorded as they are drawn by the store, the others computed.
    """
    direct = [one.series for one in origins if _is_direct(one)]
    lines = dict(zip(direct, store.drawn(direct, start, end, columns), strict=True)) if direct else {}
    counts = dict(zip(direct, store.counts(direct, start, end), strict=True)) if direct else {}
    parts = [*dict.fromkeys(series for one in origins if not _is_direct(one) for series in series_of(one))]
    raw = dict(zip(parts, store.read(parts, start - _BEFORE, end), strict=True)) if parts else {}
    found: list[Drawn] = []
    for origin in origins:
        if _is_direct(origin):
            line = lines[origin.series]
            samples = Samples(line.times, transformed(line.values, origin.transform))
            marked = with_gaps(samples, start, end, columns)
            found.append(Drawn(marked, counts[origin.series]))
        else:
            samples = signal_samples(origin, lambda series: raw.get(series, _NOTHING), where_shared=True)
            found.append(reduced_to(samples.between(start, end) if samples else _NOTHING, start, end, columns))
    return found


def _is_direct(origin: Origin) -> TypeGuard[SeriesOrigin]:
    return isinstance(origin, SeriesOrigin) and not origin.rate


def reduced_to(samples: Samples, start: int, end: int, columns: int) -> Drawn:
    """The samples that draw a line; rows without a value, and pauses of the recording, are gaps."""
    present = samples.present
    chosen = m4(present, start, end, columns)
    if not len(chosen.times):
        return Drawn(chosen, 0)
    apart = pauses(present.times)
    missing = samples.times[~np.isfinite(samples.values)]
    apart |= np.searchsorted(missing, present.times[:-1]) < np.searchsorted(missing, present.times[1:])
    before = np.concatenate(([0], np.cumsum(apart)))[np.searchsorted(present.times, chosen.times)]
    gaps = np.diff(before) > 0
    if len(chosen.times) < len(present.times):
        gaps &= np.diff(chosen.times) >= bucket_width(start, end, columns)  # others are narrower than a pixel
    return Drawn(_split(chosen, gaps), len(present.times))


def with_gaps(samples: Samples, start: int, end: int, columns: int) -> Samples:
    """Samples that a store has reduced for drawing, with a row without a value in each pause of the recording.

    A step from the last sample of one column to the first of the next is one of the recording.
    """
    width = bucket_width(start, end, columns)
    steps = np.diff(samples.times)
    recorded = np.diff((samples.times - start) // width) > 0
    gaps = np.zeros(len(steps), dtype=bool)
    gaps[recorded] = pauses(np.concatenate(([0], np.cumsum(steps[recorded]))))
    return _split(samples, gaps)


def _split(samples: Samples, gaps: NDArray[np.bool_]) -> Samples:
    at = np.flatnonzero(gaps) + 1
    if not len(at):
        return samples
    before, after = samples.times[at - 1], samples.times[at]
    times: Times = np.insert(samples.times, at, before + (after - before) // 2)
    values: Values = np.insert(samples.values, at, np.nan)
    return Samples(times, values)

"""The newest samples of live series, as far back as any rule looks."""

from collections.abc import Collection, Mapping

import numpy as np

from plimsoll.model.log import Times
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import sampling_interval
from plimsoll.model.series import Series
from plimsoll.store.protocol import Store

_NOTHING = Samples(np.empty(0, dtype=np.int64), np.empty(0))
_KEPT_UP = 5  # steps in a row that make an interval; fewer may be chance
_ALIKE = 1.5  # largest ratio between the steps of one interval


class Buffers:
    """Samples of the series that are judged, read from a store step by step.

    `overlap` (ns) is how far back each step reads again, so that samples that arrived late are in the windows of later
    evaluations.
    """

    def __init__(self, store: Store, overlap: int) -> None:
        self._store = store
        self._overlap = overlap
        self._held: dict[Series, Samples] = {}
        self._end: int | None = None

    def read(self, reach: Mapping[Series, int], start: int, end: int) -> None:
        """Hold the samples up to `end` of these series; each from its reach (ns) before `start`."""
        self._held = {series: held for series, held in self._held.items() if series in reach}
        known = [series for series in reach if series in self._held]
        new = [series for series in reach if series not in self._held]
        # Where the last step ended before `start`, what lies between is needed, too.
        since = (start if self._end is None else min(start, self._end + 1)) - self._overlap
        clocks = _Clocks()
        for series, samples in zip(known, self._store.read(known, since, end, live=True) if known else (), strict=True):
            self._held[series] = clocks.joined(self._held[series], samples, since, start - reach[series])
        furthest = start - max((reach[series] for series in new), default=0)
        for series, samples in zip(new, self._store.read(new, furthest, end, live=True) if new else (), strict=True):
            self._held[series] = clocks.joined(_NOTHING, samples, furthest, start - reach[series])
        self._end = end

    def samples(self, series: Series) -> Samples:
        """The samples of a series; none if it is not among those that were read."""
        return self._held.get(series, _NOTHING)

    def forget(self, series: Collection[Series]) -> None:
        """Read these series anew, from their reach on, at the next step: late samples were written."""
        for one in series:
            self._held.pop(one, None)


class _Clocks:
    """Joins samples; series of a host share their times, which are joined, kept and looked at once."""

    def __init__(self) -> None:
        self._shared: dict[bytes, Times] = {}
        self._joined: dict[tuple[int, int, int | None, int], tuple[slice, int, Samples]] = {}
        self._alive: list[Times] = []  # so that no other array gets the identity of one that was seen

    def joined(self, held: Samples, new: Samples, since: int, start: int) -> Samples:
        """The samples held before `since` and the new ones, from `start` on."""
        times = self._shared.setdefault(new.times.tobytes(), new.times)
        key = id(held.times), id(times), held.declared, start
        found = self._joined.get(key)
        if found is None:
            kept = int(np.searchsorted(held.times, since, side="left"))
            every = np.concatenate([held.times[:kept], times])
            first = int(np.searchsorted(every, start, side="left"))
            known = held.declared if len(held.times) else None
            interval = held.declared if not len(times) and kept == len(held.times) else _interval(every, known)
            timed = Samples(every[first:].copy(), np.empty(0), interval)
            found = self._joined[key] = slice(min(first, kept), kept), max(0, first - kept), timed
            self._alive.append(held.times)
        old, skipped, timed = found
        values = np.concatenate([held.values[old], new.values[skipped:]])
        return Samples(timed.times, values, timed.declared)


def _interval(times: Times, known: int | None) -> int | None:
    """The interval that the newest steps show if these are alike, else the known one."""
    steps = np.diff(times[-_KEPT_UP - 1 :])
    is_alike = len(steps) == _KEPT_UP and steps.max() <= _ALIKE * steps.min()
    return sampling_interval(times[-_KEPT_UP - 1 :]) if is_alike else known or sampling_interval(times)

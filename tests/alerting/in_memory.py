"""A store for tests of what judges live samples."""

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.protocol import FoundSeries, SampleReader


class InMemory(SampleReader):
    """A store of live samples that answers as any does (tests/store/test_contract.py): here the judging is tested."""

    def __init__(self):
        self._samples: dict[Series, dict[int, float]] = {}

    def write_points(self, points):
        for which, time, value in zip(points.which, points.times.tolist(), points.values.tolist(), strict=True):
            self._samples.setdefault(points.series[which], {})[time] = value

    def series(self, start, end, hosts=()):
        there = [one for one, held in self._samples.items() if any(start <= time <= end for time in held)]
        return FoundSeries(there, 0)

    def read(self, series, start, end):
        return [self._between(self._samples.get(one, {}), start, end) for one in series]

    def _between(self, held, start, end):
        times = sorted(time for time in held if start <= time <= end)
        return Samples(np.array(times, dtype=np.int64), np.array([held[time] for time in times], dtype=np.float64))

    def close(self):
        pass

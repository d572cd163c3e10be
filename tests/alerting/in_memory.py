"""A store in memory, for tests of the evaluation of live samples."""

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.protocol import FoundSeries, SampleReader


class InMemory(SampleReader):
    """A store of live samples that answers as any store does (tests/store/test_contract.py)."""

    def __init__(self):
        self._samples: dict[Series, dict[int, float]] = {}

    def write_points(self, points):
        for which, time, value in zip(points.which, points.times.tolist(), points.values.tolist(), strict=True):
            self._samples.setdefault(points.series[which], {})[time] = value

    def series(self, start, end, hosts=()):
        items = [item for item, sample in self._samples.items() if any(start <= time <= end for time in sample)]
        return FoundSeries(items, 0)

    def read(self, series, start, end):
        return [self._between(self._samples.get(item, {}), start, end) for item in series]

    def _between(self, values, start, end):
        times = sorted(time for time in values if start <= time <= end)
        return Samples(np.array(times, dtype=np.int64), np.array([values[time] for time in times], dtype=np.float64))

    def close(self):
        pass

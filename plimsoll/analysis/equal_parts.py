"""Means over equal parts of a run, so that series sampled at different times can be compared."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples


class EqualParts:
    """The time from `start` to `end` (UTC ns) in `count` parts of equal length."""

    def __init__(self, start: int, end: int, count: int) -> None:
        self.start, self.end, self.count = start, max(end, start), count
        self._known: dict[int, tuple[Times, NDArray[np.intp]]] = {}  # most series share the times of their recording

    def means(self, samples: Samples) -> Values:
        """The mean of the samples in each part; NaN where there are none."""
        at = self.places(samples.times)
        filled = np.isfinite(samples.values)
        sums = np.bincount(at[filled], weights=samples.values[filled], minlength=self.count + 1)[: self.count]
        counts = np.bincount(at[filled], minlength=self.count + 1)[: self.count]
        return np.divide(sums, counts, out=np.full(self.count, np.nan), where=counts > 0)

    def edges(self, part: int) -> tuple[int, int]:
        """When a part begins and ends (UTC ns)."""
        width = self.end - self.start
        return self.start + width * part // self.count, self.start + width * (part + 1) // self.count

    def places(self, times: Times) -> NDArray[np.intp]:
        """The part of each time; those outside have the number after the last."""
        if id(times) not in self._known:
            width = max(self.end - self.start, 1) / self.count
            at = np.floor((times - self.start) / width)
            at[times == self.end] = self.count - 1
            at[(at < 0) | (at > self.count)] = self.count
            self._known[id(times)] = times, at.astype(np.intp)
        return self._known[id(times)][1]

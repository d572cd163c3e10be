"""Filters that replace each value by a median or mean of its neighbours, and means over parts of a time range."""

import math
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples


class EqualParts:
    """The time from `start` to `end` (UTC ns), divided into `count` parts of equal length."""

    def __init__(self, start: int, end: int, count: int) -> None:
        self.start, self.end, self.count = start, max(end, start), count
        self._places: dict[int, tuple[Times, NDArray[np.intp]]] = {}  # most series share the times of their recording

    def means(self, samples: Samples) -> Values:
        """Return the mean of the samples in each part; NaN for a part without samples."""
        at = self.places(samples.times)
        filled = np.isfinite(samples.values)
        sums = np.bincount(at[filled], weights=samples.values[filled], minlength=self.count + 1)[: self.count]
        counts = np.bincount(at[filled], minlength=self.count + 1)[: self.count]
        return np.divide(sums, counts, out=np.full(self.count, np.nan), where=counts > 0)

    def edges(self, part: int) -> tuple[int, int]:
        """Return the start and the end (UTC ns) of the part with index `part`."""
        width = self.end - self.start
        return self.start + width * part // self.count, self.start + width * (part + 1) // self.count

    def places(self, times: Times) -> NDArray[np.intp]:
        """Return the index of the part that contains each time; `count` for times outside of all parts."""
        if id(times) not in self._places:
            width = max(self.end - self.start, 1) / self.count
            at = np.floor((times - self.start) / width)
            at[times == self.end] = self.count - 1
            at[(at < 0) | (at > self.count)] = self.count
            self._places[id(times)] = times, at.astype(np.intp)
        return self._places[id(times)][1]


def find_runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the start (included) and end (excluded) of each run of consecutive true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


_AT_ONCE = 16_384  # values: their columns fit into the processor's cache
_SMALL = 9  # the largest size for which comparing columns is faster than sorting windows
Ends = Literal["edge", "symmetric"]


def filter_median(values: Values, size: int, ends: Ends) -> Values:
    """Return, for each value, the median of the `size` (odd) finite values around it.

    Beyond the ends of the series, the first and last values are repeated ("edge"), or the series is mirrored
    ("symmetric").
    """
    around = sliding_window_view(np.pad(values, size // 2, mode=ends), size)
    parts = [around[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE)]
    middle = size // 2
    medians = [_compute_medians(part) if size <= _SMALL else np.partition(part, middle)[:, middle] for part in parts]
    return np.concatenate(medians) if medians else np.empty(0)


def _compute_medians(windows: Values) -> Values:
    """Return the median of each row by forgetful selection: what has more than half of a row beside it is dropped."""
    size = windows.shape[1]
    columns = list(windows.T)
    kept, rest = columns[: size // 2 + 2], columns[size // 2 + 2 :]
    while len(kept) > 1:
        for at in range(1, len(kept)):
            kept[0], kept[at] = np.minimum(kept[0], kept[at]), np.maximum(kept[0], kept[at])
        for at in range(1, len(kept) - 1):
            kept[-1], kept[at] = np.maximum(kept[-1], kept[at]), np.minimum(kept[-1], kept[at])
        kept = [*kept[1:-1], *rest[:1]]
        rest = rest[1:]
    return kept[0]


def smooth_mean(values: Values, size: int) -> Values:
    """Return, for each value, the mean of the `size` values around it; the series is mirrored at its ends."""
    padded = np.pad(values, (size // 2, size - size // 2 - 1), mode="symmetric")
    return np.convolve(padded, np.full(size, 1 / size), mode="valid")


def compute_median(values: ArrayLike) -> float:
    """Return the median of values, equal to np.median but faster; NaN if there are no values or any is NaN."""
    ordered = np.sort(np.asarray(values))  # on equal values, and on few, faster than np.partition
    if not len(ordered):
        return math.nan
    low, high = float(ordered[(len(ordered) - 1) // 2]), float(ordered[len(ordered) // 2])
    return math.nan if math.isnan(ordered[-1]) else (low + high) / 2

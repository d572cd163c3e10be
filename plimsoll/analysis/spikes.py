"""Finds spikes: short times in which values are far above the level before and after them.

The level is a running median of block medians, and the scatter around it the median absolute deviation (MAD), so that
neither is moved by the spikes: Hampel's identifier (Davies and Gather, "The identification of multiple outliers",
Journal of the American Statistical Association 88, 1993).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values

_MOST_OF_TIME = 0.45  # spikes take up a smaller part of the time than this, with their slopes
_BLOCKS = (6, 20, 60)  # into how many parts the samples are divided for the level
_FEWEST_IN_BLOCK = 12
_DEVIATIONS = 5.0  # a spike is at least this many standard deviations above the level
_NORMAL = 1.4826  # the standard deviation of normal values, in MADs
_PARTS_OF_TOP = (0.0, 0.25, 0.5)  # of the highest spikes; lower ones are then left out
_FEWEST = 4


@dataclass(frozen=True, eq=False)
class Spikes:
    """The first and the last row of each spike, in order of time."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]


def spikes(values: Values) -> list[Spikes]:
    """The spikes of evenly sampled values, found in several ways; empty if there are none.

    The ways differ in how fast the level may change, and in how much lower than the highest a spike may be.
    """
    found: list[Spikes] = []
    seen: set[bytes] = set()
    for blocks in _BLOCKS:
        size = len(values) // blocks
        if size < _FEWEST_IN_BLOCK:
            break
        level = _level(values, size)
        above = values - level
        scatter = _NORMAL * float(_median(np.abs(above)))
        least = max(_DEVIATIONS * scatter, 1e-9 * float(np.abs(values).max()))
        if not (above > least).any():
            continue
        for part in _PARTS_OF_TOP:
            one = _above(above, max(least, part * _top(above, least)))
            key = one.first.tobytes() + one.last.tobytes()
            if len(one.first) >= _FEWEST and key not in seen and _share(one, len(values)) < _MOST_OF_TIME:
                seen.add(key)
                found.append(one)
    return found


def _level(values: Values, size: int) -> Values:
    """The median of each block of rows, smoothed by a median of three, and interpolated."""
    blocks = len(values) // size
    medians = _median(values[: blocks * size].reshape(blocks, size))
    padded = np.concatenate((medians[:1], medians, medians[-1:]))
    before, after = padded[:-2], padded[2:]
    smooth = np.maximum(np.minimum(before, after), np.minimum(np.maximum(before, after), medians))
    return np.interp(np.arange(len(values)), (np.arange(blocks) + 0.5) * size - 0.5, smooth)


def _top(above: Values, least: float) -> float:
    """The height of the highest spikes: nine tenths of all rows in spikes are lower."""
    high = above[above > least]
    at = len(high) * 9 // 10
    return float(np.partition(high, at)[at])


def _median(values: Values) -> Values:
    """The upper median along the last axis; np.median takes three times as long."""
    at = values.shape[-1] // 2
    return np.partition(values, at, axis=-1)[..., at]


def _above(above: Values, least: float) -> Spikes:
    """Runs of rows above half of `least` that go beyond it, which is more than nothing."""
    raised = np.concatenate(([False], above > least / 2, [False]))
    edges = np.flatnonzero(raised[1:] != raised[:-1])
    first, last = edges[::2], edges[1::2] - 1
    # Between runs nothing is beyond it, so each may reach to the next.
    high = np.maximum.reduceat(above, first) > least if len(first) else np.empty(0, dtype=bool)
    return Spikes(first[high], last[high])


def _share(found: Spikes, rows: int) -> float:
    return float((found.last - found.first + 1).sum()) / rows

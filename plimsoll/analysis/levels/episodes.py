"""The parts of a load that are tests of their own: between them, and before and after, there is hardly any load."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import median_filter
from plimsoll.analysis.median import median
from plimsoll.model.log import Times, Values

# These are our choices.
_LOW = 0.35  # of the level
_SMOOTHED = 5  # samples
_LASTS = 0.012  # of the run: shorter is noise
_DIP = 0.08  # of the run: a shorter pause with the level on both sides is one within a test
_LEVEL_AGAIN = 0.75  # of the level, beside such a pause
_BESIDE = 0.02  # of the run, beside it


@dataclass(frozen=True, eq=False)
class Episode:
    """Rows from `first` up to `last`; `inside` are those of the run that are within it and in no pause."""

    first: int
    last: int
    inside: NDArray[np.bool_]


def longest_episode(times: Times, values: Values) -> Episode | None:
    """The longest part with a load; None if that is the whole run, without a pause."""
    count = len(values)
    busy = values[values > np.quantile(values, 0.9) / 2]
    if not len(busy):
        return None
    level = median(busy)
    low = median_filter(values, _SMOOTHED, "edge") < _LOW * level
    pauses = [(a, b) for a, b in _runs(low) if b - a >= max(2, _LASTS * count)]
    dips = [one for one in pauses if _is_dip(values, *one, level)]
    edges = [0, *(at for one in pauses if one not in dips for at in one), count]
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    first, last = max(parts, key=lambda one: int(times[one[1] - 1] - times[one[0]]) if one[1] > one[0] else -1)
    inside = np.zeros(count, dtype=bool)
    inside[first:last] = True
    for start, end in dips:
        inside[max(first, start - 2) : end + 2] = False
    return None if inside.all() else Episode(first, last, inside)


def _is_dip(values: Values, start: int, end: int, level: float) -> bool:
    """Whether a pause is short, and the level was there just before it and is just after it."""
    width = max(3, round(_BESIDE * len(values)))
    before, after = values[max(0, start - width) : start], values[end : end + width]
    if end - start > _DIP * len(values) or min(len(before), len(after)) < width:
        return False
    return min(median(before), median(after)) > _LEVEL_AGAIN * level


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]

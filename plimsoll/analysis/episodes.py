"""Times with a load in a series: the tests in one log, the cycles of a load, and the longest time with a load."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median, filter_median, find_runs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values

# These are our choices.
_LOW = 0.35  # of the level
_SMOOTHED = 5  # samples
_LASTS = 0.012  # of the run: shorter is noise
_DIP = 0.08  # of the run: a shorter pause with the level on both sides is one within a test
_LEVEL_AGAIN = 0.75  # of the level, beside such a pause
_BESIDE = 0.02  # of the run, beside it
_IDLE, _BUSY = 0.12, 0.5  # of the load that is reached: what is idle lies between tests
_REACHED = 0.9  # the quantile that is taken for it
_SHORTEST_TEST = 0.08  # of the run
_BETWEEN_TESTS = 0.02  # of the run
_SHARP = 0.05  # of the run, beside a pause: a load that is far from busy in it fell or rose as the curve of a day
_SHORT_PAUSE = 0.05  # of the run, with the load at its level on both sides: one within a test
_FEWEST_CYCLES = 4
_ALIKE = 1.5  # times as long as the usual cycle, or as short
_MOSTLY = 0.5  # of the run: cycles that are fewer are a part of a test


@dataclass(frozen=True, eq=False)
class Episode:
    """A time with a load: the rows from `first` to before `last`; `inside` is True for the rows outside pauses."""

    first: int
    last: int
    inside: NDArray[np.bool_]


def count_cycles(values: Values) -> int:
    """Return the number of cycles of a load that comes and goes; 0 if cycles are few or differ in length."""
    runs = _find_busy_runs(values)
    if len(runs) < _FEWEST_CYCLES or runs[-1][1] - runs[0][0] < _MOSTLY * len(values):
        return 0
    lengths = np.diff([begin for begin, _ in runs])
    usual = compute_median(lengths)
    return len(runs) if lengths.max() < _ALIKE * usual < _ALIKE**2 * lengths.min() else 0


def separate_tests(values: Values) -> list[tuple[int, int]]:
    """Return the tests in a series as ranges of rows (end excluded); tests are separated by times without load."""
    count = len(values)
    runs = [(begin, end) for begin, end in _find_busy_runs(values) if end - begin > _LASTS * count]
    level = compute_median(np.concatenate([values[begin:end] for begin, end in runs])) if runs else 0.0
    tests = runs[:1]
    for begin, end in runs[1:]:
        last = tests[-1][1]
        is_one = begin - last < max(3, _BETWEEN_TESTS * count) or not _has_sharp_edge(values, last, begin)
        if is_one or (begin - last < _SHORT_PAUSE * count and _is_dip(values, last, begin, level)):
            tests[-1] = tests[-1][0], end
        else:
            tests.append((begin, end))
    return [(begin, end) for begin, end in tests if end - begin >= max(_SMOOTHED, _SHORTEST_TEST * count)]


def _has_sharp_edge(values: Values, last: int, begin: int) -> bool:
    """Return whether the load is busy shortly before or after a pause from row `last` to before row `begin`."""
    width = max(_SMOOTHED, round(_SHARP * len(values)))
    busy = _BUSY * float(np.quantile(values, _REACHED))
    beside = values[max(0, last - width) : last], values[begin : begin + width]
    return any(float(np.quantile(side, _REACHED)) >= busy for side in beside)


def _find_busy_runs(values: Values) -> list[tuple[int, int]]:
    """Return the ranges of consecutive rows (end excluded) with a load."""
    smooth = filter_median(values, _SMOOTHED, "edge")
    reached = float(np.quantile(smooth, _REACHED))
    runs = find_runs(smooth > _IDLE * reached)
    return [(begin, end) for begin, end in runs if smooth[begin:end].max() >= _BUSY * reached]


def find_longest_episode(times: Times, values: Values) -> Episode | None:
    """Return the longest time with a load; None if the load lasts for the whole run without a pause."""
    count = len(values)
    busy = values[values > np.quantile(values, 0.9) / 2]
    if not len(busy):
        return None
    level = compute_median(busy)
    low = filter_median(values, _SMOOTHED, "edge") < _LOW * level
    pauses = [(start, end) for start, end in find_runs(low) if end - start >= max(2, _LASTS * count)]
    dips = [pause for pause in pauses if _is_dip(values, *pause, level)]
    edges = [0, *(at for pause in pauses if pause not in dips for at in pause), count]
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    first, last = max(parts, key=lambda pair: int(times[pair[1] - 1] - times[pair[0]]) if pair[1] > pair[0] else -1)
    inside = np.zeros(count, dtype=bool)
    inside[first:last] = True
    for start, end in dips:
        inside[max(first, start - 2) : end + 2] = False
    return None if inside.all() else Episode(first, last, inside)


def _is_dip(values: Values, start: int, end: int, level: float) -> bool:
    """Return whether a pause is short, and the load is near `level` just before and after the pause."""
    width = max(3, round(_BESIDE * len(values)))
    before, after = values[max(0, start - width) : start], values[end : end + width]
    if end - start > _DIP * len(values) or min(len(before), len(after)) < width:
        return False
    return min(compute_median(before), compute_median(after)) > _LEVEL_AGAIN * level

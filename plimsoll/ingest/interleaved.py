"""Two recordings of one host at times of their own: whether they can be of the same machine."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.times import SECOND

# Our choices. Two recorders of one machine read different values from moment to moment, but over some minutes the same
# range of them. That ten values each have nothing in common, and one is at least twice the other, is no chance.
_BLOCK = 150 * SECOND  # five minutes always hold a whole one
_LEAST_VALUES = 10
_FACTOR = 2.0


def differ_for_long(first: Log, second: Log, shared: Sequence[tuple[int, int]]) -> bool:
    """Whether the values of a counter that rules may need are far apart in two recordings for some minutes.

    `shared` are the columns of the counters that both have. Each recording needs ten samples meanwhile.
    """
    start = max(int(first.times[0]), int(second.times[0]))
    end = min(int(first.times[-1]), int(second.times[-1]))
    block = max(_BLOCK, _LEAST_VALUES * max(first.interval or 0, second.interval or 0))
    edges = np.arange(start, end + 1, block)
    return len(edges) > 1 and any(
        _far_apart(*_blocks(first.times, first.column(a), edges), *_blocks(second.times, second.column(b), edges))
        for a, b in shared
        if is_judged(first.series[a])
    )


def _blocks(times: Times, values: Values, edges: Times) -> tuple[Values, Values, Times]:
    """The least and the greatest value, and the number of values, between each pair of edges."""
    inside = np.isfinite(values) & (times >= edges[0]) & (times < edges[-1])
    block = np.searchsorted(edges, times[inside], side="right") - 1
    least, greatest = np.full(len(edges) - 1, np.inf), np.full(len(edges) - 1, -np.inf)
    np.minimum.at(least, block, values[inside])
    np.maximum.at(greatest, block, values[inside])
    return least, greatest, np.bincount(block, minlength=len(edges) - 1)


def _far_apart(
    least: Values, greatest: Values, count: Times, other_least: Values, other_greatest: Values, other_count: Times
) -> bool:
    """Whether in some block one range of values lies above twice the other one."""
    enough = (count >= _LEAST_VALUES) & (other_count >= _LEAST_VALUES)
    above = (least > _FACTOR * other_greatest) | (other_least > _FACTOR * greatest)
    return bool((enough & above).any())

"""Where one level of a series ends and the next begins: at once, or with a ramp between them."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Values

_RAMP = 6.0  # chi-squared: by how much a ramp must fit better than a step
_MOST = 120  # values on either side that are looked at


def transition(values: Values, before: tuple[int, int], after: tuple[int, int], noise: float) -> tuple[int, int]:
    """The end of the level before (not included) and the beginning of the level after.

    Args:
        values: The series.
        before: The first and last (not included) of the values that are surely on the level before.
        after: The same of the level after.
        noise: The long-run variance of the noise.
    """
    before, after = (before[0], max(before[1], before[0] + 1)), (min(after[0], after[1] - 1), after[1])
    low, high = values[slice(*before)].mean(), values[slice(*after)].mean()
    first = max((before[0] + before[1]) // 2, before[1] - _MOST)
    part = values[first : min((after[0] + after[1] + 1) // 2, after[0] + _MOST)]
    count = len(part)
    ends, begins = np.triu_indices(count + 1)
    slope = (high - low) / (begins - ends + 1)
    start = low + slope * (1 - ends)

    def sums(one: Values) -> tuple[Values, Values]:
        total = np.concatenate(([0.0], np.cumsum(one)))
        return total[ends], total[begins]

    at = np.arange(count, dtype=float)
    (_, xb), (xa, _) = sums(part), sums(part)
    left, _ = sums((part - low) ** 2)
    right = _tail((part - high) ** 2)[begins]
    squares_a, squares_b = sums(part**2)
    weighted_a, weighted_b = sums(at * part)
    ones, linear, square = begins - ends, *(b - a for a, b in (sums(at), sums(at**2)))
    on_ramp = start**2 * ones + 2 * start * slope * linear + slope**2 * square
    middle = squares_b - squares_a - 2 * (start * (xb - xa) + slope * (weighted_b - weighted_a)) + on_ramp
    cost: NDArray[np.float64] = left + middle + right + _RAMP * noise * (begins - ends > 1)
    best = int(np.argmin(cost))
    return first + int(ends[best]), first + int(begins[best])


def _tail(values: Values) -> Values:
    """The sum of the values from each place to the end."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


def step(values: Values, low: float, high: float) -> int:
    """The first value that is on the second of two levels."""
    gain = np.concatenate(([0.0], np.cumsum((values - low) ** 2 - (values - high) ** 2)))
    return int(np.argmin(gain))

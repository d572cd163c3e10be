"""Whether a signal is higher during events than between them: by how much, and how likely that is by chance."""

import math
from dataclasses import dataclass

import numpy as np

from plimsoll.model.log import Times, Values

_MOST_PARTS = 12
_FEWEST_PARTS = 2
_FEWEST_EVENTS = 2


@dataclass(frozen=True)
class Raised:
    """The mean during the events and between them; `chance` is the probability of such a difference by chance."""

    inside: float
    between: float
    chance: float


def raised(starts: Times, width: int, period: int, times: Times, values: Values, step: int) -> Raised | None:
    """Compare samples (every `step`) during events with those between them; None with too few samples.

    Of the time from each event to the next, parts as long as an event are looked at; the first is the event. If the
    signal had nothing to do with the events, each part would be as likely as the others to have the highest mean: the
    ranks of the first parts are tested together (van Elteren's test, a rank-sum test within blocks). So it is events
    that count, not samples, however strongly neighbouring samples depend on each other.
    """
    length = max(width, step)
    parts = min(_MOST_PARTS, period // length)
    if parts < _FEWEST_PARTS or len(times) < parts:
        return None
    begins = starts[:, np.newaxis] + np.arange(parts) * (period // parts)
    first_rows, next_rows = np.searchsorted(times, begins), np.searchsorted(times, begins + length)
    counts = next_rows - first_rows
    filled = (counts > 0).all(axis=1)
    if np.count_nonzero(filled) < _FEWEST_EVENTS:
        return None
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means = (sums[next_rows[filled]] - sums[first_rows[filled]]) / counts[filled]
    first, others = means[:, :1], means[:, 1:]
    rank = (others < first).sum() + 0.5 * (others == first).sum()
    # The variance of the rank of a part chosen at random, less what ties take away.
    variance = len(means) * (parts * parts - 1) / 12 - _ties(means) / (12 * parts)
    if variance <= 0:
        return None
    z = float(rank - len(means) * (parts - 1) / 2) / math.sqrt(variance)
    return Raised(float(first.mean()), float(others.mean()), math.erfc(z / math.sqrt(2)) / 2)


def _ties(means: Values) -> float:
    """The sum, over the means of each row, of the square of how many are equal to it, less one."""
    ordered = np.sort(means, axis=1)
    tied = ordered[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
    alike = (tied[:, :, np.newaxis] == tied[:, np.newaxis, :]).sum(axis=2)
    return float((alike * alike - 1).sum())

"""Whether a signal is higher during events than between them: by how much, and how likely that is by chance."""

import math
from dataclasses import dataclass

import numpy as np

from model.log import Times, Values

_MOST_PARTS = 12
_FEWEST_PARTS = 3


@dataclass(frozen=True)
class Raised:
    """The mean during the events and between them; `chance` is the probability of such a difference by chance."""

    inside: float
    between: float
    chance: float


def raised(starts: Times, width: int, period: int, times: Times, values: Values) -> Raised | None:
    """Compare samples during events with those between them; None with too few samples.

    The time from each event to the next is cut into equal parts, of which the first is the event. If the signal had
    nothing to do with the events, each part would be as likely as the others to have the highest mean: the ranks of the
    first parts are tested together (van Elteren's test, a rank-sum test within blocks). So it is events that count, not
    samples, however strongly neighbouring samples depend on each other.
    """
    if len(times) < _FEWEST_PARTS or not len(starts):
        return None
    step = int(np.median(np.diff(times)))
    parts = min(_MOST_PARTS, period // max(width + step, 2 * step))
    if parts < _FEWEST_PARTS:
        return None
    edges = starts[:, np.newaxis] + np.arange(parts + 1) * (period // parts)
    rows = np.searchsorted(times, edges, side="left")
    sums = np.concatenate(([0.0], np.cumsum(values)))[rows]
    counts = np.diff(rows, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.diff(sums, axis=1) / counts
    means = means[(counts > 0).all(axis=1)]
    if len(means) < 2:
        return None
    first, others = means[:, :1], means[:, 1:]
    rank = (others < first).sum(axis=1) + 0.5 * (others == first).sum(axis=1)  # 0 to parts - 1
    spread = np.array([_variance(row) for row in means]).sum()
    if spread == 0:
        return None
    z = float((rank - (parts - 1) / 2).sum() / np.sqrt(spread))
    return Raised(float(first.mean()), float(others.mean()), math.erfc(z / math.sqrt(2)) / 2)


def _variance(row: Values) -> float:
    """The variance of the rank of one part chosen at random, with ties."""
    _, counts = np.unique(row, return_counts=True)
    size = len(row)
    return (size * size - 1) / 12 - float((counts**3 - counts).sum()) / (12 * size)

"""How far the load may have changed where none was recorded, by what processors and disks did.

Both go with the load. Where both did more, or both less, the load may have changed, by as much as explains the larger
change, and no more than the smaller one lets it be: a resource takes at least the square root of the factor
(load_effect.py). What one alone did more comes from something else.
"""

import numpy as np

from plimsoll.comparison.levels import Level
from plimsoll.comparison.phases import CommonPhase
from plimsoll.model.run import Phase
from plimsoll.review.review import Review

_PROCESSORS = ("cpu.busy",)
_DISKS = ("disk.transfers", "disk.reads", "disk.writes")
_LEAST = 1.02  # our choice: runs of one build differ by as much


def shared_work(reviews: tuple[Review, Review], phase: CommonPhase) -> list[float]:
    """Between which factors the load may lie, 1 and another one; empty if it need not have changed."""
    found = [ratio for names in (_PROCESSORS, _DISKS) if (ratio := _ratio(reviews, phase, names))]
    if len(found) < 2:
        return []
    by = np.log(found)
    if by[0] * by[1] <= 0 or np.abs(by).min() < np.log(_LEAST):
        return []
    size = min(float(np.abs(by).max()), 2 * float(np.abs(by).min()))
    return [1.0, float(np.exp(np.sign(by[0]) * size))]


def _ratio(reviews: tuple[Review, Review], phase: CommonPhase, names: tuple[str, ...]) -> float | None:
    """How many times as much the second did, by the first of these signals that both have."""
    first, second = reviews
    for name in names:
        before, after = _total(first, name, phase.first), _total(second, name, phase.second)
        if before and after:
            return after / before
    return None


def _total(review: Review, name: str, phase: Phase | None) -> float:
    levels = (Level.of(samples, phase) for samples in review.signals.of(name).values())
    return sum(one.mean.mean for one in levels if one is not None)

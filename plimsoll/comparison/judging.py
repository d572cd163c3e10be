"""Whether one signal differs between two runs, and whether that matters.

A difference counts where two methods agree on it: the stationary bootstrap of the difference of means, and the ranks of
the means of blocks that are independent of each other. Where a signal drifts so slowly that no blocks are independent,
the second is replaced: the runs must lie further apart than either of them drifts, or a documented limit must be
crossed in only one of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from plimsoll.analysis.bootstrap import Difference, Estimate
from plimsoll.analysis.independent_blocks import LEAST
from plimsoll.analysis.significance import RankTest, holm, rank_test
from plimsoll.comparison.levels import Level
from plimsoll.comparison.treatments import Treatment
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

FALSE_ALARMS = 0.02  # the chance that any signal of a phase is called different although none is
_CONFIRMED = 0.02  # the same of the ranks of one signal
_FEWEST = 8  # samples; with fewer, nothing is said


class Outcome(StrEnum):
    """What a comparison of one signal says.

    Within: it differs, but by less than matters. Same: no difference that matters is compatible with the samples.
    Unclear: there are too few samples to tell.
    """

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    CHANGE = "change"
    WITHIN = "within-tolerance"
    SAME = "same"
    UNCLEAR = "unclear"


DIFFERENT = (Outcome.REGRESSION, Outcome.IMPROVEMENT, Outcome.CHANGE)


@dataclass(frozen=True, eq=False)
class Compared:
    """One signal of one subject in one phase of two runs.

    Attributes:
        name: The name of the signal.
        subject: That of the first run.
        other: That of the second run.
        difference: That of the means, the second less the first.
        ranks: The second method; None where the runs have too few independent parts.
        crossed: The rank of its documented limit among those crossed in one of the runs only; None if none is.
        where: The place in words, if it is not that of the subjects.
        chance: The chance of a false alarm, raised for the number of signals that are compared.
    """

    name: str
    signal: Signal
    subject: Subject
    other: Subject
    treatment: Treatment
    first: Level
    second: Level
    difference: Difference
    ranks: RankTest | None
    crossed: int | None = None
    where: str = ""
    chance: float = 1.0

    @classmethod
    def of(
        cls,
        name: str,
        signal: Signal,
        subjects: tuple[Subject, Subject],
        levels: tuple[Level, Level],
        treatment: Treatment,
        *,
        crossed: int | None = None,
        where: str = "",
    ) -> "Compared":
        """Compare the levels of a signal."""
        first, second = levels
        found, ranks = _methods(first, second)
        return cls(name, signal, *subjects, treatment, first, second, found, ranks, crossed, where)

    @property
    def tolerated(self) -> float:
        """The largest difference that does not matter."""
        return self.treatment.tolerated(self.first.mean.mean)

    @property
    def change(self) -> float | None:
        """The difference as a share of the first mean; None where that has no meaning."""
        first, second = self.first.mean.mean, self.second.mean.mean
        return second / first - 1 if first > 0 and second >= 0 else None

    @property
    def size(self) -> float:
        """How many times the difference is what does not matter."""
        return abs(self.difference.value) / self.tolerated if self.tolerated else float("inf")

    @property
    def compatible(self) -> float:
        """The largest difference that is compatible with the samples."""
        return max(map(abs, self.difference.interval()))

    @property
    def is_different(self) -> bool:
        """Whether both methods agree that the means differ."""
        if min(self.first.mean.samples, self.second.mean.samples) < _FEWEST or self.chance >= FALSE_ALARMS:
            return False
        if self.ranks is None:
            return self.crossed is not None or self._is_apart
        return self.ranks.chance < _CONFIRMED and self.ranks.higher == (self.difference.value > 0)

    @cached_property
    def outcome(self) -> Outcome:
        """What the comparison says."""
        if self.is_different:
            if abs(self.difference.value) <= self.tolerated:
                return Outcome.WITHIN
            worse = self.treatment.worse
            if worse == "either":
                return Outcome.CHANGE
            higher = "higher" if self.difference.value > 0 else "lower"
            return Outcome.REGRESSION if worse == higher else Outcome.IMPROVEMENT
        enough = min(self.first.mean.samples, self.second.mean.samples) >= _FEWEST
        return Outcome.SAME if enough and self.compatible <= self.tolerated else Outcome.UNCLEAR

    @property
    def _is_apart(self) -> bool:
        """Whether the runs lie further apart than either of them drifts."""
        first, second = self.first.course, self.second.course
        drift = max(float(np.ptp(first)), float(np.ptp(second)))
        gap = max(float(second.min() - first.max()), float(first.min() - second.max()))
        return gap > drift


def _methods(first: Level, second: Level) -> tuple[Difference, RankTest | None]:
    """Both methods."""
    if min(len(first.blocks), len(second.blocks)) < LEAST:
        return Difference.of(first.mean, second.mean), None
    return Difference.of(_cautious(first), _cautious(second)), rank_test(first.blocks, second.blocks)


def _cautious(level: Level) -> Estimate:
    """The mean, whose error is known no better than from its independent parts."""
    return replace(level.mean, freedom=min(level.mean.freedom, float(len(level.blocks) - 1)))


def judged(found: Sequence[Compared]) -> list[Compared]:
    """The comparisons of one phase, with chances raised for their number: critical signals apart from others."""
    every: list[Compared] = []
    for critical in (True, False):
        alike = [one for one in found if one.treatment.critical == critical]
        raised = holm(np.array([one.difference.chance for one in alike]))
        every += [replace(one, chance=float(chance)) for one, chance in zip(alike, raised, strict=True)]
    return every

"""The comparison of one signal between runs: whether it differs, and whether the difference matters.

With one baseline, two methods must agree that there is a difference: the stationary bootstrap of the difference of
means, and a rank test of the means of independent blocks. If a signal drifts so slowly that no blocks are independent,
a third test replaces the rank test: the gap between the runs must be larger than the drift within each. To matter, a
difference must also exceed what the load explains, and the spread between runs of one build. With several baselines,
the second run must be outside the prediction interval, and outside the range of all baselines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from plimsoll.analysis.bootstrap import Difference, Estimate, Interval, Quantile, difference, predicted, runs_to_decide
from plimsoll.analysis.significance import LEAST, RankTest, holm, rank_test, shift
from plimsoll.comparison.levels import SignalLevel
from plimsoll.comparison.signal_settings import SAME, Band, Treatment, weight
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

FALSE_ALARMS = 0.02  # the chance that any signal of a phase is called different although none is
_ONE_OF_MANY = FALSE_ALARMS / 50  # of the chance: about as many critical signals are compared
_CONFIRMED = 0.02  # the same of the ranks of one signal
_FEWEST = 8  # samples; with fewer, nothing is said
MOST_RUNS = 10  # baselines; more are seldom kept


class ComparisonOutcome(StrEnum):
    """The outcome of comparing one signal, in the order of the outputs.

    LOAD: the load explains the difference. SPREAD: runs of one build differ by as much. WITHIN: the difference is
    certain but too small to matter. UNCLEAR: there are too few samples to tell. SAME: the samples exclude a difference
    that matters.
    """

    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    CHANGE = "change"
    LOAD = "explained-by-load"
    SPREAD = "within-spread"
    WITHIN = "within-tolerance"
    UNCLEAR = "unclear"
    SAME = "same"


DIFFERENT = (ComparisonOutcome.REGRESSION, ComparisonOutcome.IMPROVEMENT, ComparisonOutcome.CHANGE)


@dataclass(frozen=True, eq=False)
class Compared:
    """One signal of one subject in one phase of two runs, or of one run and several baselines.

    Attributes:
        name: The name of the signal.
        subject: The subject in the first run.
        other: The subject in the second run.
        baselines: The levels of the baselines; `first` is the last of them.
        difference: The difference of the means: the second less the first, or less the mean of the baselines.
        between: The second level less the level expected from baselines and load, with the error between runs.
        ranks: The rank test; None if the runs have too few independent blocks.
        expected: The band expected from the load.
        loads: The comparison of the load with that of each baseline; None if none was recorded.
        crossed: The rank of its documented limit among the limits that only one run crossed; None if it is not
        among them.
        crossed_in: Which run alone crossed its documented limit; None if no run or both did.
        phase: The name of the phase.
        where: The place in words, if it differs from the subjects.
        in_use: The memory in use, for available memory; None if unknown.
        chance: The p-value of `difference`, corrected for the number of compared signals.
        between_chance: The p-value of `between`, corrected likewise.
    """

    name: str
    signal: Signal
    subject: Subject
    other: Subject
    treatment: Treatment
    baselines: tuple[SignalLevel, ...]
    second: SignalLevel
    difference: Difference
    between: Difference
    ranks: RankTest | None
    expected: Band = SAME
    loads: "tuple[Compared | None, ...]" = ()
    crossed: int | None = None
    crossed_in: Literal["baseline", "other"] | None = None
    phase: str = ""
    where: str = ""
    in_use: float | None = None
    chance: float = 1.0
    between_chance: float = 1.0

    @classmethod
    def of(
        cls,
        name: str,
        signal: Signal,
        subjects: tuple[Subject, Subject],
        levels: tuple[SignalLevel, SignalLevel],
        treatment: Treatment,
        *,
        earlier: Sequence[SignalLevel] = (),
        expected: Sequence[Band] = (),
        in_use: float | None = None,
        **details: Any,
    ) -> "Compared":
        """Return the comparison of a signal between the last baseline and the second run.

        `earlier` are the levels of the other baselines, `expected` the bands expected from the load of each baseline,
        the last one last; `details` are further fields.
        """
        baselines, second = (*earlier, levels[0]), levels[1]
        bands = expected or [SAME] * len(baselines)
        difference, ranks = _methods(baselines, second)
        spread = treatment.between_runs(_mean(baselines), in_use)
        between = predicted(_expected(baselines, bands, second.mean.mean), second.mean, spread, weight())
        fields = (name, signal, *subjects, treatment, baselines, second, difference, between, ranks, bands[-1])
        return cls(*fields, in_use=in_use, **details)

    @property
    def first(self) -> SignalLevel:
        """The level in the baseline; with several baselines, in the last of them."""
        return self.baselines[-1]

    @property
    def before(self) -> float:
        """The mean of the baselines."""
        return _mean(self.baselines)

    @property
    def tolerated(self) -> float:
        """The largest difference that does not matter."""
        return self.treatment.tolerated(self.before)

    @property
    def change(self) -> float | None:
        """The difference as a share of the baseline; None if a share has no meaning."""
        first, second = self.before, self.second.mean.mean
        return second / first - 1 if first > 0 and second >= 0 else None

    @property
    def size(self) -> float:
        """The deviation from the expected level, as a multiple of the largest difference that does not matter."""
        return abs(self.between.value) / self.tolerated if self.tolerated else float("inf")

    @property
    def compatible(self) -> float:
        """The largest difference, without its sign, in the 95 % interval: the true difference is hardly larger."""
        return max(map(abs, self.interval))

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the difference of the means."""
        return self.difference.interval()

    @cached_property
    def peaks(self) -> Quantile:
        """The difference of the 95th percentiles, with its interval."""
        return difference(self.first.p95, self.second.p95)

    @property
    def shift(self) -> float | None:
        """The median difference between blocks of the two runs; None without a rank test."""
        return shift(self.first.blocks, self.second.blocks) if self.ranks else None

    @property
    def is_worse(self) -> bool:
        """Whether the signal is worse than expected by more than is tolerated."""
        return self._is_on_the_worse_side and self.size > 1

    @property
    def _is_on_the_worse_side(self) -> bool:
        return self.treatment.worse == ("higher" if self.between.value > 0 else "lower")

    @property
    def is_different(self) -> bool:
        """Whether the signal differs significantly between these runs, whatever the reason."""
        if self._fewest < _FEWEST:
            return False
        if len(self.baselines) > 1:
            return self.is_outside
        if self.chance >= FALSE_ALARMS:
            return False
        if self.ranks is None:
            return self._is_apart
        return self.ranks.chance < _CONFIRMED and self.ranks.higher == (self.difference.value > 0)

    @cached_property
    def outcome(self) -> ComparisonOutcome:
        """The outcome of the comparison."""
        if not self.is_different:
            alike = self._fewest >= _FEWEST and self.compatible <= self.tolerated
            return ComparisonOutcome.SAME if alike else self._unclear
        if abs(self.difference.value) <= self.tolerated:
            return ComparisonOutcome.WITHIN
        if abs(self.between.value) <= self.tolerated and self.expected.explains:
            return ComparisonOutcome.LOAD
        if self.between_chance >= FALSE_ALARMS or abs(self.between.value) <= self.tolerated:
            return ComparisonOutcome.SPREAD
        if self.treatment.worse == "either":
            return ComparisonOutcome.CHANGE
        return ComparisonOutcome.REGRESSION if self._is_on_the_worse_side else ComparisonOutcome.IMPROVEMENT

    @property
    def runs_needed(self) -> int | None:
        """The number of baselines that would make a difference of this size significant; None if more than ten."""
        count = len(self.baselines)
        if count > 1:  # they show by how much runs differ
            spread = self.between.error / np.sqrt(1 + 1 / count)
        else:
            spread = np.hypot(self.treatment.between_runs(self.before, self.in_use), self.second.mean.error)
        return runs_to_decide(self.between.value, float(spread), weight(), _ONE_OF_MANY, (count + 1, MOST_RUNS))

    @property
    def _fewest(self) -> int:
        return min(baseline.mean.samples for baseline in (*self.baselines, self.second))

    @property
    def _unclear(self) -> ComparisonOutcome:
        """The outcome of an insignificant difference: UNCLEAR, or SPREAD if the baselines differ by as much."""
        if len(self.baselines) == 1 or self._fewest < _FEWEST:
            return ComparisonOutcome.UNCLEAR
        return ComparisonOutcome.WITHIN if abs(self.difference.value) <= self.tolerated else ComparisonOutcome.SPREAD

    @property
    def is_outside(self) -> bool:
        """Whether the mean of the second run is outside the range of the baselines' means."""
        means = [baseline.mean.mean for baseline in self.baselines]
        return not min(means) <= self.second.mean.mean <= max(means)

    @property
    def _is_apart(self) -> bool:
        """Whether the gap between the two runs is larger than the drift within either of them."""
        first, second = self.first.course, self.second.course
        drift = max(float(np.ptp(first)), float(np.ptp(second)))
        gap = max(float(second.min() - first.max()), float(first.min() - second.max()))
        return gap > drift


def _mean(levels: Sequence[SignalLevel]) -> float:
    return float(np.mean([level.mean.mean for level in levels]))


def _expected(baselines: Sequence[SignalLevel], bands: Sequence[Band], value: float) -> list[Estimate]:
    """Return the mean expected from each baseline: the point in its band that is nearest to `value`."""
    ends = np.array([band.ends(baseline.mean.mean) for baseline, band in zip(baselines, bands, strict=True)])
    low, high = (float(end) for end in ends.mean(axis=0))
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.0
    means = (ends[:, 0] + share * (ends[:, 1] - ends[:, 0])).tolist()
    return [replace(baseline.mean, mean=mean) for baseline, mean in zip(baselines, means, strict=True)]


def _methods(baselines: Sequence[SignalLevel], second: SignalLevel) -> tuple[Difference, RankTest | None]:
    """Return the difference of the means, and the rank test; None with several baselines or too few blocks."""
    if len(baselines) > 1:
        count = len(baselines)
        error = float(np.sqrt(sum(baseline.mean.error**2 for baseline in baselines))) / count
        freedom = sum(baseline.mean.freedom for baseline in baselines)
        mean = replace(second.mean, mean=_mean(baselines), error=error, freedom=freedom)
        return Difference.of(mean, second.mean), None
    first = baselines[0]
    if min(len(first.blocks), len(second.blocks)) < LEAST:
        return Difference.of(first.mean, second.mean), None
    return Difference.of(_cautious(first), _cautious(second)), rank_test(first.blocks, second.blocks)


def _cautious(level: SignalLevel) -> Estimate:
    """Return the mean of a level; its degrees of freedom are limited by the number of independent blocks."""
    return replace(level.mean, freedom=min(level.mean.freedom, float(len(level.blocks) - 1)))


def judged(signals: Sequence[Compared]) -> list[Compared]:
    """Return the comparisons of one phase with p-values corrected (Holm), critical signals apart from others."""
    compareds: list[Compared] = []
    for critical in (True, False):
        alike = [compared for compared in signals if compared.treatment.critical == critical]
        within = holm(np.array([compared.difference.chance for compared in alike]))
        between = holm(np.array([compared.between.chance for compared in alike]))
        compareds += [
            replace(compared, chance=float(chance), between_chance=float(other))
            for compared, chance, other in zip(alike, within, between, strict=True)
        ]
    return compareds

"""The comparison of one signal between runs: whether it differs, and whether the difference matters.

The new run is compared with a prediction from the baselines and the load. The prediction has an error within runs,
which more samples would reduce, and an error between runs of one build, which more baselines would reduce (Kalibera and
Jones, "Rigorous benchmarking in reasonable time", 2013). If a difference is not certain, the larger error is the
reason.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

import numpy as np

from plimsoll.analysis.bootstrap import (
    Difference,
    Estimate,
    Interval,
    Quantile,
    count_runs_to_decide,
    predict_difference,
    subtract_quantiles,
)
from plimsoll.analysis.significance import LEAST, RankTest, correct_by_hochberg, rank_test, shift
from plimsoll.comparison.levels import SignalLevel
from plimsoll.comparison.signal_settings import SAME, Band, Treatment, load_weight
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

FALSE_ALARMS = 0.025  # the chance that any signal of a phase is called different although none is
_OF_COSTS, _OF_OTHERS = 0.6, 0.5  # of it: processor time, whose least differences matter, and others; our choice
CERTAIN = FALSE_ALARMS / 50  # of the chance: about as many critical signals are compared
PERHAPS = 0.15  # the same chance, below which it is not known whether a signal is worse; our choice
_ROUNDING = 1e-9
_FEWEST = 8  # samples; with fewer, nothing is said
MOST_RUNS = 10  # baselines; more are seldom kept


class ComparisonOutcome(StrEnum):
    """The outcome of comparing one signal; reports list signals in this order of outcomes.

    CHANGE: the signal differs, and neither direction is worse. LOAD: the load explains the difference. SPREAD: runs of
    one build may differ by as much. WITHIN: the difference is certain but too small to matter. UNCLEAR: there are too
    few samples to tell. SAME: the samples exclude a difference that matters.
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
    """One signal of one subject (a host, or an instance such as a disk) in one phase of a run and its baselines.

    Attributes:
        name: The name of the signal.
        subject: The subject in the first run.
        other: The subject in the second run.
        baselines: The levels of the baselines; `first` is the level of the last baseline.
        difference: The mean of the second run less the mean of the baselines, with the error within the runs.
        between: The mean of the second run less the mean expected from baselines and load, with the error between runs.
        expected: The range expected because of the load, relative to the last baseline.
        loads: The comparison of the load with each baseline; None for a baseline if no load was recorded.
        crossed: The rank of the signal's limit in `Thresholds.order`; None unless one run alone crossed the limit.
        crossed_in: Which run alone crossed the documented limit; None if no run or both did.
        phase: The name of the phase.
        where: The text shown instead of the subjects' names, such as `sum of 3`; empty if the names are shown.
        in_use: The memory in use in the last baseline, for a signal of available memory; None if unknown.
        span: The lowest and the highest mean expected from a baseline at the load of the second run.
        chance: The p-value of `between`, corrected for the number of compared signals.
        aligned: The outcome that a twin signal decides (`align_twins`); None for the signal's own.
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
    expected: Band = SAME
    loads: "tuple[Compared | None, ...]" = ()
    crossed: int | None = None
    crossed_in: Literal["baseline", "other"] | None = None
    phase: str = ""
    where: str = ""
    in_use: float | None = None
    span: tuple[float, float] = (0.0, 0.0)
    chance: float = 1.0
    aligned: ComparisonOutcome | None = None

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
        loads: "tuple[Compared | None, ...]" = (),
        in_use: float | None = None,
        **details: Any,
    ) -> "Compared":
        """Return the comparison of a signal in the second run with the last baseline and the `earlier` baselines.

        `levels` are the levels in the last baseline and in the second run. `expected` (ranges expected because of the
        load) and `loads` (comparisons of the load) have an entry for each baseline, the last baseline last. `details`
        are further fields of the comparison.
        """
        baselines, second = (*earlier, levels[0]), levels[1]
        bands = expected or [SAME] * len(baselines)
        known = loads or (None,) * len(baselines)
        before = [level.beside(load and load.first) for level, load in zip(baselines, known, strict=True)]
        after = second.beside(known[-1] and known[-1].second)
        spread = treatment.between_runs(_average_levels(baselines), in_use)
        likely = _expect_means(before, bands, after.mean)
        between = predict_difference(likely, after, spread, load_weight())
        means = [estimate.mean for estimate in likely]
        fields = (
            name,
            signal,
            *subjects,
            treatment,
            baselines,
            second,
            _subtract_within(before, after),
            between,
            bands[-1],
        )
        return cls(*fields, loads=loads, in_use=in_use, span=(min(means), max(means)), **details)

    @property
    def first(self) -> SignalLevel:
        """The level in the last baseline."""
        return self.baselines[-1]

    @property
    def before(self) -> float:
        """The mean of the baselines' means."""
        return _average_levels(self.baselines)

    @property
    def tolerated(self) -> float:
        """The largest difference that does not matter."""
        return self.treatment.tolerated(self.before)

    @property
    def change(self) -> float | None:
        """The difference as a share of the baselines' mean; None if a mean is negative, or the baselines' mean 0."""
        first, second = self.before, self.second.mean.mean
        return second / first - 1 if first > 0 and second >= 0 else None

    @property
    def size(self) -> float:
        """The deviation from the expected level, as a multiple of `tolerated`; infinite if `tolerated` is 0."""
        return abs(self.between.value) / self.tolerated if self.tolerated else float("inf")

    @property
    def compatible(self) -> float:
        """The largest absolute difference in the 95 % interval: the true difference is hardly larger."""
        return max(map(abs, self.interval))

    @property
    def precision(self) -> float:
        """Half of the width of the 95 % interval of the difference."""
        return self.compatible - abs(self.difference.value)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the difference of the means."""
        return self.difference.interval()

    @cached_property
    def peaks(self) -> Quantile:
        """The 95th percentile of the second run less that of the last baseline, with its interval."""
        return subtract_quantiles(self.first.p95, self.second.p95)

    @property
    def shift(self) -> float | None:
        """The median, over all pairs of blocks, of second run less baseline; None if `ranks` is None."""
        return shift(self.first.blocks, self.second.blocks) if self.ranks else None

    @property
    def ranks(self) -> RankTest | None:
        """The rank test of the blocks of samples of both runs; None with several baselines or too few blocks."""
        blocks = self.first.blocks, self.second.blocks
        return rank_test(*blocks) if len(self.baselines) == 1 and min(map(len, blocks)) >= LEAST else None

    @property
    def is_worse(self) -> bool:
        """Whether the signal is worse than expected by more than is tolerated."""
        return self._is_on_the_worse_side and self._differs

    @property
    def _is_on_the_worse_side(self) -> bool:
        return self.treatment.worse == ("higher" if self.between.value > 0 else "lower")

    @property
    def _differs(self) -> bool:
        """Whether the signal differs from the expected level by more than is tolerated.

        A signal that is worse than expected only because the load fell does not differ, unless samples show how the
        signal follows the load: what a host uses when idle is unknown.
        """
        rise = self.difference.value if self.treatment.worse == "higher" else -self.difference.value
        unsure = self._is_on_the_worse_side and rise <= self.tolerated and not self.expected.is_measured
        return self.size > 1 and not unsure

    @property
    def _is_unmoved(self) -> bool:
        """Whether the level stayed, however the load changed, and neither direction is worse, as for a constant."""
        return self.treatment.worse == "either" and self.compatible <= self.tolerated

    @cached_property
    def outcome(self) -> ComparisonOutcome:
        """The outcome of the comparison."""
        if self.aligned or self._fewest < _FEWEST:
            return self.aligned or ComparisonOutcome.UNCLEAR
        if self._differs:
            is_sure = self.is_outside and self.chance < FALSE_ALARMS and not self._is_unmoved
            return self._direction if is_sure else self._undecided
        matters = abs(self.difference.value) > self.tolerated
        is_certain = self.difference.chance < CERTAIN and not self._is_rounding
        if self.difference.is_vaguer_than(self.tolerated - abs(self.between.value)) and not is_certain:
            return ComparisonOutcome.UNCLEAR
        if matters:
            return ComparisonOutcome.LOAD
        return ComparisonOutcome.WITHIN if is_certain else ComparisonOutcome.SAME

    @property
    def _is_rounding(self) -> bool:
        """Whether the means differ by no more than sums of equal numbers do."""
        return math.isclose(self.before, self.second.mean.mean, rel_tol=_ROUNDING)

    @property
    def _direction(self) -> ComparisonOutcome:
        if self.treatment.worse == "either":
            return ComparisonOutcome.CHANGE
        return ComparisonOutcome.REGRESSION if self._is_on_the_worse_side else ComparisonOutcome.IMPROVEMENT

    @property
    def _undecided(self) -> ComparisonOutcome:
        """The reason why a difference is not certain: SPREAD if most of its error lies between runs, else UNCLEAR.

        SAME if the level stayed, although the load lets expect another one.
        """
        if self.compatible <= self.tolerated:
            return ComparisonOutcome.SAME
        between = self.between.error**2 > 2 * self.difference.error**2
        return ComparisonOutcome.SPREAD if between else ComparisonOutcome.UNCLEAR

    @property
    def runs_needed(self) -> int | None:
        """The number of baselines with which a difference of this size would be significant; None if more than ten."""
        count = len(self.baselines)
        if count > 1:  # they show by how much runs differ
            spread = self.between.error / np.sqrt(1 + 1 / count)
        else:
            spread = np.hypot(self.treatment.between_runs(self.before, self.in_use), self.second.mean.error)
        return count_runs_to_decide(self.between.value, float(spread), load_weight(), CERTAIN, (count + 1, MOST_RUNS))

    @property
    def _fewest(self) -> int:
        return min(baseline.mean.samples for baseline in (*self.baselines, self.second))

    @property
    def is_outside(self) -> bool:
        """Whether the mean of the second run is outside `span`, the range of means expected from the baselines."""
        return not self.span[0] <= self.second.mean.mean <= self.span[1]


def _average_levels(levels: Sequence[SignalLevel]) -> float:
    return sum(level.mean.mean for level in levels) / len(levels)


def _expect_means(baselines: Sequence[Estimate], bands: Sequence[Band], value: float) -> list[Estimate]:
    """Return the mean expected from each baseline: within the range of its band, as near to `value` as possible.

    The relative position within the range is the same for all baselines, as a signal follows the load in the same way
    from each baseline.
    """
    ends = [band.ends(baseline.mean) for baseline, band in zip(baselines, bands, strict=True)]
    weakest, strongest = (sum(side) / len(ends) for side in zip(*ends, strict=True))
    share = min(max((value - weakest) / (strongest - weakest), 0.0), 1.0) if strongest != weakest else 0.0
    return [
        baseline._replace(mean=first + share * (last - first))
        for baseline, (first, last) in zip(baselines, ends, strict=True)
    ]


def _subtract_within(baselines: Sequence[Estimate], second: Estimate) -> Difference:
    """Return the second mean less the mean of the baselines, with only the error within the runs."""
    count = len(baselines)
    mean = sum(baseline.mean for baseline in baselines) / count
    error = math.sqrt(sum(baseline.error**2 for baseline in baselines)) / count
    freedom = sum(baseline.freedom for baseline in baselines)
    return Difference.of(baselines[0]._replace(mean=mean, error=error, freedom=freedom), second)


def correct_for_several(signals: Sequence[Compared]) -> list[Compared]:
    """Return the comparisons of one phase with `chance` set, corrected for the number of compared signals (Hochberg).

    Critical signals share the chance of a false alarm by kind: processor time has the largest part; each other primary
    kind has as large a part as all critical signals without a primary kind. Constant signals with equal values cannot
    be a false alarm, and are not counted.
    """
    telling = [signal for signal in signals if signal.between.error or signal.between.value]
    families = group_pairs(((signal.treatment.critical, signal.treatment.primary_kind), signal) for signal in telling)
    costs = {(True, signal.treatment.primary_kind) for signal in telling if signal.treatment.is_cost}
    remaining = sum(critical for critical, _ in families.keys() - costs)
    compareds = [signal for signal in signals if not (signal.between.error or signal.between.value)]
    for key, family in families.items():
        part = 1.0 if not key[0] else _OF_COSTS if key in costs else _OF_OTHERS / remaining
        raised = correct_by_hochberg(np.array([signal.between.chance for signal in family])) / part
        compareds += [
            replace(signal, chance=min(1.0, float(chance))) for signal, chance in zip(family, raised, strict=True)
        ]
    return compareds

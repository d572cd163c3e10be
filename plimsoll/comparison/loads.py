"""Whether two runs were under the same load: before anything else, as every other difference may come from it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.comparison.compared_signal import Compared, Outcome, judged
from plimsoll.comparison.levels import CommonPhase, Level
from plimsoll.comparison.run_to_run import UNKNOWN_BUSY, LoadEffect
from plimsoll.comparison.signal_settings import Treatment, Treatments
from plimsoll.model.run import Phase
from plimsoll.review.phases.load import Load, loads, moved
from plimsoll.review.review import Review

_PROCESSORS = ("cpu.busy",)
_DISKS = ("disk.transfers", "disk.reads", "disk.writes")
_LEAST = 1.02  # our choice: runs of one build differ by as much
_BUSY, _IDLE = ("cpu.busy", "disk.busy"), "disk.idle"
_PILED, _MANY = 1.5, 10.0  # times as many connections, and so many more: no chance; our choice
_COUNTS = 0.1  # of the largest rate: operations that are rarer say little of the load


@dataclass(frozen=True, eq=False)
class LoadComparison:
    """The load signals of both runs, compared; those that tell most of the load first."""

    signals: tuple[Compared, ...]
    tolerance: float

    @property
    def first(self) -> Compared | None:
        """The signal to tell of: of those that tell most, one that differs, else one of which it is not known."""
        return min(self._telling, key=lambda one: (not _differs(one), not _may_differ(one)), default=None)

    @property
    def is_same(self) -> bool | None:
        """Whether the load was the same; None where it is not known."""
        if any(map(_differs, self._telling)):
            return False
        return True if self._telling and not any(map(_may_differ, self._telling)) else None

    @property
    def _telling(self) -> list[Compared]:
        """The signals of the kind that tells most, without those that hardly count."""
        alike = [one for one in self.signals if one.signal.load == self.signals[0].signal.load]
        most = max((_level(one) for one in alike), default=0.0)
        return [one for one in alike if _level(one) >= _COUNTS * most]

    @property
    def ratios(self) -> list[float]:
        """How many times the first load the second is, by each signal that tells most, certain or not."""
        known = [one for one in self._telling if one.before > 0]
        return [one.second.mean.mean / one.before for one in known if one.second.mean.mean > 0]

    @property
    def throughput_lost(self) -> Compared | None:
        """Operations that became fewer although as many connections were held; None if there are none."""
        found, offered = self.first, next((one for one in self.signals if one.signal.load == "connections"), None)
        if found is None or offered is None or found.signal.load != "operations" or _differs(offered):
            return None
        return found if _differs(found) and found.difference.value < 0 else None

    @property
    def piled_up(self) -> Compared | None:
        """Connections of which far more were held for as many operations; None if there are none."""
        if not self.is_same or self.signals[0].signal.load != "operations":
            return None
        held = [one for one in self.signals if one.signal.load == "connections" and (_may_differ(one) or _differs(one))]
        more = [one for one in held if one.before > 0 and one.second.mean.mean >= _PILED * one.before]
        return max((one for one in more if one.difference.value >= _MANY), key=lambda one: one.size, default=None)


def compare_loads(first: Review, second: Review, phase: CommonPhase, treatments: Treatments) -> LoadComparison:
    """Compare the load signals that both runs have; without any, the bytes sent and received."""
    for known in (_by_name, _moved):
        if found := _compared(known(first), known(second), phase, treatments):
            return LoadComparison(tuple(judged(found)), treatments.load)
    return LoadComparison((), treatments.load)


def _compared(
    here: Mapping[str, Load], there: Mapping[str, Load], phase: CommonPhase, treatments: Treatments
) -> list[Compared]:
    found: list[Compared] = []
    for name, one in here.items():
        other = there.get(name)
        if other is None:
            continue
        levels = Level.of(one.samples, phase.first), Level.of(other.samples, phase.second)
        if levels[0] is None or levels[1] is None:
            continue
        treatment = Treatment("either", treatments.load, 0.0, needed=False, critical=False)
        subjects = one.subjects[0], other.subjects[0]
        pair = levels[0], levels[1]
        found.append(Compared.of(name, one.signal, subjects, pair, treatment, where=_where(one), phase=phase.name))
    return found


def load_effect(load: LoadComparison, reviews: tuple[Review, Review], phase: CommonPhase) -> LoadEffect:
    """What the load explains, or, where none is known, what it may. Throughput that was lost explains nothing."""
    first, _ = reviews
    ratios = [] if load.throughput_lost else load.ratios if load.signals else shared_work(reviews, phase)
    if not ratios:
        return LoadEffect()
    busy = [mean / 100 for name in _BUSY for mean in _means(first, name, phase)]
    busy += [1 - mean / 100 for mean in _means(first, _IDLE, phase)]
    return LoadEffect(min(ratios), max(ratios), float(np.clip(max(busy), 0, 0.9)) if busy else UNKNOWN_BUSY)


def _means(review: Review, name: str, phase: CommonPhase) -> list[float]:
    found = (Level.of(samples, phase.first) for samples in review.signals.of(name).values())
    return [one.mean.mean for one in found if one is not None]


def _where(load: Load) -> str:
    """The subject, or how many it is summed over."""
    first, *others = load.subjects
    return f"sum of {len(load.subjects):,}" if others else str(first)


def _moved(review: Review) -> dict[str, Load]:
    return {one.name: one for one in moved(review.signals, review.question.signals)}


def _by_name(review: Review) -> dict[str, Load]:
    return {one.name: one for one in loads(review.signals, review.question.signals) if one.kind is not None}


def _level(one: Compared) -> float:
    return max(one.first.mean.mean, one.second.mean.mean)


def _may_differ(one: Compared) -> bool:
    return one.outcome == Outcome.UNCLEAR and abs(one.difference.value) > one.tolerated


def _differs(one: Compared) -> bool:
    return one.outcome == Outcome.CHANGE


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

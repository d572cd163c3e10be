"""The comparison of the load of two runs, since a different load can explain every other difference."""

from collections.abc import Mapping, Sequence

import numpy as np

from plimsoll.comparison.compared_signal import Compared, ComparisonOutcome, correct_for_several
from plimsoll.comparison.hosts import Hosts, Key
from plimsoll.comparison.levels import CommonPhase, SignalLevel
from plimsoll.comparison.signal_settings import LoadEffect, Treatment, Treatments
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.run import Phase
from plimsoll.review.phases.found_phases import Load, find_moved_bytes
from plimsoll.review.phases.throughput_loss import ThroughputLoss
from plimsoll.review.review import Review

_PROCESSORS = ("cpu.busy",)
_DISKS = ("disk.transfers", "disk.reads", "disk.writes")
_LEAST = 1.02  # our choice: runs of one build differ by as much
_BUSY = {"disk.idle": 1, "disk.busy": 0, "cpu.busy": 0}  # the share of each at which a resource is not used
_USERS, _ANSWERED = "client.users", "client.requests"
_IN_FLIGHT, _RESPONSE = "client.in_flight", "client.response_time"
_PILED, _MANY = 1.5, 10.0  # times as many connections, and so many more: no chance; our choice
_COUNTS = 0.1  # of the largest rate: operations that are rarer say little of the load


@dataclass(frozen=True, eq=False)
class LoadComparison:
    """The comparisons of the load signals that both runs have; the signal that shows the load best is the first.

    `loss` is a loss of throughput within the second run alone, `regained` a loss within the first run alone. `waiting`
    are the mean requests in flight at the load driver in each run; None if unknown.
    """

    signals: tuple[Compared, ...]
    tolerance: float
    loss: ThroughputLoss | None = None
    regained: ThroughputLoss | None = None
    waiting: tuple[float, float] | None = None

    @property
    def first(self) -> Compared | None:
        """The load signal to report: preferably a signal that differs or may differ; None if no load was compared."""
        return min(
            self.telling, key=lambda compared: (not _is_different(compared), not _may_differ(compared)), default=None
        )

    @property
    def is_same(self) -> bool | None:
        """Whether the load was the same; None if unknown."""
        if any(map(_is_different, self.telling)):
            return False
        return True if self.telling and not any(map(_may_differ, self.telling)) else None

    @property
    def telling(self) -> list[Compared]:
        """The requests that the load driver had answered; else the best kind, without signals of rare operations."""
        if self.answered:
            return [self.answered]
        alike = [signal for signal in self.signals if signal.signal.load == self.signals[0].signal.load]
        most = max((_find_level(compared) for compared in alike), default=0.0)
        return [compared for compared in alike if _find_level(compared) >= _COUNTS * most]

    @property
    def users(self) -> Compared | None:
        """The number of users of a load driver, who await an answer before the next request; None if unrecorded."""
        return next((compared for compared in self.signals if compared.name == _USERS), None)

    @property
    def ratios(self) -> list[float]:
        """The second mean divided by the first, for each of the `telling` signals, whether significant or not."""
        compareds = [compared for compared in self.telling if compared.before > 0]
        return [compared.second.mean.mean / compared.before for compared in compareds if compared.second.mean.mean > 0]

    @property
    def throughput_lost(self) -> bool:
        """Whether throughput fell though as much was offered: within the second run, or since the first run."""
        return bool(self.loss or self.fewer)

    @property
    def fewer(self) -> Compared | None:
        """The operations or answered requests, if they became fewer although as much was offered; else None."""
        return self._find_lost_work(self.first)

    @property
    def answered(self) -> Compared | None:
        """The requests answered, as the load driver counts; None if unrecorded. Hosts also do work of other kinds."""
        return next((compared for compared in self.signals if compared.name == _ANSWERED), None)

    def _find_lost_work(self, work: Compared | None) -> Compared | None:
        """Return the work if it fell although as many users waited, or as many connections were open; else None."""
        by_driver = work is not None and work.name == _ANSWERED
        connections = (signal for signal in self.signals if signal.signal.load == "connections")
        offered = (self.users if by_driver else None) or next(connections, None)
        if work is None or offered is None or work.signal.load != "operations" or _is_different(offered):
            return None
        fell = _is_different(work) and work.difference.value < 0
        return work if fell and self._waited_longer(self.answered or work, offered) else None

    def _waited_longer(self, work: Compared, offered: Compared) -> bool:
        """Return whether requests waited longer rather than were sent less often, as far as a load driver recorded it.

        By Little's law, requests in flight fall with the rate if responses take as long, and rise to what the idle
        users leave if users pause as long. What is nearer to the second is lost throughput.
        """
        if self.waiting is None or work.before <= 0:
            return True
        (before, after), rate = self.waiting, work.second.mean.mean / work.before
        return after >= before * rate + offered.before * (1 - rate) / 2

    @property
    def piled_up(self) -> Compared | None:
        """The connections, if far more were open for as many operations; else None."""
        if not self.is_same or self.signals[0].signal.load != "operations":
            return None
        connections = [signal for signal in self.signals if signal.signal.load == "connections" and signal.before > 0]
        differing = [signal for signal in connections if _may_differ(signal) or _is_different(signal)]
        grown = [signal for signal in differing if signal.second.mean.mean >= _PILED * signal.before]
        many = [signal for signal in grown if signal.difference.value >= _MANY]
        return max(many, key=lambda signal: signal.size, default=None)


def compare_loads(first: Review, second: Review, phase: CommonPhase, treatments: Treatments) -> LoadComparison:
    """Compare the load signals that both runs have; if there are none, the bytes sent and received."""
    before, after = ([load for load in run.loads if load.kind] for run in (first, second))
    compared = _compare_loads(before, after, phase, treatments)
    if not compared:
        before, after = (find_moved_bytes(run.signals, run.question.signals) for run in (first, second))
        compared = _compare_loads(before, after, phase, treatments)
    losses = (run.throughput_loss for run in (first, second))
    regained, lost = (loss if loss and loss.offered else None for loss in losses)
    lost, regained = None if regained else lost, None if lost else regained
    order = [load.name for load in before]
    signals = tuple(
        sorted(correct_for_several(compared), key=lambda signal: (signal.name != _ANSWERED, order.index(signal.name)))
    )
    waits = [_find_waiting(run, of) for run, of in zip((first, second), (phase.first, phase.second), strict=True)]
    waiting = None if waits[0] is None or waits[1] is None else (waits[0], waits[1])
    return LoadComparison(signals, treatments.load, lost, regained, waiting)


def _find_waiting(run: Review, phase: Phase | None) -> float | None:
    """Return the mean requests in flight at the load driver, else rate times response time; None if not recorded."""
    rates, responses = (_list_means(run, name, phase) for name in (_ANSWERED, _RESPONSE))
    answered = sum(rate * took_s for rate, took_s in zip(rates, responses, strict=False))
    return sum(_list_means(run, _IN_FLIGHT, phase)) or answered or None


def _compare_loads(
    first: Sequence[Load], second: Sequence[Load], phase: CommonPhase, treatments: Treatments
) -> list[Compared]:
    """Return the comparison of each load signal that both runs have in a phase."""
    compareds: list[Compared] = []
    treatment = Treatment("either", treatments.load, 0.0, needed=False, critical=False)
    second_by_name = {load.name: load for load in second}
    for load in first:
        other = second_by_name.get(load.name)
        before = SignalLevel.of(load.samples, phase.first)
        after = SignalLevel.of(other.samples, phase.second) if other else None
        if other and before is not None and after is not None:
            subjects, count = (load.subjects[0], other.subjects[0]), len(load.subjects)
            where = str(subjects[0]) if count == 1 else f"sum of {count:,}"
            parts = (load.name, load.signal, subjects, (before, after), treatment)
            compareds.append(Compared.of(*parts, where=where, phase=phase.name))
    return compareds


def load_effect(
    load: LoadComparison,
    reviews: tuple[Review, Review],
    phase: CommonPhase,
    levels: Mapping[tuple[str, Key], SignalLevel],
    hosts: Hosts,
) -> LoadEffect:
    """Return the range of factors by which the load changes, or may change if not recorded, from first to second run.

    `levels` are the levels of the baseline's signals. Lost throughput explains only signals that became less.
    """
    ratios = load.ratios if load.signals else list_shared_work(reviews, phase)
    if load.throughput_lost:
        ratios = [min((1.0, *ratios)), 1.0]
    if not ratios:
        return LoadEffect()
    shares = {key: abs(_BUSY[name] - level.values / 100) for (name, key), level in levels.items() if name in _BUSY}
    by_host = {} if load.throughput_lost else _list_host_ratios(load, reviews, phase, hosts)
    return LoadEffect(min(ratios), max(ratios), shares, {host: (min(of), max(of)) for host, of in by_host.items()})


def _list_host_ratios(
    load: LoadComparison, reviews: tuple[Review, Review], phase: CommonPhase, hosts: Hosts
) -> dict[str, list[float]]:
    """Return, by host of the second run, the ratios of its own operations, of each signal that tells the load."""
    ratios: dict[str, list[float]] = {}
    for name in (compared.name for compared in load.telling if compared.signal.load == "operations"):
        before, after = (
            _sum_by_host(run, name, of) for run, of in zip(reviews, (phase.first, phase.second), strict=True)
        )
        for host, mean in after.items():
            if mean and (first := before.get(hosts.first_of.get(host, host))):
                ratios.setdefault(host, []).append(mean / first)
    return ratios


def _sum_by_host(review: Review, name: str, phase: Phase | None) -> dict[str, float]:
    sums: dict[str, float] = {}
    for subject, samples in review.signals.of(name).items():
        if level := SignalLevel.of(samples, phase):
            sums[subject.key[0]] = sums.get(subject.key[0], 0.0) + level.mean.mean
    return sums


def _list_means(review: Review, name: str, phase: Phase | None) -> list[float]:
    levels = (SignalLevel.of(samples, phase) for samples in review.signals.of(name).values())
    return [level.mean.mean for level in levels if level is not None]


def _find_level(compared: Compared) -> float:
    return max(compared.first.mean.mean, compared.second.mean.mean)


def _may_differ(compared: Compared) -> bool:
    return compared.outcome == ComparisonOutcome.UNCLEAR and abs(compared.difference.value) > compared.tolerated


def _is_different(compared: Compared) -> bool:
    return compared.outcome == ComparisonOutcome.CHANGE


def list_shared_work(reviews: tuple[Review, Review], phase: CommonPhase) -> list[float]:
    """Return 1 and the largest factor by which an unrecorded load may have changed; empty if nothing suggests a change.

    Processor time and disk accesses that rose together, or fell together, suggest a change.
    """
    ratios = [ratio for names in (_PROCESSORS, _DISKS) if (ratio := _compute_ratio(reviews, phase, names))]
    if len(ratios) < 2:
        return []
    by = np.log(ratios)
    if by[0] * by[1] <= 0 or np.abs(by).min() < np.log(_LEAST):
        return []
    size = min(float(np.abs(by).max()), 2 * float(np.abs(by).min()))
    return [1.0, float(np.exp(np.sign(by[0]) * size))]


def _compute_ratio(reviews: tuple[Review, Review], phase: CommonPhase, names: tuple[str, ...]) -> float | None:
    """Return the ratio of totals, second run to first, of the first signal of `names` in both runs; else None."""
    first, second = reviews
    for name in names:
        before, after = sum(_list_means(first, name, phase.first)), sum(_list_means(second, name, phase.second))
        if before and after:
            return after / before
    return None

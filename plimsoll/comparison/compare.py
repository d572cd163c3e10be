"""Two runs compared: a baseline, and another run that is compared with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from plimsoll.comparison.compared_signal import Compared, ComparisonOutcome, judged
from plimsoll.comparison.counters import Counters, counters
from plimsoll.comparison.distribution_changes import Reshaped, failures, find_stalls, reshaped
from plimsoll.comparison.hosts import HostChange, Hosts, Key, set_differently
from plimsoll.comparison.levels import CommonPhase, SignalLevel, chosen_phase, common_phases
from plimsoll.comparison.loads import LoadComparison, compare_loads, load_effect
from plimsoll.comparison.run_to_run import LoadEffect
from plimsoll.comparison.signal_pairs import Lone, Pair, Proposal, pairs, proposals
from plimsoll.comparison.signal_settings import Treatments
from plimsoll.comparison.thresholds import Thresholds, thresholds
from plimsoll.comparison.trend import Change
from plimsoll.insights.insights import Insights
from plimsoll.model.series import host_key
from plimsoll.review.review import Review
from plimsoll.review.statistics import Weights
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, eq=False)
class RunSide:
    """One of the runs: what to call it, as what it was named on the command line, and what is known of it."""

    name: str
    source: str
    insights: Insights

    @property
    def called(self) -> str:
        """Its name within a sentence: in quotes unless it is a word."""
        return self.name if self.name.replace("-", "").replace("_", "").isalnum() else f"“{self.name}”"

    @property
    def review(self) -> Review:
        """Its review."""
        return self.insights.review


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run (`second`) compared with the baseline (`first`), or with several: `earlier` are those before it.

    `asked_phase` is the one to judge by; None: the usual one. `changed`: the change before which the baseline ends.
    """

    first: RunSide
    second: RunSide
    treatments: Treatments
    match_hosts: bool = False
    asked_phase: str | None = None
    earlier: tuple[RunSide, ...] = ()
    changed: Change | None = None

    @cached_property
    def hosts(self) -> Hosts:
        """Which hosts belong together."""
        return Hosts.of_reviews(
            self.first.review, self.second.review, match=self.match_hosts, renamed=self.treatments.renamed
        )

    @cached_property
    def set_differently(self) -> tuple[HostChange, ...]:
        """The labels and facts of hosts that differ."""
        return set_differently(self.first.review, self.second.review, self.hosts)

    @cached_property
    def phases(self) -> tuple[CommonPhase, ...]:
        """The phases both runs have, and the whole run."""
        return common_phases(self.first.review, self.second.review)

    @cached_property
    def phase(self) -> CommonPhase:
        """The phase that the comparison is judged by."""
        return chosen_phase(self.phases, self.asked_phase)

    @cached_property
    def load(self) -> LoadComparison:
        """Whether both were under the same load."""
        return self.load_in(self.phase)

    @property
    def baselines(self) -> tuple[RunSide, ...]:
        """All runs of the baseline, the last of which is `first`."""
        return (*self.earlier, self.first)

    @cached_property
    def against(self) -> tuple["Comparison", ...]:
        """The run compared with each of the earlier baselines alone."""
        return tuple(replace(self, first=side, earlier=()) for side in self.earlier)

    @cached_property
    def thresholds(self) -> Thresholds:
        """What was crossed in one run only."""
        return thresholds(self.first.review, self.second.review, self.hosts)

    @cached_property
    def lone(self) -> tuple[list[Lone], list[Lone]]:
        """Signals that only the first, and only the second, has on hosts that both have."""
        return self._pairs[1]

    @cached_property
    def proposals(self) -> list[Proposal]:
        """What looks the same under another name, and is not compared."""
        return proposals(self.first.review, self.second.review, self.hosts, self.lone)

    @cached_property
    def judged(self) -> tuple[Compared, ...]:
        """Every signal in the phase to judge by, the most important difference first."""
        return self.in_phase(self.phase)

    def in_phase(self, phase: CommonPhase) -> tuple[Compared, ...]:
        """Return every signal in a phase, the most important difference first."""
        if phase.name not in self._cache:
            self._cache[phase.name] = tuple(sorted(judged(list(self._compared(phase))), key=_rank))
        return self._cache[phase.name]

    def of(self, *outcomes: ComparisonOutcome) -> list[Compared]:
        """Return the signals of which the comparison says one of these, in the phase to judge by."""
        return [compared for compared in self.judged if compared.outcome in outcomes]

    @cached_property
    def unassigned_counters(self) -> Counters:
        """The counters without a signal, in the phase to judge by."""
        expected = self.effect(self.phase).band("waiting")
        return counters(self.first.review, self.second.review, self.hosts, self.phase, expected)

    @cached_property
    def reshaped(self) -> list[Reshaped]:
        """What means hide, in the phase to judge by; an outage ends the steady one, so it is looked for in all."""
        phase = self.phase if self.asked_phase else self.phases[-1]
        runs = [(other, same) for other in (*self.against, self) if (same := other.named(phase.name))]
        stalls = find_stalls([other.load_in(same) for other, same in runs])
        regressed = {(regression.name, regression.subject) for regression in self.regressions}
        failed = [compared for compared in self.in_phase(phase) if (compared.name, compared.subject) not in regressed]
        return [*failures(failed), *stalls, *reshaped(list(self.judged))]

    @cached_property
    def integrating(self) -> tuple[Signal, ...]:
        """The signals that both recorded, and that are not compared as they add up over time."""
        signals = {
            pair.name: pair.signal for pair in self._pairs[0] if self.treatments.of(pair.name, pair.signal).integrates
        }
        return tuple(signals.values())

    @property
    def regressions(self) -> list[Compared]:
        """What became worse."""
        return self.of(ComparisonOutcome.REGRESSION)

    def also_worse(self) -> list[tuple[CommonPhase, list[Compared]]]:
        """Return what became worse in the other phases, and did not in the one to judge by."""
        entries = {(regression.name, regression.subject) for regression in self.regressions}
        phases = [phase for phase in self.phases if phase is not self.phase and phase.first is not None]
        items = [
            (phase, [compared for compared in self.in_phase(phase) if compared.outcome == ComparisonOutcome.REGRESSION])
            for phase in phases
        ]
        new = [
            (phase, [compared for compared in compareds if (compared.name, compared.subject) not in entries])
            for phase, compareds in items
        ]
        return [(phase, compareds) for phase, compareds in new if compareds]

    @cached_property
    def _cache(self) -> dict[str, tuple[Compared, ...]]:
        return {}

    @cached_property
    def _effects(self) -> dict[str, LoadEffect]:
        return {}

    @cached_property
    def _loads(self) -> dict[str, LoadComparison]:
        return {}

    @cached_property
    def _weights(self) -> Weights:
        return Weights()

    @cached_property
    def _pairs(self) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
        return pairs(self.first.review, self.second.review, self.hosts)

    def _compared(self, phase: CommonPhase) -> Iterator[Compared]:
        thresholds, effect = self.thresholds, self.effect(phase)
        items = [
            (other.levels(same), other.effect(same), other.load_in(same))
            for other in self.against
            if (same := other.named(phase.name))
        ]
        for pair, first, second in self._both(phase):
            treatment = self.treatments.of(pair.name, pair.signal)
            if treatment.integrates:
                continue
            key, place = (pair.name, pair.second.key), (pair.name, *pair.first.key)
            earlier = [(levels[key], theirs, load) for levels, theirs, load in items if key in levels]
            effects = (*(theirs for _, theirs, _ in earlier), effect)
            loads = (*(load for _, _, load in earlier), self.load_in(phase))
            yield Compared.of(
                pair.name,
                pair.signal,
                (pair.first, pair.second),
                (first, second),
                treatment,
                earlier=[level for level, _, _ in earlier],
                expected=[theirs.band(treatment.load, treatment.whole) for theirs in effects],
                in_use=self.memory_in_use(pair.signal, pair.first, first.mean.mean),
                crossed=thresholds.order.get(place),
                crossed_in=thresholds.crossed_in(place),
                phase=phase.name,
                loads=tuple(next(iter(load.signals), None) for load in loads),
            )

    def levels(self, phase: CommonPhase) -> Mapping[tuple[str, Key], SignalLevel]:
        """Return the levels of the baseline, by the signal and the subject of the other run."""
        return {(pair.name, pair.second.key): first for pair, first, _ in self._both(phase)}

    def named(self, name: str) -> CommonPhase | None:
        """Return the phase of this name; None if the runs do not both have it."""
        return next((phase for phase in self.phases if phase.name == name), None)

    def effect(self, phase: CommonPhase) -> LoadEffect:
        """Return what the load explains in a phase."""
        if phase.name not in self._effects:
            reviews = self.first.review, self.second.review
            self._effects[phase.name] = load_effect(self.load_in(phase), reviews, phase)
        return self._effects[phase.name]

    def load_in(self, phase: CommonPhase) -> LoadComparison:
        """Return whether both were under the same load in a phase."""
        if phase.name not in self._loads:
            self._loads[phase.name] = compare_loads(self.first.review, self.second.review, phase, self.treatments)
        return self._loads[phase.name]

    def _both(self, phase: CommonPhase) -> Iterator[tuple[Pair, SignalLevel, SignalLevel]]:
        """Yield the signals of which both have samples in a phase, with their levels."""
        for pair in self._pairs[0]:
            first = SignalLevel.of(pair.first_samples, phase.first, self._weights)
            second = SignalLevel.of(pair.second_samples, phase.second, self._weights)
            if first is not None and second is not None:
                yield pair, first, second

    def memory_in_use(self, signal: Signal, subject: Subject, available: float) -> float | None:
        """Return how much memory is in use, if the host's memory is known: what is available varies as that does."""
        if signal.unit == "%":
            return 100 - available
        memory = self.first.review.facts.find(subject, "memory_mb")
        return None if memory is None else max(0.0, memory * 2**20 - available)


_ORDER = (
    ComparisonOutcome.REGRESSION,
    ComparisonOutcome.IMPROVEMENT,
    ComparisonOutcome.CHANGE,
    ComparisonOutcome.LOAD,
    ComparisonOutcome.SPREAD,
    ComparisonOutcome.WITHIN,
    ComparisonOutcome.UNCLEAR,
    ComparisonOutcome.SAME,
)


def _rank(compared: Compared) -> tuple[object, ...]:
    """The order of comparisons: regressions of critical signals first, and of them those that crossed a limit."""
    return (
        _ORDER.index(compared.outcome),
        not compared.treatment.critical,
        float("inf") if compared.crossed is None else compared.crossed,
        compared.treatment.place,
        -compared.size,
        compared.name,
        host_key(compared.subject.host),
        compared.subject.instance or "",
    )

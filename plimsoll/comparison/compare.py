"""The comparison of a run with a baseline of one or more runs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from plimsoll.comparison.compared_signal import Compared, ComparisonOutcome, correct_for_several
from plimsoll.comparison.counters import Counters, compare_counters
from plimsoll.comparison.distribution_changes import (
    Reshaped,
    find_distribution_changes,
    find_failure_bursts,
    find_slow,
    find_stalls,
)
from plimsoll.comparison.hosts import HostChange, Hosts, Key, set_differently
from plimsoll.comparison.levels import CommonPhase, SignalLevel, choose_phase, estimate_means, list_common_phases
from plimsoll.comparison.loads import LoadComparison, compare_loads, load_effect
from plimsoll.comparison.signal_pairs import Lone, Pair, Proposal, pair_signals, propose_matches
from plimsoll.comparison.signal_settings import LoadEffect, Treatments
from plimsoll.comparison.trend import Change
from plimsoll.comparison.twins import align_twins
from plimsoll.insights.insights import Insights
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.run import AcceptedChange
from plimsoll.model.series import make_host_key
from plimsoll.review.findings import CROSSED, JUDGED, Finding
from plimsoll.review.review import Review
from plimsoll.review.statistics import Weights
from plimsoll.rules.schema.field_types import Fact
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_ORDER = {outcome: at for at, outcome in enumerate(ComparisonOutcome)}
LimitKey = tuple[str, str, str | None]  # rule, host of the first run, instance
T = TypeVar("T")


@dataclass(frozen=True)
class Thresholds:
    """The documented limits that one or both of two runs crossed: the worst finding for each signal and subject.

    `only_first` are limits that the second run held, `only_second` limits that the first run held. `unjudged` are
    limits that one run crossed and whose rule was not judged in the other run.
    """

    only_first: tuple[Finding, ...]
    only_second: tuple[Finding, ...]
    both: tuple[tuple[Finding, Finding], ...]
    unjudged: tuple[Finding, ...]
    hosts: Hosts

    @cached_property
    def order(self) -> Mapping[LimitKey, int]:
        """The rank from 0 of each signal and subject whose limit one run alone crossed; limits of host roles first."""
        findings = [*((finding, self.hosts) for finding in self.only_second), *((f, None) for f in self.only_first)]
        findings.sort(key=lambda pair: pair[0].pack.applies_to is None)
        return {_make_place_key(*pair): at for at, pair in reversed(list(enumerate(findings)))}

    def crossed_in(self, key: LimitKey) -> Literal["baseline", "other"] | None:
        """Return which run alone crossed the limit of a signal and subject; None if neither or both runs did."""
        if key not in self.order:
            return None
        return "other" if key in self._crossed_by_second else "baseline"

    @cached_property
    def _crossed_by_second(self) -> set[LimitKey]:
        return {_make_place_key(finding, self.hosts) for finding in self.only_second}


@dataclass(frozen=True, eq=False)
class RunSide:
    """One of the compared runs: its name, the command-line argument that named it, and its review."""

    name: str
    source: str
    insights: Insights

    @property
    def called(self) -> str:
        """The name for use in a sentence: in quotes unless it consists of letters, digits, `-` and `_`."""
        return self.name if self.name.replace("-", "").replace("_", "").isalnum() else f"“{self.name}”"

    @property
    def review(self) -> Review:
        """The review of the run by its limits alone: most comparisons need no insights, which are slow to find."""
        return self.insights.judged


@dataclass(frozen=True, eq=False)
class Comparison:
    """A run (`second`) compared with its baseline: one run (`first`), or several (`earlier`, then `first`).

    `requested_phase` is the name of the phase to judge; None for the steady phase, or the whole run if there is none.
    `accepted` is the accepted change with which the baseline begins, and `changed` the change of level before which the
    baseline ends; each is None if there is no such change.
    """

    first: RunSide
    second: RunSide
    treatments: Treatments
    match_hosts: bool = False
    requested_phase: str | None = None
    earlier: tuple[RunSide, ...] = ()
    changed: Change | None = None
    accepted: AcceptedChange | None = None
    _cache: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any], init=False, repr=False)

    @cached_property
    def reviews(self) -> tuple[Review, Review]:
        """The reviews of the first and of the second run."""
        return self.first.review, self.second.review

    @cached_property
    def hosts(self) -> Hosts:
        """The hosts of the two runs, matched with each other."""
        return Hosts.of_reviews(*self.reviews, match=self.match_hosts, renamed=self.treatments.renamed)

    @cached_property
    def set_differently(self) -> tuple[HostChange, ...]:
        """The labels of the runs, and the facts of matched hosts (such as memory), that differ."""
        return set_differently(*self.reviews, self.hosts)

    @cached_property
    def phases(self) -> tuple[CommonPhase, ...]:
        """The phases that both runs have, and the whole run as the last."""
        return list_common_phases(*self.reviews)

    @cached_property
    def phase(self) -> CommonPhase:
        """The phase that the answer is based on."""
        return choose_phase(self.phases, self.requested_phase)

    @cached_property
    def load(self) -> LoadComparison:
        """The comparison of the load in the phase of the answer."""
        return self.load_in(self.phase)

    @property
    def baselines(self) -> tuple[RunSide, ...]:
        """All runs of the baseline, the last of which is `first`."""
        return (*self.earlier, self.first)

    @cached_property
    def against(self) -> tuple["Comparison", ...]:
        """The comparisons of the second run with each of the `earlier` runs of the baseline alone."""
        return tuple(replace(self, first=side, earlier=()) for side in self.earlier)

    @cached_property
    def thresholds(self) -> Thresholds:
        """The documented limits that one or both of the runs crossed."""
        return compare_thresholds(*self.reviews, self.hosts)

    @cached_property
    def lone(self) -> tuple[list[Lone], list[Lone]]:
        """The signals of matched hosts that only the first run recorded, and that only the second run recorded."""
        return self._pairs[1]

    @cached_property
    def proposals(self) -> list[Proposal]:
        """Hosts and instances of the two runs that look the same under different names; they are not compared."""
        return propose_matches(*self.reviews, self.hosts, self.lone)

    @cached_property
    def judged(self) -> tuple[Compared, ...]:
        """The comparisons of all signals in the phase of the answer, the most important difference first."""
        return self.in_phase(self.phase)

    def in_phase(self, phase: CommonPhase) -> tuple[Compared, ...]:
        """Return the comparisons of all signals in a phase, the most important difference first."""
        return self._cache_result(
            "signals",
            phase,
            lambda: tuple(sorted(align_twins(correct_for_several(list(self._compare_signals(phase)))), key=_rank)),
        )

    def of(self, *outcomes: ComparisonOutcome) -> list[Compared]:
        """Return the comparisons in the phase of the answer whose outcome is one of `outcomes`."""
        return [compared for compared in self.judged if compared.outcome in outcomes]

    def within_limits(self, *outcomes: ComparisonOutcome) -> list[Compared]:
        """Return the comparisons with one of the `outcomes`, without signals that crossed a limit in one run alone.

        Of a signal with several subjects, the most important outcome counts: a signal that moved on one disk is not
        listed as unchanged.
        """
        crossed = {compared.name for compared in self.judged if compared.crossed_in}
        first = {
            compared.name: compared.outcome
            for compared in sorted(self.judged, key=lambda compared: -_ORDER[compared.outcome])
            if compared.name not in crossed
        }
        return [compared for compared in self.of(*outcomes) if first.get(compared.name) in outcomes]

    @cached_property
    def unassigned_counters(self) -> Counters:
        """The comparison of the counters that no signal reads, in the phase of the answer."""
        return compare_counters(*self.reviews, self.hosts, self.phase, self.effect(self.phase))

    @cached_property
    def reshaped(self) -> list[Reshaped]:
        """The changes of distributions that means hide.

        Peaks and noise are compared in the phase of the answer; stalls and failures in the requested phase, else in the
        whole run.
        """
        phase = self.phase if self.requested_phase else self.phases[-1]
        runs = [(other, same) for other in (*self.against, self) if (same := other.named(phase.name))]
        stalls = find_stalls([other.load_in(same) for other, same in runs])
        stalls = [find_slow(stall, self.in_phase(phase)) for stall in stalls]
        regressed = {(regression.name, regression.subject) for regression in self.regressions}
        # Judging another phase takes as long as the whole comparison; most runs have no signal of failures.
        may_fail = any(self.treatments.of(pair.name, pair.signal).shape == "failures" for pair in self._pairs[0])
        compareds = self.in_phase(phase) if may_fail else ()
        failed = [compared for compared in compareds if (compared.name, compared.subject) not in regressed]
        return [*find_failure_bursts(failed), *stalls, *find_distribution_changes(list(self.judged))]

    @cached_property
    def integrating(self) -> tuple[Signal, ...]:
        """The signals of both runs that are not compared because their values add up over time."""
        signals = {pair.name: pair.signal for pair in self._pairs[0]}
        return tuple(signal for name, signal in signals.items() if self.treatments.of(name, signal).integrates)

    @property
    def regressions(self) -> list[Compared]:
        """The signals that became worse in the phase of the answer."""
        return self.of(ComparisonOutcome.REGRESSION)

    def also_worse(self) -> list[tuple[CommonPhase, list[Compared]]]:
        """Return, by phase, the signals that became worse in other phases but not in the phase of the answer."""
        same = {(regression.name, regression.subject) for regression in self.regressions}
        phases = [phase for phase in self.phases if phase is not self.phase and phase.first is not None]
        worse = [
            (phase, [c for c in self.in_phase(phase) if c.outcome == ComparisonOutcome.REGRESSION]) for phase in phases
        ]
        new = [(phase, [c for c in compareds if (c.name, c.subject) not in same]) for phase, compareds in worse]
        return [(phase, compareds) for phase, compareds in new if compareds]

    def _compute_scale(self, pair: Pair) -> float:
        """Return the factor by which the limits of a signal grew with its host, as with the number of processors."""
        first, second = (review.facts for review in self.reviews)
        facts = self._scales.get(pair.name, ())
        values = [(first.find(pair.first, fact), second.find(pair.second, fact)) for fact in facts]
        return next((after / before for before, after in values if before and after), 1.0)

    @cached_property
    def _scales(self) -> Mapping[str, list[Fact]]:
        """The facts of a host with which the limits of a signal grow, by the signal's name."""
        rules = (rule for applied in self.first.review.applied for rule in applied.pack.rules)
        return group_pairs((rule.signal, rule.scale) for rule in rules if rule.scale)

    def _cache_result(self, kind: str, phase: CommonPhase, compute: Callable[[], T]) -> T:
        """Return the cached result for `kind` and the phase; if there is none, call `compute` and cache its result."""
        if (kind, phase.name) not in self._cache:
            self._cache[kind, phase.name] = compute()
        return self._cache[kind, phase.name]

    @cached_property
    def _weights(self) -> Weights:
        return Weights()

    @cached_property
    def _pairs(self) -> tuple[list[Pair], tuple[list[Lone], list[Lone]]]:
        return pair_signals(*self.reviews, self.hosts)

    def _compare_signals(self, phase: CommonPhase) -> Iterator[Compared]:
        """Yield the comparison of each signal that both runs have in a phase."""
        thresholds, effect = self.thresholds, self.effect(phase)
        other_comparisons = [
            (other.levels(same), other.effect(same), other.load_in(same))
            for other in self.against
            if (same := other.named(phase.name))
        ]
        load, both = self.load_in(phase), self._pair_levels(phase)
        estimate_means([level for _, *levels in both for level in levels])
        for pair, first, second in both:
            treatment = self.treatments.of(pair.name, pair.signal)
            if treatment.integrates:
                continue
            key, place = (pair.name, pair.second.key), (pair.name, *pair.first.key)
            earlier = [
                (levels[key], other_effect, other) for levels, other_effect, other in other_comparisons if key in levels
            ]
            entries = [*earlier, (first, effect, load)]
            loads = [next(iter(of_entry.signals), None) for _, _, of_entry in entries]
            bands = [
                of_load.band(
                    treatment.load,
                    treatment.whole,
                    level.mean.mean,
                    pair.second.key,
                    level.growth(load_signal.first if load_signal and treatment.is_cost else None),
                ).widen(self._compute_scale(pair))
                for (level, of_load, _), load_signal in zip(entries, loads, strict=True)
            ]
            yield Compared.of(
                pair.name,
                pair.signal,
                (pair.first, pair.second),
                (first, second),
                treatment,
                earlier=[level for level, _, _ in earlier],
                expected=bands,
                in_use=self.memory_in_use(pair.signal, pair.first, first.mean.mean),
                crossed=thresholds.order.get(place),
                crossed_in=thresholds.crossed_in(place),
                phase=phase.name,
                loads=tuple(loads),
            )

    def levels(self, phase: CommonPhase) -> Mapping[tuple[str, Key], SignalLevel]:
        """Return the level of each signal in the baseline, by the signal's name and its subject in the second run."""
        return {(pair.name, pair.second.key): first for pair, first, _ in self._pair_levels(phase)}

    def named(self, name: str) -> CommonPhase | None:
        """Return the phase called `name`; None unless both runs have it."""
        return next((phase for phase in self.phases if phase.name == name), None)

    def effect(self, phase: CommonPhase) -> LoadEffect:
        """Return the range of factors by which the load changes from the first run to the second in a phase."""
        return self._cache_result(
            "effect",
            phase,
            lambda: load_effect(self.load_in(phase), self.reviews, phase, self.levels(phase), self.hosts),
        )

    def load_in(self, phase: CommonPhase) -> LoadComparison:
        """Return the comparison of the load in a phase."""
        return self._cache_result("load", phase, lambda: compare_loads(*self.reviews, phase, self.treatments))

    def _pair_levels(self, phase: CommonPhase) -> list[tuple[Pair, SignalLevel, SignalLevel]]:
        """Return each signal that both runs sampled in a phase, with its level in the first and in the second run."""
        return self._cache_result("both", phase, lambda: list(self._list_levels(phase)))

    def _list_levels(self, phase: CommonPhase) -> Iterator[tuple[Pair, SignalLevel, SignalLevel]]:
        for pair in self._pairs[0]:
            first = SignalLevel.of(pair.first_samples, phase.first, self._weights)
            second = SignalLevel.of(pair.second_samples, phase.second, self._weights)
            if first is not None and second is not None:
                yield pair, first, second

    def memory_in_use(self, signal: Signal, subject: Subject, available: float) -> float | None:
        """Return the memory in use if `available` is free (in %, or in bytes); None if the total is unknown."""
        if signal.unit == "%":
            return 100 - available
        memory = self.first.review.facts.find(subject, "memory_mb")
        return None if memory is None else max(0.0, memory * 2**20 - available)


def _rank(compared: Compared) -> tuple[object, ...]:
    """Return a sort key: outcome, critical signals, own outcomes, limits crossed in one run, kind, deviation, name."""
    return (
        _ORDER[compared.outcome],
        not compared.treatment.critical,
        compared.aligned is not None,
        float("inf") if compared.crossed is None else compared.crossed,
        compared.treatment.place,
        -compared.size,
        compared.name,
        make_host_key(compared.subject.host),
        compared.subject.instance or "",
    )


def compare_thresholds(first: Review, second: Review, hosts: Hosts) -> Thresholds:
    """Return the documented limits that one or both of two runs crossed."""
    sides = [
        {_make_key(finding, of_hosts): finding for finding in reversed(review.findings) if finding.subject}
        for review, of_hosts in ((first, None), (second, hosts))
    ]
    judged = [{key for key, finding in side.items() if finding.outcome in JUDGED} for side in sides]
    crossed = [
        {key: f for key, f in side.items() if f.outcome in CROSSED and f.severe and not f.superseded_by}
        for side in sides
    ]
    only: list[tuple[Finding, ...]] = []
    unjudged: list[Finding] = []
    for findings, other, keys in ((crossed[0], crossed[1], judged[1]), (crossed[1], crossed[0], judged[0])):
        lone = {key: finding for key, finding in findings.items() if key not in other}
        only.append(_select_worst({key: finding for key, finding in lone.items() if key in keys}))
        unjudged += _select_worst({key: finding for key, finding in lone.items() if key not in keys})
    both = _select_worst({key: finding for key, finding in crossed[1].items() if key in crossed[0]})
    pairs = tuple((crossed[0][_make_key(finding, hosts)], finding) for finding in both)
    return Thresholds(only[0], only[1], pairs, tuple(unjudged), hosts)


def _make_key(finding: Finding, hosts: Hosts | None) -> LimitKey:
    key = finding.subject.key if finding.subject else ("", None)
    host, instance = key if hosts is None else hosts.in_first(key)
    return finding.rule.id, host, instance


def _make_place_key(finding: Finding, hosts: Hosts | None = None) -> LimitKey:
    return finding.rule.signal, *_make_key(finding, hosts)[1:]


def _select_worst(findings: dict[LimitKey, Finding]) -> tuple[Finding, ...]:
    """Return the worst finding of each signal and subject; `findings` are sorted, the worst last."""
    worst = {_make_place_key(finding): finding for finding in findings.values()}
    return tuple(reversed(worst.values()))

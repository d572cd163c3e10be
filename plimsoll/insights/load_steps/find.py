"""The load steps of a run: plateaus of its load, the means of its signals in each, and the cost of one operation.

Site Server's capacity studies (1998, 1999) raise the load step by step, leave out steps with too many context switches,
and take the costs from the step with the highest throughput.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from plimsoll.analysis.scalability import (
    Knee,
    LatencyKnee,
    Law,
    Refused,
    find_latency_knee,
    find_throughput_knee,
    fit_scalability,
)
from plimsoll.analysis.significance import count_effective_samples
from plimsoll.hosts.settings import is_load_step
from plimsoll.insights.leading_signals import list_response_times
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Outcome
from plimsoll.review.phases.found_phases import Load
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.schema.field_types import AnyFact
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_CPU = "cpu.busy"
_SWITCHES = "cpu.context_switches"


@dataclass(frozen=True)
class HostStep:
    """A host during a load step: its processor time (%) and its context switches a second."""

    host: str
    cpu: float | None
    context_switches: float | None


@dataclass(frozen=True)
class LoadStep:
    """One load step (UTC ns, both ends included) with the means of the run's signals.

    `cpu` (%) is the mean over the hosts that do the work, `context_switches` their sum. One operation a second uses
    `cost_percent` % of the processors, or `cost_mhz` megahertz (the studies' PPEM); one operation uses `cost_seconds`
    of a processor. `left_out` marks steps with more context switches than the studies accept.
    """

    number: int
    start: int
    end: int
    samples: int
    load: float
    throughput: float | None
    error: float
    cpu: float | None
    context_switches: float | None
    bytes: float | None
    latency: float | None
    cost_percent: float | None
    cost_seconds: float | None
    cost_mhz: float | None
    hosts: tuple[HostStep, ...]
    left_out: bool = False


@dataclass(frozen=True)
class Means:
    """The means of a run's signals in a load step, computed when asked for."""

    review: Review
    load: Load
    throughput: Load | None
    bytes: Load | None
    latency: str | None
    switches_limit: float | None

    def step(self, number: int, start: int, end: int) -> LoadStep:
        """Return a load step with its means; edge samples, which may mix steps, are left out if others remain."""
        interval = self.load.samples.interval or SECOND
        inner = (start + interval, end - interval) if (end - start) > 8 * interval else (start, end)
        throughput = self.throughput and compute_mean(self.throughput.samples, *inner)
        hosts = tuple(self._summarize_host(host, inner) for host in self._hosts)
        cpu = [host.cpu for host in hosts if host.cpu is not None]
        switches = [host.context_switches for host in hosts if host.context_switches is not None]
        mean_cpu = float(np.mean(cpu)) if cpu else None
        most_switches = max(switches, default=0.0)
        recorded = self.review.signals.of(self.latency).values() if self.latency else ()
        latencies = [latency for samples in recorded if (latency := compute_mean(samples, *inner)) is not None]
        return LoadStep(
            number=number,
            start=start,
            end=end,
            samples=len(self.load.samples.between(*inner).present.times),
            load=compute_mean(self.load.samples, *inner) or 0.0,
            throughput=throughput,
            error=compute_standard_error(self.throughput.samples, *inner) if self.throughput else 0.0,
            cpu=mean_cpu,
            context_switches=sum(switches) if switches else None,
            bytes=self.bytes and compute_mean(self.bytes.samples, *inner),
            latency=float(np.mean(latencies)) if latencies else None,
            cost_percent=mean_cpu / throughput if mean_cpu is not None and throughput else None,
            cost_seconds=self._compute_cost(hosts, throughput, "processors"),
            cost_mhz=self._compute_cost(hosts, throughput, "processors", "clock_mhz"),
            hosts=hosts,
            left_out=self.switches_limit is not None and most_switches > self.switches_limit,
        )

    @cached_property
    def _hosts(self) -> tuple[str, ...]:
        """The hosts that do the work, if their processor time was recorded; else all hosts with processor time."""
        measured = {make_host_key(subject.host): subject.host for subject in self.review.signals.of(_CPU)}
        working = [host for host in (self.throughput or self.load).hosts if make_host_key(host) in measured]
        return tuple(working or measured.values())

    def _summarize_host(self, host: str, inner: tuple[int, int]) -> HostStep:
        signals = self.review.signals
        cpu, switches = (
            next((compute_mean(samples, *inner) for samples in signals.on(name, host).values()), None)
            for name in (_CPU, _SWITCHES)
        )
        return HostStep(host, cpu, switches)

    def _compute_cost(self, hosts: Sequence[HostStep], throughput: float | None, *facts: AnyFact) -> float | None:
        """Return the processor time (s) of one operation, summed over all hosts; None if unknown.

        The time of each host is multiplied by the host's `facts`, such as the number of processors.
        """
        total = 0.0
        for host in hosts:
            factors = [host.cpu, *(self.review.facts.find(Subject(host.host), fact) for fact in facts)]
            if None in factors:
                return None
            total += prod(factor or 0.0 for factor in factors) / 100
        return total / throughput if throughput and hosts else None


_SWITCHES_RULE = "context-switches"
_OLD_MHZ = 1000  # our choice; the studies measured on 166 to 450 MHz
_CANDIDATES = 2  # of each kind of load
_DOUBLED, _HARDLY_MORE = 1.9, 1.10  # context switches, and throughput: 7,599 to 15,054/s, and 130.55 to 142.33/s
_LESS = 0.99  # our choice: throughput that is lower by less has not fallen
_ALIKE = 0.02  # our choice: loads and throughputs that differ by less are the same
_BEYOND_A_BEND = 2  # steps: of a single one, what looks like a bend may be chance


@dataclass(frozen=True)
class LoadSteps:
    """The load steps of a run in order of time; `by_hand` means that the steps are phases in plimsoll.toml."""

    load: Load
    throughput: Load | None
    latency: Signal | None
    by_hand: bool
    switches_limit: float | None
    steps: tuple[LoadStep, ...]

    @cached_property
    def answers_load(self) -> bool:
        """Whether throughput was recorded separately from the load."""
        return self.throughput is not None and self.throughput.name != self.load.name

    @cached_property
    def measured(self) -> tuple[LoadStep, ...]:
        """The steps that have a throughput."""
        return tuple(step for step in self.steps if step.throughput)

    @cached_property
    def top(self) -> LoadStep:
        """The step with the highest throughput."""
        return max(self.measured, key=lambda step: step.throughput or 0)

    @cached_property
    def best(self) -> LoadStep | None:
        """The step with the highest throughput, of equal steps the cheapest; `left_out` only if all steps are so."""
        kept = [step for step in self.measured if not step.left_out] or list(self.measured)
        most = max((step.throughput or 0 for step in kept), default=0)
        best = [step for step in kept if (step.throughput or 0) >= (1 - _ALIKE / 4) * most]
        return min(best, key=lambda step: (step.cost_percent or 0, -(step.throughput or 0)), default=None)

    @cached_property
    def optimum(self) -> LoadStep | None:
        """The best step, if a higher load was measured too; else None, as a further step might have been better."""
        best = self.best
        return best if best and self._count_beyond(best.load) else None

    @cached_property
    def falls_after(self) -> LoadStep | None:
        """The step with the highest throughput, if a later step with as much load has less throughput; else None.

        None also if load and throughput were not recorded separately: the load of later steps may have been lower.
        """
        if not self.measured or not self.answers_load:
            return None
        most = self.top.throughput or 0
        for step in self.measured:
            error = 3 * float(np.hypot(step.error, self.top.error))
            later = step.number > self.top.number and step.load >= (1 - _ALIKE) * self.top.load
            if later and (step.throughput or 0) < min(_LESS * most, most - error):
                return self.top
        return None

    def _count_beyond(self, load: float) -> int:
        """Return how many steps have a clearly higher load than `load`."""
        return sum(step.load >= (1 + _ALIKE) * load for step in self.measured)

    @cached_property
    def last_step_is_lower(self) -> bool:
        """Whether throughput is lower in the last step, and the recording does not show if the load fell as well."""
        if self.answers_load or not self.measured or self.falls_after:
            return False
        return (self.measured[-1].throughput or 0) < 0.9 * (self.top.throughput or 0)

    @cached_property
    def switching(self) -> tuple[LoadStep, LoadStep] | None:
        """Two neighbouring steps between which context switches double and costs rise, but throughput hardly grows."""
        for step, after in pairwise(self.measured):
            switches, cost = step.context_switches, step.cost_percent
            if None in (switches, after.context_switches, cost, after.cost_percent):
                continue
            doubled = (after.context_switches or 0) >= _DOUBLED * (switches or 0) > 0
            hardly = (after.throughput or 0) < _HARDLY_MORE * (step.throughput or 0)
            if doubled and hardly and (after.cost_percent or 0) > (cost or 0) and after.load >= step.load:
                return step, after
        return None

    @cached_property
    def law(self) -> Law | Refused:
        """The universal scalability law of throughput over load, or the reason why it was not fitted."""
        if self.throughput is None:
            return Refused("no throughput was recorded")
        if self.load.kind != "connections" or not self.answers_load:
            return Refused(
                "it needs how many work at the same time, such as connections or users; the load here is "
                f"{self.load.signal.title} ({self.load.signal.unit})"
            )
        return fit_scalability(*self._list_curve(), np.array([step.error for step in self.measured]))

    @cached_property
    def knee(self) -> Knee | None:
        """The load after which throughput grows less than half as fast; None unless two or more steps are beyond it."""
        knee = find_throughput_knee(*self._list_curve()) if self.answers_load else None
        return knee if knee and self._count_beyond(knee.load) >= _BEYOND_A_BEND else None

    @cached_property
    def latency_knee(self) -> LatencyKnee | None:
        """The rate of operations up to which latency stays flat; None if latency does not grow."""
        points = [(step.throughput or 0.0, step.latency) for step in self.measured if step.latency is not None]
        return find_latency_knee(np.array([rate for rate, _ in points]), np.array([latency for _, latency in points]))

    def _list_curve(self) -> tuple[Values, Values]:
        """Return the loads and the throughputs of the steps."""
        loads, rates = [step.load for step in self.measured], [step.throughput or 0.0 for step in self.measured]
        return np.array(loads), np.array(rates)


def load_steps(review: Review) -> LoadSteps | None:
    """Return the load steps of a run; None if its load was not stepped."""
    by_hand = [(phase.start, phase.end) for phase in review.phases if is_load_step(phase.name)]
    load, spans = (_choose_most_varied(review.loads, by_hand), by_hand) if by_hand else _find_stepped_load(review.loads)
    if load is None:
        return None
    first = {load.kind: load for load in reversed(review.loads)}
    throughput = first.get("operations", first.get("bytes"))
    signals = review.question.signals
    latency = next((name for name in list_response_times(signals) if review.signals.of(name)), None)
    limit = _find_switches_limit(review, (throughput or load).hosts)
    means = Means(review, load, throughput, first.get("bytes"), latency, limit)
    steps = tuple(means.step(at, *span) for at, span in enumerate(spans, 1))
    return LoadSteps(load, throughput, signals[latency] if latency else None, bool(by_hand), limit, steps)


def _find_stepped_load(loads: Sequence[Load]) -> tuple[Load | None, list[tuple[int, int]]]:
    """Return the load that was stepped, and the start and end of each step; None and no steps if no load was stepped.

    Tests usually step connections, so these are used unless operations have clearly more steps; bytes are used only if
    connections were not stepped and no operations recorded. A load that only falls ends, and is not stepped.
    """
    stepped: list[tuple[Load, list[tuple[int, int]]]] = []
    for kind in ("connections", "operations", "bytes", None):
        for load in [load for load in loads if load.kind == kind][:_CANDIDATES]:
            if any(before.level < after.level for before, after in pairwise(load.plateaus)):
                stepped.append((load, [(level.start, level.end) for level in load.plateaus]))
        if kind == "operations" and (stepped or any(load.kind == kind for load in loads)):
            break
    order = [(len(spans) + (1.5 if load.kind == "connections" else 0)) for load, spans in stepped]
    return stepped[order.index(max(order))] if stepped else (None, [])


def _choose_most_varied(loads: Sequence[Load], spans: Sequence[tuple[int, int]]) -> Load | None:
    """Return the load of connections if it differs between the spans, else the first load."""
    for load in (load for load in loads if load.kind == "connections"):
        means = [level for span in spans if (level := compute_mean(load.samples, *span)) is not None]
        if means and max(means) > 1.1 * min(means):
            return load
    return loads[0] if loads else None


def _find_switches_limit(review: Review, hosts: Sequence[str]) -> float | None:
    """Return the context switches a second above which the studies leave out steps; None if the limit does not apply.

    The limit applies if its rule was judged and the processors are as slow as the studies'; current processors switch
    more often without loss.
    """
    names = {make_host_key(host) for host in hosts}
    for finding in review.findings:
        rule, host = finding.rule, finding.subject.host if finding.subject else ""
        judged = finding.outcome != Outcome.OFF and rule.severity != "info" and make_host_key(host) in names
        mhz = (review.facts.find(Subject(host), "clock_mhz") or 0) if rule.id == _SWITCHES_RULE and judged else 0
        if 0 < mhz <= _OLD_MHZ:
            return limit_of(finding).limit
    return None


def compute_mean(samples: Samples, start: int, end: int) -> float | None:
    """Return the mean of the samples from `start` to `end` (UTC ns); None without samples."""
    values = samples.between(start, end).present.values
    return float(values.mean()) if len(values) else None


def compute_standard_error(samples: Samples, start: int, end: int) -> float:
    """Return the standard error of the mean of samples from `start` to `end`, which includes autocorrelation."""
    values = samples.between(start, end).present.values
    if len(values) < 3:
        return 0.0
    rest = values - values.mean()
    square = float((rest**2).mean())
    correlation = float(np.clip((rest[1:] * rest[:-1]).mean() / square, 0, 0.95)) if square else 0.0
    return float(np.sqrt(square / count_effective_samples(len(values), correlation)))

"""The load steps of a run: plateaus of its load, and what every step cost.

Site Server's capacity studies (1998, 1999) raise the load step by step, leave out the samples with too many context
switches, and take the costs from the step that answers most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from plimsoll.analysis.scalability import Knee, LatencyKnee, Law, Refused, latency_knee, scalability, throughput_knee
from plimsoll.analysis.significance import effective_samples
from plimsoll.hosts.settings import is_load_step
from plimsoll.insights.leading_signals import response_times
from plimsoll.model.log import Values
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
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
    """A host during a load step: its processor time (%), its context switches a second."""

    host: str
    cpu: float | None
    context_switches: float | None


@dataclass(frozen=True)
class LoadStep:
    """One load step (UTC ns, both ends included) with the means of its signals.

    `cpu` (%) is the mean of the hosts that do the work, `context_switches` their sum. `cost_percent` is the processor
    time for one operation a second, `cost_seconds` processor seconds for an operation, `cost_mhz` the megahertz for
    one operation a second (PPEM, as the studies call it). `left_out` marks steps with more context switches than the
    studies measure with.
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
    """The means of the signals in a step."""

    review: Review
    load: Load
    throughput: Load | None
    bytes: Load | None
    latency: str | None
    switches_limit: float | None

    def step(self, number: int, start: int, end: int) -> LoadStep:
        """One step. The samples at its edges may be partly of the next one, so they are left out if others remain."""
        inner = self._inner(start, end)
        throughput = self.throughput and mean(self.throughput.samples, *inner)
        hosts = tuple(self._host(host, inner) for host in self._hosts)
        cpu = [host.cpu for host in hosts if host.cpu is not None]
        switches = [host.context_switches for host in hosts if host.context_switches is not None]
        mean_cpu = float(np.mean(cpu)) if cpu else None
        most_switches = max(switches, default=0.0)
        latencies = [mean(samples, *inner) for samples in self._all(self.latency)]
        items = [latency for latency in latencies if latency is not None]
        return LoadStep(
            number=number,
            start=start,
            end=end,
            samples=len(self.load.samples.between(*inner).present.times),
            load=mean(self.load.samples, *inner) or 0.0,
            throughput=throughput,
            error=standard_error(self.throughput.samples, *inner) if self.throughput else 0.0,
            cpu=mean_cpu,
            context_switches=sum(switches) if switches else None,
            bytes=self.bytes and mean(self.bytes.samples, *inner),
            latency=float(np.mean(items)) if items else None,
            cost_percent=mean_cpu / throughput if mean_cpu is not None and throughput else None,
            cost_seconds=self._cost(hosts, throughput, "processors"),
            cost_mhz=self._cost(hosts, throughput, "processors", "clock_mhz"),
            hosts=hosts,
            left_out=self.switches_limit is not None and most_switches > self.switches_limit,
        )

    def _inner(self, start: int, end: int) -> tuple[int, int]:
        interval = self.load.samples.interval or SECOND
        return (start + interval, end - interval) if (end - start) > 8 * interval else (start, end)

    @cached_property
    def _hosts(self) -> tuple[str, ...]:
        """The hosts that do the work, if their processor time was recorded; else all with processor time."""
        measured = {host_key(subject.host): subject.host for subject in self.review.signals.of(_CPU)}
        working = [host for host in (self.throughput or self.load).hosts if host_key(host) in measured]
        return tuple(working or measured.values())

    def _host(self, host: str, inner: tuple[int, int]) -> HostStep:
        signals = self.review.signals
        cpu, switches = (
            next((mean(samples, *inner) for samples in signals.on(name, host).values()), None)
            for name in (_CPU, _SWITCHES)
        )
        return HostStep(host, cpu, switches)

    def _all(self, name: str | None) -> Iterator[Samples]:
        yield from self.review.signals.of(name).values() if name else ()

    def _cost(self, hosts: Sequence[HostStep], throughput: float | None, *facts: AnyFact) -> float | None:
        """Processor time of all hosts, times these facts of each, for one operation; None where one is not known."""
        if not throughput or not hosts:
            return None
        total = 0.0
        for host in hosts:
            if host.cpu is None:
                return None
            used = host.cpu / 100
            for fact in facts:
                value = self.review.facts.find(Subject(host.host), fact)
                if value is None:
                    return None
                used *= value
            total += used
        return total / throughput


_SWITCHES_RULE = "context-switches"
_OLD_MHZ = 1000  # our choice; the studies measured on 166 to 450 MHz
_CANDIDATES = 2  # of each kind of load
_DOUBLED, _HARDLY_MORE = 1.9, 1.10  # context switches, and throughput: 7,599 to 15,054/s, and 130.55 to 142.33/s
_LESS = 0.99  # our choice: throughput that is lower by less has not fallen
_ALIKE = 0.02  # our choice: loads and throughputs that differ by less are the same
_BEYOND_A_BEND = 2  # steps: of a single one, what looks like a bend may be chance


@dataclass(frozen=True)
class LoadSteps:
    """The steps of a run in order of time, and what they show. `by_hand`: they are phases of plimsoll.toml."""

    load: Load
    throughput: Load | None
    latency: Signal | None
    by_hand: bool
    switches_limit: float | None
    steps: tuple[LoadStep, ...]

    @cached_property
    def answers_load(self) -> bool:
        """Whether throughput was recorded apart from the load."""
        return self.throughput is not None and self.throughput.name != self.load.name

    @cached_property
    def measured(self) -> tuple[LoadStep, ...]:
        """The steps with a throughput."""
        return tuple(step for step in self.steps if step.throughput)

    @cached_property
    def best(self) -> LoadStep | None:
        """The step with the highest throughput, of equal ones the cheapest; without those left out, if any stay."""
        kept = [load_step for load_step in self.measured if not load_step.left_out] or list(self.measured)
        if not kept:
            return None
        most = max(load_step.throughput or 0 for load_step in kept)
        best = [load_step for load_step in kept if (load_step.throughput or 0) >= (1 - _ALIKE / 4) * most]
        return min(best, key=lambda load_step: (load_step.cost_percent or 0, -(load_step.throughput or 0)))

    @cached_property
    def optimum(self) -> LoadStep | None:
        """The best step, if more load than in it was measured: else the next one might have answered more."""
        best = self.best
        return best if best and self._beyond(best.load) else None

    @cached_property
    def falls_after(self) -> LoadStep | None:
        """The step with the highest throughput of all, if a step after it under no lower load answers less.

        None where no load was recorded apart from the throughput: less may have been asked then.
        """
        if not self.measured or not self.answers_load:
            return None
        top = max(self.measured, key=lambda load_step: load_step.throughput or 0)
        for load_step in self.measured:
            if load_step.number > top.number and load_step.load >= (1 - _ALIKE) * top.load:
                value = 3 * float(np.hypot(load_step.error, top.error))
                less = min(_LESS * (top.throughput or 0), (top.throughput or 0) - value)
                if (load_step.throughput or 0) < less:
                    return top
        return None

    def _beyond(self, load: float) -> int:
        """Return how many steps were measured under more load than this."""
        return sum(load_step.load >= (1 + _ALIKE) * load for load_step in self.measured)

    @cached_property
    def last_step_is_lower(self) -> bool:
        """Whether throughput ends below its maximum while nothing shows if the load was lower, too."""
        if self.answers_load or not self.measured or self.falls_after:
            return False
        return (self.measured[-1].throughput or 0) < 0.9 * max(load_step.throughput or 0 for load_step in self.measured)

    @cached_property
    def switching(self) -> tuple[LoadStep, LoadStep] | None:
        """Two steps between which context switches double, each operation costs more, and hardly more are done."""
        for load_step, other in pairwise(self.measured):
            if None in (load_step.context_switches, other.context_switches, load_step.cost_percent, other.cost_percent):
                continue
            doubled = (other.context_switches or 0) >= _DOUBLED * (load_step.context_switches or 0) > 0
            hardly = (other.throughput or 0) < _HARDLY_MORE * (load_step.throughput or 0)
            if (
                doubled
                and hardly
                and (other.cost_percent or 0) > (load_step.cost_percent or 0)
                and other.load >= load_step.load
            ):
                return load_step, other
        return None

    @cached_property
    def law(self) -> Law | Refused:
        """The universal scalability law of throughput over load, or why it is not fitted."""
        if self.throughput is None:
            return Refused("no throughput was recorded")
        if self.load.kind != "connections" or not self.answers_load:
            return Refused(
                "it needs how many work at the same time, such as connections or users; the load here is "
                f"{self.load.signal.title} ({self.load.signal.unit})"
            )
        return scalability(*self._curve(), np.array([load_step.error for load_step in self.measured]))

    @cached_property
    def knee(self) -> Knee | None:
        """The load after which throughput grows less than half as fast, as two steps and more beyond it show."""
        knee = throughput_knee(*self._curve()) if self.answers_load else None
        return knee if knee and self._beyond(knee.load) >= _BEYOND_A_BEND else None

    @cached_property
    def latency_knee(self) -> LatencyKnee | None:
        """The rate up to which latency is flat."""
        items = [load_step for load_step in self.measured if load_step.latency is not None]
        return latency_knee(
            np.array([load_step.throughput or 0.0 for load_step in items]),
            np.array([load_step.latency or 0.0 for load_step in items]),
        )

    def _curve(self) -> tuple[Values, Values]:
        return (
            np.array([load_step.load for load_step in self.measured]),
            np.array([load_step.throughput or 0.0 for load_step in self.measured]),
        )


def load_steps(review: Review) -> LoadSteps | None:
    """Return the load steps of a run; None if its load was not stepped."""
    by_hand = tuple(phase for phase in review.phases if is_load_step(phase.name))
    if by_hand:
        load = _most_varied(review.loads, by_hand)
        spans = [(phase.start, phase.end) for phase in by_hand]
    else:
        load, spans = _stepped(review.loads)
    if load is None:
        return None
    throughput = next((load for load in review.loads if load.kind == "operations"), None)
    throughput = throughput or next((load for load in review.loads if load.kind == "bytes"), None)
    bytes_ = next((load for load in review.loads if load.kind == "bytes"), None)
    waits = response_times(review.question.signals)
    latency = next((name for name in waits if review.signals.of(name)), None)
    limit = _switches_limit(review, (throughput or load).hosts)
    means = Means(review, load, throughput, bytes_, latency, limit)
    answer_time = review.question.signals[latency] if latency else None
    steps = tuple(means.step(at, *span) for at, span in enumerate(spans, 1))
    return LoadSteps(load, throughput, answer_time, bool(by_hand), limit, steps)


def _stepped(loads: Sequence[Load]) -> tuple[Load | None, list[tuple[int, int]]]:
    """Return the load that was stepped, and the times of its steps.

    Connections are what a test steps, so they count unless the operations have clearly more steps; bytes only where
    neither was stepped.
    """
    entries: dict[str | None, tuple[Load, list[tuple[int, int]]]] = {}
    for kind in ("connections", "operations", "bytes", None):
        for load in [load for load in loads if load.kind == kind][:_CANDIDATES]:
            levels = load.plateaus
            spans = [(level.start, level.end) for level in levels]
            if spans and (kind not in entries or len(spans) > len(entries[kind][1])):
                entries[kind] = load, spans
        if kind == "operations" and entries:
            break
    if not entries:
        return None, []
    return max(entries.values(), key=lambda pair: len(pair[1]) + (1.5 if pair[0].kind == "connections" else 0))


def _most_varied(loads: Sequence[Load], phases: Sequence[Phase]) -> Load | None:
    """Return the connections if they differ from phase to phase, else the best load."""
    for load in loads:
        means = [mean(load.samples, phase.start, phase.end) for phase in phases]
        items = [mean for mean in means if mean is not None]
        if load.kind == "connections" and items and max(items) > 1.1 * min(items):
            return load
    return loads[0] if loads else None


def _switches_limit(review: Review, hosts: Sequence[str]) -> float | None:
    """Return the context switches beyond which the studies do not measure, where the rule judges these hosts.

    It is for processors like the studies'; those of today switch more often without loss.
    """
    names = {host_key(host) for host in hosts}
    return next(
        (
            limit_of(finding).limit
            for finding in review.findings
            if finding.rule.id == _SWITCHES_RULE
            and finding.outcome != Outcome.OFF
            and finding.rule.severity != "info"
            and finding.subject
            and host_key(finding.subject.host) in names
            and 0 < (review.facts.find(Subject(finding.subject.host), "clock_mhz") or 0) <= _OLD_MHZ
        ),
        None,
    )


def mean(samples: Samples, start: int, end: int) -> float | None:
    """Return the mean of the samples in a time; None without any."""
    values = samples.between(start, end).present.values
    return float(values.mean()) if len(values) else None


def standard_error(samples: Samples, start: int, end: int) -> float:
    """Return the standard error of a mean, with the autocorrelation of neighbouring samples."""
    values = samples.between(start, end).present.values
    if len(values) < 3:
        return 0.0
    rest = values - values.mean()
    square = float((rest**2).mean())
    correlation = float(np.clip((rest[1:] * rest[:-1]).mean() / square, 0, 0.95)) if square else 0.0
    return float(np.sqrt(square / effective_samples(len(values), correlation)))

"""What a load step used: the means of its signals, and what one operation cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.analysis.dependence import effective_samples
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND
from plimsoll.review.phases.load import Load
from plimsoll.review.review import Review
from plimsoll.rules.schema.field_types import AnyFact
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

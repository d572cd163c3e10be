"""Resolved sources: the series a signal is computed from for one subject, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plimsoll.model.series import Series
from plimsoll.rules.schema.field_types import Across, Fact, Operation
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.subjects import Instances, Subject


@dataclass(frozen=True, slots=True)
class ResolvedSeries:
    """A signal recorded as one series: its values, or their rate, are transformed."""

    series: Series
    rate: bool
    transform: Transform


@dataclass(frozen=True, slots=True)
class ResolvedFields:
    """A signal computed sample by sample from several fields of one measurement."""

    operation: Operation
    fields: tuple[Series, ...]
    rate: bool
    transform: Transform


ResolvedRecording: TypeAlias = ResolvedSeries | ResolvedFields


@dataclass(frozen=True, slots=True)
class ResolvedRequestTime:
    """A time per request, and the recorded rate of the requests; below `minimum_rate` no limit is crossed."""

    value: ResolvedRecording
    rate: ResolvedRecording | None
    minimum_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class ResolvedDerivation:
    """A signal computed from other signals."""

    operation: Operation
    operands: tuple["ResolvedSource", ...]
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedTotal:
    """A sum, mean, maximum or minimum: at each time, of those parts that have data."""

    parts: tuple[ResolvedRecording, ...]
    across: Across = "sum"


@dataclass(frozen=True, slots=True)
class ResolvedFact:
    """A signal that is a fact of the host: a constant."""

    subject: Subject
    fact: Fact


ResolvedSource: TypeAlias = ResolvedRecording | ResolvedRequestTime | ResolvedDerivation | ResolvedTotal | ResolvedFact


class ResolvedSources(dict[tuple[str, str | None], tuple[Subject, ResolvedSource]]):
    """The subjects of a signal and where their samples come from, by the key of the subject. It does not change."""

    @cached_property
    def by_host(self) -> Mapping[str, Sequence[tuple[Subject, ResolvedSource]]]:
        """The same by host (case-folded)."""
        by_host: dict[str, list[tuple[Subject, ResolvedSource]]] = {}
        for (host, _), pair in self.items():
            by_host.setdefault(host, []).append(pair)
        return by_host

    def same(self, host: str, instance: str) -> tuple[Subject, ResolvedSource] | None:
        """Return what a host has for an instance under another name."""
        if host not in self._instances:
            self._instances[host] = Instances(subject.key[1] or "" for subject, _ in self.by_host.get(host, ()))
        name = self._instances[host].same(instance)
        return None if name is None else self.get((host, name))

    def services(self, host: str) -> Sequence[tuple[Subject, ResolvedSource]]:
        """Return what a host has for named instances of a service."""
        if host not in self._services:
            self._services[host] = [pair for pair in self.by_host.get(host, ()) if pair[0].service]
        return self._services[host]

    @cached_property
    def _instances(self) -> dict[str, Instances]:
        return {}

    @cached_property
    def _services(self) -> dict[str, Sequence[tuple[Subject, ResolvedSource]]]:
        return {}


def series_of(source: ResolvedSource) -> tuple[Series, ...]:
    """Return all series that a source reads."""
    match source:
        case ResolvedSeries(series):
            return (series,)
        case ResolvedFields():
            return source.fields
        case ResolvedRequestTime(value, rate):
            return (*series_of(value), *(series_of(rate) if rate else ()))
        case ResolvedDerivation():
            return tuple(series for operand in source.operands for series in series_of(operand))
        case ResolvedTotal():
            return tuple(series for part in source.parts for series in series_of(part))
        case ResolvedFact():
            return ()


def facts_of(source: ResolvedSource) -> tuple[ResolvedFact, ...]:
    """Return all facts that a source needs."""
    match source:
        case ResolvedFact():
            return (source,)
        case ResolvedDerivation():
            return tuple(fact for operand in source.operands for fact in facts_of(operand))
        case _:
            return ()


def recorded_as(source: ResolvedSource) -> ResolvedSource:
    """Return the source without the weights of a time per request."""
    return source.value if isinstance(source, ResolvedRequestTime) else source


def find_source(sources: ResolvedSources, subject: Subject) -> ResolvedSource | None:
    """Return the source for a subject: of the same instance, else of its host as a whole. None if there is no match.

    Processor 3 of one object may be named `0,3` by another, and a volume `C:` be on the disk `0 C:`. If the signal
    belongs to a named instance of a service on the host, that is used for a disk or a processor, unless the host has
    several: the log does not say which of them a disk serves.
    """
    host, instance = subject.key
    pair = sources.get(subject.key) or sources.get((host, None))
    if pair is None and instance is not None:
        services = () if subject.service else sources.services(host)
        pair = sources.same(host, instance) or (services[0] if len(services) == 1 else None)
    return pair[1] if pair else None

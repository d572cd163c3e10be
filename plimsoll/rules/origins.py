"""Origins: the series a signal is computed from for one subject, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plimsoll.model.series import Series
from plimsoll.rules.instances import Instances
from plimsoll.rules.schema.field_types import Across, Fact, Operation
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, slots=True)
class SeriesOrigin:
    """A signal recorded as one series: its values, or their rate, are transformed."""

    series: Series
    rate: bool
    transform: Transform


@dataclass(frozen=True, slots=True)
class FieldsOrigin:
    """A signal computed sample by sample from several fields of one measurement."""

    operation: Operation
    fields: tuple[Series, ...]
    rate: bool
    transform: Transform


RecordedOrigin: TypeAlias = SeriesOrigin | FieldsOrigin


@dataclass(frozen=True, slots=True)
class WeightedOrigin:
    """A time per request, and the rate of the requests if that is recorded; below the rate `least` nobody waits."""

    value: RecordedOrigin
    rate: RecordedOrigin | None
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class DerivedOrigin:
    """A signal computed from other signals."""

    operation: Operation
    operands: tuple["Origin", ...]
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class TotalOrigin:
    """A sum, mean, maximum or minimum: at each time, of those parts that have data."""

    parts: tuple[RecordedOrigin, ...]
    how: Across = "sum"


@dataclass(frozen=True, slots=True)
class FactOrigin:
    """A signal that is a fact of the host: a constant."""

    subject: Subject
    fact: Fact


Origin: TypeAlias = RecordedOrigin | WeightedOrigin | DerivedOrigin | TotalOrigin | FactOrigin


class Origins(dict[tuple[str, str | None], tuple[Subject, Origin]]):
    """The subjects of a signal and where their samples come from, by the key of the subject. It does not change."""

    @cached_property
    def by_host(self) -> Mapping[str, Sequence[tuple[Subject, Origin]]]:
        """The same by host (case-folded)."""
        by_host: dict[str, list[tuple[Subject, Origin]]] = {}
        for (host, _), pair in self.items():
            by_host.setdefault(host, []).append(pair)
        return by_host

    def same(self, host: str, instance: str) -> tuple[Subject, Origin] | None:
        """What a host has for an instance under another name."""
        if host not in self._instances:
            self._instances[host] = Instances(subject.key[1] or "" for subject, _ in self.by_host.get(host, ()))
        name = self._instances[host].same(instance)
        return None if name is None else self.get((host, name))

    def services(self, host: str) -> Sequence[tuple[Subject, Origin]]:
        """What a host has for named instances of a service."""
        if host not in self._services:
            self._services[host] = [pair for pair in self.by_host.get(host, ()) if pair[0].service]
        return self._services[host]

    @cached_property
    def _instances(self) -> dict[str, Instances]:
        return {}

    @cached_property
    def _services(self) -> dict[str, Sequence[tuple[Subject, Origin]]]:
        return {}


def series_of(origin: Origin) -> tuple[Series, ...]:
    """All series that an origin reads."""
    match origin:
        case SeriesOrigin(series):
            return (series,)
        case FieldsOrigin():
            return origin.fields
        case WeightedOrigin(value, rate):
            return (*series_of(value), *(series_of(rate) if rate else ()))
        case DerivedOrigin():
            return tuple(series for operand in origin.operands for series in series_of(operand))
        case TotalOrigin():
            return tuple(series for part in origin.parts for series in series_of(part))
        case FactOrigin():
            return ()


def facts_of(origin: Origin) -> tuple[FactOrigin, ...]:
    """All facts that an origin needs."""
    match origin:
        case FactOrigin():
            return (origin,)
        case DerivedOrigin():
            return tuple(fact for operand in origin.operands for fact in facts_of(operand))
        case _:
            return ()


def recorded_as(origin: Origin) -> Origin:
    """The origin of what was recorded: of a time per request the time, without its weights."""
    return origin.value if isinstance(origin, WeightedOrigin) else origin


def origin_for(origins: Origins, subject: Subject) -> Origin | None:
    """The origin for a subject: of the same instance, else of its host as a whole. None if there is no match.

    Processor 3 of one object may be named `0,3` by another, and a volume `C:` be on the disk `0 C:`. If the signal
    belongs to a named instance of a service on the host, that is used for a disk or a processor, unless the host has
    several: the log does not say which of them a disk serves.
    """
    host, instance = subject.key
    pair = origins.get(subject.key) or origins.get((host, None))
    if pair is None and instance is not None:
        services = () if subject.service else origins.services(host)
        pair = origins.same(host, instance) or (services[0] if len(services) == 1 else None)
    return pair[1] if pair else None

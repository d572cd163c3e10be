"""Finds each signal among recorded series: for every host and instance, the series it is computed from."""

from collections.abc import Callable, Mapping, Sequence

from plimsoll.model.names import measurement
from plimsoll.model.perfmon import telegraf_name
from plimsoll.model.series import Series
from plimsoll.rules.origins import (
    DerivedOrigin,
    FactOrigin,
    FieldsOrigin,
    Origin,
    Origins,
    RecordedOrigin,
    SeriesOrigin,
    TotalOrigin,
    WeightedOrigin,
    origin_for,
    series_of,
)
from plimsoll.rules.schema.field_types import AnyFact, Operation
from plimsoll.rules.schema.signal import Fields, RequestRate, Signal, Source, Transform
from plimsoll.rules.subjects import Subject, host_tags, hosts_of, subject_of


def _nothing_known(subject: Subject, fact: AnyFact) -> float | None:
    return None


class Finder:
    """Finds signals among the series of a run.

    `has_samples` says whether a series has any samples; `known` gives a fact of a host or instance, None if it is
    not known.
    """

    def __init__(
        self,
        signals: Mapping[str, Signal],
        series: Sequence[Series],
        has_samples: Callable[[Series], bool],
        known: Callable[[Subject, AnyFact], float | None] = _nothing_known,
    ) -> None:
        self._signals = signals
        self._series = series
        self._has_samples = has_samples
        self._known = known
        self._found: dict[str, Origins] = {}
        self._by_field: dict[tuple[str, str], list[Series]] = {}
        for one in series:
            self._by_field.setdefault((one.measurement, one.field.casefold()), []).append(one)

    def find(self, name: str) -> Origins:
        """The origins of a signal by subject key. For each host the first source with samples is used."""
        if name not in self._found:
            found = self._find(self._signals[name])
            self._found[name] = self._weighted(found, self._signals[name].weight)
        return self._found[name]

    def _weighted(self, found: Origins, weight: RequestRate | None) -> Origins:
        """Times per request, each with the rate of its requests where that has samples."""
        if weight is None:
            return found
        rates = self.find(weight.rate)

        def weighted(subject: Subject, origin: Origin) -> Origin:
            rate = origin_for(rates, subject)
            counts = isinstance(rate, RecordedOrigin) and all(map(self._has_samples, series_of(rate)))
            if not isinstance(origin, RecordedOrigin):
                return origin
            return WeightedOrigin(origin, rate if counts and isinstance(rate, RecordedOrigin) else None, weight.least)

        return {key: (subject, weighted(subject, origin)) for key, (subject, origin) in found.items()}

    def _find(self, signal: Signal) -> Origins:
        if signal.derived:
            return self._derive(signal)
        if signal.fact:
            hosts = hosts_of(self._series, host_tags(self._signals)).values()
            return {(one := Subject(host)).key: (one, FactOrigin(one, signal.fact)) for host in hosts}
        recorded = self._from_sources(signal)
        return _totals(recorded) if signal.instances == "sum" else recorded

    def _from_sources(self, signal: Signal) -> Mapping[tuple[str, str | None], tuple[Subject, RecordedOrigin]]:
        best: dict[str, tuple[bool, list[tuple[Subject, RecordedOrigin]]]] = {}
        for source in signal.sources:
            by_host: dict[str, list[tuple[Subject, RecordedOrigin]]] = {}
            filled: set[str] = set()
            for series in self._candidates(source):
                subject = subject_of(source, series)
                if subject is None:
                    continue
                host = subject.host.casefold()
                origin = self._origin(source, series, subject)
                if origin is None:
                    continue
                by_host.setdefault(host, []).append((subject, origin))
                if host not in filled and all(map(self._has_samples, series_of(origin))):
                    filled.add(host)
            for host, origins in by_host.items():
                if host not in best or (host in filled and not best[host][0]):
                    best[host] = (host in filled, origins)
        found: dict[tuple[str, str | None], tuple[Subject, RecordedOrigin]] = {}
        for _, origins in best.values():
            for subject, origin in origins:
                found.setdefault(subject.key, (subject, origin))
        return found

    def _candidates(self, source: Source) -> Sequence[Series]:
        if source.path is not None:
            key = (measurement(source.path.object), telegraf_name(source.path.counter).casefold())
        else:
            key = (source.measurement or "", source.fields[0].casefold())
        return self._by_field.get(key, ())

    def _origin(self, source: Source, series: Series, subject: Subject) -> RecordedOrigin | None:
        """The origin that a source gives; None if a field of the measurement, or the fact it divides by, is missing."""
        transform = source.transform
        if source.per:
            fact = self._known(Subject(subject.host), source.per)
            if not fact:
                return None
            transform = Transform(scale=transform.scale / fact, offset=transform.offset)
        if not isinstance(source.field, Fields):
            return SeriesOrigin(series, source.rate, transform)
        others = [self._other_field(series, name) for name in source.fields[1:]]
        fields = (series, *(one for one in others if one))
        if len(fields) < len(source.fields):
            return None
        return FieldsOrigin(source.field.operation, fields, source.rate, transform)

    def _other_field(self, series: Series, field: str) -> Series | None:
        """The series of another field with the same host, measurement and tags."""
        every = self._by_field.get((series.measurement, field.casefold()), ())
        return next((one for one in every if one.key[:3] == series.key[:3]), None)

    def _derive(self, signal: Signal) -> Origins:
        derived = signal.derived
        if derived is None:
            raise ValueError(f"{signal.title} is not derived")
        operation: Operation = "sum" if derived.sum else "difference" if derived.difference else "ratio"
        operands = [self.find(name) for name in derived.operands]
        subjects = {key: subject for found in operands for key, (subject, _) in found.items()}
        result: dict[tuple[str, str | None], tuple[Subject, Origin]] = {}
        for key, subject in subjects.items():
            if key[1] is None and any(other[0] == key[0] and other[1] is not None for other in subjects):
                continue  # the host's own value belongs to each of its instances
            origins = [origin_for(found, subject) for found in operands]
            if derived.partial:
                result[key] = (
                    subject,
                    TotalOrigin(tuple(one for one in origins if isinstance(one, RecordedOrigin))),
                )
            elif all(origin is not None for origin in origins):
                weights = tuple(
                    weight.of(self._known(subject, weight.by)) if (weight := derived.weights.get(name)) else 1.0
                    for name in (derived.operands if derived.weights else ())
                )
                found = tuple(origin for origin in origins if origin is not None)
                result[key] = (subject, DerivedOrigin(operation, found, weights))
        return result


def _totals(recorded: Mapping[tuple[str, str | None], tuple[Subject, RecordedOrigin]]) -> Origins:
    """The sums over the instances of each host."""
    by_host: dict[str, list[tuple[Subject, RecordedOrigin]]] = {}
    for (host, _), one in recorded.items():
        by_host.setdefault(host, []).append(one)
    return {
        (host, None): (Subject(parts[0][0].host), TotalOrigin(tuple(part for _, part in parts)))
        for host, parts in by_host.items()
    }

"""Finds each signal among recorded series: for every host and instance, the series to compute it from."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.names import find_measurement
from plimsoll.model.perfmon import TOTAL, make_telegraf_name
from plimsoll.model.series import HostKey, Series
from plimsoll.rules.schema.field_types import Across, AnyFact, Fact, Operation
from plimsoll.rules.schema.signal import Fields, RequestRate, Signal, Source, Transform
from plimsoll.rules.subjects import Instances, Subject, find_subject, list_host_tags, map_hosts


@dataclass(frozen=True, slots=True)
class ResolvedSeries:
    """A signal recorded as one series; the values, or with `rate` their rate, are transformed."""

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
    """A time per request, with the request rate (None if not recorded); below `minimum_rate` no limit is crossed."""

    value: ResolvedRecording
    rate: ResolvedRecording | None
    minimum_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class ResolvedDerivation:
    """A signal computed from the sources of other signals, its operands; `weights` are empty if all are 1."""

    operation: Operation
    operands: tuple["ResolvedSource", ...]
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedTotal:
    """A sum, mean, maximum or minimum (`across`) over those parts that have data at an evaluation."""

    parts: tuple[ResolvedRecording, ...]
    across: Across = "sum"


@dataclass(frozen=True, slots=True)
class ResolvedFact:
    """A signal that is a fact of the host: a constant."""

    subject: Subject
    fact: Fact


ResolvedSource: TypeAlias = ResolvedRecording | ResolvedRequestTime | ResolvedDerivation | ResolvedTotal | ResolvedFact


class ResolvedSources(dict[tuple[str, str | None], tuple[Subject, ResolvedSource]]):
    """The sources of a signal: pairs of subject and source, by the subject's key. Immutable."""

    @cached_property
    def by_host(self) -> Mapping[str, Sequence[tuple[Subject, ResolvedSource]]]:
        """The pairs of subject and source by host (case-folded)."""
        return group_pairs((host, pair) for (host, _), pair in self.items())

    def same(self, host: str, instance: str) -> tuple[Subject, ResolvedSource] | None:
        """Return subject and source of this signal for an instance under its other name; None if there is none."""
        if host not in self._instances:
            self._instances[host] = Instances(subject.key[1] or "" for subject, _ in self.by_host.get(host, ()))
        name = self._instances[host].same(instance)
        return None if name is None else self.get((host, name))

    def services(self, host: str) -> Sequence[tuple[Subject, ResolvedSource]]:
        """Return the pairs of subject and source for named instances of services (SQL Server) on a host."""
        if host not in self._services:
            self._services[host] = [pair for pair in self.by_host.get(host, ()) if pair[0].service]
        return self._services[host]

    @cached_property
    def _instances(self) -> dict[str, Instances]:
        return {}

    @cached_property
    def _services(self) -> dict[str, Sequence[tuple[Subject, ResolvedSource]]]:
        return {}


_Key: TypeAlias = tuple[str, str | None]
Chosen: TypeAlias = Mapping[_Key, tuple[Subject, ResolvedRecording | ResolvedTotal]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible source for a subject; `filled` means that all series of the source have samples."""

    subject: Subject
    resolved: ResolvedRecording | ResolvedTotal
    filled: bool


class SourceChoice:
    """A choice of the best candidate for each subject; sources must be added in the signal's order, the best first."""

    def __init__(self, signal: Signal) -> None:
        self._has_instances = signal.instances == "each"
        self.chosen: dict[_Key, Candidate] = {}
        self._on_host: dict[str, Instances] = {}
        self._filled: Counter[str] = Counter()  # how many of each host's candidates have samples

    def add(self, source: Source, candidate: Candidate) -> None:
        """Choose a candidate for its subject if there is none yet, or if only the new candidate has samples."""
        host = candidate.subject.key[0]
        if source.fallback and self._has_instances and not source.has_instances:
            if self._filled[host]:
                return
            candidate = replace(candidate, subject=Subject(candidate.subject.host, TOTAL))
        key = candidate.subject.key
        taken_key = key if key in self.chosen else self._find_twin(candidate.subject)
        if taken_key is not None:
            if self.chosen[taken_key].filled or not candidate.filled:
                return
            del self.chosen[taken_key]
            self._on_host[host].remove(taken_key[1] or "")
        self.chosen[key] = candidate
        self._filled[host] += candidate.filled
        self._on_host.setdefault(host, Instances()).add(key[1] or "")

    def _find_twin(self, subject: Subject) -> _Key | None:
        """Return the key of an earlier choice for the same subject under another name; None if there is none."""
        host, instance = subject.key
        instances = self._on_host.get(host)
        name = instances.holding(instance) if instances and instance is not None else None
        return None if name is None else (host, name)


_Resolved: TypeAlias = Mapping[_Key, tuple[Subject, ResolvedSource]]


class Finder:
    """Finds signals among the series of a run.

    `has_samples` says whether a series has any samples; `fact_of` gives a fact of a host or instance, None if it is
    unknown.
    """

    def __init__(
        self,
        signals: Mapping[str, Signal],
        series: Sequence[Series],
        has_samples: Callable[[Series], bool],
        fact_of: Callable[[Subject, AnyFact], float | None] = lambda subject, fact: None,
    ) -> None:
        self._signals = signals
        self._series = series
        self._has_samples = has_samples
        self._fact_of = fact_of
        self._chosen: dict[str, ResolvedSources] = {}
        self._by_field: dict[tuple[str, str], list[Series]] = {}
        self._by_tags: dict[tuple[str, str], dict[object, Series]] = {}
        for single in series:
            self._by_field.setdefault((single.measurement, single.field.casefold()), []).append(single)

    def find(self, name: str) -> ResolvedSources:
        """Return the sources of a signal: for each subject, the first source in the signal's list that has samples."""
        if name not in self._chosen:
            subjects = self._find(self._signals[name])
            self._chosen[name] = ResolvedSources(self._add_weight(subjects, self._signals[name].weight))
        return self._chosen[name]

    def missing_fields(self, name: str) -> Iterator[tuple[HostKey, str]]:
        """Yield host and `measurement.field` of each field that never came though its source's other fields did.

        Hosts on which another source gives the signal are left out.
        """
        recorded = self.find(name).by_host
        for source in self._signals[name].sources:
            if not isinstance(source.field, Fields):
                continue
            hosts = {field: self._find_hosts(source, field) for field in source.fields}
            for host in set[HostKey]().union(*hosts.values()) - recorded.keys():
                yield from ((host, f"{source.measurement}.{field}") for field, on in hosts.items() if host not in on)

    def _find_hosts(self, source: Source, field: str) -> set[HostKey]:
        series = self._by_field.get((source.measurement or "", field.casefold()), ())
        return {HostKey(subject.key[0]) for single in series if (subject := find_subject(source, single))}

    def _add_weight(self, subjects: _Resolved, weight: RequestRate | None) -> _Resolved:
        """Return the sources; with `weight`, each as a time per request with the rate of its requests, if recorded."""
        weighted: dict[_Key, tuple[Subject, ResolvedSource]] = {}
        for key, (subject, resolved) in subjects.items():
            if weight and isinstance(resolved, ResolvedRecording):
                rate = find_source(self.find(weight.rate), subject)
                counts = isinstance(rate, ResolvedRecording) and all(map(self._has_samples, list_read_series(rate)))
                recorded_rate = rate if counts and isinstance(rate, ResolvedRecording) else None
                weighted[key] = subject, ResolvedRequestTime(resolved, recorded_rate, weight.minimum_rate)
            else:
                weighted[key] = subject, resolved
        return weighted

    def _find(self, signal: Signal) -> _Resolved:
        """Return the sources of a signal that has not been looked up before."""
        if signal.derived:
            return self._derive(signal)
        if signal.fact:
            hosts = map_hosts(self._series, list_host_tags(self._signals)).values()
            return {(subject := Subject(host)).key: (subject, ResolvedFact(subject, signal.fact)) for host in hosts}
        choice = SourceChoice(signal)
        for source in signal.sources:
            for candidate in [*self._list_candidates(source)]:
                choice.add(source, candidate)
        recorded = {key: (candidate.subject, candidate.resolved) for key, candidate in choice.chosen.items()}
        return _sum_instances(recorded) if signal.instances == "sum" else recorded

    def _list_candidates(self, source: Source) -> Iterator[Candidate]:
        """Yield a source's candidates: one for each instance, or with `across` for each whole (see `_find_whole`)."""
        parts: dict[_Key, tuple[Subject, list[ResolvedRecording]]] = {}
        if source.path is not None:
            field = find_measurement(source.path.object), make_telegraf_name(source.path.counter).casefold()
        else:
            field = source.measurement or "", source.fields[0].casefold()
        for series in self._by_field.get(field, ()):
            subject = find_subject(source, series)
            resolved = self._resolve(source, series, subject) if subject else None
            if subject is None or resolved is None:
                continue
            filled = all(map(self._has_samples, list_read_series(resolved)))
            if source.across is None:
                yield Candidate(subject, resolved, filled)
            elif filled:
                whole = _find_whole(subject, source.part_after)
                parts.setdefault(whole.key, (whole, []))[1].append(resolved)
        for whole, recordings in parts.values():
            yield Candidate(whole, ResolvedTotal(tuple(recordings), source.across or "mean"), filled=True)

    def _resolve(self, source: Source, series: Series, subject: Subject) -> ResolvedRecording | None:
        """Return the recording that a source reads; None if a field, or the fact dividing its samples, is missing."""
        transform = source.transform
        if source.per:
            fact = self._fact_of(Subject(subject.host), source.per)
            if not fact:
                return None
            transform = replace(transform, scale=transform.scale / fact)
        if not isinstance(source.field, Fields):
            return ResolvedSeries(series, source.rate, transform)
        siblings = [self._find_other_field(series, name) for name in source.fields[1:]]
        fields = (series, *(sibling for sibling in siblings if sibling))
        if len(fields) < len(source.fields):
            return None
        return ResolvedFields(source.field.operation, fields, source.rate, transform)

    def _find_other_field(self, series: Series, field: str) -> Series | None:
        """Return the series of another field with the same host, measurement and tags; None if there is none."""
        place = series.measurement, field.casefold()
        if place not in self._by_tags:
            # Keep the first of each name: fields that differ only in case are the same counter.
            self._by_tags[place] = {series.key[:3]: series for series in reversed(self._by_field.get(place, ()))}
        return self._by_tags[place].get(series.key[:3])

    def _derive(self, signal: Signal) -> _Resolved:
        """Return the sources of a derived signal, one for each subject of its operands."""
        derived = signal.derived
        if derived is None:
            raise ValueError(f"{signal.title} is not derived")
        operands = [self.find(name) for name in derived.operands]
        subjects = {key: subject for operand in operands for key, (subject, _) in operand.items()}
        sources: dict[_Key, tuple[Subject, ResolvedSource]] = {}
        with_instances = {host for host, instance in subjects if instance is not None}
        for key, subject in subjects.items():
            if key[1] is None and key[0] in with_instances:
                continue  # the host's own value belongs to each of its instances
            resolved = [find_source(operand, subject) for operand in operands]
            if derived.partial:
                recordings = [operand for operand in resolved if isinstance(operand, ResolvedRecording)]
                sources[key] = subject, ResolvedTotal(tuple(recordings))
            elif all(resolved):
                weights = tuple(
                    weight.of(self._fact_of(subject, weight.by)) if (weight := derived.weights.get(name)) else 1.0
                    for name in (derived.operands if derived.weights else ())
                )
                operands_of_subject = tuple(operand for operand in resolved if operand)
                sources[key] = subject, ResolvedDerivation(derived.operation, operands_of_subject, weights)
        return sources


def _find_whole(subject: Subject, part_after: str | None) -> Subject:
    """Return the whole to which an instance belongs: the name before `part_after`, or the host without `part_after`."""
    whole, separator, _ = (subject.instance or "").partition(part_after) if part_after else ("", "", "")
    return replace(subject, instance=whole if separator else subject.instance if part_after else None)


def _sum_instances(recorded: Chosen) -> _Resolved:
    """Return a source for each host: the sum over the instances of the host."""
    by_host = group_pairs(
        (host, (subject, resolved))
        for (host, _), (subject, resolved) in recorded.items()
        if isinstance(resolved, ResolvedRecording)
    )
    return {
        (host, None): (Subject(parts[0][0].host), ResolvedTotal(tuple(part for _, part in parts)))
        for host, parts in by_host.items()
    }


def list_read_series(source: ResolvedSource) -> tuple[Series, ...]:
    """Return all series that a source reads."""
    match source:
        case ResolvedSeries(series):
            return (series,)
        case ResolvedFields():
            return source.fields
        case ResolvedRequestTime(value, rate):
            return (*list_read_series(value), *(list_read_series(rate) if rate else ()))
        case ResolvedDerivation():
            return tuple(series for operand in source.operands for series in list_read_series(operand))
        case ResolvedTotal():
            return tuple(series for part in source.parts for series in list_read_series(part))
        case ResolvedFact():
            return ()


def list_facts(source: ResolvedSource) -> tuple[ResolvedFact, ...]:
    """Return all facts that a source needs."""
    match source:
        case ResolvedFact():
            return (source,)
        case ResolvedDerivation():
            return tuple(fact for operand in source.operands for fact in list_facts(operand))
        case _:
            return ()


def drop_request_rate(source: ResolvedSource) -> ResolvedSource:
    """Return the source; of a time per request only the time, without the request rate."""
    return source.value if isinstance(source, ResolvedRequestTime) else source


def find_source(sources: ResolvedSources, subject: Subject) -> ResolvedSource | None:
    """Return the source for a subject: of the same instance, else of its whole host; None if there is none.

    An instance may have another name in another object: processor 3 may be `0,3`, and a volume `C:` be on the disk `0
    C:`. If the signal belongs to a named instance of a service on the host, that source serves a disk or a processor,
    unless the host has several such instances: the log does not say which instance a disk serves.
    """
    host, instance = subject.key
    pair = sources.get(subject.key) or sources.get((host, None))
    if pair is None and instance is not None:
        services = () if subject.service else sources.services(host)
        pair = sources.same(host, instance) or (services[0] if len(services) == 1 else None)
    return pair[1] if pair else None

"""Finding a signal in what was recorded: for each host, and each instance, the series it is taken from."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

from model.names import measurement
from model.perfmon import TOTAL, CounterPath, generic_object, telegraf_name
from model.series import Series
from rules.field_types import EACH, AnyFact, Fact, Operation
from rules.processor_numbers import same_processor
from rules.signal_schema import Fields, Signal, Source, Transform

_TOTALS = (TOTAL.casefold(), "cpu-total")
_THIS_COMPUTER = "localhost"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is judged for: a host, or one instance of a host.

    `service` says that the instance is a named one of a service (SQL Server's), which is on the host beside its
    disks and processors and not one of them.
    """

    host: str
    instance: str | None = None
    service: bool = False

    @property
    def key(self) -> tuple[str, str | None]:
        """Hosts and instances compare without regard to case."""
        return self.host.casefold(), None if self.instance is None else self.instance.casefold()


@dataclass(frozen=True, slots=True)
class Taken:
    """A signal of one subject as it is recorded: one series, and what to make of its values."""

    series: Series
    rate: bool
    transform: Transform


@dataclass(frozen=True, slots=True)
class Combined:
    """A signal of one subject that is made, sample by sample, of several fields of one measurement."""

    operation: Operation
    fields: tuple[Series, ...]
    rate: bool
    transform: Transform


@dataclass(frozen=True, slots=True)
class Derived:
    """A signal of one subject that is computed from others."""

    operation: Operation
    operands: tuple["Origin", ...]
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A signal of one host that is the sum over its instances, of those that have data at a time."""

    parts: tuple[Taken | Combined, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A signal that is a fact of the host, the same throughout."""

    subject: Subject
    fact: Fact


Origin: TypeAlias = Taken | Combined | Derived | Total | Given
Origins: TypeAlias = Mapping[tuple[str, str | None], tuple[Subject, Origin]]


def _nothing_known(subject: Subject, fact: AnyFact) -> float | None:
    return None


class Finder:
    """Finds signals among the series of a run.

    `has_samples` tells an empty series from a filled one, `known` the facts that weights go by (None: not known).
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
        """Where a signal is recorded, by subject key. A host's first source that holds samples is taken."""
        if name not in self._found:
            self._found[name] = self._find(self._signals[name])
        return self._found[name]

    def _find(self, signal: Signal) -> Origins:
        if signal.derived:
            return self._derive(signal)
        if signal.fact:
            hosts = hosts_of(self._series, host_tags(self._signals)).values()
            return {(one := Subject(host)).key: (one, Given(one, signal.fact)) for host in hosts}
        taken = self._take(signal)
        return _totals(taken) if signal.instances == "sum" else taken

    def _take(self, signal: Signal) -> Mapping[tuple[str, str | None], tuple[Subject, Taken | Combined]]:
        best: dict[str, tuple[bool, list[tuple[Subject, Taken | Combined]]]] = {}
        for source in signal.sources:
            by_host: dict[str, list[tuple[Subject, Taken | Combined]]] = {}
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
        found: dict[tuple[str, str | None], tuple[Subject, Taken | Combined]] = {}
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

    def _origin(self, source: Source, series: Series, subject: Subject) -> Taken | Combined | None:
        """What a source makes of a series and others of the same thing; None where one, or a fact, is missing."""
        transform = source.transform
        if source.per:
            fact = self._known(Subject(subject.host), source.per)
            if not fact:
                return None
            transform = Transform(scale=transform.scale / fact, offset=transform.offset)
        if not isinstance(source.field, Fields):
            return Taken(series, source.rate, transform)
        beside = [self._beside(series, name) for name in source.fields[1:]]
        fields = (series, *(one for one in beside if one))
        if len(fields) < len(source.fields):
            return None
        return Combined(source.field.operation, fields, source.rate, transform)

    def _beside(self, series: Series, field: str) -> Series | None:
        """Another field of the same thing."""
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
            origins = [joined(found, subject) for found in operands]
            if derived.partial:
                result[key] = (subject, Total(tuple(one for one in origins if isinstance(one, Taken | Combined))))
            elif all(origin is not None for origin in origins):
                weights = tuple(
                    weight.of(self._known(subject, weight.by)) if (weight := derived.weights.get(name)) else 1.0
                    for name in (derived.operands if derived.weights else ())
                )
                taken = tuple(origin for origin in origins if origin is not None)
                result[key] = (subject, Derived(operation, taken, weights))
        return result


def series_of(origin: Origin) -> tuple[Series, ...]:
    """Every series it is taken from."""
    match origin:
        case Taken(series):
            return (series,)
        case Combined():
            return origin.fields
        case Derived():
            return tuple(series for operand in origin.operands for series in series_of(operand))
        case Total():
            return tuple(series for part in origin.parts for series in series_of(part))
        case Given():
            return ()


def joined(origins: Origins, subject: Subject) -> Origin | None:
    """The origin for a subject, joined on the host, and on the instance where both sides have one of the same kind.

    Processor 3 of one object may be written `0,3` by another. A disk is joined with the host's named instance of a
    service; where it has several, nothing says which of them the disk serves, and none is taken.
    """
    host, instance = subject.key
    found = origins.get(subject.key) or origins.get((host, None))
    if found is None and instance is not None:
        on_host = [one for key, one in origins.items() if key[0] == host]
        siblings = [one.key[1] or "" for one, _ in on_host]
        services = [one for one in on_host if one[0].service and not subject.service]
        found = origins.get((host, same_processor(instance, siblings))) or (services[0] if len(services) == 1 else None)
    return found[1] if found else None


def _totals(taken: Mapping[tuple[str, str | None], tuple[Subject, Taken | Combined]]) -> Origins:
    """The sums over the instances of each host."""
    by_host: dict[str, list[tuple[Subject, Taken | Combined]]] = {}
    for (host, _), one in taken.items():
        by_host.setdefault(host, []).append(one)
    return {
        (host, None): (Subject(parts[0][0].host), Total(tuple(part for _, part in parts)))
        for host, parts in by_host.items()
    }


def subject_of(source: Source, series: Series) -> Subject | None:
    """The subject a series gives a source's signal for, or None if the source does not mean this series."""
    subject = _subject_of_path(source.path, series) if source.path else _subject_of_measurement(source, series)
    # As it was recorded: the instance of a subject may have the name of a server before it.
    recorded = series.tag("instance" if source.path else source.instance or "") or ""
    return None if any(_is_named(recorded.casefold(), one.casefold()) for one in source.but) else subject


def _is_named(instance: str, name: str) -> bool:
    """Whether an instance is called so; `*` is any text. Adapters have brackets in their names, so no other sign is."""
    return fnmatchcase(instance, name.replace("[", "[[]").replace("?", "[?]"))


def _subject_of_measurement(source: Source, series: Series) -> Subject | None:
    for name, value in source.tags.items():
        given = series.tag(name)
        if name == "object" and given is not None:
            given = generic_object(given)[0]
        if given is None or given.casefold() != value.casefold():
            return None
    if source.host and not series.tag(source.host):
        return None
    host = host_of(series, (source.host,) if source.host else ())
    if source.instance is None:
        return Subject(host)
    instance = series.tag(source.instance)
    return None if instance is None or is_total(instance) else Subject(host, instance)


def host_of(series: Series, tags: Collection[str] = ()) -> str:
    """The computer a series is of.

    `tags` are those that name the host where a series has one of them, as `host_tags` gives them. Of a counter of
    Windows it is the computer that was polled: an agent that polls others writes its own name as the host.
    """
    named = next((value for tag in tags if (value := series.tag(tag))), None)
    if named is None and series.tag("objectname") is not None:
        named = series.tag("source")
    return series.host if named is None or _same_computer(named, series.host) else named


def hosts_of(series: Iterable[Series], tags: Collection[str] = ()) -> dict[str, str]:
    """The computers of some series, each as it is first written, by its case-folded name."""
    first: dict[str, str] = {}
    for one in series:
        host = host_of(one, tags)
        first.setdefault(host.casefold(), host)
    return first


def host_tags(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """The tags that hold the host of some series instead of the usual one."""
    return tuple(dict.fromkeys(one.host for signal in signals.values() for one in signal.sources if one.host))


def _same_computer(name: str, host: str) -> bool:
    """Whether two names are of one computer, of which either may be written with its domain."""
    name, host = name.casefold(), host.casefold()
    first = name.partition(".")[0] == host.partition(".")[0] and ("." in name) != ("." in host)
    return name in (host, _THIS_COMPUTER) or first


def _subject_of_path(path: CounterPath, series: Series) -> Subject | None:
    generic, named = generic_object(series.tag("objectname") or "")
    if generic.casefold() != path.object.casefold():
        return None
    host, instance = host_of(series), series.tag("instance")
    if path.instance == EACH:
        if instance is None or is_total(instance):
            return None
        return Subject(host, f"{named}/{instance}" if named else instance)
    if (instance or "").casefold() != (path.instance or "").casefold():
        return None
    return Subject(host, named, service=named is not None)


def is_total(instance: str) -> bool:
    """Whether an instance stands for all the others (`_Total`, `0,_Total`, `cpu-total`, sysstat's `all`)."""
    return instance.casefold().endswith(_TOTALS) or instance == "all"


def has_object(series: Series, objects: Sequence[str], measurements: Sequence[str]) -> bool:
    """Whether a series is of one of these Perfmon objects or measurements."""
    generic = generic_object(series.tag("objectname") or "")[0].casefold()
    return series.measurement in measurements or any(fnmatchcase(generic, name.casefold()) for name in objects)

"""Subjects: which host, and which instance of it, a series belongs to."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from plimsoll.model.perfmon import EACH_INSTANCE, TOTAL, CounterPath, generic_object
from plimsoll.model.series import HostKey, Series, host_key
from plimsoll.rules.schema.signal import Signal, Source

_TOTAL = TOTAL.casefold()
_TOTALS = (_TOTAL, "cpu-total", "all")
_OF_NODE = f",{_TOTAL}"  # of the processors of a node: 0,_Total
_OF_ALL = f"{_TOTAL}/{_TOTAL}"
_THIS_COMPUTER = "localhost"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is judged for: a host, or one instance of a host.

    `service`: the instance is a named instance of a service (SQL Server), not a disk or a processor of the host.
    `key`: hosts and instances compare without regard to case. It is asked for far more often than subjects are made.
    """

    host: str
    instance: str | None = None
    service: bool = False
    key: tuple[HostKey, str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = host_key(self.host), None if self.instance is None else self.instance.casefold()
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        """`SQLSRV01` or `SQLSRV01, 2 E:`."""
        return f"{self.host}, {self.instance}" if self.instance else self.host


def subject_of(source: Source, series: Series) -> Subject | None:
    """Return the subject of a series, or None if the source does not match the series."""
    subject = _subject_of_path(source.path, series) if source.path else _subject_of_measurement(source, series)
    # The tag, not the subject's instance: that may begin with the name of a server.
    recorded = series.tag("instance" if source.path else source.instance or "") or ""
    return None if any(_is_named(recorded.casefold(), name.casefold()) for name in source.but) else subject


def _is_named(instance: str, name: str) -> bool:
    """Return whether an instance matches a pattern; only `*` is special, as adapters' names contain brackets."""
    return fnmatchcase(instance, name.replace("[", "[[]").replace("?", "[?]"))


def _subject_of_measurement(source: Source, series: Series) -> Subject | None:
    for name, value in source.tags.items():
        tag_value = series.tag(name)
        if name == "object" and tag_value is not None:
            tag_value = generic_object(tag_value)[0]
        if tag_value is None or tag_value.casefold() != value.casefold():
            return None
    if source.host and not series.tag(source.host):
        return None
    host = host_of(series, (source.host,) if source.host else ())
    if source.instance is None:
        return Subject(host)
    instance = series.tag(source.instance)
    return None if instance is None or is_total(instance) else Subject(host, instance)


def host_of(series: Series, tags: Collection[str] = ()) -> str:
    """Return the computer that a series describes.

    The first of `tags` (see `host_tags`) that the series has names it. For a Windows counter it is the computer that
    was polled (`source`): an agent that polls others writes its own name as the host.
    """
    named = next((value for tag in tags if (value := series.tag(tag))), None)
    if named is None and series.tag("objectname") is not None:
        named = series.tag("source")
    return series.host if named in (None, series.host) or _same_computer(named, series.host) else named


def hosts_of(recorded: Iterable[Series], tags: Collection[str] = ()) -> dict[str, str]:
    """Return the computers of some series by case-folded name, each spelled as it first appears."""
    first: dict[str, str] = {}
    for series in recorded:
        host = host_of(series, tags)
        first.setdefault(host_key(host), host)
    return first


def host_tags(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the tags that name the host in place of `host`, in the sources of any signal."""
    return tuple(dict.fromkeys(source.host for signal in signals.values() for source in signal.sources if source.host))


def _same_computer(name: str, host: str) -> bool:
    """Return whether two names mean the same computer; one of them may include its domain."""
    name, host = name.casefold(), host_key(host)
    with_domain = name.partition(".")[0] == host.partition(".")[0] and ("." in name) != ("." in host)
    return name in (host, _THIS_COMPUTER) or with_domain


def _subject_of_path(path: CounterPath, series: Series) -> Subject | None:
    generic, named = generic_object(series.tag("objectname") or "")
    if generic.casefold() != path.object.casefold():
        return None
    host, instance = host_of(series), series.tag("instance")
    if path.instance == EACH_INSTANCE:
        if instance is None or is_total(instance):
            return None
        return Subject(host, f"{named}/{instance}" if named else instance)
    if (instance or "").casefold() != (path.instance or "").casefold():
        return None
    return Subject(host, named, service=named is not None)


def is_total(instance: str) -> bool:
    """Return whether an instance is a total of the others (`_Total`, `0,_Total`, `cpu-total`, sysstat's `all`).

    Exchange calls each of its databases `DB02/_Total`, which is no total of them.
    """
    name = instance.casefold()
    return name in _TOTALS or name.endswith((_OF_NODE, _OF_ALL))


def has_object(series: Series, objects: Sequence[str], measurements: Sequence[str]) -> bool:
    """Return whether a series belongs to one of these Perfmon objects or measurements."""
    generic = generic_object(series.tag("objectname") or "")[0].casefold()
    return series.measurement in measurements or any(fnmatchcase(generic, name.casefold()) for name in objects)

"""Subjects: which host, and which instance of that host, a series belongs to.

Objects of Windows name the same instance differently. `PhysicalDisk(1 D: E:)` holds the volumes `LogicalDisk(D:)` and
`LogicalDisk(E:)`; `Processor Information(0,5)` is `Processor(5)`, and `1,1` the sixth processor of a machine with four
processors per node.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.perfmon import EACH_INSTANCE, TOTAL, CounterPath, split_object
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.rules.schema.signal import Signal, Source

_VOLUME = re.compile(r"[a-z]:", re.IGNORECASE)
_WITHOUT_LETTER = re.compile(r"harddiskvolume\d+", re.IGNORECASE)
_PHYSICAL = re.compile(r"\d+(?: [a-z]:)*", re.IGNORECASE)
# More digits would only make numbers that are slow to compute with.
_NUMBER = re.compile(r"\d{1,9}")
_IN_NODE = re.compile(r"(\d{1,4}),(\d{1,6})")
_ON = "\0"  # the prefix of the key of a volume on a disk
_Key = str | int | tuple[int, int] | None


class Instances:
    """The names of one host's instances, indexed to find the same disk or processor under another object's name."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # Keys: case-folded name, volume, processor number, or (node, processor in it); None for physical disks.
        self._names: dict[_Key, dict[str, None]] = {}
        self._nodes: dict[int, set[int]] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Add an instance by its name."""
        for key in _list_keys(name):
            self._names.setdefault(key, {})[name] = None
            if isinstance(key, tuple):
                self._nodes.setdefault(key[0], set()).add(key[1])

    def remove(self, name: str) -> None:
        """Remove an instance by its name."""
        for key in _list_keys(name):
            self._names.get(key, {}).pop(name, None)
            if isinstance(key, tuple) and not self._names.get(key):
                self._nodes.get(key[0], set()).discard(key[1])

    def same(self, instance: str) -> str | None:
        """Return the other name of a disk or processor; for a volume, the name of its disk; None if there is none."""
        if _VOLUME.fullmatch(instance):
            return self._find_first(_ON + instance.casefold())
        if _NUMBER.fullmatch(instance):
            return self._name_processor(int(instance))
        if match := _IN_NODE.fullmatch(instance):
            # Without the other nodes, only processors of the first node have a number.
            return None if int(match[1]) else self._find_first(int(match[2]))
        volumes = find_letters(instance)
        return self._find_first(volumes[0]) if len(volumes) == 1 else None

    def holding(self, instance: str) -> str | None:
        """Return the result of `same`; for a volume without a drive letter, any physical disk."""
        return self._find_first(None) if _WITHOUT_LETTER.fullmatch(instance) else self.same(instance)

    def _name_processor(self, number: int) -> str | None:
        """Return the name of the processor that has this number when all nodes are counted.

        The numbers of a node start after the highest recorded processor of the node before. None if an earlier node was
        not recorded.
        """
        node = 0
        while size := max(self._nodes.get(node, ()), default=-1) + 1:
            if number < size:
                return self._find_first((node, number))
            number, node = number - size, node + 1
        return None

    def _find_first(self, key: _Key) -> str | None:
        return next(iter(self._names.get(key, ())), None)


_TOTAL = TOTAL.casefold()
_WITH_ID = "Process V2"  # its instances are a process and its number: sqlservr:4242
_TOTALS = (_TOTAL, "cpu-total", "all")
_OF_NODE = f",{_TOTAL}"  # the total of a node's processors: 0,_Total
_OF_ALL = f"{_TOTAL}/{_TOTAL}"
_THIS_COMPUTER = "localhost"


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a rule: a host, or one instance of a host.

    `service` marks a named instance of a service (SQL Server), not a disk or a processor of the host. `key` has the
    case-folded host and instance, for look-ups; computed once because it is used very often.
    """

    host: str
    instance: str | None = None
    service: bool = False
    key: tuple[HostKey, str | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = make_host_key(self.host), None if self.instance is None else self.instance.casefold()
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        """Return `SQLSRV01` or `SQLSRV01, 2 E:`."""
        return f"{self.host}, {self.instance}" if self.instance else self.host


def find_subject(source: Source, series: Series) -> Subject | None:
    """Return the subject of a series; None if the source does not match the series."""
    subject = (
        _find_subject_of_path(source.path, series) if source.path else _find_subject_of_measurement(source, series)
    )
    # Compare the tag; the subject's instance may begin with the name of a server.
    recorded = series.tag("instance" if source.path else source.instance or "") or ""
    # Only `*` is special; names of network adapters contain brackets.
    patterns = (name.casefold().replace("[", "[[]").replace("?", "[?]") for name in source.but)
    return None if any(fnmatchcase(recorded.casefold(), pattern) for pattern in patterns) else subject


def _find_subject_of_measurement(source: Source, series: Series) -> Subject | None:
    """Return the subject of a series by a source with a measurement; None if the source does not match the series."""
    for name, value in source.tags.items():
        tag_value = series.tag(name)
        if name == "object" and tag_value is not None:
            tag_value = split_object(tag_value)[0]
        if tag_value is None or tag_value.casefold() != value.casefold():
            return None
    if source.host and not series.tag(source.host):
        return None
    host = find_host(series, (source.host,) if source.host else ())
    if source.instance is None:
        return Subject(host)
    instance = series.tag(source.instance)
    return None if instance is None or is_total(instance) else Subject(host, instance)


def find_host(series: Series, tags: Collection[str] = ()) -> str:
    """Return the computer that a series describes.

    The first tag of `tags` (see `list_host_tags`) that the series has names the computer. In a Windows counter the tag
    `source` does: an agent that polls other computers writes its own name as the host.
    """
    named = next((value for tag in tags if (value := series.tag(tag))), None)
    if named is None and series.tag("objectname") is not None:
        named = series.tag("source")
    return series.host if named in (None, series.host) or _is_same_computer(named, series.host) else named


def map_hosts(recorded: Iterable[Series], tags: Collection[str] = ()) -> dict[str, str]:
    """Return the computers of some series by case-folded name, each spelled as it first appears."""
    first: dict[str, str] = {}
    for series in recorded:
        host = find_host(series, tags)
        first.setdefault(make_host_key(host), host)
    return first


def list_host_tags(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the tags that name the host in place of the tag `host`, in any source of these signals."""
    return tuple(dict.fromkeys(source.host for signal in signals.values() for source in signal.sources if source.host))


def _is_same_computer(name: str, host: str) -> bool:
    """Return whether two names mean the same computer; one of the names may include its domain."""
    name, host = name.casefold(), make_host_key(host)
    with_domain = name.partition(".")[0] == host.partition(".")[0] and ("." in name) != ("." in host)
    return name in (host, _THIS_COMPUTER) or with_domain


def _find_subject_of_path(path: CounterPath, series: Series) -> Subject | None:
    """Return the subject of a series by a counter path; None if the path does not match the series."""
    generic, named = split_object(series.tag("objectname") or "")
    if generic.casefold() != path.object.casefold():
        return None
    host, instance = find_host(series), series.tag("instance")
    if path.instance == EACH_INSTANCE:
        if instance is None or is_total(instance):
            return None
        return Subject(host, f"{named}/{instance}" if named else instance)
    recorded = (instance or "").casefold()
    if (recorded.partition(":")[0] if generic == _WITH_ID else recorded) != (path.instance or "").casefold():
        return None
    return Subject(host, named, service=named is not None)


def is_total(instance: str) -> bool:
    """Return whether an instance is a total of other instances (`_Total`, `0,_Total`, `cpu-total`, sysstat's `all`).

    Exchange's `DB02/_Total` is one of its databases, not a total.
    """
    name = instance.casefold()
    return name in _TOTALS or name.endswith((_OF_NODE, _OF_ALL))


def is_among(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches one of the patterns, in any case; `*` at the end of a pattern matches any text."""
    folded = name.casefold()
    return any(
        folded.startswith(pattern[:-1]) if pattern.endswith("*") else folded == pattern
        for pattern in map(str.casefold, patterns)
    )


def has_object(series: Series, objects: Sequence[str], measurements: Sequence[str]) -> bool:
    """Return whether a series belongs to one of these Perfmon objects (see `is_among`) or Telegraf measurements."""
    generic = split_object(series.tag("objectname") or "")[0]
    return series.measurement in measurements or is_among(generic, objects)


def _list_keys(name: str) -> Iterator[_Key]:
    yield name.casefold()
    if is_physical(name):
        yield None
    yield from (_ON + letter for letter in find_letters(name))
    if _NUMBER.fullmatch(name):
        yield int(name)
    elif match := _IN_NODE.fullmatch(name):
        yield int(match[1]), int(match[2])


def is_volume(instance: str) -> bool:
    """Return whether an instance is a volume with a drive letter: `C:`."""
    return _VOLUME.fullmatch(instance) is not None


def is_physical(instance: str) -> bool:
    """Return whether an instance has the name of a physical disk: `0 C:`."""
    return _PHYSICAL.fullmatch(instance) is not None


def find_letters(instance: str) -> list[str]:
    """Return the volumes of a physical disk, in lower case; empty for any other instance."""
    return instance.casefold().split()[1:] if _PHYSICAL.fullmatch(instance) else []

"""Finds objects with unknown names whose counters rules may need."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from plimsoll.model.counter_names.name_clues import (
    find_foreign_name,
    find_similar_needed,
    fold_name,
    has_foreign_letters,
    is_english,
    is_esxtop,
    is_foreign_name,
    is_translated,
    list_needed_counters,
    list_signal_counters,
    load_objects,
)
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.names import format_path
from plimsoll.model.perfmon import SQL_DEFAULT, TOTAL, CounterPath, make_telegraf_name, split_object
from plimsoll.model.series import Series, make_host_key


@dataclass(frozen=True)
class UnknownCounter:
    """A counter that no signal reads, with the instances that were recorded."""

    object: str
    counter: str
    instances: tuple[str, ...]

    @property
    def path(self) -> str:
        """The counter path to write in a signal: for all instances (`*`), unless only a total was recorded."""
        return str(CounterPath(None, self.object, self._instance, self.counter))

    @property
    def is_per_instance(self) -> bool:
        """Whether `path` stands for all instances, so that each instance is judged alone."""
        return self._instance == "*"

    @property
    def _instance(self) -> str | None:
        if not self.instances:
            return None
        return self.instances[0] if self.instances == (TOTAL,) else "*"


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """An object that has counters with unknown names; rules may need some of these counters.

    Attributes:
        counters: The number of unknown counters, counting each instance.
        names: The names of the unknown counters, each once.
    """

    host: str
    object: str
    counters: int
    names: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the counters as in the log, without instances."""
        return tuple(f"\\{self.object}\\{name}" for name in self.names)


def find_unrecognised(series: Iterable[Series]) -> list[Unrecognised]:
    """Return the objects with unknown names whose counters rules may need.

    A series with an unknown name counts if one of these conditions holds:

    - The name is similar to a counter that rules need and that is missing.
    - Windows or SQL Server translates the object, a counter that rules need is missing, and no other counter shows
      that the object was recorded in English.
    - The object is unknown, and the host has several objects but none that Windows translates.
    - The object is unknown, and its name is a foreign name of an object that rules need, or resembles a foreign name
      of a missing object.
    - The object is unknown, its name or the counter's has non-ASCII letters, and no processor or no memory is
      recognised.

    All other unknown objects are assumed to belong to programs.
    """
    hosts = group_pairs(
        (make_host_key(candidate.host), candidate) for candidate in series if candidate.tag("objectname") is not None
    )
    strange_objects: list[Unrecognised] = []
    for recorded in hosts.values():
        if any(is_esxtop(_find_object(member)) for member in recorded):
            continue
        host, by_object = _RecordedNames(recorded), defaultdict[str, Counter[str]](Counter)
        for member in recorded:
            if not _is_recognised(member) and host.is_strange(member):
                path = _parse_path(member)
                by_object[path.object][path.counter] += 1
        strange_objects += (
            Unrecognised(recorded[0].host, name, of.total(), tuple(of)) for name, of in by_object.items()
        )
    return strange_objects


def is_judged(series: Series) -> bool:
    """Return whether a series is a Windows or SQL Server counter that rules need."""
    return series.field in _list_judged_fields(_make_generic(series))


# These names are equal in German, so they do not show that a log is in English.
_NO_PROOF_OF_ENGLISH = ("System", "Threads")
_PROCESSOR = frozenset({"Processor", "Processor Information"})
_BUFFERS = f"{SQL_DEFAULT}:Buffer Manager"


class _RecordedNames:
    """The recorded names of one host, with which unknown names are compared."""

    def __init__(self, series: Sequence[Series]) -> None:
        recognised = [member for member in series if _is_recognised(member)]
        self._recorded = {(_make_generic(member), member.field, member.tag("instance")) for member in recognised}
        self._english: set[str] = set()
        for member in recognised:
            if _find_object(member) not in self._english:
                path = _parse_path(member)
                recorded = (path.object, make_telegraf_name(path.counter))
                if recorded == (_find_object(member), member.field) and recorded != _NO_PROOF_OF_ENGLISH:
                    self._english.add(_find_object(member))
        self._objects = {_make_generic(member) for member in recognised}
        if self._objects & _PROCESSOR:
            self._objects |= _PROCESSOR
        self._no_basics = not self._objects >= {"Processor", "Memory"}
        # A single object may belong to a program.
        translated = any(is_translated(name) for name in self._objects)
        self._language_unknown = not translated and len(set(map(_find_object, series))) > 1

    def is_strange(self, series: Series) -> bool:
        """Return whether a series with an unknown name may be a counter that rules need."""
        name, generic = _find_object(series), _make_generic(series)
        if self._has_gaps(*find_similar_needed(name, _parse_path(series).counter), series):
            return True
        if fold_name(generic) in load_objects():
            if name in self._english and _parse_path(series).object == name and not has_foreign_letters(series.field):
                return False
            may_be_translated = is_translated(name) or _is_of_sql_server(name)
            return may_be_translated and self._has_gaps(generic, list_needed_counters(generic), series)
        if is_english(name):
            return False
        if _is_of_sql_server(name):
            return _BUFFERS not in self._objects
        needed = find_foreign_name(name)
        missing = needed is not None and (needed not in self._objects or is_foreign_name(name))
        return self._language_unknown or missing or (self._no_basics and has_foreign_letters(name + series.field))

    def _has_gaps(self, object_: str, counters: Iterable[str], series: Series) -> bool:
        """Return whether any of these counters is missing for the instance of the series."""
        return any(
            (object_, make_telegraf_name(counter), series.tag("instance")) not in self._recorded for counter in counters
        )


def _find_object(series: Series) -> str:
    return series.tag("objectname") or ""


def _make_generic(series: Series) -> str:
    return split_object(_find_object(series))[0]


def _is_of_sql_server(object_: str) -> bool:
    return fold_name(split_object(object_)[0]).startswith(f"{fold_name(SQL_DEFAULT)}:")


def _is_recognised(series: Series) -> bool:
    return series.field in _list_fields(_make_generic(series))


def _parse_path(series: Series) -> CounterPath:
    return CounterPath.parse(series.path or format_path(series))


@cache
def _list_judged_fields(object_: str) -> frozenset[str]:
    return frozenset(map(make_telegraf_name, list_needed_counters(object_)))


@cache
def _list_fields(object_: str) -> frozenset[str]:
    windows_object = load_objects().get(fold_name(object_))
    return frozenset(map(make_telegraf_name, windows_object.counters.values() if windows_object else ()))


def find_unknown_counters(series: Iterable[Series]) -> list[UnknownCounter]:
    """Return the Windows counters that no shipped signal reads, sorted by object, with their recorded names."""
    places: dict[tuple[str, str], tuple[str, str, dict[str, None]]] = {}
    for recorded in series:
        if not recorded.path.startswith("\\"):
            continue
        path = CounterPath.parse(f"\\\\{recorded.host}{recorded.path}")
        object_ = split_object(path.object)[0]
        # A path keeps the recorded language; the series has the English names.
        if recorded.field.casefold() in _read_fields(recorded.tag("objectname") or path.object):
            continue
        place = places.setdefault((object_.casefold(), path.counter.casefold()), (object_, path.counter, {}))
        if path.instance is not None:
            place[2][path.instance] = None
    return [UnknownCounter(object_, counter, tuple(names)) for _, (object_, counter, names) in sorted(places.items())]


@cache
def _read_fields(object_: str) -> frozenset[str]:
    return frozenset(make_telegraf_name(name).casefold() for name in list_signal_counters(object_))

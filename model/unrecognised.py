"""Finds objects that may hold counters the rules need, recorded under names that are not known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from model.name_clues import (
    foreign_name_of,
    has_foreign_letters,
    is_english,
    is_esxtop,
    is_foreign_name,
    is_translated,
    needed_counters,
    similar_needed,
)
from model.name_files import folded, objects
from model.names import path_of
from model.perfmon import SQL_DEFAULT, CounterPath, generic_object, telegraf_name
from model.series import Series


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """An object whose counters may be ones that rules need, under names that are not known."""

    host: str
    object: str
    counters: int


def unrecognised(series: Iterable[Series]) -> list[Unrecognised]:
    """What was recorded under names that are not known but may be of counters that rules need.

    These are what is nearly called as a counter that rules need and that is missing. Of an object that Windows or SQL
    Server translates, they are all that are not known while one that rules need is missing, unless others show that
    it was recorded in English. Other objects are taken for ones of programs, unless none that Windows translates is
    recognised among the objects of the host, or another language calls so what rules need, or nearly so and that is
    missing; a name with letters beyond English is enough where no processor or no memory is recognised.
    """
    hosts: dict[str, list[Series]] = {}
    for one in series:
        if one.tag("objectname") is not None:
            hosts.setdefault(one.host.casefold(), []).append(one)
    return [
        Unrecognised(recorded[0].host, object_, count)
        for recorded in hosts.values()
        for object_, count in Counter(_strange_objects(recorded)).items()
    ]


def is_judged(series: Series) -> bool:
    """Whether a series is a counter of Windows' or SQL Server's that rules need."""
    return series.field in _judged_fields(_generic(series))


# German Windows calls this one so too.
_NO_PROOF_OF_ENGLISH = ("System", "Threads")
_PROCESSOR = frozenset({"Processor", "Processor Information"})
_BUFFERS = f"{SQL_DEFAULT}:Buffer Manager"


def _strange_objects(recorded: Sequence[Series]) -> Iterator[str]:
    """The object, as recorded, of each series of a host that is not recognised."""
    if any(is_esxtop(_object(one)) for one in recorded):
        return
    host = _Recorded(recorded)
    for one in recorded:
        if not _is_known(one) and host.is_strange(one):
            yield _path(one).object


class _Recorded:
    """What was recorded of a host, and what that shows of names that are not known."""

    def __init__(self, series: Sequence[Series]) -> None:
        known = [one for one in series if _is_known(one)]
        self._there = {(_generic(one), one.field, one.tag("instance")) for one in known}
        self._english: set[str] = set()
        for one in known:
            if _object(one) not in self._english and _shows_english(one):
                self._english.add(_object(one))
        self._objects = {_generic(one) for one in known}
        if self._objects & _PROCESSOR:
            self._objects |= _PROCESSOR
        self._lacking = not self._objects >= {"Processor", "Memory"}
        # A program's log by itself holds nothing that is judged, and its object may be called anything.
        translated = any(is_translated(name) for name in self._objects)
        self._untold = not translated and len({_object(one) for one in series}) > 1

    def is_strange(self, one: Series) -> bool:
        """Whether a series that is not known may be one that rules need."""
        name = _object(one)
        if self._resembles(one):
            return True
        if folded(_generic(one)) in objects():
            in_english = name in self._english and _path(one).object == name and not has_foreign_letters(one.field)
            return not in_english and (is_translated(name) or _is_of_sql_server(name)) and self._lacks_of(one)
        if is_english(name):
            return False
        if _is_of_sql_server(name):
            return _BUFFERS not in self._objects
        needed = foreign_name_of(name)
        missing = needed is not None and (needed not in self._objects or is_foreign_name(name))
        return self._untold or missing or (self._lacking and has_foreign_letters(name + one.field))

    def _lacks_of(self, one: Series) -> bool:
        return self._lacks(_generic(one), needed_counters(_generic(one)), one)

    def _resembles(self, one: Series) -> bool:
        return self._lacks(*similar_needed(_object(one), _path(one).counter), one)

    def _lacks(self, object_: str, counters: Iterable[str], one: Series) -> bool:
        """Whether one of these counters was not recorded of the instance of a series."""
        return any((object_, telegraf_name(counter), one.tag("instance")) not in self._there for counter in counters)


def _shows_english(series: Series) -> bool:
    path = _path(series)
    recorded = (path.object, telegraf_name(path.counter))
    return recorded == (_object(series), series.field) and recorded != _NO_PROOF_OF_ENGLISH


def _object(series: Series) -> str:
    return series.tag("objectname") or ""


def _generic(series: Series) -> str:
    return generic_object(_object(series))[0]


def _is_of_sql_server(object_: str) -> bool:
    return folded(generic_object(object_)[0]).startswith(f"{folded(SQL_DEFAULT)}:")


def _is_known(series: Series) -> bool:
    return series.field in _fields(_generic(series))


def _path(series: Series) -> CounterPath:
    return CounterPath.parse(series.path or path_of(series))


@cache
def _judged_fields(object_: str) -> frozenset[str]:
    return frozenset(map(telegraf_name, needed_counters(object_)))


@cache
def _fields(object_: str) -> frozenset[str]:
    known = objects().get(folded(object_))
    return frozenset(telegraf_name(counter) for counter in known.counters.values()) if known else frozenset()

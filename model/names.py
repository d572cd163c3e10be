"""The series of a counter path, under the one name it has whoever recorded it.

`perfmon.yaml` holds the measurement of each object and the canonical case of object and counter
names: recorders differ in case (Export-Counter writes whole paths in lower case), series must not.
`languages/*.yaml` say what Windows calls them in other languages; series have the English names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from model.name_files import KnownObject, folded, languages, objects, own_language
from model.perfmon import SQL_DEFAULT, SQL_NAMED, TOTAL, CounterPath, generic_object, telegraf_name
from model.series import Series
from model.strange_names import (
    foreign_letters,
    is_elsewhere,
    is_english,
    is_of_esxtop,
    is_translated,
    judged,
    resembled,
    stands_for,
)

UNKNOWN = "win_perf_counters"
_TOTAL = TOTAL.casefold()


class _Name(NamedTuple):
    """How a counter is recorded: the object and counter as shown, and what series say of them."""

    shown_object: str
    shown_counter: str
    object: str
    measurement: str
    field: str


class Names:
    """The names of objects and counters. `own` are language files of the user's, read beside the shipped ones.

    Raises Unusable if one of them is not as it should be.
    """

    def __init__(self, own: Sequence[Path] = ()) -> None:
        self._own = [own_language(path) for path in own]
        self._found: dict[tuple[str, str], _Name] = {}

    def series(self, path: CounterPath, host: str) -> Series:
        """The series of a counter of `host`. Its path stays in the language it was recorded in."""
        name = self._found.get((path.object, path.counter)) or self._find(path.object, path.counter)
        instance = path.instance
        if instance is None:
            tags = (("objectname", name.object), ("source", host))
            shown = f"\\{name.shown_object}\\{name.shown_counter}"
            return Series(host, name.measurement, tags, name.field, shown)
        if instance.casefold() == _TOTAL or instance.casefold().endswith(f",{_TOTAL}"):
            instance = instance[: -len(TOTAL)] + TOTAL
        tags = (("instance", instance), ("objectname", name.object), ("source", host))
        shown = f"\\{name.shown_object}({instance})\\{name.shown_counter}"
        return Series(host, name.measurement, tags, name.field, shown)

    def _find(self, object_: str, counter: str) -> _Name:
        generic, named = generic_object(object_)
        known = objects().get(folded(generic))
        found = known or self._translated(generic)
        if found is None:
            name = _Name(object_, counter, object_, UNKNOWN, telegraf_name(counter))
        else:
            english = f"{SQL_NAMED}{named}:{found.name.partition(':')[2]}" if named else found.name
            own = found.counters.get(folded(counter))
            translated = own or self._translated_counter(found.name, counter) or counter
            name = _Name(
                english if known else object_, own or counter, english, found.measurement, telegraf_name(translated)
            )
        self._found[object_, counter] = name
        return name

    def _translated(self, object_: str) -> KnownObject | None:
        for language in (*self._own, *languages()):
            if (english := language.objects.get(folded(object_))) is not None:
                return objects().get(folded(english))
        return None

    def _translated_counter(self, object_: str, counter: str) -> str | None:
        for language in (*self._own, *languages()):
            if (english := language.counters.get(object_, {}).get(folded(counter))) is not None:
                return english
        return None


@cache
def shipped() -> Names:
    """The names that come with Plimsoll."""
    return Names()


def measurement(object_: str) -> str:
    """The measurement of an object, given by its English name."""
    known = objects().get(folded(generic_object(object_)[0]))
    return known.measurement if known else UNKNOWN


def is_judged(series: Series) -> bool:
    """Whether a series is a counter of Windows' or SQL Server's that rules need."""
    return series.field in _judged_fields(_generic(series))


def path_of(series: Series) -> str:
    r"""How people know a series that was not read from a log: its counter path, or for one of Telegraf's its names.

    `\Processor(_Total)\% Processor Time`; `cpu(cpu-total) usage_idle`.
    """
    object_ = series.tag("objectname")
    if object_ is None:
        instances = ", ".join(value for _, value in series.tags)
        return f"{series.measurement}{f'({instances})' if instances else ''} {series.field}"
    known = objects().get(folded(generic_object(object_)[0]))
    names = {telegraf_name(counter): counter for counter in known.counters.values()} if known else {}
    return str(CounterPath(None, object_, series.tag("instance"), names.get(series.field, series.field)))


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


# German Windows calls this one so too.
_NO_PROOF_OF_ENGLISH = ("System", "Threads")
_PROCESSOR = frozenset({"Processor", "Processor Information"})
_BUFFERS = f"{SQL_DEFAULT}:Buffer Manager"


def _strange_objects(recorded: Sequence[Series]) -> Iterator[str]:
    """The object, as recorded, of each series of a host that is not recognised."""
    if any(is_of_esxtop(_object(one)) for one in recorded):
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
            in_english = name in self._english and _path(one).object == name and not foreign_letters(one.field)
            return not in_english and (is_translated(name) or _is_of_sql_server(name)) and self._lacks_of(one)
        if is_english(name):
            return False
        if _is_of_sql_server(name):
            return _BUFFERS not in self._objects
        needed = stands_for(name)
        missing = needed is not None and (needed not in self._objects or is_elsewhere(name))
        return self._untold or missing or (self._lacking and foreign_letters(name + one.field))

    def _lacks_of(self, one: Series) -> bool:
        return self._lacks(_generic(one), judged(_generic(one)), one)

    def _resembles(self, one: Series) -> bool:
        return self._lacks(*resembled(_object(one), _path(one).counter), one)

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
    return frozenset(map(telegraf_name, judged(object_)))


@cache
def _fields(object_: str) -> frozenset[str]:
    known = objects().get(folded(object_))
    return frozenset(telegraf_name(counter) for counter in known.counters.values()) if known else frozenset()

"""The series of a counter path, under the one name it has whoever recorded it.

`perfmon.yaml` holds the measurement of each object and the canonical case of object and counter
names: recorders differ in case (Export-Counter writes whole paths in lower case), series must not.
`languages/*.yaml` say what Windows calls them in other languages; series have the English names.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from model.errors import Unusable
from model.perfmon import SQL_NAMED, TOTAL, CounterPath, generic_object, telegraf_name
from model.series import Series

UNKNOWN = "win_perf_counters"
_TOTAL = TOTAL.casefold()


class _Object(NamedTuple):
    name: str
    measurement: str
    counters: dict[str, str]


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
        self._own = [_own_language(path) for path in own]
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
        known = _objects().get(_folded(generic))
        found = known or self._translated(generic)
        if found is None:
            name = _Name(object_, counter, object_, UNKNOWN, telegraf_name(counter))
        else:
            english = f"{SQL_NAMED}{named}:{found.name.partition(':')[2]}" if named else found.name
            own = found.counters.get(_folded(counter))
            translated = own or self._translated_counter(found.name, counter) or counter
            name = _Name(
                english if known else object_, own or counter, english, found.measurement, telegraf_name(translated)
            )
        self._found[object_, counter] = name
        return name

    def _translated(self, object_: str) -> _Object | None:
        for language in (*self._own, *_languages()):
            if (english := language.objects.get(_folded(object_))) is not None:
                return _objects().get(_folded(english))
        return None

    def _translated_counter(self, object_: str, counter: str) -> str | None:
        for language in (*self._own, *_languages()):
            if (english := language.counters.get(object_, {}).get(_folded(counter))) is not None:
                return english
        return None


@cache
def shipped() -> Names:
    """The names that come with Plimsoll."""
    return Names()


def measurement(object_: str) -> str:
    """The measurement of an object, given by its English name."""
    known = _objects().get(_folded(generic_object(object_)[0]))
    return known.measurement if known else UNKNOWN


def path_of(series: Series) -> str:
    r"""How people know a series that was not read from a log: its counter path, or for one of Telegraf's its names.

    `\Processor(_Total)\% Processor Time`; `cpu(cpu-total) usage_idle`.
    """
    object_ = series.tag("objectname")
    if object_ is None:
        instances = ", ".join(value for _, value in series.tags)
        return f"{series.measurement}{f'({instances})' if instances else ''} {series.field}"
    known = _objects().get(_folded(generic_object(object_)[0]))
    names = {telegraf_name(counter): counter for counter in known.counters.values()} if known else {}
    return str(CounterPath(None, object_, series.tag("instance"), names.get(series.field, series.field)))


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """An object some of whose counters look like ones that rules need, under names that are not known."""

    host: str
    object: str
    counters: int


def unrecognised(series: Iterable[Series]) -> list[Unrecognised]:
    """What was recorded under names that are not known but look like Windows' own in another language.

    Such are names with letters beyond ASCII, counters that are none of a known object's, objects of
    which there is a `_Total`, and objects whose name is nearly that of one Windows translates.
    """
    counts: dict[tuple[str, str], int] = {}
    for one in series:
        object_ = one.tag("objectname")
        if object_ is not None and _looks_translated(one, object_):
            shown = CounterPath.parse(one.path).object
            counts[one.host, shown] = counts.get((one.host, shown), 0) + 1
    return [Unrecognised(host, object_, count) for (host, object_), count in counts.items()]


def _looks_translated(series: Series, object_: str) -> bool:
    if _folded(generic_object(object_)[0]) in _objects():
        # A server brings counters of its own with each version; Windows' objects are listed whole.
        return not series.field.isascii() or (":" not in object_ and series.field not in _fields(object_))
    total = (series.tag("instance") or "").endswith(TOTAL)
    return not object_.isascii() or not series.field.isascii() or total or bool(_near(object_))


@cache
def _fields(object_: str) -> frozenset[str]:
    return frozenset(telegraf_name(counter) for counter in _objects()[_folded(object_)].counters.values())


@cache
def _near(object_: str) -> list[str]:
    return get_close_matches(_folded(object_), [name for name in _objects() if ":" not in name], n=1, cutoff=0.8)


class _Language(NamedTuple):
    objects: dict[str, str]
    counters: dict[str, dict[str, str]]


def _folded(name: str) -> str:
    """For comparing names: case and the kind of apostrophe do not matter."""
    return name.casefold().replace("\u2019", "'")


@cache
def _objects() -> dict[str, _Object]:
    table = yaml.load(files("model").joinpath("perfmon.yaml").read_bytes(), yaml.CSafeLoader)
    return {
        _folded(name): _Object(name, entry["measurement"], {_folded(c): c for c in entry["counters"]})
        for name, entry in table["objects"].items()
    }


@cache
def _languages() -> tuple[_Language, ...]:
    folder = files("model").joinpath("languages")
    entries = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda e: e.name)
    return tuple(_language(yaml.load(entry.read_bytes(), yaml.CSafeLoader)) for entry in entries)


def _language(table: dict[str, Any]) -> _Language:
    return _Language(
        {_folded(local): str(english) for local, english in (table.get("objects") or {}).items()},
        {
            object_: {_folded(local): str(english) for local, english in names.items()}
            for object_, names in (table.get("counters") or {}).items()
        },
    )


def _own_language(path: Path) -> _Language:
    """A language file of the user's. Unusable, naming the entry, if an English name in it is not known."""
    try:
        table = yaml.load(path.read_bytes(), yaml.CSafeLoader)
        language = _language(table)
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error.strerror or error}") from None
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        said = str(error).replace("\n", " ")
        raise Unusable(f"{path}: is no language file ({said}); model/languages/de.yaml shows what one holds") from None
    for english in language.objects.values():
        if _folded(english) not in _objects():
            raise Unusable(f'{path}: objects: "{english}" is not an object Plimsoll knows')
    for object_, names in language.counters.items():
        known = _objects().get(_folded(object_))
        for english in names.values():
            if known is None or _folded(english) not in known.counters:
                raise Unusable(f'{path}: counters: {object_}: "{english}" is not a counter Plimsoll knows')
    return language

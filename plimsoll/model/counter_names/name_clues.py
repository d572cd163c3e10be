"""Names of Windows objects and counters, and clues that an unknown name means a counter that rules need.

`perfmon.yaml` has the English names, `languages/*.yaml` the names in other languages, `name_clues.yaml` the clues. An
unknown name may be in a language without a file, or similar to an English name.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.perfmon import SQL_DEFAULT, split_object
from plimsoll.model.shipped_tables import load_shipped_table

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),
    }
)


class WindowsObject(NamedTuple):
    """A performance object: its name, its measurement in Telegraf, and its counters by the name of `fold_name`."""

    name: str
    measurement: str
    counters: dict[str, str]


class Language(NamedTuple):
    """The names in one language: the English name for each folded local name (see `fold_name`).

    `counters` has the names of counters for each object, by the English name of the object.
    """

    objects: dict[str, str]
    counters: dict[str, dict[str, str]]


@dataclass(frozen=True)
class _NameEntry:
    measurement: str
    counters: list[str]


@dataclass(frozen=True)
class _Perfmon:
    """The content of perfmon.yaml."""

    objects: dict[str, _NameEntry]


@dataclass(frozen=True)
class _Names:
    """The content of a file in languages/."""

    objects: dict[str, str]
    counters: dict[str, dict[str, str]]


# Names in related languages (Procesor, Prosessor) are above this similarity, other objects (VM Processor) below it.
_NEAR = 0.88
# The limit for counters of an object with a similar name.
_NEAR_COUNTER = 0.85
# Letters that Unicode does not decompose, and their replacements in console code pages.
_PLAIN = str.maketrans("ıłøđ", "ilod")
_UNITS = "µμΩ"
# The spellings of SQL Server's objects: MSSQL$PAYROLL:Buffer Manager, MSSQL:Buffer Manager, SQL Server: Buffer Manager.
_SQL = re.compile(r"(?:ms)?sql(?: ?server)?(?:\$[^: ]*)?(?:: ?| )")


@dataclass(frozen=True)
class _Clues:
    """The content of name_clues.yaml, where comments explain the fields."""

    judged: dict[str, list[str]]
    charted: dict[str, list[str]]
    translated: frozenset[str]
    elsewhere: dict[str, dict[str, str]]
    english: list[str]
    programs: list[str]
    sql_server: list[str]
    esxtop: list[str]


def list_needed_counters(object_: str) -> frozenset[str]:
    """Return which counters of an object rules need, by English names."""
    return _map_judged_counters().get(split_object(object_)[0], frozenset())


def list_signal_counters(object_: str) -> frozenset[str]:
    """Return which counters of an object signals read, by English names."""
    return list_needed_counters(object_) | frozenset(_load_clues().charted.get(split_object(object_)[0], ()))


def is_mentioning_needed_counter(text: str) -> bool:
    """Return whether a text contains the name of a counter that rules need."""
    squeezed = _squeeze(text)
    return any(counter in squeezed for counter in _list_squeezed_counters())


def is_translated(object_: str) -> bool:
    """Return whether Windows translates the name of an object; `object_` is the English name."""
    return object_ in _load_clues().translated


@cache
def is_english(object_: str) -> bool:
    """Return whether an object has its English name on every Windows, and no rule needs it."""
    generic = split_object(object_)[0]
    if fold_name(generic).startswith(f"{fold_name(SQL_DEFAULT)}:"):
        return fold_name(generic) in load_objects() or fold_name(generic.partition(":")[2]).startswith(
            _list_beginnings("sql_server")
        )
    return ":" in object_ or fold_name(object_).startswith(_list_beginnings("english") + _list_beginnings("programs"))


def is_esxtop(object_: str) -> bool:
    """Return whether only esxtop records an object."""
    return fold_name(object_).startswith(_list_beginnings("esxtop"))


@cache
def find_similar_needed(object_: str, counter: str) -> tuple[str, frozenset[str]]:
    """Return the object and the counters with similar names that rules need; both empty if no name is similar."""
    plain_name = _squeeze(object_)
    judged_names = _map_squeezed_objects()
    if plain_name not in judged_names and fold_name(object_).startswith(_list_beginnings("english")):
        return "", frozenset()
    for near in [plain_name] if plain_name in judged_names else _find_similar(plain_name, judged_names, _NEAR):
        counters = {_squeeze(name): name for name in _map_judged_counters()[judged_names[near]]}
        if similar := _find_similar(_squeeze(counter), counters, _NEAR_COUNTER):
            return judged_names[near], frozenset(counters[name] for name in similar)
    return "", frozenset()


@cache
def is_foreign_name(object_: str) -> bool:
    """Return whether an object that rules need has this name in any language, intact or garbled by a console."""
    return _simplify(object_) in _map_foreign_names()


@cache
def find_foreign_name(object_: str) -> str | None:
    """Return the English name of the needed object with this or a similar name in another language; else None."""
    elsewhere, name = _map_foreign_names(), _simplify(object_)
    if name in elsewhere:
        return elsewhere[name]
    near = get_close_matches(name, elsewhere, n=1, cutoff=_NEAR)
    return elsewhere[near[0]] if near else None


def has_foreign_letters(name: str) -> bool:
    """Return whether a name has non-ASCII letters, except the letters of units (µs)."""
    return any(letter.isalpha() and not letter.isascii() and letter not in _UNITS for letter in name)


def _simplify(name: str) -> str:
    parts = unicodedata.normalize("NFKD", fold_name(name))
    return "".join(part for part in parts if not unicodedata.combining(part)).translate(_PLAIN)


def _squeeze(name: str) -> str:
    """Return a name reduced to letters and digits, with one spelling of SQL Server."""
    plain = (
        _SQL.sub(f"{SQL_DEFAULT}:".casefold(), _simplify(name), count=1)
        if _SQL.match(_simplify(name))
        else _simplify(name)
    )
    return "".join(letter for letter in plain if letter.isalnum())


def _find_similar(name: str, candidates: Iterable[str], cutoff: float) -> Sequence[str]:
    """Return the candidates similar to a name, the most similar first; numbers must be equal (TCPv4 is not TCPv6)."""
    near = get_close_matches(name, candidates, n=5, cutoff=cutoff)
    return [candidate for candidate in near if re.findall(r"\d+", candidate) == re.findall(r"\d+", name)]


@cache
def _map_squeezed_objects() -> dict[str, str]:
    return {_squeeze(name): name for name in sorted(_map_judged_counters())}


@cache
def _list_squeezed_counters() -> frozenset[str]:
    return frozenset(_squeeze(counter) for counters in _map_judged_counters().values() for counter in counters)


@cache
def _map_judged_counters() -> dict[str, frozenset[str]]:
    return {name: frozenset(counters) for name, counters in _load_clues().judged.items()}


@cache
def _load_clues() -> _Clues:
    return load_shipped_table("plimsoll.model.counter_names", "name_clues.yaml", _Clues)


@cache
def _list_beginnings(which: str) -> tuple[str, ...]:
    return tuple(map(fold_name, getattr(_load_clues(), which)))


@cache
def _map_foreign_names() -> dict[str, str]:
    """Return the English names of objects that rules need, by their simplified names in every language and English."""
    named = [pair for names in _load_clues().elsewhere.values() for pair in names.items()]
    needed = {english for _, english in named}
    pairs = [pair for language in load_languages() for pair in language.objects.items() if pair[1] in needed]
    return {_simplify(local): english for local, english in (*((name, name) for name in needed), *pairs, *named)}


def fold_name(name: str) -> str:
    """Return the form of a name for comparisons.

    Differences of case, width, spacing, apostrophes, dashes and invisible characters are removed.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name).translate(_ALIKE)
    return " ".join(name.casefold().split())


@cache
def load_objects() -> dict[str, WindowsObject]:
    """Return the objects of perfmon.yaml by folded English name."""
    table = load_shipped_table("plimsoll.model", "perfmon.yaml", _Perfmon)
    return {
        fold_name(name): WindowsObject(name, entry.measurement, {fold_name(c): c for c in entry.counters})
        for name, entry in table.objects.items()
    }


@cache
def load_languages() -> tuple[Language, ...]:
    """Return the languages of `languages/*.yaml`."""
    folder = files("plimsoll.model.counter_names").joinpath("languages")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".yaml"))
    tables = [load_shipped_table("plimsoll.model.counter_names", f"languages/{name}", _Names) for name in names]
    return tuple(
        Language(_fold_names(table.objects), {name: _fold_names(names) for name, names in table.counters.items()})
        for table in tables
    )


def _fold_names(names: dict[str, str]) -> dict[str, str]:
    return {fold_name(local): english for local, english in names.items()}

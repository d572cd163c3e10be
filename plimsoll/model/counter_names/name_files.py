"""Reads the files of names of Windows objects and counters, in English and other languages.

`perfmon.yaml` holds the English names, `languages/*.yaml` those of the shipped languages. Users can add files of the
same form.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from plimsoll.model.shipped_tables import shipped_table

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),
    }
)


class WindowsObject(NamedTuple):
    """An object: its name and measurement, and its counters by folded name."""

    name: str
    measurement: str
    counters: dict[str, str]


class Language(NamedTuple):
    """A language: the English names of objects, and of the counters of each, by folded local name."""

    objects: dict[str, str]
    counters: dict[str, dict[str, str]]


def folded(name: str) -> str:
    """A name for comparison: ignores case, width, spacing, kinds of apostrophe and hyphen, and invisible characters."""
    return " ".join(unicodedata.normalize("NFKC", name).translate(_ALIKE).casefold().split())


@dataclass(frozen=True)
class _NameEntry:
    measurement: str
    counters: list[str]


@dataclass(frozen=True)
class _Perfmon:
    """perfmon.yaml."""

    objects: dict[str, _NameEntry]


@dataclass(frozen=True)
class _Names:
    """A file of languages/."""

    objects: dict[str, str]
    counters: dict[str, dict[str, str]]


@cache
def objects() -> dict[str, WindowsObject]:
    """Return the known objects by folded English name."""
    table = shipped_table("plimsoll.model", "perfmon.yaml", _Perfmon)
    return {
        folded(name): WindowsObject(name, entry.measurement, {folded(c): c for c in entry.counters})
        for name, entry in table.objects.items()
    }


@cache
def languages() -> tuple[Language, ...]:
    """Return the shipped languages."""
    folder = files("plimsoll.model.counter_names").joinpath("languages")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return tuple(_shipped(shipped_table("plimsoll.model.counter_names", f"languages/{name}", _Names)) for name in names)


def _shipped(table: "_Names") -> Language:
    return Language(
        {folded(local): english for local, english in table.objects.items()},
        {name: {folded(local): english for local, english in names.items()} for name, names in table.counters.items()},
    )

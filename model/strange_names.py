"""The signs that an object was named in a language of which there is no file; `strange_names.yaml` holds them."""

import unicodedata
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from model.name_files import folded, languages

# Below this, what is near to Processor is another object of virtual machines (VM Processor); the names that
# languages of one family have (Procesor, Prosessor) are above.
_NEAR = 0.88
# What no accent is taken from, and console code pages replace all the same.
_PLAIN = str.maketrans("ıłøđ", "ilod")
_UNITS = "µμΩ"


def is_translated(object_: str) -> bool:
    """Whether an object, by its English name, is one that Windows translates."""
    return object_ in _translated()


def is_english(object_: str) -> bool:
    """Whether an object is known to have an English name that no rule needs, wherever it is recorded."""
    return ":" in object_ or folded(object_).startswith(_beginnings("english"))


def is_of_esxtop(object_: str) -> bool:
    """Whether an object is one that esxtop alone records."""
    return folded(object_).startswith(_beginnings("esxtop"))


@cache
def stands_for(object_: str) -> str | None:
    """The English name of the object that rules need and that is called so, or nearly so, elsewhere."""
    elsewhere, name = _elsewhere(), _plain(object_)
    if name in elsewhere:
        return elsewhere[name]
    near = get_close_matches(name, elsewhere, n=1, cutoff=_NEAR)
    return elsewhere[near[0]] if near else None


def foreign_letters(name: str) -> bool:
    """Whether a name has letters beyond English; those of units (µs) are none."""
    return any(letter.isalpha() and not letter.isascii() and letter not in _UNITS for letter in name)


def _plain(name: str) -> str:
    parts = unicodedata.normalize("NFKD", folded(name))
    return "".join(part for part in parts if not unicodedata.combining(part)).translate(_PLAIN)


@cache
def _signs() -> dict[str, Any]:
    return yaml.load(files("model").joinpath("strange_names.yaml").read_bytes(), yaml.CSafeLoader)


@cache
def _translated() -> frozenset[str]:
    return frozenset(_signs()["translated"])


@cache
def _beginnings(which: str) -> tuple[str, ...]:
    return tuple(map(folded, _signs()[which]))


@cache
def _elsewhere() -> dict[str, str]:
    """By plain name. What English and the languages that are known call these objects is in it, for names near them."""
    named = [pair for names in _signs()["elsewhere"].values() for pair in names.items()]
    needed = {english for _, english in named}
    known = [pair for language in languages() for pair in language.objects.items() if pair[1] in needed]
    return {_plain(local): english for local, english in (*((name, name) for name in needed), *known, *named)}

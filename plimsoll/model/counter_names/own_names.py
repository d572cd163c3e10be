"""Reads users' files of names of Windows objects and counters, in the form of `languages/*.yaml`."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from plimsoll.model import strict_yaml, user_files
from plimsoll.model.counter_names.name_clues import Language, fold_name, load_objects
from plimsoll.model.errors import Unusable, suggest
from plimsoll.model.file_models import file_model
from plimsoll.model.perfmon import split_object
from plimsoll.model.strict_yaml import Mistakes, Place, StrictDocument

_EXAMPLE = "docs/formats.md shows what a file of names holds"


@file_model
class _NameFile:
    """A file of names. Local names are the keys of `objects` and `counters`, English names their values.

    `measurements`, `tags` and `fields` are the names in a server, with Telegraf's names as their values.
    """

    language: str | None = None
    objects: dict[str, str] | None = None
    counters: dict[str, dict[str, str]] | None = None
    unchanged: dict[str, list[str]] | None = None
    measurements: dict[str, str] | None = None
    tags: dict[str, str] | None = None
    fields: dict[str, str] | None = None


def load_own_language(path: Path) -> Language:
    """Read a user's file of counter names in another language, and return its table of English names.

    Raise Unusable, with a line for each mistake and its place, if the file is invalid.
    """
    document, file = _read(path)
    language = Language({}, {})
    if wrong := [*_add_file(document, file, language)]:
        raise Mistakes(wrong)
    of_server = file.measurements or file.tags or file.fields
    if not language.objects and not any(language.counters.values()) and not of_server:
        raise Unusable(f"{path}: holds no names of objects or counters; {_EXAMPLE}")
    return language


def load_stored_names(path: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return a user's names of measurements, tags and fields in a server, each with Telegraf's name as its value."""
    _, file = _read(path)
    return file.measurements or {}, file.tags or {}, file.fields or {}


def _read(path: Path) -> tuple[StrictDocument, _NameFile]:
    document = strict_yaml.read(str(path), user_files.read(path), f"; {_EXAMPLE}", as_text=True)
    return document, strict_yaml.validate(document, _NameFile)


def _add_file(document: StrictDocument, file: _NameFile, language: Language) -> Iterator[str]:
    """Add the names of a file to a language, and yield the mistakes in it."""
    english_objects = {key: windows_object.name for key, windows_object in load_objects().items()}
    yield from _add_names(document, ("objects",), file.objects or {}, english_objects, language.objects)
    for section, by_object in (("counters", file.counters), ("unchanged", file.unchanged)):
        for name, counters in (by_object or {}).items():
            english = language.objects.get(fold_name(split_object(name)[0]), name)
            windows_object = load_objects().get(fold_name(split_object(english)[0]))
            if windows_object is None:
                yield _explain_unknown(document, (section, name), english, english_objects.values())
            elif isinstance(counters, dict):
                names = language.counters.setdefault(windows_object.name, {})
                yield from _add_names(document, (section, name), counters, windows_object.counters, names)
            else:
                for at, counter in enumerate(counters):
                    if fold_name(counter) not in windows_object.counters:
                        yield _explain_unknown(document, (section, name, at), counter, windows_object.counters.values())


def _add_names(
    document: StrictDocument,
    place: Place,
    names: Mapping[str, str],
    english_names: Mapping[str, str],
    into: dict[str, str],
) -> Iterator[str]:
    """Add names to `into` (English by folded local name), and yield mistakes; `english_names` are the valid names."""
    for local, text in names.items():
        at, key = (*place, local), fold_name(split_object(local)[0])
        english = english_names.get(fold_name(split_object(text)[0]))
        if not local.strip():
            yield f'{document.where(at)}: "{local}" is no name: give the one that Windows uses'
        elif english is None:
            yield _explain_unknown(document, at, text, english_names.values())
        elif english_names.get(key, english) != english:
            yield f'{document.where(at)}: "{local}" is an English name itself: it cannot stand for "{english}"'
        elif (other := into.setdefault(key, english)) != english:
            yield f'{document.where(at)}: "{local}" is "{other}" already: only one of them can be right'


def _explain_unknown(document: StrictDocument, place: Place, name: str, names: Iterable[str]) -> str:
    kind = "an object" if len(place) == 2 else "a counter"
    hint = suggest(name, [*names]) or "; give its English name"
    return f'{document.where(place)}: "{name}" is not the name of {kind} that Plimsoll knows{hint}'

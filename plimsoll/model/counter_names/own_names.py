"""Reads files of names of Windows objects and counters that users add; they have the form of `languages/*.yaml`."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TypeGuard

import yaml

from plimsoll.model import user_files
from plimsoll.model.counter_names.name_clues import Language, WindowsObject, folded, objects
from plimsoll.model.errors import Unusable, first_of
from plimsoll.model.perfmon import generic_object
from plimsoll.model.strict_yaml import compose, mark_place

_FIELDS = ("language", "objects", "counters", "unchanged")
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"
_EXAMPLE = "docs/formats.md shows what a file of names holds"


def own_language(path: Path) -> Language:
    """The language in a user's file. Unusable, with a line for each mistake and its place, if the file has any."""
    reading = _Reading(path)
    language = reading.language(compose(str(path), user_files.read(path), f"; {_EXAMPLE}"))
    if reading.wrong:
        raise Unusable(*first_of(reading.wrong))
    if not language.objects and not any(language.counters.values()):
        raise Unusable(f"{path}: holds no names of objects or counters; {_EXAMPLE}")
    return language


def _kind(node: yaml.Node) -> str:
    match node:
        case yaml.MappingNode():
            return "names and values"
        case yaml.SequenceNode():
            return "a list"
        case _:
            return "nothing" if node.tag == _NULL else f'"{node.value}"'


_Pair = tuple[yaml.ScalarNode, yaml.ScalarNode]


class _Reading:
    """Reads YAML nodes instead of data: nodes know their line, and keep names as written."""

    def __init__(self, path: Path) -> None:
        self.wrong: list[str] = []
        self._path = path

    def language(self, root: yaml.Node | None) -> Language:
        """Return the language, without the entries that are wrong; `wrong` holds the mistakes."""
        expected = "names and values (objects: {Geheugen: Memory})"
        sections = {key.value: (key, value) for key, value in self._pairs(root, "", expected)}
        read = Language({}, {})
        if entry := sections.pop("objects", None):
            for local, english in self._names(entry[1], "objects: ", "Geheugen: Memory"):
                if windows_object := self._object(english, "objects: "):
                    local.value = generic_object(local.value)[0]
                    itself = objects().get(folded(local.value), windows_object).name
                    self._add(read.objects, local, windows_object.name, itself, "objects: ")
        if entry := sections.pop("counters", None):
            self._counters(entry[1], read)
        if entry := sections.pop("unchanged", None):
            for name, counters in self._pairs(entry[1], "unchanged: ", "lists of counters by object"):
                self._unchanged(self._object(name, "unchanged: "), counters)
        if entry := sections.pop("language", None):
            self._scalar(entry[1], "language: ", "one name")
        for name, (key, _) in sections.items():
            near = get_close_matches(name, _FIELDS, n=1, cutoff=0.6)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(_FIELDS)}"
            self._mistake(key, f'unknown field "{name}" ({hint})')
        return read

    def _counters(self, section: yaml.Node, read: Language) -> None:
        for name, counters in self._pairs(section, "counters: ", "names and values by object (Memory: {...})"):
            if english := read.objects.get(folded(generic_object(name.value)[0])):
                name.value = english
            windows_object, where = self._object(name, "counters: "), f"counters: {name.value}: "
            for local, counter in self._names(counters, where, "Beschikbare bytes: Available Bytes"):
                if windows_object and (counter_name := self._counter(counter, windows_object, where)):
                    itself = windows_object.counters.get(folded(local.value), counter_name)
                    self._add(read.counters.setdefault(windows_object.name, {}), local, counter_name, itself, where)

    def _add(self, names: dict[str, str], local: yaml.ScalarNode, english: str, itself: str, where: str) -> None:
        """Add a name. `itself` is its own meaning in English, which has priority, or `english` if it has none."""
        if itself != english:
            self._mistake(local, f'{where}"{local.value}" is an English name itself: it cannot stand for "{english}"')
        elif (other := names.setdefault(folded(local.value), english)) != english:
            self._mistake(local, f'{where}"{local.value}" is "{other}" already: only one of them can be right')

    def _unchanged(self, windows_object: WindowsObject | None, counters: yaml.Node) -> None:
        if not isinstance(counters, yaml.SequenceNode):
            self._mistake(counters, f"unchanged: expected a list of counters, found {_kind(counters)}")
            return
        for counter in counters.value:
            if self._scalar(counter, "unchanged: ", "a counter") and windows_object:
                self._counter(counter, windows_object, f"unchanged: {windows_object.name}: ")

    def _names(self, section: yaml.Node, where: str, example: str) -> Iterator[_Pair]:
        for local, english in self._pairs(section, where, f"names and values ({example})"):
            if not local.value.strip():
                self._mistake(local, f'{where}"{local.value}" is no name: what Windows calls it is meant')
            elif self._scalar(english, f"{where}{local.value}: ", "one English name"):
                yield local, english

    def _pairs(self, node: yaml.Node | None, where: str, expected: str) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        """Yield the keys and values of a mapping, including merged ones (`<<`); nothing if it is empty."""
        if node is None or node.tag == _NULL:
            return
        if not isinstance(node, yaml.MappingNode):
            self._mistake(node, f"{where}expected {expected}, found {_kind(node)}")
            return
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._mistake(key, f"{where}expected a name, found {_kind(key)}")
            elif key.tag != _MERGE and key.value in keys:
                self._mistake(key, f'{where}"{key.value}" stands here a second time')
            else:
                keys.add(key.value)
        try:
            yaml.SafeLoader("").flatten_mapping(node)
        except yaml.MarkedYAMLError as error:
            self._mistake(node, f"not valid YAML: {error.problem}")
            return
        # Merged keys come first, so the mapping's own values replace them.
        yield from {key.value: (key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}.values()

    def _object(self, node: yaml.ScalarNode, where: str) -> WindowsObject | None:
        if windows_object := objects().get(folded(generic_object(node.value)[0])):
            return windows_object
        self._unknown(
            node,
            f'{where}"{node.value}" is not an object',
            [windows_object.name for windows_object in objects().values()],
        )
        return None

    def _counter(self, node: yaml.ScalarNode, of: WindowsObject, where: str) -> str | None:
        if counter := of.counters.get(folded(node.value)):
            return counter
        self._unknown(node, f'{where}"{node.value}" is not a counter', list(of.counters.values()))
        return None

    def _unknown(self, node: yaml.Node, text: str, names: list[str]) -> None:
        near = get_close_matches(str(node.value), names, n=1, cutoff=0.6)
        hint = f'did you mean "{near[0]}"?' if near else "its English name is meant"
        self._mistake(node, f"{text} Plimsoll knows ({hint})")

    def _scalar(self, node: yaml.Node, where: str, expected: str) -> TypeGuard[yaml.ScalarNode]:
        if isinstance(node, yaml.ScalarNode) and node.tag != _NULL:
            return True
        self._mistake(node, f"{where}expected {expected}, found {_kind(node)}")
        return False

    def _mistake(self, node: yaml.Node, text: str) -> None:
        self.wrong.append(f"{self._path}{mark_place(node.start_mark)}: {text}")

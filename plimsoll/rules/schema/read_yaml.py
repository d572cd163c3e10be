"""Reads YAML files: their data, and where each part of it stands."""

from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from plimsoll.model import bounded_yaml
from plimsoll.rules.schema.strict_yaml import Document, Mistakes, Place, kind_of, shown

# Messages of libyaml for common slips, and what to do about them.
_HINTS = {
    "unknown escape character": r"in double quotes \ begins an escape: put what has one in single quotes",
    "tab character": "indent with spaces",
    "cannot start any token": "put the text in single quotes; indent with spaces, not with tabs",
}


def read(file: str, text: str | bytes, hint: str = "", most_values: int = bounded_yaml.MOST_VALUES) -> Document:
    """Parse one YAML file. Raises Mistakes if it is not YAML, is beyond a limit or has a key twice.

    `hint` is added to the message if the file is not a mapping or not text at all.
    """
    marks: dict[Place, tuple[int, int]] = {}
    wrong: list[str] = []
    try:
        root = bounded_yaml.compose(text, most_values)
        data = _build(file, root, (), marks, wrong) if root else None
    except bounded_yaml.Excess as error:
        raise Mistakes([f"{file}{_at(error.problem_mark)}: {error.problem}"]) from None
    except yaml.MarkedYAMLError as error:
        problem = error.problem or ""
        todo = next((f"; {todo}" for message, todo in _HINTS.items() if message in problem), "")
        raise Mistakes([f"{file}{_at(error.problem_mark)}: not valid YAML: {problem}{todo}"]) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Mistakes([f"{file}:1:1: not valid YAML: it is not text in UTF-8; save it as that{hint}"]) from None
    if wrong:
        raise Mistakes(wrong)
    if not isinstance(data, dict):
        raise Mistakes([f"{file}:1:1: expected names and values, found {kind_of(data)}{hint}"])
    return Document(file, data, marks)


def _build(file: str, node: yaml.Node, place: Place, marks: dict[Place, tuple[int, int]], wrong: list[str]) -> Any:
    marks.setdefault(place, (node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, yaml.MappingNode):
        data = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                wrong.append(f"{file}{_at(key_node.start_mark)}: expected a name, found {kind_of(key_node.value)}")
                continue
            key = _scalar(key_node)
            if key in data:
                wrong.append(f'{file}{_at(key_node.start_mark)}: "{shown(key)}" stands here a second time')
            marks[(*place, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            data[key] = _build(file, value_node, (*place, key), marks, wrong)
        return data
    if isinstance(node, yaml.SequenceNode):
        return [_build(file, item, (*place, at), marks, wrong) for at, item in enumerate(node.value)]
    return _scalar(node)


def _at(mark: Any) -> str:
    """`:line:column` of a mark; of the file's beginning where a mistake has none."""
    return f":{mark.line + 1}:{mark.column + 1}" if mark else ":1:1"


def _scalar(node: yaml.Node) -> Any:
    try:
        return SafeConstructor().construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError):  # `!!int x` and others
        return node.value

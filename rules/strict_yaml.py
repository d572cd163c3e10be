"""YAML files read strictly: every mistake is told with file, line, column and the nearest valid name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.constructor import SafeConstructor

from model.errors import Unusable

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]

# How names of rules and packs are written, and those of signals.
IDENTIFIER = r"^[a-z0-9]+(-[a-z0-9]+)*$"
SIGNAL_NAME = r"^[a-z0-9_]+(\.[a-z0-9_]+)+$"
_LIKE = {IDENTIFIER: "; write it like cpu-busy", SIGNAL_NAME: "; write it like disk.read_latency"}


class Mistakes(Unusable):
    """Everything that is wrong with one or more files, one line each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__(*self.lines)


@dataclass(frozen=True)
class Document:
    """The data of one YAML file, and where in the file each of its parts stands."""

    file: str
    data: Any
    marks: dict[Place, tuple[int, int]]

    def where(self, place: Place) -> str:
        """`file:line:column` of a part, or of the nearest part that holds it."""
        while place and place not in self.marks:
            place = place[:-1]
        line, column = self.marks.get(place, (1, 1))
        return f"{self.file}:{line}:{column}"

    def mistake(self, place: Place, text: str) -> str:
        """A line about one part of the file, naming the rule or signal it belongs to."""
        owner = self._owner(place)
        return f"{self.where(place)}: {owner}{text}"

    def _owner(self, place: Place) -> str:
        if len(place) >= 2 and place[0] == "rules" and isinstance(place[1], int):
            rule = self.data["rules"][place[1]]
            name = rule.get("id") if isinstance(rule, dict) else None
            return f"rule {name}: " if name else f"rule {place[1] + 1}: "
        if len(place) >= 2 and place[0] == "signals":
            return f"signal {place[1]}: "
        return ""


# What libyaml says of a slip that is easily made, and what to do.
_HINTS = {
    "unknown escape character": r"in double quotes \ begins an escape: put what has one in single quotes",
    "tab character": "indent with spaces",
    "cannot start any token": "put the text in single quotes; indent with spaces, not with tabs",
}


def read(file: str, text: str | bytes, hint: str = "") -> Document:
    """Parse one YAML file. Mistakes if it is not YAML, or says the same key twice.

    `hint` is what to say of one that is something else altogether.
    """
    marks: dict[Place, tuple[int, int]] = {}
    twice: list[str] = []
    try:
        root = yaml.compose(text, yaml.CSafeLoader)
        data = _build(file, root, (), marks, twice) if root else None
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark, error.problem or ""
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else f"{file}:1:1"
        todo = next((f"; {todo}" for said, todo in _HINTS.items() if said in problem), "")
        raise Mistakes([f"{where}: not valid YAML: {problem}{todo}"]) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Mistakes([f"{file}:1:1: not valid YAML: it is not text in UTF-8; save it as that{hint}"]) from None
    except RecursionError:
        raise Mistakes([f"{file}:1:1: not valid YAML: it is nested too deeply, or a part of it holds itself"]) from None
    if twice:
        raise Mistakes(twice)
    if not isinstance(data, dict):
        raise Mistakes([f"{file}:1:1: expected names and values, found {_kind(data)}{hint}"])
    return Document(file, data, marks)


def _build(file: str, node: yaml.Node, place: Place, marks: dict[Place, tuple[int, int]], twice: list[str]) -> Any:
    marks.setdefault(place, (node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, yaml.MappingNode):
        data = {}
        for key_node, value_node in node.value:
            key = _scalar(key_node)
            mark = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if key in data:
                twice.append(f'{file}:{mark[0]}:{mark[1]}: "{key}" stands here a second time')
            marks[(*place, key)] = mark
            data[key] = _build(file, value_node, (*place, key), marks, twice)
        return data
    if isinstance(node, yaml.SequenceNode):
        return [_build(file, item, (*place, at), marks, twice) for at, item in enumerate(node.value)]
    return _scalar(node)


def _scalar(node: yaml.Node) -> Any:
    try:
        return SafeConstructor().construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError):
        return node.value


def validate(document: Document, model: type[Model]) -> Model:
    """The file as a model. Mistakes, all of them at once, if it does not fit."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        details = error.errors()
        # A list all of whose items are wrong is told to be empty as well.
        real = (d for d in details if d["type"] != "too_short" or not any(_inside(o["loc"], d["loc"]) for o in details))
        raise Mistakes(_explain(document, model, detail) for detail in real) from None


def suggest(name: str, known: Sequence[str]) -> str:
    """` (did you mean "x"?)` for the nearest known name, or nothing where none is near."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


def _explain(document: Document, model: type[BaseModel], detail: Any) -> str:
    place: Place = tuple(part for part in detail["loc"])
    name = str(place[-1]) if place else ""
    match detail["type"]:
        case "extra_forbidden":
            return document.mistake(place, f'unknown field "{name}"' + suggest(name, _fields(model, place[:-1])))
        case "missing":
            return document.mistake(place, f'"{name}" is missing')
        case "literal_error":
            expected = detail["ctx"]["expected"]
            given = str(detail["input"])
            options = [option.strip(" '") for option in expected.replace(" or ", ", ").split(",")]
            return document.mistake(
                place, f'{name}: "{given}" is not one of {", ".join(options)}{suggest(given, options)}'
            )
        case "too_short":
            return document.mistake(place, f"{name}: at least one is needed")
        case "string_pattern_mismatch":
            name = "a name" if name == "[key]" else name
            like = _LIKE.get(detail["ctx"]["pattern"], "")
            return document.mistake(place, f"{name}: {_lowered(detail['msg'])}, found {_kind(detail['input'])}{like}")
        case "value_error":
            return document.mistake(place, str(detail["ctx"]["error"]))
        case _:
            found = _kind(detail["input"])
            return document.mistake(place, f"{name}: {_lowered(detail['msg'])}, found {found}")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _inside(place: Place, outer: Place) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _fields(model: type[BaseModel], place: Place) -> list[str]:
    """The field names that are valid at a place: those of the model found by walking there."""
    current: Any = model
    for part in place:
        if isinstance(part, int):
            continue
        field = next((f for n, f in _aliased(current).items() if n == part), None)
        current = _model_in(field.annotation) if field else current
        if current is None:
            return []
    return list(_aliased(current))


def _aliased(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if found := _model_in(argument):
            return found
    return None


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return f'"{value}"'

"""Reads YAML strictly, in little time and memory; mistakes have file, line, column and the nearest valid name."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from plimsoll.model.errors import Unusable, limit_mistakes, suggest
from plimsoll.model.file_models import parse_content
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.lazy_imports import pydantic, yaml, yaml_loader
from plimsoll.model.remark import shorten
from plimsoll.model.strict_toml import list_fields

Model = TypeVar("Model")
Place = tuple[str | int, ...]
# The patterns of the names of rules and packs, and of signals.
IDENTIFIER = r"^[a-z0-9]+(-[a-z0-9]+)*$"
SIGNAL_NAME = r"^[a-z0-9_]+(\.[a-z0-9_]+)+$"
_MOST_SHOWN = 80
_LIKE = {IDENTIFIER: "; write it like cpu-busy", SIGNAL_NAME: "; write it like disk.read_latency"}
MOST_VALUES = 50_000
_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"
# Messages of libyaml for common mistakes, and the advice for each.
_HINTS = {
    "unknown escape character": r"in double quotes \ begins an escape: put what has one in single quotes",
    "tab character": "indent with spaces",
    "cannot start any token": "put the text in single quotes; indent with spaces, not with tabs",
}


class Mistakes(Unusable):
    """The error that one or more files have mistakes; the text has one line for each mistake."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(limit_mistakes(lines))
        super().__init__(*self.lines)


@dataclass(frozen=True)
class StrictDocument:
    """The data of a YAML file, with the line and column of every key and value."""

    file: str
    data: Any
    marks: dict[Place, tuple[int, int]]

    def where(self, place: Place) -> str:
        """Return `file:line:column` of a value or, if its place is unknown, of the nearest value around it."""
        while place and place not in self.marks:
            place = place[:-1]
        line, column = self.marks.get(place, (1, 1))
        return f"{self.file}:{line}:{column}"

    def only(self, places: Sequence[Place]) -> "StrictDocument":
        """Return the document reduced to these places and the ids of all rules, which `mistake` needs."""
        rules = [{"id": rule.get("id")} for rule in self.data.get("rules", ())]
        return StrictDocument(self.file, {"rules": rules}, {place: self.marks[place] for place in places})

    def mistake(self, place: Place, text: str) -> str:
        """Return a message with the place of a value and its rule or signal: `a.yaml:3:5: rule cpu-busy: …`."""
        owner = ""
        if len(place) >= 2 and place[0] == "rules" and isinstance(place[1], int):
            rule = self.data["rules"][place[1]]
            owner = f"rule {(rule.get('id') if isinstance(rule, dict) else None) or place[1] + 1}: "
        elif len(place) >= 2 and place[0] == "signals":
            owner = f"signal {place[1]}: "
        return f"{self.where(place)}: {owner}{text}"


def read(
    file: str, text: str | bytes, hint: str = "", most_values: int = MOST_VALUES, *, as_text: bool = False
) -> StrictDocument:
    """Parse one YAML file. Raise Mistakes if it is not YAML, exceeds a limit, or has a key twice.

    `hint` is added to the message if the file is not a mapping, or not text at all. With `as_text`, scalars are texts
    as written, or None, and mappings are merged by `<<`.
    """
    marks: dict[Place, tuple[int, int]] = {}
    wrong: list[str] = []

    def build(node: "yaml.Node", place: Place) -> Any:
        """Return the value of a node, and record its line and column."""
        marks.setdefault(place, (node.start_mark.line + 1, node.start_mark.column + 1))
        if isinstance(node, yaml.SequenceNode):
            return [build(element, (*place, at)) for at, element in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return _parse_scalar(node, as_text=as_text)
        data: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            where = f"{file}{_mark_place(key_node.start_mark)}"
            if not isinstance(key_node, yaml.ScalarNode):
                wrong.append(f"{where}: expected a name, found {describe_kind(key_node.value)}")
                continue
            if as_text and key_node.tag == _MERGE and isinstance(value_node, yaml.MappingNode):
                merged |= build(value_node, place)
                continue
            key = _parse_scalar(key_node, as_text=as_text)
            if key in data:
                wrong.append(f'{where}: "{shorten_value(key)}" stands here a second time')
            marks[(*place, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            data[key] = build(value_node, (*place, key))
        return {**merged, **data}

    root = _compose_node(file, text, hint, most_values)
    data = build(root, ()) if root else None
    if wrong:
        raise Mistakes(wrong)
    if not isinstance(data, dict):
        raise Mistakes([f"{file}:1:1: expected names and values, found {describe_kind(data)}{hint}"])
    return StrictDocument(file, data, marks)


def _mark_place(mark: Any) -> str:
    """Return `:line:column` of a mark; `:1:1` without a mark."""
    return f":{mark.line + 1}:{mark.column + 1}" if mark else ":1:1"


def _parse_scalar(node: "yaml.Node", *, as_text: bool) -> Any:
    if as_text:
        return None if node.tag == _NULL else node.value
    try:
        return yaml.constructor.SafeConstructor().construct_object(node, deep=True)
    except (
        yaml.YAMLError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
    ):  # explicit tags such as `!!int x`
        return node.value


def validate(document: StrictDocument, model: type[Model]) -> Model:
    """Return the file as a model. Raise Mistakes, which lists all mistakes, if the file does not match."""
    try:
        return parse_content(model, document.data)
    except pydantic.ValidationError as error:
        details = error.errors(include_url=False)
        # pydantic also reports a list as too short if all its items are invalid.
        outer = {detail["loc"][:length] for detail in details for length in range(len(detail["loc"]))}
        real = (detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in outer)
        raise Mistakes(_explain(document, model, detail) for detail in real) from None


def _explain(document: StrictDocument, model: type[Any], detail: Any) -> str:
    """Return the message for a mistake that pydantic found, with its place."""
    place: Place = tuple(detail["loc"])
    name, value = str(place[-1]) if place else "", detail.get("input")
    match detail["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            text = f'unknown field "{name}"' + suggest(name, list_fields(model, place[:-1]))
        case "missing":
            text = f'"{name}" is missing'
        case "literal_error":
            options = [option.strip(" '") for option in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
            shown = shorten_value(value)
            text = f'{name}: "{shown}" is not one of {", ".join(options)}{suggest(shown, options)}'
        case "too_short":
            text = f"{name}: at least one is needed"
        case "value_error":
            text = str(detail["ctx"]["error"])
        case kind:
            is_pattern = kind == "string_pattern_mismatch"
            name = "a name" if is_pattern and name == "[key]" else name
            like = _LIKE.get(detail["ctx"]["pattern"], "") if is_pattern else ""
            text = f"{name}: {detail['msg'][:1].lower()}{detail['msg'][1:]}, found {describe_kind(value)}{like}"
    return document.mistake(place, text)


def describe_kind(value: Any) -> str:
    """Return in words what a value in a file is: `nothing`, `a mapping`, `a list`, or the value in quotes."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return f'"{shorten_value(value)}"'


def shorten_value(value: Any) -> str:
    """Return a value of a file, shortened if it is long."""
    return shorten(str(value), _MOST_SHOWN)


def _compose_node(file: str, text: str | bytes, hint: str, most_values: int) -> "yaml.Node | None":
    """Return the root node of a YAML file, None if empty. Raise Mistakes if it is not YAML, or exceeds a limit."""
    try:
        loader = yaml_loader.Loader(text, most_values)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml_loader.Oversize as error:
        raise Mistakes([f"{file}{_mark_place(error.problem_mark)}: {error.problem}"]) from None
    except yaml.MarkedYAMLError as error:
        problem = error.problem or error.context or ""
        todo = next((f"; {todo}" for message, todo in _HINTS.items() if message in problem), hint)
        raise Mistakes([f"{file}{_mark_place(error.problem_mark)}: not valid YAML: {problem}{todo}"]) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Mistakes([f"{file}:1:1: not valid YAML: it is not text in UTF-8; save it as that{hint}"]) from None

"""Checks YAML files strictly: every mistake is reported with file, line, column and the nearest valid name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.model.errors import Unusable, first_of
from plimsoll.model.remark import short

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]

# The names of rules and packs, and those of signals.
IDENTIFIER = r"^[a-z0-9]+(-[a-z0-9]+)*$"
SIGNAL_NAME = r"^[a-z0-9_]+(\.[a-z0-9_]+)+$"
_MOST_SHOWN = 80
_LIKE = {IDENTIFIER: "; write it like cpu-busy", SIGNAL_NAME: "; write it like disk.read_latency"}


class Mistakes(Unusable):
    """All mistakes in one or more files, one line each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(first_of(lines))
        super().__init__(*self.lines)


@dataclass(frozen=True)
class Document:
    """The data of one YAML file, and the line and column of each part."""

    file: str
    data: Any
    marks: dict[Place, tuple[int, int]]

    def where(self, place: Place) -> str:
        """`file:line:column` of a part, or of the nearest part that contains it."""
        while place and place not in self.marks:
            place = place[:-1]
        line, column = self.marks.get(place, (1, 1))
        return f"{self.file}:{line}:{column}"

    def only(self, places: Sequence[Place]) -> "Document":
        """What is needed to say where these parts are, and whose they are."""
        rules = [{"id": rule.get("id")} for rule in self.data.get("rules", ())]
        return Document(self.file, {"rules": rules}, {place: self.marks[place] for place in places})

    def mistake(self, place: Place, text: str) -> str:
        """A message about one part of the file, with the rule or signal it belongs to."""
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


def validate(document: Document, model: type[Model]) -> Model:
    """The file as a model. Raises Mistakes with all of them if it does not match."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # pydantic also reports a list as too short if all its items are wrong.
        outer = {detail["loc"][:length] for detail in details for length in range(len(detail["loc"]))}
        real = (detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in outer)
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
            given = shown(detail["input"])
            options = [option.strip(" '") for option in expected.replace(" or ", ", ").split(",")]
            return document.mistake(
                place, f'{name}: "{given}" is not one of {", ".join(options)}{suggest(given, options)}'
            )
        case "too_short":
            return document.mistake(place, f"{name}: at least one is needed")
        case "string_pattern_mismatch":
            name = "a name" if name == "[key]" else name
            like = _LIKE.get(detail["ctx"]["pattern"], "")
            return document.mistake(place, f"{name}: {_lowered(detail['msg'])}, found {kind_of(detail['input'])}{like}")
        case "value_error":
            return document.mistake(place, str(detail["ctx"]["error"]))
        case _:
            found = kind_of(detail["input"])
            return document.mistake(place, f"{name}: {_lowered(detail['msg'])}, found {found}")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _fields(model: type[BaseModel], place: Place) -> list[str]:
    """The valid field names at a place: those of the model there."""
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


def kind_of(value: Any) -> str:
    """What a value of a file is, in words."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return f'"{shown(value)}"'


def shown(value: Any) -> str:
    """A value of a file, cut short where it is long."""
    return short(str(value), _MOST_SHOWN)

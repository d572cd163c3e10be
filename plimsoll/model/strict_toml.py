"""Reads a TOML file into a model strictly, in little time and memory; errors name the file and the setting."""

import re
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from plimsoll.model.errors import Unusable, limit_mistakes, suggest
from plimsoll.model.file_models import list_types, parse_content
from plimsoll.model.lazy_imports import pydantic, tomllib

_Model = TypeVar("_Model")
MOST_LEVELS = 50
MOST_PARTS = 50
MOST_DIGITS = 300
# Texts and comments are skipped; an unclosed text ends with its line or with the file.
_TOKENS = re.compile(
    r'"""(?:\\.?|"{0,2}[^"\\])*+(?:"{3,5}|"{0,2}\Z)'
    r"|'''(?:'{0,2}[^'])*+(?:'{3,5}|'{0,2}\Z)"
    r'|"(?:\\.?|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|(?P<word>[\w+-]++)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<dot>\.)|(?P<end>[\n=,])",
    re.DOTALL,
)


class Excess(Exception):
    """The error that a text exceeds a limit of size or depth. The message says which limit, `line` says where."""

    def __init__(self, message: str, text: str, at: int) -> None:
        super().__init__(message)
        self.line = text.count("\n", 0, at) + 1


def decode_text(data: bytes, path: Path) -> str:
    """Return the text of a file. Raise Unusable if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unusable(f"{path}:{line}: not valid TOML: it is not text in UTF-8; save it as that") from None


def parse_toml(
    text: str, path: Path, model: type[_Model], unusual: Callable[[Any], str | None] = lambda _: None
) -> _Model:
    """Return the model of the text of `path`. Raise Unusable if invalid, naming the setting but never its value.

    `unusual` returns a better message for a mistake that pydantic found, to follow the name of the setting; None for
    the usual message.
    """
    try:
        _check(text)
        content = tomllib.loads(text)
    except Excess as error:
        raise Unusable(f"{path}:{error.line}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise Unusable(f"{path}: not valid TOML: {error}") from None
    try:
        return parse_content(model, content)
    except pydantic.ValidationError as error:
        raise Unusable(
            *limit_mistakes(_explain_mistake(path, model, detail, unusual) for detail in error.errors())
        ) from None


def _explain_mistake(path: Path, model: type[Any], detail: Any, unusual: Callable[[Any], str | None]) -> str:
    """Return the message for a mistake that pydantic found: file, setting, and what is wrong."""
    place = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in detail["loc"])
    if words := unusual(detail):
        return f"{path}: {place}{words}"
    if detail["type"] == "missing":
        return f"{path}: {place} is missing"
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return (
            f"{path}: {place}: unknown setting{suggest(str(detail['loc'][-1]), list_fields(model, detail['loc'][:-1]))}"
        )
    message = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else detail["msg"]
    return f"{path}: {place}: {message[:1].lower()}{message[1:]}"


def _check(text: str) -> None:
    """Raise Excess if the text is nested deeply or has a long number or dotted name."""
    levels = dots = 0
    for token in _TOKENS.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            levels, dots = levels + 1, 0
        elif kind == "close":
            levels, dots = max(levels - 1, 0), 0
        elif kind == "dot":
            dots += 1
        elif kind == "end":
            dots = 0
        elif kind == "word" and len(token[0]) > MOST_DIGITS:
            raise Excess(
                f"a number or name of more than {MOST_DIGITS} characters; write it shorter", text, token.start()
            )
        if levels > MOST_LEVELS:
            raise Excess(f"nested too deeply: more than {MOST_LEVELS} levels", text, token.start())
        if dots >= MOST_PARTS:
            raise Excess(f"a name of more than {MOST_PARTS} parts; write it shorter", text, token.start())


def list_fields(model: type[Any], place: Sequence[str | int]) -> list[str]:
    """Return the names of the fields at a place in a model; empty if there are none."""
    current: Any = model
    for part in place:
        if isinstance(part, int):
            continue
        current = _find_model(types[part]) if part in (types := list_types(current)) else current
        if current is None:
            return []
    return [*list_types(current)]


def _find_model(annotation: Any) -> type[Any] | None:
    if isinstance(annotation, type) and (is_dataclass(annotation) or hasattr(annotation, "model_fields")):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        if model := _find_model(argument):
            return model
    return None

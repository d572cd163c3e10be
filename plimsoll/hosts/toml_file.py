"""Reads a settings file in TOML into a model, and explains what is wrong with it by file and setting."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.hosts.bounded_toml import Excess, loads
from plimsoll.model.errors import Unusable, first_of

_Model = TypeVar("_Model", bound=BaseModel)


def decoded(data: bytes, path: Path) -> str:
    """The text of a file. Unusable if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unusable(f"{path}:{line}: not valid TOML: it is not text in UTF-8; save it as that") from None


def parsed(text: str, path: Path, model: type[_Model], unusual: Callable[[Any], str | None]) -> _Model:
    """The model of the text of `path`. Unusable, naming the setting and never its value, if it is invalid.

    `unusual` words a mistake that pydantic found where its own words do not help: what follows the name of the setting.
    """
    try:
        content = loads(text)
    except Excess as error:
        raise Unusable(f"{path}:{error.line}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise Unusable(f"{path}: not valid TOML: {error}") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise Unusable(*first_of(_explained(path, one, unusual) for one in error.errors())) from None


def _explained(path: Path, detail: Any, unusual: Callable[[Any], str | None]) -> str:
    place = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in detail["loc"])
    if words := unusual(detail):
        return f"{path}: {place}{words}"
    message = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else detail["msg"]
    return f"{path}: {place}: {message[:1].lower()}{message[1:]}"

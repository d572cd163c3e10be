"""The base of JSON documents whose fields are read from results.

A field takes the attribute of its name from a result. `read_attribute("signal.title")` takes the attribute at a
path, and `read_attribute(function)` the value that a function returns for the result. So a model is both schema
and reader: `Model.model_validate(result)` is the document.
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import isnan
from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from plimsoll.model.times import SECOND, format_iso

_FUNCTIONS: dict[
    str, Callable[[Any], Any]
] = {}  # the functions of fields, by the attribute names that pydantic requests


class _Result:
    """A result with further attributes: `values`, and what the functions of `read_attribute` return for it."""

    def __init__(self, result: Any, values: Mapping[str, Any]) -> None:
        self._result, self._values = result, values

    def __getattr__(self, name: str) -> Any:
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](self)
        return self._values[name] if name in self._values else getattr(self._result, name)

    def __len__(self) -> int:
        return len(self._result)

    def __getitem__(self, at: Any) -> Any:
        return self._result[at]


def add_values(result: Any, **values: Any) -> Any:
    """Return a result with `values` as further attributes, for a part that needs data from its context."""
    return _Result(result, values)


class JsonPart(BaseModel):
    """A part of a JSON document, filled from the attributes of a result."""

    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _from_result(cls, result: Any) -> Any:
        as_is = isinstance(result, (dict, _Result, cls)) or not _has_functions(cls)
        return result if as_is else _Result(result, {})


@cache
def _has_functions(model: type[JsonPart]) -> bool:
    aliases = (field.validation_alias for field in model.model_fields.values())
    return any(isinstance(alias, str) and alias in _FUNCTIONS for alias in aliases)


def read_attribute(source: str | Callable[[Any], Any], description: str | None = None, **options: Any) -> Any:
    """Return a pydantic field that is read from the attribute at a path, such as `signal.title`, or by a function."""
    if isinstance(source, str):
        return Field(validation_alias=AliasPath(*source.split(".")), description=description, **options)
    name = f"function {len(_FUNCTIONS)}"
    _FUNCTIONS[name] = source
    return Field(validation_alias=name, description=description, **options)


def make_optional_getter(path: str) -> Callable[[Any], Any]:
    """Return a function that returns the attribute at `path` of a result, or None if a part of the path is None."""

    def follow(result: Any) -> Any:
        for name in path.split("."):
            result = getattr(result, name) if result is not None else None
        return result

    return follow


def _format_iso(instant: Any) -> Any:
    return instant if instant is None or isinstance(instant, str) else format_iso(int(instant))


def _convert_to_seconds(duration: Any) -> Any:
    return None if duration is None else duration / SECOND


Instant = Annotated[str, BeforeValidator(_format_iso)]
"""A time in UTC nanoseconds, written as ISO 8601."""
OptionalInstant = Annotated[str | None, BeforeValidator(_format_iso)]
Seconds = Annotated[float, BeforeValidator(_convert_to_seconds)]
"""A duration in nanoseconds, written in seconds."""
OptionalSeconds = Annotated[float | None, BeforeValidator(_convert_to_seconds)]
Finite = Annotated[float | None, BeforeValidator(lambda value: None if value is None or isnan(value) else value)]
"""A number; null for NaN."""
OrZero = Annotated[float, BeforeValidator(lambda value: value or 0.0)]
"""A number; 0 if it is not known."""

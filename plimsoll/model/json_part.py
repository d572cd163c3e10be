"""The base of JSON documents whose fields are read from the results they are about.

A field takes the attribute of its name from a result; `attribute("signal.title")` takes another one, by its path; and
`Annotated[str, Derived(sentence)]` what a function returns for the result. So a model is the schema and the reader in
one, and `Model.model_validate(result)` is the document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isnan
from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from plimsoll.model.times import SECOND, iso


@dataclass(frozen=True)
class Derived:
    """Marks a field as what a function returns for the result."""

    function: Callable[[Any], Any]


class _Result:
    """A result whose derived fields are attributes like its others."""

    def __init__(self, result: Any, derived: Mapping[str, Callable[[Any], Any]]) -> None:
        self._result, self._derived = result, derived

    def __getattr__(self, name: str) -> Any:
        derive = self._derived.get(name)
        return getattr(self._result, name) if derive is None else derive(self._result)


def with_fields(result: Any, **values: Any) -> Any:
    """Return a result with further attributes, for a part that needs what stands around its result."""
    return _Result(result, {name: lambda _, value=value: value for name, value in values.items()})


class JsonPart(BaseModel):
    """A part of a JSON document, filled from the attributes of a result."""

    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _derive(cls, result: Any) -> Any:
        derived = _derived_fields(cls)
        return _Result(result, derived) if derived and not isinstance(result, (dict, cls)) else result


@cache
def _derived_fields(model: type[JsonPart]) -> Mapping[str, Callable[[Any], Any]]:
    """The functions of a model's derived fields."""
    return {
        name: mark.function
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Derived)
    }


def attribute(path: str, description: str | None = None) -> Any:
    """Return a field that is read from the attribute at `path`, such as `signal.title`."""
    return Field(validation_alias=AliasPath(*path.split(".")), description=description)


def optional(path: str) -> Derived:
    """Mark a field as the attribute at `path`, and null where a part of the path is None."""

    def follow(result: Any) -> Any:
        for name in path.split("."):
            result = getattr(result, name) if result is not None else None
        return result

    return Derived(follow)


def _iso(instant: Any) -> Any:
    return None if instant is None else iso(int(instant))


def _seconds(duration: Any) -> Any:
    return None if duration is None else duration / SECOND


def _finite(value: Any) -> Any:
    return None if value is None or isnan(value) else value


Instant = Annotated[str, BeforeValidator(_iso)]
"""A time in UTC nanoseconds, written as ISO 8601."""
OptionalInstant = Annotated[str | None, BeforeValidator(_iso)]
Seconds = Annotated[float, BeforeValidator(_seconds)]
"""A duration in nanoseconds, written in seconds."""
OptionalSeconds = Annotated[float | None, BeforeValidator(_seconds)]
Finite = Annotated[float | None, BeforeValidator(_finite)]
"""A number, null where it is none."""
OrZero = Annotated[float, BeforeValidator(lambda value: value or 0.0)]
"""A number, 0 where it is not known."""

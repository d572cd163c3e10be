"""Models of the content of files: dataclasses that pydantic validates.

pydantic takes a fifth of a command's start, and is imported at the first validation only: most commands validate
nothing, as packs and signals come from a cache, and settings without a file are defaults.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, dataclass_transform

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.lazy_imports import pydantic

T = TypeVar("T")


def entry(*, default: Any = MISSING, default_factory: Any = MISSING, **options: Any) -> Any:
    """Return a field of a model; `options` are those of pydantic's Field, such as `alias`, `description` or `gt`."""
    return field(default=default, default_factory=default_factory, metadata=options)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(entry,))
def file_model(cls: type[T]) -> type[T]:
    """Return the class as an immutable dataclass; a field that it does not have is an error in a file."""
    model: Any = cls
    model.__pydantic_config__ = {"extra": "forbid", "arbitrary_types_allowed": True}
    return dataclass(frozen=True, kw_only=True)(model)


class FieldParser:
    """An annotation of a type: `parse` returns the value for what a file has, or raises ValueError.

    `schema` is the JSON schema of what a file may have, unless it is that of the type.
    """

    def __init__(self, parse: Callable[[Any], Any], schema: Mapping[str, Any] | None = None) -> None:
        self._parse = parse
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return pydantic.BeforeValidator(self._parse).__get_pydantic_core_schema__(source, handler)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        return dict(self._schema) if self._schema else handler(schema)


class FieldBounds:
    """An annotation of a type: the `pattern` of a text, a `min_length`, or `gt`, `ge` and `le` of a number."""

    def __init__(self, **bounds: str | float) -> None:
        self._bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return {**handler(source), **self._bounds}


@cache
def make_adapter(model: type[T]) -> "pydantic.TypeAdapter[T]":
    """Return pydantic's adapter of a model, which validates content and makes JSON schemas."""
    return pydantic.TypeAdapter(model)


def parse_content(model: type[T], content: object) -> T:
    """Return the model of the content of a file. Raise pydantic.ValidationError if the content is invalid."""
    return make_adapter(model).validate_python(content)


def list_types(model: Any) -> dict[str, Any]:
    """Return the types of the fields of a model, by their names in files."""
    if is_dataclass(model):
        return {part.metadata.get("alias", part.name): part.type for part in fields(model)}
    return {part.alias or name: part.annotation for name, part in model.model_fields.items()}

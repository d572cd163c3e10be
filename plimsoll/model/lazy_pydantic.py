"""Models for which pydantic builds a validator when they first validate something.

pydantic takes a fifth of a command's start, and most commands validate nothing: packs and signals come from a cache,
and settings without a file are defaults. The names here are those of pydantic, and type checkers see pydantic's. At run
time a model is a plain class until its first validation, which turns it into a dataclass that pydantic can validate.
"""

import dataclasses
from collections.abc import Callable
from functools import cache, partial, reduce
from inspect import get_annotations
from operator import or_
from threading import RLock
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from plimsoll.model.lazy_imports import pydantic


class _Call:
    """A call of a function of pydantic, made when a model is built: of a field, an annotation or a validator."""

    def __init__(self, name: str, *args: Any, **options: Any) -> None:
        self._name, self._args, self.options = name, args, options
        self._method: Any = None

    def __call__(self, method: Any) -> "_Call":
        """Decorate a method of a model."""
        self._method = method
        return self

    def make(self) -> Any:
        """Return what pydantic returns."""
        result = getattr(pydantic, self._name)(*self._args, **self.options)
        return result(self._method) if self._method else result

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Validate as pydantic's own annotation does, in the annotation of another class."""
        return self.make().__get_pydantic_core_schema__(source, handler)


if TYPE_CHECKING:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        Field,
        StringConstraints,
        WithJsonSchema,
        model_validator,
    )

    class StrictModel(BaseModel):
        """The base of models: unknown fields are errors, and instances are immutable."""

        model_config = {"extra": "forbid", "frozen": True}
else:
    AfterValidator, BeforeValidator = partial(_Call, "AfterValidator"), partial(_Call, "BeforeValidator")
    StringConstraints, WithJsonSchema = partial(_Call, "StringConstraints"), partial(_Call, "WithJsonSchema")
    Field, model_validator = partial(_Call, "Field"), partial(_Call, "model_validator")

    class _ModelFields:
        def __get__(self, _: object, model: Any) -> dict[str, Any]:
            info = type(pydantic.Field())
            return {
                field.name: info.from_annotation(field.type)
                if field.default is _NO_DEFAULT
                else info.from_annotated_attribute(field.type, field.default)
                for field in dataclasses.fields(_build(model))
            }

    class _LazyModel:
        """The base of models: unknown fields are errors, and instances are immutable."""

        _fields = MappingProxyType({})
        model_fields = _ModelFields()

        def __init_subclass__(cls) -> None:
            declared = {name: cls.__dict__.get(name, _NO_DEFAULT) for name in get_annotations(cls)}
            cls._declared, cls._fields = declared, {**cls._fields, **declared}
            for name, value in declared.items():
                if value is not _NO_DEFAULT:
                    delattr(cls, name)

        def __init__(self, **fields: Any) -> None:
            defaults = {} if fields else {name: _find_default(value) for name, value in self._fields.items()}
            if fields or _NO_DEFAULT in defaults.values():
                defaults = self.model_validate(fields).__dict__
            self.__dict__.update(defaults)

        @classmethod
        def __get_pydantic_core_schema__(cls, _: object, handler: Callable[[Any], Any]) -> Any:
            return handler(_build(cls))

        @classmethod
        def model_validate(cls, content: Any) -> Any:
            """Return the model of the content. Raise pydantic.ValidationError if it is invalid."""
            return _make_adapter(cls).validate_python(content)

        @classmethod
        def model_json_schema(cls, **options: Any) -> dict[str, Any]:
            """Return the JSON schema."""
            return _make_adapter(cls).json_schema(**options)

        def model_dump_json(self) -> str:
            """Return the model as JSON."""
            return _make_adapter(type(self)).dump_json(self).decode()

        def model_copy(self, *, update: dict[str, Any]) -> Any:
            """Return a copy with the fields `update`, which are not validated."""
            copy = object.__new__(type(self))
            copy.__dict__.update(self.__dict__, **update)
            return copy

        def __setattr__(self, name: str, value: object) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __eq__(self, other: object) -> bool:
            return type(other) is type(self) and self.__dict__ == other.__dict__

        def __hash__(self) -> int:
            return hash(tuple(self.__dict__.values()))

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    StrictModel = _LazyModel


_NO_DEFAULT = dataclasses.MISSING
_BUILDING = RLock()


def _find_default(value: Any) -> Any:
    """Return a field's default value, without the annotations; _NO_DEFAULT if it has none."""
    default = value.options.get("default", _NO_DEFAULT) if isinstance(value, _Call) else value
    return dict(default) if isinstance(default, dict) else default


@cache
def _make_adapter(model: Any) -> Any:
    return pydantic.TypeAdapter(_build(model))


def _build(model: Any) -> Any:
    """Return the model, made a dataclass that pydantic can validate unless it is one already."""
    with _BUILDING:
        if "__dataclass_fields__" in model.__dict__:
            return model
        for base in model.__bases__:
            if base is not StrictModel:
                _build(base)
        model.__pydantic_config__ = {"extra": "forbid", "arbitrary_types_allowed": True}
        model.__annotations__ = {name: _resolve(hint) for name, hint in get_annotations(model).items()}
        defaults = {name: value for name, value in model._declared.items() if value is not _NO_DEFAULT}
        calls = {name: value for name, value in model.__dict__.items() if isinstance(value, _Call)}
        for name, value in (defaults | calls).items():
            setattr(model, name, value.make() if isinstance(value, _Call) else pydantic.Field(default=value))
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(model)
        for name in defaults:
            delattr(model, name)
        return model


def _resolve(hint: Any) -> Any:
    """Return a type whose annotations are those of pydantic."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[
            (_resolve(parts[0]), *(part.make() if isinstance(part, _Call) else part for part in parts[1:]))
        ]
    if origin is None or origin is Literal:
        return hint
    resolved = tuple(_resolve(part) for part in parts)
    return reduce(or_, resolved) if origin in (UnionType, Union) else origin[resolved]


__all__ = [
    "AfterValidator",
    "BeforeValidator",
    "Field",
    "StrictModel",
    "StringConstraints",
    "WithJsonSchema",
    "model_validator",
]

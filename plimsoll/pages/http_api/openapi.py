"""The OpenAPI document of the API, made from the models that read what is sent and write the answers."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from plimsoll.pages.http_api.operation import Body, Nothing, Operation, Problem

_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "A parameter or the body is wrong.",
    "401": "A token or the password is missing or wrong.",
    "403": "The token may not do this, or the request comes from another site.",
    "404": "What the path names is not there.",
    "422": "It cannot be done.",
    "503": "The store does not answer, or too much is asked for: again after Retry-After.",
}
_ABOUT = (
    "What the pages of plimsoll up show, for other programs. Times are ISO 8601 in UTC; values are in the unit given "
    "with them. Within v1, operations, parameters and fields may be added, but are never changed or removed."
)


def document(operations: Sequence[Operation[Any, Any]]) -> dict[str, Any]:
    """The document, OpenAPI 3.1."""
    answers = [*dict.fromkeys(found for one in operations for found in (Problem, one.answer, one.underway) if found)]
    bodies: list[type[Body]] = [*dict.fromkeys(one.body for one in operations if one.body is not Nothing)]
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((one, "serialization") for one in answers),
        *((one, "validation") for one in bodies),
    ]
    refs, found = models_json_schema(wanted, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.address, {})[one.method.lower()] = _operation(one, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Plimsoll", "version": version("plimsoll"), "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"password": []}, {}],
        "paths": paths,
        "components": {
            "schemas": found["$defs"],
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token for reading or for changes."},
                "password": {"type": "http", "scheme": "basic", "description": "The password for reading."},
            },
        },
    }


def _operation(one: Operation[Any, Any], refs: Mapping[Any, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": refs[one.answer, "serialization"]}}
    content |= {media: {"schema": {"type": "string"}} for media in one.media}
    problem = {"application/json": {"schema": refs[Problem, "serialization"]}}
    said: dict[str, Any] = {
        "operationId": one.id,
        "summary": one.summary,
        "parameters": [*_path(one), *_parameters(one)],
        "responses": {
            str(one.status.value): {"description": HTTPStatus(one.status).phrase, "content": content},
            **{status: {"description": text, "content": problem} for status, text in _ERRORS.items()},
            "default": {"description": "Another problem.", "content": problem},
        },
    }
    if one.underway:
        content = {"application/json": {"schema": refs[one.underway, "serialization"]}}
        said["responses"]["202"] = {"description": "It is being made: again after Retry-After.", "content": content}
    if one.method != "GET":
        said["security"] = [{"token": []}, {}]
    if one.body is not Nothing:
        said["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": refs[one.body, "validation"]}},
        }
    return said


def _path(one: Operation[Any, Any]) -> Iterator[dict[str, Any]]:
    for name, about in one.path_names.items():
        kind = "integer" if name == "id" else "string"
        yield {"name": name, "in": "path", "required": True, "description": about, "schema": {"type": kind}}


def _parameters(one: Operation[Any, Any]) -> Iterator[dict[str, Any]]:
    schema = one.query.model_json_schema(mode="validation")
    shared, needed = schema.get("$defs", {}), schema.get("required", ())
    for name, found in schema.get("properties", {}).items():
        own = {key: _inlined(value, shared) for key, value in found.items() if key not in ("title", "description")}
        about = found.get("description", "")
        yield {"name": name, "in": "query", "required": name in needed, "description": about, "schema": own}


def _inlined(value: Any, shared: Mapping[str, Any]) -> Any:
    """A part of a schema in which what it refers to stands in its place."""
    match value:
        case {"$ref": str(ref)}:
            return _inlined(shared[ref.rpartition("/")[2]], shared)
        case dict():
            return {key: _inlined(each, shared) for key, each in value.items()}
        case list():
            return [_inlined(each, shared) for each in value]
        case _:
            return value

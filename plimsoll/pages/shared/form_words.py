"""Replaces command-line options in messages by the labels of form fields."""

from typing import Any

from plimsoll.model.parameters import Parameter, worded

_FIELDS = {
    Parameter.ZONE: "the field “Time zone”",
    Parameter.MERGE: "the check mark at “Load over data of the same hosts and time”",
    Parameter.FROM: "From",
    Parameter.TO: "To",
}


def with_fields(text: str) -> str:
    """Return a message in which labels of form fields replace the options of commands."""
    return worded(text, lambda parameter: _FIELDS.get(parameter, f"the command's option {parameter.plain}"))


def all_with_fields(value: Any) -> Any:
    """Apply `with_fields` to every text in a JSON value, and return the new value."""
    match value:
        case str():
            return with_fields(value)
        case list() | tuple():
            return [all_with_fields(element) for element in value]
        case dict():
            return {name: all_with_fields(element) for name, element in value.items()}
        case _:
            return value

"""Replaces command-line options in messages by the labels of form fields."""

from typing import Any

from plimsoll.model.parameters import Parameter, replace_marks

_FIELDS = {
    Parameter.ZONE: "the field “Time zone”",
    Parameter.MERGE: "the check mark at “Load over data of the same hosts and time”",
    Parameter.FROM: "From",
    Parameter.TO: "To",
}


def replace_options_by_fields(text: str) -> str:
    """Return a message in which labels of form fields replace the options of commands."""
    return replace_marks(text, lambda parameter: _FIELDS.get(parameter, f"the command's option {parameter.plain}"))


def replace_all_options_by_fields(value: Any) -> Any:
    """Apply `replace_options_by_fields` to every text in a JSON value, and return the new value."""
    match value:
        case str():
            return replace_options_by_fields(value)
        case list() | tuple():
            return [replace_all_options_by_fields(element) for element in value]
        case dict():
            return {name: replace_all_options_by_fields(element) for name, element in value.items()}
        case _:
            return value

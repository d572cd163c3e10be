"""Jinja templates of HTML pages: everything is escaped, and what cannot be seen is shown as what it is."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from plimsoll.model.errors import printable_lines
from plimsoll.model.remark import counted, short
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import number, percent


def environment(read: Callable[[str], str], known: Mapping[str, Any]) -> Environment:
    """The templates whose text `read` gives by their names. `known` are functions and data that all of them use."""
    made = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    filters: dict[str, Any] = {"number": number, "percent": percent, "words": duration_text, "counted": counted}
    filters |= {"short": short}
    made.filters.update(filters)
    made.globals.update(known)
    return made


def _shown(value: object) -> object:
    """What an expression of a template shows: a text's invisible characters as what they are, but for line ends."""
    return value if isinstance(value, Markup) else printable_lines(str(value))

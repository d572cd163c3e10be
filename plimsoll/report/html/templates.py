"""Jinja templates of HTML pages: everything is escaped, and what cannot be seen is shown as what it is."""

import marshal
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
from jinja2 import Environment, FunctionLoader, StrictUndefined, nodes
from markupsafe import Markup

from plimsoll.model import user_folders
from plimsoll.model.errors import printable_lines
from plimsoll.model.kept import kept, state_of
from plimsoll.model.remark import counted, short
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import number, percent

_ROOM = "report.html"


def environment(read: Callable[[str], str], known: Mapping[str, Any]) -> Environment:
    """The templates whose text `read` gives by their names. `known` are functions and data that all of them use."""
    made = _Environment(
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


class _Environment(Environment):
    """Compiles a template only if neither its text nor this program has changed since it was last compiled."""

    def compile(  # pyright: ignore[reportIncompatibleMethodOverride]  of its overloads only this one is called
        self,
        source: str | nodes.Template,
        name: str | None = None,
        filename: str | None = None,
        raw: bool = False,
        defer_init: bool = False,
    ) -> CodeType:
        def code() -> bytes:
            return marshal.dumps(Environment.compile(self, source, name, filename, raw, defer_init))

        key = repr((source, filename, raw, defer_init, sys.version, jinja2.__version__)).encode() + _state_of_options()
        kept_as = f"{_ROOM}.{name}".replace("/", ".")
        return marshal.loads(kept(user_folders.cache() / "parsed", kept_as, key, code))


@cache
def _state_of_options() -> bytes:
    return state_of([Path(__file__).parent])


def _shown(value: object) -> object:
    """What an expression of a template shows: a text's invisible characters as what they are, but for line ends."""
    return value if isinstance(value, Markup) else printable_lines(str(value))

"""Jinja templates of HTML pages: everything is escaped, and invisible characters are shown as escapes."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import BytecodeCache, Environment, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from plimsoll.model.errors import escape_printable_lines
from plimsoll.model.kept import cache_folder, hash_folders, keep, load_cached
from plimsoll.model.remark import format_count, shorten
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_percent, number


def make_environment(read: Callable[[str], str], names: Mapping[str, Any]) -> Environment:
    """Return an environment of Jinja templates; `read` returns a template's text by name, all can use `names`."""
    templates = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape_value,
        bytecode_cache=_Compiled(),
    )
    filters: dict[str, Any] = {
        "number": number,
        "percent": format_percent,
        "words": format_duration,
        "counted": format_count,
    }
    filters["short"] = shorten
    filters["code"] = _mark_code
    templates.filters.update(filters)
    templates.globals.update(names)
    return templates


class _Compiled(BytecodeCache):
    """A cache of compiled templates in the user's folder, valid until a template's text or this program changes."""

    def load_bytecode(self, bucket: Bucket) -> None:
        if (content := load_cached(_find_folder(), _name(bucket), _hash_bucket(bucket))) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Bucket) -> None:
        keep(_find_folder(), _name(bucket), _hash_bucket(bucket), bucket.bytecode_to_string())


def _find_folder() -> Path:
    return cache_folder() / "compiled"


def _name(bucket: Bucket) -> str:
    return f"template-{bucket.key}"


def _hash_bucket(bucket: Bucket) -> bytes:
    return repr((bucket.checksum, sys.version, jinja2.__version__)).encode() + _hash_options()


@cache
def _hash_options() -> bytes:
    return hash_folders([Path(__file__).parent])


def _mark_code(text: str) -> Markup:
    """Return a text as HTML, in which each part between two backticks is a code element; escape the rest."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(escape_printable_lines(text)))))


def _escape_value(value: object) -> object:
    """Return markup unchanged, and any other value as text, with escapes for invisible characters but line ends."""
    return value if isinstance(value, Markup) else escape_printable_lines(str(value))

"""Prints results to stdout and remarks to stderr. Long lines are wrapped on a terminal only.

All that a command prints goes through this module, which replaces invisible characters by escapes. No text is
parsed as markup: styles are passed beside the text.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import IO

from plimsoll.model.errors import escape, escape_printable_lines
from plimsoll.model.parameters import replace_marks_by_options
from plimsoll.model.remark import Remark
from plimsoll.model.styled import Line, Part, find_indent

_MOST_REMARKS = 20
_REMARK = "remark: "


def print_line(*parts: Part, indent: int = 0) -> None:
    """Print a line of a result, whose parts may be styled.

    On a terminal, a long line is wrapped, and its further lines are indented by `indent` columns.
    """
    _print(sys.stdout, parts, indent)


def print_lines(lines: Iterable[Line]) -> None:
    """Print the lines of a result. On a terminal, a long line is wrapped and indented under its text."""
    for line in lines:
        _print(sys.stdout, line, None)


def find_width() -> int | None:
    """Return the width of the terminal in columns; None if stdout is not a terminal."""
    return _load_terminal().make_console(sys.stdout).width if sys.stdout.isatty() else None


def print_plain(text: str) -> None:
    """Print a text without styles; it may have several lines."""
    print(escape_printable_lines(replace_marks_by_options(text).removesuffix("\n")))


def print_error(line: str) -> None:
    """Print a line to stderr."""
    with suppress(BrokenPipeError):
        print(escape(replace_marks_by_options(line)), file=sys.stderr)


def print_notice(text: str) -> None:
    """Print a sentence on what the command waits for to stderr."""
    with suppress(BrokenPipeError):
        _print(sys.stderr, [(text, "dim")], 0)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, whose last column is aligned to the right."""
    _load_terminal().print_table(columns, [[_escape_text(cell) for cell in row] for row in rows])


def print_remarks(remarks: Sequence[Remark | str]) -> None:
    """Print the first twenty remarks to stderr; the report and the JSON document have all remarks."""
    texts = list(map(str, remarks[:_MOST_REMARKS]))
    if (value := len(remarks) - _MOST_REMARKS) > 0:
        texts.append(f"{value} more; --json has them all")
    with suppress(BrokenPipeError):  # the reader of stderr has ended; the results must still be written
        for text in texts:
            _print(sys.stderr, [(f"{_REMARK}{text}", "dim")], len(_REMARK))


def _escape_text(text: str) -> str:
    return escape(replace_marks_by_options(text))


def _print(stream: IO[str], parts: Iterable[Part], indent: int | None) -> None:
    """Print a line made of parts. On a terminal, it is styled and wrapped.

    `indent` is the indent of wrapped lines in columns; None stands for the column at which the line's text begins.
    """
    line = [(_escape_text(part), "") if isinstance(part, str) else (_escape_text(part[0]), part[1]) for part in parts]
    text = "".join(name for name, _ in line)
    if stream.isatty() or os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE"):
        _load_terminal().print_line(stream, line, find_indent(text) if indent is None else indent)
    else:
        print(text, file=stream)


def _load_terminal() -> ModuleType:
    from plimsoll.cli import terminal  # noqa: PLC0415  rich is slow to import, and a file or a pipe needs no styles

    return terminal

"""Printing: results to stdout, remarks to stderr. Long lines are wrapped on a terminal only.

Everything that a command prints goes through this module, which shows invisible characters as escapes. No text is
parsed as markup: a style is given beside its text.
"""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.model.errors import printable, printable_lines
from plimsoll.model.parameters import as_options
from plimsoll.model.remark import Remark
from plimsoll.model.styled import Line, Part, breaks, hanging

_MOST_REMARKS = 20
_REMARK = "remark: "
_AS_WIDE_AS_IT_IS = 10_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError: the program that reads our output has ended. (rich would exit with status 1.)"""
        raise BrokenPipeError


def _stdout() -> Console:
    """Return a console for results, without markup: `:cd:` is not replaced by an emoji."""
    return _Console(emoji=False)


def print_line(*parts: Part, indent: int = 0) -> None:
    """Print a line of a result. On a terminal, the lines it is wrapped into are indented by `indent`."""
    _print(_stdout(), _text(parts), indent)


def print_lines(lines: Iterable[Line]) -> None:
    """Print a result line by line. On a terminal, long ones are wrapped with a hanging indent."""
    console = _stdout()
    for line in lines:
        text = _text(line)
        _print(console, text, hanging(text.plain))


def width() -> int | None:
    """Return the number of columns of the terminal; None if results do not go to a terminal."""
    console = _stdout()
    return console.width if console.file.isatty() else None


def print_plain(text: str) -> None:
    """Print a text of several lines without styles."""
    print(printable_lines(as_options(text).removesuffix("\n")))


def print_error(line: str) -> None:
    """Print a line to stderr."""
    with suppress(BrokenPipeError):
        print(printable(as_options(line)), file=sys.stderr)


def print_notice(text: str) -> None:
    """Print a sentence about what the command is waiting for, on stderr."""
    with suppress(BrokenPipeError):
        _Console(stderr=True, emoji=False).print(_text([(text, "dim")]), soft_wrap=True, highlight=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the cells of its last column are aligned to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold", justify="right" if name == columns[-1] else "left")
    for row in rows:
        table.add_row(*(_text([cell]) for cell in row))
    console = _stdout()
    if not console.file.isatty():
        console.width = _AS_WIDE_AS_IT_IS  # for other programs, each row is one line
    console.print(table)


def _text(parts: Iterable[Part]) -> Text:
    text = Text()
    for part in parts:
        name, style = (part, "") if isinstance(part, str) else part
        text.append(printable(as_options(name)), style)
    return text


def print_remarks(remarks: Sequence[Remark | str]) -> None:
    """Print the first twenty remarks to stderr; the report and the JSON contain all of them."""
    console = _Console(stderr=True, emoji=False)
    texts = [printable(as_options(str(remark))) for remark in remarks[:_MOST_REMARKS]]
    if (value := len(remarks) - _MOST_REMARKS) > 0:
        texts.append(f"{value} more; --json has them all")
    with suppress(BrokenPipeError):  # the reader of stderr has ended; the results must still be written
        for text in texts:
            _print(console, Text(f"{_REMARK}{text}", style="dim"), len(_REMARK))


def _print(console: Console, text: Text, indent: int) -> None:
    """Print a line, wrapped on a terminal. A word wider than the terminal is not split: paths can be copied."""
    lines = [text]
    if console.file.isatty():
        lines = [*text.divide(breaks(text.plain, console.width, indent))]
        for line in lines:
            line.rstrip()
    for at, line in enumerate(lines):
        console.print(Text(" " * indent if at else "") + line, soft_wrap=True, highlight=False)

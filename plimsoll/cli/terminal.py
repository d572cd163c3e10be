"""Prints styles, wrapped lines and tables to a terminal; uses the package rich."""

from collections.abc import Iterable, Sequence
from typing import IO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.model.styled import find_breaks

_AS_WIDE_AS_IT_IS = 10_000


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError when the reader of stdout has ended, where rich would exit with status 1."""
        raise BrokenPipeError


def make_console(stream: IO[str]) -> Console:
    """Return rich's console for a stream. Texts such as `:cd:` are not replaced by emoji."""
    return _Console(file=stream, emoji=False)


def print_line(stream: IO[str], parts: Iterable[tuple[str, str]], indent: int) -> None:
    """Print a line made of parts, each with a style. On a terminal, it is wrapped between words.

    A word wider than the terminal is not split, so that paths can be copied.
    """
    shown, text = make_console(stream), Text()
    for part, style in parts:
        text.append(part, style)
    lines = [text]
    if stream.isatty():
        lines = [*text.divide(find_breaks(text.plain, shown.width, indent))]
        for line in lines:
            line.rstrip()
    for at, line in enumerate(lines):
        shown.print(Text(" " * indent if at else "") + line, soft_wrap=True, highlight=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, whose last column is aligned to the right, to stdout."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold", justify="right" if name == columns[-1] else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    shown = _Console(emoji=False)
    if not shown.file.isatty():
        shown.width = _AS_WIDE_AS_IT_IS  # for other programs, each row is one line
    shown.print(table)

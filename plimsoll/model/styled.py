"""Lines for a terminal. Styles are kept separate from the text, so that no text can be mistaken for markup."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeAlias

from plimsoll.model.errors import escape

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and its style, such as `("Held", "bold")`. The text may be from outside."""

Line: TypeAlias = tuple[Part, ...]
_HANGING = 2
_GAP = "  "
# Numbers are not separated from their sign and unit.
_WORD = re.compile(r"(?:[<>≤≥=] )?\d\S{0,15} \S{1,12}(?!\S)|[<>≤≥=] \S+|\S+")


def join_lines(lines: Iterable[Line]) -> str:
    """Return the text of the lines, without styles; invisible characters are shown as escapes."""
    return "\n".join(escape(join_parts(line)) for line in lines)


def join_parts(line: Line) -> str:
    """Return the text of a line, unchanged."""
    return "".join(part if isinstance(part, str) else part[0] for part in line)


def find_indent(text: str) -> int:
    """Return the indent of the continuation of a wrapped line: slightly more than that of the line itself."""
    return len(text) - len(text.lstrip(" ")) + _HANGING


def count_rows(lines: Iterable[Line], width: int) -> int:
    """Return the number of rows that lines take on a terminal of this width."""
    return sum(1 + sum(1 for _ in find_breaks(text, width, find_indent(text))) for text in map(join_parts, lines))


def find_breaks(text: str, width: int, indent: int) -> Iterator[int]:
    """Yield the positions at which to break a text: between words, preferably after a comma late in a line.

    A word wider than the terminal is not split, so that paths can be copied.
    """
    start = 0
    before = range(len(text) + 1) if text.isascii() else [*accumulate(map(_count_letter_cells, text), initial=0)]
    for word in _WORD.finditer(text):
        available = width - (indent if start else 0)
        while word.start() > max(start, indent) and before[word.end()] - before[start] > available:
            after_comma = text.rfind(", ", start, word.start()) + 2
            start = after_comma if after_comma > start + width * 2 // 3 else word.start()
            yield start


def format_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as an indented table whose columns are aligned to the left."""
    widths = [max(map(count_cells, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        cells = (cell + " " * (width - count_cells(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append(_GAP + _GAP.join(cells).rstrip())
    return lines


def count_cells(text: str) -> int:
    """Return the width of a text on a terminal: letters of East Asia take two cells, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_count_letter_cells(letter) for letter in text)


@cache
def _count_letter_cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1

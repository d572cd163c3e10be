"""Lines for a terminal, whose styles are apart from their text, so that no text can be taken for markup."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeAlias

from plimsoll.model.errors import printable

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and its style, such as `("Held", "bold")`. The text may be from outside."""

Line: TypeAlias = tuple[Part, ...]

_HANGING = 2
_GAP = "  "
# A number stays with its sign and its unit.
_WORD = re.compile(r"(?:[<>≤≥=] )?\d\S{0,15} \S{1,12}(?!\S)|[<>≤≥=] \S+|\S+")


def plain(lines: Iterable[Line]) -> str:
    """Return the text of the lines, without styles; what cannot be seen in it is shown as what it is."""
    return "\n".join(printable(text_of(line)) for line in lines)


def text_of(line: Line) -> str:
    """Return the text of a line, as it is."""
    return "".join(part if isinstance(part, str) else part[0] for part in line)


def hanging(text: str) -> int:
    """Return how far the lines are indented into which a line is wrapped: a little more than the line itself."""
    return len(text) - len(text.lstrip(" ")) + _HANGING


def rows_of(lines: Iterable[Line], width: int) -> int:
    """Return how many rows lines take on a terminal of this width."""
    return sum(1 + sum(1 for _ in breaks(text, width, hanging(text))) for text in map(text_of, lines))


def breaks(text: str, width: int, indent: int) -> Iterator[int]:
    """Yield where to break a text: between words, preferably after a comma in the last third of the line.

    A word wider than the terminal is not split, so that paths can be copied.
    """
    start = 0
    before = range(len(text) + 1) if text.isascii() else [*accumulate(map(_cells_of, text), initial=0)]
    for word in _WORD.finditer(text):
        available = width - (indent if start else 0)
        while word.start() > max(start, indent) and before[word.end()] - before[start] > available:
            after_comma = text.rfind(", ", start, word.start()) + 2
            start = after_comma if after_comma > start + width * 2 // 3 else word.start()
            yield start


def in_columns(
    rows: Sequence[Sequence[str]], width: int | None, *, left: int = 1, leave_out: Sequence[int] = ()
) -> list[str]:
    """Rows as a table, indented, the first `left` columns aligned to the left and the others to the right.

    Until it fits the `width`, columns are left out, in the order of `leave_out`.
    """
    kept = [*range(len(rows[0]))] if rows else []
    widths = [max(cells(row[at]) for row in rows) for at in kept]
    for column in leave_out:
        if width is None or sum(widths[at] + len(_GAP) for at in kept) <= width:
            break
        kept.remove(column)
    return [_GAP + _GAP.join(_aligned(row[at], widths[at], at < left) for at in kept).rstrip() for row in rows]


def _aligned(cell: str, width: int, left: bool) -> str:
    space = " " * (width - cells(cell))
    return f"{cell}{space}" if left else f"{space}{cell}"


def cells(text: str) -> int:
    """Return how wide a text is on a terminal: letters of East Asia take two cells, marks above others none."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(letter) for letter in text)


@cache
def _cells_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1

"""Lines for a terminal, whose styles are apart from their text, so that no text can be taken for markup."""

from collections.abc import Iterable
from typing import TypeAlias

from plimsoll.model.errors import printable

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and its style, such as `("Held", "bold")`. The text may be from outside."""

Line: TypeAlias = tuple[Part, ...]


def plain(lines: Iterable[Line]) -> str:
    """The text of the lines, without styles; what cannot be seen in it is shown as what it is."""
    return "\n".join(printable("".join(part if isinstance(part, str) else part[0] for part in line)) for line in lines)

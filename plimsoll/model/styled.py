"""Lines for a terminal, whose styles are apart from their text, so that no text can be taken for markup."""

from typing import TypeAlias

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and its style, such as `("Held", "bold")`. The text may be from outside."""

Line: TypeAlias = tuple[Part, ...]

"""Parses TOML that users write, within limits: a small file cannot take much time or memory."""

import re
import tomllib
from typing import Any

MOST_LEVELS = 50
MOST_PARTS = 50
MOST_DIGITS = 300

# Texts and comments are skipped; a text that does not end reaches to the end of its line or of the file.
_TOKENS = re.compile(
    r'"""(?:\\.?|"{0,2}[^"\\])*+(?:"{3,5}|"{0,2}\Z)'
    r"|'''(?:'{0,2}[^'])*+(?:'{3,5}|'{0,2}\Z)"
    r'|"(?:\\.?|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
    r"|(?P<word>[\w+-]++)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<dot>\.)|(?P<end>[\n=,])",
    re.DOTALL,
)


class Excess(Exception):
    """The text is beyond a limit. The message says which, `line` where."""

    def __init__(self, said: str, text: str, at: int) -> None:
        super().__init__(said)
        self.line = text.count("\n", 0, at) + 1


def loads(text: str) -> dict[str, Any]:
    """The data of a TOML text. Excess if it is beyond a limit, tomllib.TOMLDecodeError if it is not TOML."""
    _check(text)
    return tomllib.loads(text)


def _check(text: str) -> None:
    """Excess if the text is nested deeply or has a long number or dotted name."""
    levels = dots = 0
    for token in _TOKENS.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            levels, dots = levels + 1, 0
        elif kind == "close":
            levels, dots = max(levels - 1, 0), 0
        elif kind == "dot":
            dots += 1
        elif kind == "end":
            dots = 0
        elif kind == "word" and len(token[0]) > MOST_DIGITS:
            raise Excess(
                f"a number or name of more than {MOST_DIGITS} characters; write it shorter", text, token.start()
            )
        if levels > MOST_LEVELS:
            raise Excess(f"nested too deeply: more than {MOST_LEVELS} levels", text, token.start())
        if dots >= MOST_PARTS:
            raise Excess(f"a name of more than {MOST_PARTS} parts; write it shorter", text, token.start())

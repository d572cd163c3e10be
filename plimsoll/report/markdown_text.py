"""The Markdown of our pages as plain text, for a terminal."""

import re
from collections.abc import Iterator

_CODE = re.compile(r"`([^`]*)`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_HEADING = re.compile(r"#+ ")


def as_text(markdown: str) -> Iterator[str]:
    """The lines without marks: headings as they are, what is below them indented. What is code is left alone."""
    below = False
    for line in markdown.rstrip("\n").split("\n"):
        if heading := _HEADING.match(line):
            below = len(heading[0]) > 2
            yield _bare(line[heading.end() :])
        elif line.strip():
            yield f"{'  ' if below else ''}{_bare(line)}"
        else:
            yield ""


def _bare(line: str) -> str:
    """A line without the marks of Markdown outside its code."""
    parts = _CODE.split(line)  # text and code by turns
    parts[::2] = [_LINK.sub(r"\1", text).replace("**", "") for text in parts[::2]]
    return "".join(parts)

"""Errors whose text is meant for the user."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from unicodedata import category

_MOST_MISTAKES = 100
# Characters that Unicode counts as printable but that are drawn as nothing.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def escape(text: str) -> str:
    r"""Return a text from outside as one line, with invisible characters escaped as `\x1b` or `\u202e`.

    Invisible are line ends, control characters, direction marks, and letters and spaces without a width. Spaces of
    another width become plain spaces.
    """
    if _is_visible(text):
        return text
    return "".join(
        " " if category(char) == "Zs" else char if _is_visible(char) else char.encode("unicode_escape").decode()
        for char in text
    )


def escape_printable_lines(text: str) -> str:
    """Return a text from outside like `escape`, but keep its line ends."""
    return text if _is_visible(text) else "\n".join(map(escape, text.split("\n")))


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))


def limit_mistakes(mistakes: Iterable[str]) -> Iterator[str]:
    """Yield the first hundred mistakes, then a line that says that more follow. Further mistakes are not computed."""
    remaining = iter(mistakes)
    yield from islice(remaining, _MOST_MISTAKES)
    yield from ("more mistakes follow; correct these first" for _ in islice(remaining, 1))


def suggest(name: str, valid_names: Sequence[str]) -> str:
    """Return ` (did you mean "x"?)` for the most similar valid name; empty if none is similar."""
    near = get_close_matches(name, valid_names, n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


class Unusable(Exception):
    """The error that the input or the call cannot be used.

    The text says what is wrong, where (file, line, column or counter) and what to do about it, one line for each
    mistake. The command line prints it on stderr and exits with status 2.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(escape, lines)))


class NoLog(Unusable):
    """The error that a file is not a recording. In a folder or an archive of logs, such files are skipped."""


class Empty(NoLog):
    """The error that a file is empty or all zero bytes: only the name tells whether it should be a recording."""


class Unreachable(Exception):
    """The error that a server does not answer. The text says which server, why, and what to do; exit status 3."""

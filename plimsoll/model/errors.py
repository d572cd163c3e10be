"""Errors whose text is meant for the user."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from unicodedata import category

_MOST_MISTAKES = 100
# Characters that Unicode counts as printable, and that are drawn as nothing.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def printable(text: str) -> str:
    r"""Text from outside in one line, for people: characters that cannot be seen are shown as `\x1b` or `\u202e`.

    These are line ends, control characters, marks of direction, and letters and spaces without a width. Spaces of
    another width become plain ones.
    """
    if _is_visible(text):
        return text
    return "".join(map(_visible, text))


def printable_lines(text: str) -> str:
    """Text from outside for people, with its line ends; in all else as `printable` has it."""
    return text if _is_visible(text) else "\n".join(map(printable, text.split("\n")))


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _BLANK.search(text))


def _visible(char: str) -> str:
    if category(char) == "Zs":
        return " "
    return char if char.isprintable() and not _BLANK.match(char) else char.encode("unicode_escape").decode()


def first_of(mistakes: Iterable[str]) -> Iterator[str]:
    """The first hundred mistakes, and a line that says that there are more. The others are not even worked out."""
    for at, mistake in enumerate(mistakes):
        if at == _MOST_MISTAKES:
            yield "more mistakes follow; correct these first"
            return
        yield mistake


def suggest(name: str, valid_names: Sequence[str]) -> str:
    """` (did you mean "x"?)` for the nearest known name, or nothing where none is near."""
    near = get_close_matches(name, valid_names, n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


class Unusable(Exception):
    """The input or the call cannot be used.

    The text says what is wrong, where (file, line, column or counter) and what to do about it, in one line for each
    mistake. The command line prints it on stderr and exits with status 2.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(printable, lines)))


class NoLog(Unusable):
    """The file is not a recording. In a folder or an archive of logs, such files are skipped."""


class Empty(NoLog):
    """The file is empty or holds only zero bytes: only its name shows whether it should have been a recording."""


class Unreachable(Exception):
    """A server does not answer. The text says in one line which, why, and what to do; exit status 3."""

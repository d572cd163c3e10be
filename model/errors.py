"""Errors whose text is meant for the user."""

from collections.abc import Iterable, Iterator

_MOST_MISTAKES = 100


def printable(text: str) -> str:
    """Text from a log or a caller, safe for a terminal: characters that do not print become U+FFFD."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)


def first_of(mistakes: Iterable[str]) -> Iterator[str]:
    """The first hundred mistakes, and a line that says that there are more. The others are not even worked out."""
    for at, mistake in enumerate(mistakes):
        if at == _MOST_MISTAKES:
            yield "more mistakes follow; correct these first"
            return
        yield mistake


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

"""The parameters of a call, as messages name them: whoever shows a message says what they are called there.

An option of the command line, a field of a form and an argument of a function are the same parameter. A message holds
its mark, `‹zone›`; `worded` puts in its place what it is called where the message is read.
"""

import re
from collections.abc import Callable
from enum import StrEnum


class Parameter(StrEnum):
    """A parameter that messages name. Its text is the mark that stands for it."""

    AS = "‹as›"
    BASELINE = "‹baseline›"
    COUNTER = "‹counter›"
    DETAILS = "‹details›"
    ENCODING = "‹encoding›"
    FOLDER = "‹folder›"
    FORCE = "‹force›"
    FROM = "‹from›"
    HOSTS = "‹hosts›"
    LAST = "‹last›"
    LIKE = "‹like›"
    LISTEN = "‹listen›"
    MERGE = "‹merge›"
    NAMES = "‹names›"
    ONLY = "‹only›"
    OUT = "‹out›"
    PACK = "‹pack›"
    PHASE = "‹phase›"
    PORT = "‹port›"
    STEADY = "‹steady›"
    STORE = "‹store›"
    TO = "‹to›"
    WHOLE_RUN = "‹whole-run›"
    ZONE = "‹zone›"

    @property
    def plain(self) -> str:
        """Its name alone: `zone`."""
        return self.value[1:-1]


_MARK = re.compile("|".join(Parameter))


def worded(text: str, called: Callable[[Parameter], str]) -> str:
    """Return a message in which each parameter is what `called` calls it."""
    return _MARK.sub(lambda mark: called(Parameter(mark[0])), text)


def as_options(text: str) -> str:
    """Return a message in which each parameter is the option of the command line."""
    return worded(text, lambda parameter: f"--{parameter.plain}")

"""Placeholders for parameters in messages: a parameter is an option on the command line, and a field in a form.

A message contains the mark `‹zone›`; `replace_marks` replaces it by the parameter's name where the message is shown.
"""

import re
from collections.abc import Callable
from enum import StrEnum


class Parameter(StrEnum):
    """A parameter that messages name; the value is the mark that stands for the parameter in a message."""

    AS = "‹as›"
    BASELINE = "‹baseline›"
    COUNTER = "‹counter›"
    DETAILS = "‹details›"
    ENCODING = "‹encoding›"
    FOLDER = "‹folder›"
    FORCE = "‹force›"
    FROM = "‹from›"
    HOST = "‹host›"
    HOSTS = "‹hosts›"
    LAST = "‹last›"
    LIKE = "‹like›"
    LISTEN = "‹listen›"
    MATCH = "‹match›"
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
        """The name of the parameter without its mark: `zone`."""
        return self.value[1:-1]


_MARK = re.compile("|".join(Parameter))


def replace_marks(text: str, called: Callable[[Parameter], str]) -> str:
    """Return a message with each mark replaced by the name that `called` returns for its parameter."""
    return _MARK.sub(lambda mark: called(Parameter(mark[0])), text)


def replace_marks_by_options(text: str) -> str:
    """Return a message with each mark replaced by an option of the command line: `--zone`."""
    return replace_marks(text, lambda parameter: f"--{parameter.plain}")

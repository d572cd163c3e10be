"""Errors a person is meant to read."""


def printable(text: str) -> str:
    """Text that a log or a caller brought in, safe for a terminal: what does not print becomes U+FFFD."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)


class Unusable(Exception):
    """The input or the call cannot be used.

    The text is one line that says what is wrong, where (file, line, column or counter), and what
    to do about it, or such a line for each mistake. The command line prints it on stderr and exits
    with status 2.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(map(printable, lines)))


class NoLog(Unusable):
    """What was to be read is no recording. In a folder or an archive of logs it may well lie beside them."""


class Empty(NoLog):
    """A file without a byte, or of zero bytes alone: its name alone tells whether it was to be a recording."""


class Unreachable(Exception):
    """A server does not answer. The text is one line that says which, why, and what to do; exit status 3."""

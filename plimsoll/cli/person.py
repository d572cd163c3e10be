"""Who types a command, for the record."""

import getpass
import os

from plimsoll.alerting.book.deeds import Who

HOW = "command"


def at_terminal() -> Who:
    """The user of the system; under sudo the one who called it."""
    return Who(os.environ.get("SUDO_USER") or getpass.getuser(), HOW)

"""Actor types a command, for the record."""

import getpass
import os

from plimsoll.alerting.audit_log import Actor

HOW = "command"


def at_terminal() -> Actor:
    """The user of the system; under sudo the one who called it."""
    return Actor(os.environ.get("SUDO_USER") or getpass.getuser(), HOW)

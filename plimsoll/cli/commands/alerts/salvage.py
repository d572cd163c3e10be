"""`plimsoll alerts salvage`."""

import time
from pathlib import Path

from plimsoll.alerting.alerts_file import NAME
from plimsoll.alerting.salvage import salvage
from plimsoll.cli.commands.alerts.alerts import folder_of
from plimsoll.cli.console import print_line, print_notice
from plimsoll.model.errors import Unusable
from plimsoll.native.running import OnlyOne

_SHOWN = ("alerts", "silences", "roster", "notes", "events")


def run(data: Path | None) -> None:
    """Begin a new alerts.db with what can be read of the old one. Unusable while plimsoll up runs."""
    folder = folder_of(data)
    path = folder / NAME
    if not path.exists():
        raise Unusable(f"{path}: there is none; plimsoll up makes it")
    lock = OnlyOne(folder)
    try:
        done = salvage(path, time.time_ns())
    finally:
        lock.release()
    counts = ", ".join(f"{name} {done.kept.get(name, 0):,}" for name in _SHOWN)
    print_line(f"{path}: begun anew, with what could be read: {counts}")
    if done.torn:
        print_notice(f"not all could be read of: {', '.join(done.torn)}")
    print_line(f"The damaged file is {done.aside}")

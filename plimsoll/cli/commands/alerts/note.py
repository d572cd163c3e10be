"""`plimsoll alerts note`: notes on the time axis of the charts."""

import time
from pathlib import Path

from plimsoll.alerting import actions
from plimsoll.cli.commands.alerts.alerts import opened
from plimsoll.cli.console import print_line
from plimsoll.cli.person import at_terminal
from plimsoll.model.time_arguments import parse_time
from plimsoll.model.times import SECOND, Zone

_DAY = 86_400 * SECOND


def add(data: Path | None, text: str, at: str | None, host: str) -> None:
    """Put a note on the charts."""
    now = time.time_ns()
    with opened(data) as (file, zone):
        # A clock time is the latest one before now.
        when = parse_time(at, zone, now - _DAY) if at else now
        made = actions.add_note(file, when, text, host, at_terminal(), now)
    print_line(f"Note {made.id} is on the charts at {_line(made, zone)}")


def list_notes(data: Path | None) -> None:
    """List the notes of the last 7 days."""
    now = time.time_ns()
    with opened(data) as (file, zone):
        found = actions.find_notes(file, now - 7 * _DAY, now + _DAY)
    for one in found:
        print_line(f"{one.id:>5} {_line(one, zone)}")
    if not found:
        print_line("No note was made in the last 7 days")


def remove(data: Path | None, number: int) -> None:
    """Take a note away."""
    with opened(data) as (file, zone):
        gone = actions.remove_note(file, number, at_terminal(), time.time_ns())
    print_line(f"Removed: {_line(gone, zone)}")


def _line(note: actions.Note, zone: Zone) -> str:
    return f"{zone.clock(note.at)}  {note.text}{f', on {note.host}' if note.host else ''}  (by {note.who})"

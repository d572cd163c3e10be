"""Notes on the time axis of charts: `deployed 4.2`, for one host or for all."""

import sqlite3
from dataclasses import dataclass

from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.model.errors import Unusable
from plimsoll.model.host_key import host_key

LONGEST = 200
_MOST = 200
_FURTHEST = 2**62


@dataclass(frozen=True, slots=True)
class Note:
    """A note at an instant (UTC ns); `host` is empty where it concerns all."""

    id: int
    at: int
    text: str
    host: str
    who: str


def add(file: AlertsFile, at: int, text: str, host: str, who: str) -> Note:
    """Keep a note. Unusable if it says nothing, is too long, or its time is too far away."""
    text, host = " ".join(text.split()), host.strip()
    if not text:
        raise Unusable('a note needs a text: "deployed 4.2"')
    for what, said in (("the note", text), ("the host", host), ("the name", who)):
        if len(said) > LONGEST:
            raise Unusable(f"{what} has {len(said):,} characters; at most {LONGEST} are kept")
    if abs(at) > _FURTHEST:
        raise Unusable("the time of the note is too far away")
    with file.transaction() as connection:
        made = connection.execute(
            "INSERT INTO notes (at, text, host, who) VALUES (?, ?, ?, ?)", (at, text, host, who)
        ).lastrowid
    return Note(made or 0, at, text, host, who)


def between(file: AlertsFile, start: int, end: int) -> list[Note]:
    """The notes of a time, in order; of very many the latest."""
    query = "SELECT * FROM notes WHERE at BETWEEN ? AND ? ORDER BY at DESC, id DESC LIMIT ?"
    return [_note(row) for row in reversed(file.rows(query, (start, end, _MOST)))]


def remove(file: AlertsFile, number: int) -> Note:
    """Take a note away. Unusable if there is none of this number."""
    with file.transaction() as connection:
        row = connection.execute("DELETE FROM notes WHERE id = ? RETURNING *", (number,)).fetchone()
    if row is None:
        raise Unusable(f"there is no note {number}")
    return _note(row)


def concerns(note: Note, hosts: set[str]) -> bool:
    """Whether a note is on charts of these (case-folded) hosts."""
    return not note.host or host_key(note.host) in hosts


def _note(row: sqlite3.Row) -> Note:
    return Note(**dict(row))

"""The record of who did what: silences, acknowledgements, notes, runs, users and settings."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.alerting.alerts_file import AlertsFile

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who does something, and by what they are known: `password`, `token ci`, `command`."""

    name: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something that somebody did (UTC ns)."""

    id: int
    at: int
    who: str
    how: str
    what: str


@dataclass(frozen=True, slots=True)
class AuditEntries:
    """Some deeds, the latest first, and how many there are in all."""

    deeds: Sequence[AuditEntry]
    total: int


def keep(connection: sqlite3.Connection, who: Actor, at: int, what: str) -> None:
    """Record, within the transaction in which it is done, that somebody did something."""
    values = (at, who.name[:_LONGEST], who.how, what[:_LONGEST])
    connection.execute("INSERT INTO deeds (at, who, how, what) VALUES (?, ?, ?, ?)", values)


def add(file: AlertsFile, who: Actor, at: int, what: str) -> None:
    """Record that somebody did something that is kept elsewhere."""
    with file.transaction() as connection:
        keep(connection, who, at, what)


def found(file: AlertsFile, start: int, end: int, who: str, first: int, most: int) -> AuditEntries:
    """The deeds of a time, the latest first; of all people if `who` is empty."""
    where, values = "at BETWEEN ? AND ? AND (? = '' OR who = ? COLLATE NOCASE)", (start, end, who, who)
    total = file.rows(f"SELECT count(*) AS number FROM deeds WHERE {where}", values)[0]["number"]
    query = f"SELECT * FROM deeds WHERE {where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?"
    return AuditEntries([AuditEntry(**dict(row)) for row in file.rows(query, (*values, most, first))], total)

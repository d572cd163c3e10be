"""What people do to alerts: acknowledge and silence them, and put notes on charts. The audit log has each."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from plimsoll.alerting import silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import alert
from plimsoll.alerting.alert_rows import record
from plimsoll.alerting.alerts_file import AlertsFile, is_like
from plimsoll.alerting.host_inventory import ALL_SILENT, HOST_SILENT
from plimsoll.alerting.self_monitoring import NOT_JUDGED, NOT_NOTIFIED, NOT_WRITTEN
from plimsoll.alerting.silences import Silence
from plimsoll.model.errors import Unusable
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.rules.load import load

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


LONGEST_TEXT = 500
LONGEST_NAME = 300
LONGEST_NOTE = 200
_MOST_NOTES = 200
_FURTHEST_NOTE = 2**62
_KNOWN_RULES = "rules"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on the time axis of charts, at an instant (UTC ns); `host` is empty where it concerns all."""

    id: int
    at: int
    text: str
    host: str
    who: str

    def concerns(self, hosts: set[str]) -> bool:
        """Return whether it is on charts of these (case-folded) hosts."""
        return not self.host or host_key(self.host) in hosts

    def __str__(self) -> str:
        return f"note {self.id}{f' on {self.host}' if self.host else ''}: {self.text}"


def acknowledge(file: AlertsFile, number: int, who: Actor, note: str, now: int) -> Alert:
    """Stop the repetition of an alert until it ends: the alert as it is then. Unusable if it is not firing."""
    before = alert(file, number)
    if before is None:
        raise Unusable(f"there is no alert {number}; plimsoll alerts list shows those that are firing")
    if not before.firing:
        raise Unusable(f"alert {number} has ended: it is not repeated any more")
    _check_length("the note", note, LONGEST_TEXT)
    _check_length("the name", who.name, LONGEST_NAME)
    text = f": {note}" if note else ""
    with file.transaction() as connection:
        connection.execute(
            "UPDATE alerts SET acked_at = ?, acked_by = ?, ack_note = ? WHERE id = ?", (now, who.name, note, number)
        )
        record(connection, number, now, now, "acknowledged", note=f"{who.name}{text}")
        keep(connection, who, now, f"acknowledged alert {number}, {before.rule} on {before.place}{text}")
    return before._replace(acked_at=now, acked_by=who.name, ack_note=note)


def silence(
    file: AlertsFile,
    rule: str,
    host: str,
    instance: str,
    length: int,
    reason: str,
    who: Actor,
    now: int,
    start: int | None = None,
) -> Silence:
    """Begin a silence of `length` (ns), at `start` (UTC ns) or now.

    Unusable if no rule or no host matches, without a reason, or for longer than 30 days.
    """
    for name, text in (("the rule", rule), ("the host", host), ("the instance", instance), ("the name", who.name)):
        _check_length(name, text, LONGEST_NAME)
    _check_length("the reason", reason, LONGEST_TEXT)
    check_rule(file, rule)
    _check_host(file, host)
    with file.transaction() as connection:
        begun = silences.add(file, rule, host, instance, length, reason, who.name, now, start)
        keep(connection, who, now, f"{'planned' if begun.start > now else 'began'} {_describe(begun)}")
    return begun


def end_silence(file: AlertsFile, number: int, who: Actor, now: int) -> Silence:
    """End a silence, or take back one that is planned. Unusable if it is neither."""
    with file.transaction() as connection:
        ended = silences.end(file, number, now)
        keep(connection, who, now, f"ended {_describe(ended)}")
    return ended


def add_note(file: AlertsFile, at: int, text: str, host: str, who: Actor, now: int) -> Note:
    """Put a note on the charts. Unusable if it says nothing, is too long, or its time is too far away."""
    text, host = " ".join(text.split()), host.strip()
    if not text:
        raise Unusable('a note needs a text: "deployed 4.2"')
    for name, value in (("the note", text), ("the host", host), ("the name", who.name)):
        _check_length(name, value, LONGEST_NOTE)
    if abs(at) > _FURTHEST_NOTE:
        raise Unusable("the time of the note is too far away")
    with file.transaction() as connection:
        row = connection.execute(
            "INSERT INTO notes (at, text, host, who) VALUES (?, ?, ?, ?) RETURNING *", (at, text, host, who.name)
        ).fetchone()
        note = Note(**dict(row))
        keep(connection, who, now, f"made {note}")
    return note


def remove_note(file: AlertsFile, number: int, who: Actor, now: int) -> Note:
    """Take a note away. Unusable if there is none of this number."""
    with file.transaction() as connection:
        row = connection.execute("DELETE FROM notes WHERE id = ? RETURNING *", (number,)).fetchone()
        if row is None:
            raise Unusable(f"there is no note {number}")
        note = Note(**dict(row))
        keep(connection, who, now, f"removed {note}")
    return note


def find_notes(file: AlertsFile, start: int, end: int) -> list[Note]:
    """Return the notes of a time, in order; of very many the latest."""
    query = "SELECT * FROM notes WHERE at BETWEEN ? AND ? ORDER BY at DESC, id DESC LIMIT ?"
    return [Note(**dict(row)) for row in reversed(file.rows(query, (start, end, _MOST_NOTES)))]


def keep_known_rules(file: AlertsFile, rules: Iterable[str]) -> None:
    """Keep the ids of the rules that are judged, for commands: they do not know which packs `plimsoll up` was given."""
    with file.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KNOWN_RULES, json.dumps(sorted(rules))))


def known_rules(file: AlertsFile) -> Sequence[str]:
    """The ids of the rules that are judged, the names of the other alerts, and those that alerts in the file have."""
    kept = file.rows("SELECT value FROM meta WHERE name = ?", (_KNOWN_RULES,))
    rules = json.loads(kept[0]["value"]) if kept else load().rules
    items = [row["rule"] for row in file.rows("SELECT DISTINCT rule FROM alerts")]
    targets = [f"{NOT_NOTIFIED}{row['name']}" for row in file.rows("SELECT name FROM targets")]
    return [*dict.fromkeys((*rules, HOST_SILENT, ALL_SILENT, NOT_WRITTEN, NOT_JUDGED, *targets, *items))]


def check_rule(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, with the nearest names, if no alert may have a name that matches a pattern."""
    names = known_rules(file)
    if any(is_like(name, pattern) for name in names):
        return
    begin = pattern.casefold().replace("*", "")
    by_begin = {name[: len(begin)]: name for name in reversed(names)}
    near = [by_begin[match] for match in get_close_matches(begin, [*by_begin])]
    meant = f"; did you mean {' or '.join(near)}?" if near else "; plimsoll rules list names them all"
    raise Unusable(f'no rule matches "{pattern}"{meant}')


def _check_host(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, with the nearest names, if no host matches a pattern; where none is known yet, any may come."""
    names = [row["name"] for row in file.rows("SELECT name FROM roster UNION SELECT host FROM alerts")]
    if not names or pattern == "*" or any(is_like(name, pattern) for name in names):
        return
    near = get_close_matches(pattern.casefold().replace("*", ""), [name.casefold() for name in names])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    later = "one that is to come can be named in roster.hosts of up.toml"
    raise Unusable(f'no host matches "{pattern}"{meant} ({later})')


def _describe(silence: Silence) -> str:
    instance = f", {silence.instance}" if silence.instance != "*" else ""
    length = duration_text(silence.until - silence.start)
    return f"silence {silence.id} of {silence.rule} on {silence.host}{instance} for {length}: {silence.reason}"


def _check_length(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Unusable(f"{name} has {len(text):,} characters; at most {most} are kept")


def keep(connection: sqlite3.Connection, who: Actor, at: int, text: str) -> None:
    """Record, within the transaction in which it is done, that somebody did something."""
    values = (at, who.name[:_LONGEST], who.how, text[:_LONGEST])
    connection.execute("INSERT INTO deeds (at, who, how, what) VALUES (?, ?, ?, ?)", values)


def add(file: AlertsFile, who: Actor, at: int, text: str) -> None:
    """Record that somebody did something that is kept elsewhere."""
    with file.transaction() as connection:
        keep(connection, who, at, text)


def found(file: AlertsFile, start: int, end: int, who: str, first: int, most: int) -> AuditEntries:
    """Return the deeds of a time, the latest first; of all people if `who` is empty."""
    where, values = "at BETWEEN ? AND ? AND (? = '' OR who = ? COLLATE NOCASE)", (start, end, who, who)
    total = file.rows(f"SELECT count(*) AS number FROM deeds WHERE {where}", values)[0]["number"]
    query = f"SELECT * FROM deeds WHERE {where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?"
    return AuditEntries([AuditEntry(**dict(row)) for row in file.rows(query, (*values, most, first))], total)

"""What people do to alerts: acknowledgements, silences and notes on charts. The audit log records each action."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from plimsoll.alerting import silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import read_alert
from plimsoll.alerting.alert_rows import record
from plimsoll.alerting.alerts_file import AlertsFile, is_like
from plimsoll.alerting.host_inventory import ALL_SILENT, HOST_SILENT
from plimsoll.alerting.self_monitoring import NOT_JUDGED, NOT_NOTIFIED, NOT_WRITTEN
from plimsoll.alerting.silences import Silence
from plimsoll.model.errors import Unusable
from plimsoll.model.series import make_host_key
from plimsoll.model.times import format_duration
from plimsoll.rules.load import load

_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Actor:
    """A person or program that acts, and how it was recognised: `password`, `token ci`, `command`."""

    name: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action in the audit log: who did what, and when (UTC ns)."""

    id: int
    at: int
    who: str
    how: str
    what: str


LONGEST_TEXT = 500
LONGEST_NAME = 300
LONGEST_NOTE = 200
_MOST_NOTES = 200
_FURTHEST_NOTE = 2**62
_RULE_IDS = "rules"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on the time axis of charts, at an instant (UTC ns); `host` is empty if it concerns all hosts."""

    id: int
    at: int
    text: str
    host: str
    who: str

    def concerns(self, hosts: set[str]) -> bool:
        """Return whether the note is shown on a chart with any of these (case-folded) hosts."""
        return not self.host or make_host_key(self.host) in hosts

    def __str__(self) -> str:
        return f"note {self.id}{f' on {self.host}' if self.host else ''}: {self.text}"


def acknowledge(file: AlertsFile, number: int, who: Actor, note: str, now: int) -> Alert:
    """Acknowledge an alert, so that it is not notified again, and return it. Raise Unusable if it is not firing."""
    before = read_alert(file, number)
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
        write_audit_entry(file, who, now, f"acknowledged alert {number}, {before.rule} on {before.place}{text}")
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
    """Begin a silence of `length` ns. Raise Unusable if no rule or host matches, without a reason, or for too long."""
    for name, text in (("the rule", rule), ("the host", host), ("the instance", instance), ("the name", who.name)):
        _check_length(name, text, LONGEST_NAME)
    _check_length("the reason", reason, LONGEST_TEXT)
    check_rule(file, rule)
    _check_host(file, host)
    with file.transaction():
        begun = silences.add(file, rule, host, instance, length, reason, who.name, now, start)
        write_audit_entry(file, who, now, f"{'planned' if begun.start > now else 'began'} {_describe(begun)}")
    return begun


def end_silence(file: AlertsFile, number: int, who: Actor, now: int) -> Silence:
    """End the active or planned silence with this number, and return it. Raise Unusable if there is none."""
    with file.transaction():
        ended = silences.end(file, number, now)
        write_audit_entry(file, who, now, f"ended {_describe(ended)}")
    return ended


def add_note(file: AlertsFile, at: int, text: str, host: str, who: Actor, now: int) -> Note:
    """Put a note on charts, and return it. Raise Unusable if it is empty or too long, or its time too far away."""
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
        write_audit_entry(file, who, now, f"made {note}")
    return note


def remove_note(file: AlertsFile, number: int, who: Actor, now: int) -> Note:
    """Remove the note with this number, and return it. Raise Unusable if there is none."""
    with file.transaction() as connection:
        row = connection.execute("DELETE FROM notes WHERE id = ? RETURNING *", (number,)).fetchone()
        if row is None:
            raise Unusable(f"there is no note {number}")
        note = Note(**dict(row))
        write_audit_entry(file, who, now, f"removed {note}")
    return note


def find_notes(file: AlertsFile, start: int, end: int) -> list[Note]:
    """Return the notes in a range of time, in order of time; if there are too many, only the latest."""
    query = "SELECT * FROM notes WHERE at BETWEEN ? AND ? ORDER BY at DESC, id DESC LIMIT ?"
    return [Note(**dict(row)) for row in reversed(file.rows(query, (start, end, _MOST_NOTES)))]


def save_rule_ids(file: AlertsFile, rules: Iterable[str]) -> None:
    """Save the ids of the judged rules in alerts.db, for commands that do not load the packs of `plimsoll up`."""
    with file.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_RULE_IDS, json.dumps(sorted(rules))))


def list_rule_ids(file: AlertsFile) -> Sequence[str]:
    """Return the rule ids that alerts may have: of judged rules, of Plimsoll's own problems, and of earlier alerts."""
    saved = file.rows("SELECT value FROM meta WHERE name = ?", (_RULE_IDS,))
    judged = json.loads(saved[0]["value"]) if saved else load().rules
    earlier = [row["rule"] for row in file.rows("SELECT DISTINCT rule FROM alerts")]
    targets = [f"{NOT_NOTIFIED}{row['name']}" for row in file.rows("SELECT name FROM targets")]
    return [*dict.fromkeys((*judged, HOST_SILENT, ALL_SILENT, NOT_WRITTEN, NOT_JUDGED, *targets, *earlier))]


def check_rule(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, naming similar rules, if a pattern matches no rule id of `list_rule_ids`."""
    names = list_rule_ids(file)
    if any(is_like(name, pattern) for name in names):
        return
    begin = pattern.casefold().replace("*", "")
    by_begin = {name[: len(begin)]: name for name in reversed(names)}
    near = [by_begin[match] for match in get_close_matches(begin, [*by_begin])]
    meant = f"; did you mean {' or '.join(near)}?" if near else "; plimsoll rules list names them all"
    raise Unusable(f'no rule matches "{pattern}"{meant}')


def _check_host(file: AlertsFile, pattern: str) -> None:
    """Raise Unusable, naming similar hosts, if a pattern matches no host; accept any pattern if there are no hosts."""
    names = [row["name"] for row in file.rows("SELECT name FROM roster UNION SELECT host FROM alerts")]
    if not names or pattern == "*" or any(is_like(name, pattern) for name in names):
        return
    near = get_close_matches(pattern.casefold().replace("*", ""), [name.casefold() for name in names])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    later = "one that is to come can be named in roster.hosts of up.toml"
    raise Unusable(f'no host matches "{pattern}"{meant} ({later})')


def _describe(silence: Silence) -> str:
    instance = f", {silence.instance}" if silence.instance != "*" else ""
    length = format_duration(silence.until - silence.start)
    return f"silence {silence.id} of {silence.rule} on {silence.host}{instance} for {length}: {silence.reason}"


def _check_length(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Unusable(f"{name} has {len(text):,} characters; at most {most} are kept")


def write_audit_entry(file: AlertsFile, who: Actor, at: int, text: str) -> None:
    """Record an action in the audit log. If the caller's transaction is rolled back, the record is, too."""
    values = (at, who.name[:_LONGEST], who.how, text[:_LONGEST])
    with file.transaction() as connection:
        connection.execute("INSERT INTO deeds (at, who, how, what) VALUES (?, ?, ?, ?)", values)


def find_audit_entries(
    file: AlertsFile, start: int, end: int, who: str, first: int, most: int
) -> tuple[Sequence[AuditEntry], int]:
    """Return a page of the audit log (of `who` or of all people), latest entry first, and the number of all entries."""
    where, values = "at BETWEEN ? AND ? AND (? = '' OR who = ? COLLATE NOCASE)", (start, end, who, who)
    total = file.rows(f"SELECT count(*) AS number FROM deeds WHERE {where}", values)[0]["number"]
    query = f"SELECT * FROM deeds WHERE {where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?"
    return [AuditEntry(**dict(row)) for row in file.rows(query, (*values, most, first))], total

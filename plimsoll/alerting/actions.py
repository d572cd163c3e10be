"""What people do to alerts. The record has each."""

from plimsoll.alerting import known_rules, notes, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import alert
from plimsoll.alerting.alert_rows import record
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.audit_log import Actor, keep
from plimsoll.alerting.notes import Note
from plimsoll.alerting.silences import Silence
from plimsoll.model.errors import Unusable
from plimsoll.model.times import duration_text

LONGEST_TEXT = 500
LONGEST_NAME = 300


def acknowledge(file: AlertsFile, number: int, who: Actor, note: str, now: int) -> Alert:
    """Stop the repetition of an alert until it ends: the alert as it is then. Unusable if it is not firing."""
    found = alert(file, number)
    if found is None:
        raise Unusable(f"there is no alert {number}; plimsoll alerts list shows those that are firing")
    if not found.firing:
        raise Unusable(f"alert {number} has ended: it is not repeated any more")
    _check_length("the note", note, LONGEST_TEXT)
    _check_length("the name", who.name, LONGEST_NAME)
    with file.transaction() as connection:
        connection.execute(
            "UPDATE alerts SET acked_at = ?, acked_by = ?, ack_note = ? WHERE id = ?", (now, who.name, note, number)
        )
        record(connection, number, now, now, "acknowledged", note=f"{who.name}: {note}" if note else who.name)
        said = f": {note}" if note else ""
        keep(connection, who, now, f"acknowledged alert {number}, {found.rule} on {found.place}{said}")
    return found._replace(acked_at=now, acked_by=who.name, ack_note=note)


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
    for what, text in (("the rule", rule), ("the host", host), ("the instance", instance), ("the name", who.name)):
        _check_length(what, text, LONGEST_NAME)
    _check_length("the reason", reason, LONGEST_TEXT)
    known_rules.check(file, rule)
    known_rules.check_host(file, host)
    with file.transaction() as connection:
        made = silences.add(file, rule, host, instance, length, reason, who.name, now, start)
        keep(connection, who, now, f"{'planned' if made.start > now else 'began'} {_described(made)}")
    return made


def end_silence(file: AlertsFile, number: int, who: Actor, now: int) -> Silence:
    """End a silence, or take back one that is planned. Unusable if it is neither."""
    with file.transaction() as connection:
        ended = silences.end(file, number, now)
        keep(connection, who, now, f"ended {_described(ended)}")
    return ended


def add_note(file: AlertsFile, at: int, text: str, host: str, who: Actor, now: int) -> Note:
    """Put a note on the charts. Unusable if it says nothing, is too long, or its time is too far away."""
    with file.transaction() as connection:
        made = notes.add(file, at, text, host, who.name)
        keep(connection, who, now, f"made {_noted(made)}")
    return made


def remove_note(file: AlertsFile, number: int, who: Actor, now: int) -> Note:
    """Take a note away. Unusable if there is none of this number."""
    with file.transaction() as connection:
        gone = notes.remove(file, number)
        keep(connection, who, now, f"removed {_noted(gone)}")
    return gone


def _described(one: Silence) -> str:
    instance = f", {one.instance}" if one.instance != "*" else ""
    length = duration_text(one.until - one.start)
    return f"silence {one.id} of {one.rule} on {one.host}{instance} for {length}: {one.reason}"


def _noted(one: Note) -> str:
    return f"note {one.id}{f' on {one.host}' if one.host else ''}: {one.text}"


def _check_length(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Unusable(f"{what} has {len(text):,} characters; at most {most} are kept")

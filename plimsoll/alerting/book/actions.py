"""What people do to alerts."""

from dataclasses import replace

from plimsoll.alerting import known_rules
from plimsoll.alerting.book import silences
from plimsoll.alerting.book.database import AlertsFile
from plimsoll.alerting.book.history import alert
from plimsoll.alerting.book.record import Alert
from plimsoll.alerting.book.rows import record
from plimsoll.alerting.book.silences import Silence
from plimsoll.model.errors import Unusable

LONGEST_TEXT = 500
LONGEST_NAME = 300


def acknowledge(file: AlertsFile, number: int, who: str, note: str, now: int) -> Alert:
    """Stop the repetition of an alert until it ends: the alert as it is then. Unusable if it is not firing."""
    found = alert(file, number)
    if found is None:
        raise Unusable(f"there is no alert {number}; plimsoll alerts list shows those that are firing")
    if not found.firing:
        raise Unusable(f"alert {number} has ended: it is not repeated any more")
    _check_length("the note", note, LONGEST_TEXT)
    _check_length("the name", who, LONGEST_NAME)
    with file.transaction() as connection:
        connection.execute(
            "UPDATE alerts SET acked_at = ?, acked_by = ?, ack_note = ? WHERE id = ?", (now, who, note, number)
        )
        record(connection, number, now, now, "acknowledged", note=f"{who}: {note}" if note else who)
    return replace(found, acked_at=now, acked_by=who, ack_note=note)


def silence(
    file: AlertsFile,
    rule: str,
    host: str,
    instance: str,
    length: int,
    reason: str,
    who: str,
    now: int,
    start: int | None = None,
) -> Silence:
    """Begin a silence of `length` (ns), at `start` (UTC ns) or now.

    Unusable if no rule or no host matches, without a reason, or for longer than 30 days.
    """
    for what, text in (("the rule", rule), ("the host", host), ("the instance", instance), ("the name", who)):
        _check_length(what, text, LONGEST_NAME)
    _check_length("the reason", reason, LONGEST_TEXT)
    known_rules.check(file, rule)
    known_rules.check_host(file, host)
    return silences.add(file, rule, host, instance, length, reason, who, now, start)


def _check_length(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise Unusable(f"{what} has {len(text):,} characters; at most {most} are kept")

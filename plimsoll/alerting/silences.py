"""Silences: ranges of time in which matching alerts are not notified. Each has an end, a reason and an author.

They are stored in alerts.db, and copied to silences.json, which survives damage to alerts.db.
"""

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from plimsoll.alerting.alerts_file import SILENCES, AlertsFile, NotKept, is_like
from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, convert_to_instant, format_duration, format_iso

MOST = 1000  # active and planned ones of people, as each alert is compared with all
MAINTENANCE = "up.toml"  # the author of silences of maintenance that comes again
FARTHEST = 366 * 86_400 * SECOND
LONGEST = 30 * 86_400 * SECOND


@dataclass(frozen=True, slots=True)
class Silence:
    """A silence. `rule`, `host` and `instance` are patterns, in which `*` stands for any text; times are UTC ns."""

    id: int
    rule: str
    host: str
    instance: str
    start: int
    until: int
    reason: str
    who: str

    def matches(self, rule: str, host: str, instance: str | None) -> bool:
        """Return whether alerts of this rule, host and instance are silenced. Case does not matter."""
        pairs = ((rule, self.rule), (host, self.host), (instance or "", self.instance))
        return all(is_like(text, pattern) for text, pattern in pairs)


def add(
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
    """Begin a silence of `length` (ns), at `start` or now. Raise Unusable without a reason, or for over 30 days."""
    begin = now if start is None else start
    if not reason.strip():
        raise Unusable("a silence needs a reason: say why nobody has to be notified")
    if not 0 < length <= LONGEST:
        raise Unusable(
            f"a silence of {format_duration(length) if length > 0 else 'no time'} is not possible: at most "
            f"{format_duration(LONGEST)}; to switch a rule off for a host, write that into plimsoll.toml"
        )
    if begin + length <= now:
        raise Unusable("the silence would have ended already: let it begin later")
    if begin > now + FARTHEST:
        raise Unusable(f"the silence would begin in more than {format_duration(FARTHEST)}: plan it nearer to its time")
    values = (rule, host, instance, begin, begin + length, reason.strip(), who)
    with file.transaction() as connection:
        query = "SELECT count(*) FROM silences WHERE until > ? AND who <> ?"
        (count,) = connection.execute(query, (now, MAINTENANCE)).fetchone()
        if count >= MOST:
            raise Unusable(f"there are {count:,} silences already: end some, or let one have * for what they share")
        number = connection.execute(
            "INSERT INTO silences (rule, host, instance, start, until, reason, who) VALUES (?, ?, ?, ?, ?, ?, ?)",
            values,
        ).lastrowid
        save_copy(file, now)
    return Silence(number or 0, *values)


def end(file: AlertsFile, silence: int, now: int) -> Silence:
    """End a silence that is active or planned, and return it. Raise Unusable if there is no such silence."""
    silences = [*read_active_silences(file, now), *read_planned_silences(file, now)]
    silenced = next((other for other in silences if other.id == silence), None)
    if silenced is None:
        raise Unusable(f"silence {silence} is not active; plimsoll alerts list shows those that are")
    with file.transaction() as connection:
        # Maintenance keeps its start, by which it is not planned again.
        query = "UPDATE silences SET start = CASE who WHEN ? THEN start ELSE min(start, ?) END, until = ? WHERE id = ?"
        connection.execute(query, (MAINTENANCE, now, now, silence))
        save_copy(file, now)
    return silenced


def read_active_silences(file: AlertsFile, now: int) -> list[Silence]:
    """Return the active silences."""
    return [Silence(**dict(row)) for row in file.rows(_ACTIVE, (now, now))]


def read_planned_silences(file: AlertsFile, now: int) -> list[Silence]:
    """Return the silences that begin later."""
    query = "SELECT * FROM silences WHERE start > ? AND until > ? ORDER BY start"
    return [Silence(**dict(row)) for row in file.rows(query, (now, now))]


def read_maintenance(file: AlertsFile, start: int, end: int) -> list[Silence]:
    """Return the planned maintenance in a range of time (UTC ns), in order of time."""
    query = "SELECT * FROM silences WHERE who = ? AND start <= ? AND until >= ? ORDER BY start"
    return [Silence(**dict(row)) for row in file.rows(query, (MAINTENANCE, end, start))]


def find_maintenance_reason(connection: sqlite3.Connection, rule: str, host: str, instance: str | None, at: int) -> str:
    """Return the reason of the planned maintenance in which an alert fires at `at` (UTC ns); empty if there is none."""
    rows = connection.execute(_ACTIVE, (at, at)).fetchall()
    planned = (Silence(**dict(row)) for row in rows if row["who"] == MAINTENANCE)
    return next((silence.reason for silence in planned if silence.matches(rule, host, instance)), "")


def is_silenced(connection: sqlite3.Connection, alert: sqlite3.Row | dict[str, Any], now: int) -> bool:
    """Return whether an active silence matches an alert, given as a row of the table `alerts`."""
    silences = (Silence(**dict(row)) for row in connection.execute(_ACTIVE, (now, now)).fetchall())
    return any(silence.matches(alert["rule"], alert["host"], alert["instance"]) for silence in silences)


_ACTIVE = "SELECT * FROM silences WHERE start <= ? AND until > ? ORDER BY until"


def save_copy(file: AlertsFile, now: int) -> None:
    """Write the active and planned silences to silences.json. Raise NotKept if that fails."""
    path = file.path.with_name(SILENCES)
    silences = [
        {**asdict(silence), "start": format_iso(silence.start), "until": format_iso(silence.until)}
        for silence in [*read_active_silences(file, now), *read_planned_silences(file, now)]
    ]
    try:
        with write_atomically(path) as partial:
            partial.chmod(0o600)
            partial.write_text(json.dumps(silences, indent=2, ensure_ascii=False), encoding="utf-8")
    except Unusable as error:
        raise NotKept(str(error)) from None


def restore_copy(file: AlertsFile) -> None:
    """Copy the silences of silences.json to a new alerts.db. Raise Unusable if silences.json cannot be read."""
    path = file.path.with_name(SILENCES)
    if not path.exists():
        return
    try:
        rows = TypeAdapter(list[dict[str, Any]]).validate_json(path.read_bytes())
        for row in rows:
            row.update({name: convert_to_instant(datetime.fromisoformat(row[name])) for name in ("start", "until")})
        silences = TypeAdapter(list[Silence]).validate_python(rows)
    except (OSError, ValidationError, ValueError, TypeError, KeyError) as error:
        raise Unusable(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    with file.transaction() as connection:
        connection.executemany(
            "INSERT INTO silences VALUES (:id, :rule, :host, :instance, :start, :until, :reason, :who)",
            [asdict(silence) for silence in silences],
        )

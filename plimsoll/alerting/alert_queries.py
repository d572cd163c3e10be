"""Reads alerts from alerts.db, and deletes what is too old."""

import sqlite3
from dataclasses import dataclass

from plimsoll.alerting.alert import COLUMNS, Alert, alert_of
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.model.times import SECOND
from plimsoll.rules.severity import SEVERITIES

_DAY = 86_400 * SECOND
KEPT_ALERTS = 400 * _DAY
KEPT_MESSAGES = 90 * _DAY
MOST_KEPT = 100_000  # alerts that have ended, and messages

WORST_FIRST = "CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, fired_at DESC, id DESC"


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to an alert, and when: at which evaluation, and when it was written down (UTC ns)."""

    alert: int
    at: int
    recorded_at: int
    what: str
    value: float | None
    note: str


def firing(file: AlertsFile) -> list[Alert]:
    """The alerts that are firing, critical ones first, then the latest first."""
    return [*map(alert_of, file.rows(f"SELECT {COLUMNS} FROM alerts WHERE ended_at IS NULL ORDER BY {WORST_FIRST}"))]


def worst_first(alert: Alert) -> tuple[int, int, int]:
    """For sorting as WORST_FIRST does."""
    return SEVERITIES.index(alert.severity), -alert.fired_at, -alert.id


def history(file: AlertsFile, start: int, end: int, *, replaced: bool = False) -> list[Alert]:
    """The alerts that were firing at some time of a span, in the order in which they fired.

    `replaced`: also those that samples which came late showed otherwise.
    """
    also = "" if replaced else " AND replaced_at IS NULL"
    query = (
        f"SELECT {COLUMNS} FROM alerts WHERE fired_at <= ? AND (ended_at IS NULL OR ended_at >= ?){also}"
        " ORDER BY fired_at, id"
    )
    return [*map(alert_of, file.rows(query, (end, start)))]


def alert(file: AlertsFile, number: int) -> Alert | None:
    """The alert with this id."""
    rows = file.rows(f"SELECT {COLUMNS} FROM alerts WHERE id = ?", (number,))
    return alert_of(rows[0]) if rows else None


def events(file: AlertsFile, number: int) -> list[Event]:
    """The history of one alert, in order."""
    query = "SELECT alert, at, recorded_at, what, value, note FROM events WHERE alert = ? ORDER BY id"
    return [Event(**dict(row)) for row in file.rows(query, (number,))]


def counters(file: AlertsFile) -> dict[str, int]:
    """How many alerts there ever were, how many of them late, how many messages were sent."""
    return {row["name"]: row["value"] for row in file.rows("SELECT * FROM counters")}


def tidy(connection: sqlite3.Connection, now: int) -> None:
    """Delete alerts that ended, and deeds, of 400 days ago, messages and silences of 90, the oldest beyond 100,000."""
    old = (
        "SELECT id FROM alerts WHERE ended_at < ? UNION"
        " SELECT * FROM (SELECT id FROM alerts WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT -1 OFFSET ?)"
    )
    gone = [(row["id"],) for row in connection.execute(old, (now - KEPT_ALERTS, MOST_KEPT)).fetchall()]
    connection.executemany("DELETE FROM told WHERE alert = ?", gone)
    connection.executemany("DELETE FROM events WHERE alert = ?", gone)
    connection.executemany("DELETE FROM alerts WHERE id = ?", gone)
    connection.execute(
        "DELETE FROM notifications WHERE at < ? OR id <= (SELECT max(id) FROM notifications) - ?",
        (now - KEPT_MESSAGES, MOST_KEPT),
    )
    connection.execute(
        "DELETE FROM deeds WHERE at < ? OR id <= (SELECT max(id) FROM deeds) - ?", (now - KEPT_ALERTS, MOST_KEPT)
    )
    connection.execute("DELETE FROM silences WHERE until < ?", (now - KEPT_MESSAGES,))

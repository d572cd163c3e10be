"""The notification log in alerts.db, with the news that each target received.

There is no queue of messages: the next message is computed from the alerts and the log, so a waiting message is never
out of date. An attempt to send is recorded before it is made, the news after a success: if the process is killed in
between, a message may be sent twice, but none is lost.
"""

import json
import sqlite3
from dataclasses import dataclass

from plimsoll.alerting import silences
from plimsoll.alerting.alert import COLUMNS, parse_alert
from plimsoll.alerting.alert_rows import count
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.firing import load_firing
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND
from plimsoll.notify.grouping import FORGOTTEN, HOST_EVERY, HOUR, AlertGroup, Notified, Policy, Situation

_WAITS = (30 * SECOND, 60 * SECOND, 120 * SECOND, 300 * SECOND, 600 * SECOND)
LONGEST_WAIT = _WAITS[-1]


@dataclass(frozen=True, slots=True)
class TargetState:
    """Whether messages to a target arrive. Times are in UTC ns.

    `address` is redacted; `attempts` counts the failures since the last success.
    """

    name: str
    address: str
    since: int
    sent_at: int | None
    failing_since: int | None
    attempts: int
    next_try: int | None
    error: str


class NotificationLog:
    """The notification log of one target. `address` is redacted."""

    def __init__(self, file: AlertsFile, name: str, address: str, now: int) -> None:
        self._file = file
        self._name = name
        with file.transaction() as connection:
            connection.execute(
                "INSERT INTO targets (name, address, since) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET address = excluded.address",
                (name, address, now),
            )

    def state(self) -> TargetState:
        """Return whether messages to the target arrive."""
        return next(state for state in read_states(self._file) if state.name == self._name)

    def situation(self, policy: Policy, now: int) -> Situation:
        """Return everything that the next message to the target depends on."""
        alerts = load_firing(self._file).all_alerts
        query = f"SELECT {COLUMNS} FROM alerts LEFT JOIN told ON alert = id AND target = ? WHERE"
        ended = self._file.rows(
            f"{query} ended_at > ? AND alert IS NULL AND NOT hush UNION ALL"
            f" {query} ended_at IS NOT NULL AND told.what = 'fired'",
            (self._name, now - FORGOTTEN, self._name),
        )
        rows = self._file.rows(
            "SELECT alert, what, at, times FROM told JOIN alerts ON id = alert WHERE target = ?"
            " AND (ended_at IS NULL OR what = 'fired')",
            (self._name,),
        )
        hosts = self._file.rows(
            "SELECT host, max(at) AS at FROM told JOIN alerts ON id = alert WHERE target = ? AND at > ? GROUP BY host",
            (self._name, now - HOST_EVERY),
        )
        sent = self._file.rows("SELECT at FROM notifications WHERE target = ? AND at > ?", (self._name, now - HOUR))
        notified = {row["alert"]: Notified(row["what"], row["at"], row["times"]) for row in rows}
        in_order = sorted(
            [*alerts, *map(parse_alert, ended)],
            key=lambda alert: (alert.id in notified, alert.ended_at is not None, alert.id),
        )
        return Situation(
            alerts=[alert for alert in in_order if alert.severity in policy.target.severities],
            firing=alerts,
            notified=notified,
            silences=silences.read_active_silences(self._file, now),
            hosts={make_host_key(row["host"]): row["at"] for row in hosts},
            sent=[row["at"] for row in sent],
            since=self.state().since,
        )

    def attempt(self, group: AlertGroup, title: str, now: int) -> int:
        """Record that a message with these alerts is about to be sent. Return the id of the attempt."""
        alerts = json.dumps([item.alert.id for item in group.items])
        with self._file.transaction() as connection:
            return _log(connection, self._name, now, title, alerts, "sending")

    def succeeded(self, attempt: int, group: AlertGroup, now: int) -> None:
        """Record that an attempt succeeded, so that the target counts as notified of its alerts."""
        with self._file.transaction() as connection:
            connection.execute("UPDATE notifications SET outcome = 'sent' WHERE id = ?", (attempt,))
            self._is_notified(connection, group, now)
            connection.execute(
                "UPDATE targets SET sent_at = ?, failing_since = NULL, attempts = 0, next_try = NULL, error = ''"
                " WHERE name = ?",
                (now, self._name),
            )
            count(connection, "messages sent")

    def left(self, group: AlertGroup, now: int) -> None:
        """Record that the target was notified of these alerts by another `plimsoll up`."""
        with self._file.transaction() as connection:
            self._is_notified(connection, group, now)

    def failed(self, attempt: int, error: str, now: int) -> None:
        """Record why an attempt failed, and when to try again."""
        wait = _WAITS[min(self.state().attempts, len(_WAITS) - 1)]
        with self._file.transaction() as connection:
            connection.execute("UPDATE notifications SET outcome = 'failed', error = ? WHERE id = ?", (error, attempt))
            connection.execute(
                "UPDATE targets SET failing_since = coalesce(failing_since, ?), attempts = attempts + 1, next_try = ?,"
                " error = ? WHERE name = ?",
                (now, now + wait, error, self._name),
            )
            count(connection, "messages failed")

    def give_up(self, policy: Policy, now: int) -> int:
        """Record alerts that ended over a day ago, and could not be sent, as given up. Return their number."""
        severities = ", ".join(f"'{severity}'" for severity in sorted(policy.target.severities))
        query = (
            f"SELECT {COLUMNS} FROM alerts LEFT JOIN told ON alert = id AND target = ? WHERE ended_at <= ?"
            f" AND ended_at > ? AND alert IS NULL AND NOT hush AND severity IN ({severities})"
        )
        first = max(now - 2 * FORGOTTEN, self.state().since)
        untold = map(parse_alert, self._file.rows(query, (self._name, now - FORGOTTEN, first)))
        given_up = [alert.id for alert in untold if policy.wants(alert) and not policy.spares(alert, now)]
        if given_up:
            with self._file.transaction() as connection:
                values = [(number, self._name, now) for number in given_up]
                connection.executemany("INSERT OR IGNORE INTO told VALUES (?, ?, 'ended', ?, 0)", values)
                _log(connection, self._name, now, "", json.dumps(given_up), "given up")
                count(connection, "alerts given up", len(given_up))
        return len(given_up)

    def _is_notified(self, connection: sqlite3.Connection, group: AlertGroup, now: int) -> None:
        rows = [(item.alert.id, self._name, "ended" if "ended" in item.news else "fired", now) for item in group.items]
        connection.executemany(
            "INSERT INTO told (alert, target, what, at) VALUES (?, ?, ?, ?) ON CONFLICT (alert, target)"
            " DO UPDATE SET what = excluded.what, at = excluded.at, times = times + 1",
            rows,
        )


def read_states(file: AlertsFile) -> list[TargetState]:
    """Return the state of each target in the log, by name in order."""
    return [TargetState(**dict(row)) for row in file.rows("SELECT * FROM targets ORDER BY name")]


@dataclass(frozen=True, slots=True)
class Notification:
    """An attempt to send a message to a target, when it was made (UTC ns), and its result."""

    target: str
    at: int
    title: str
    outcome: str
    error: str


def read_notifications(file: AlertsFile, alert: int) -> list[Notification]:
    """Return the attempts to send messages that contained an alert (by id), in order of time."""
    rows = file.rows(
        "SELECT target, at, title, outcome, error FROM notifications"
        " WHERE EXISTS (SELECT 1 FROM json_each(alerts) WHERE value = ?) ORDER BY id",
        (alert,),
    )
    return [Notification(**dict(row)) for row in rows]


def forget_others(file: AlertsFile, names: set[str]) -> None:
    """Delete the logs of all targets except those with these names."""
    gone = [state.name for state in read_states(file) if state.name not in names]
    with file.transaction() as connection:
        for name in gone:
            connection.execute("DELETE FROM told WHERE target = ?", (name,))
            connection.execute("DELETE FROM targets WHERE name = ?", (name,))


def _log(connection: sqlite3.Connection, target: str, now: int, title: str, alerts: str, outcome: str) -> int:
    query = "INSERT INTO notifications (target, at, title, alerts, outcome) VALUES (?, ?, ?, ?, ?)"
    return connection.execute(query, (target, now, title, alerts, outcome)).lastrowid or 0

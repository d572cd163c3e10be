"""Begins and ends alerts in alerts.db, within the caller's transaction."""

import math
import sqlite3
from dataclasses import dataclass, fields

from plimsoll.alerting.alert import Details, Ended, Key, Kind, encode_key
from plimsoll.alerting.silences import find_maintenance_reason, is_silenced
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Severity

_HOUR = 3600 * SECOND
# A rule is flapping once it fired so often within a span; this ends when it has not changed state for some time.
_FLAPPING = ((3, _HOUR, _HOUR), (6, 24 * _HOUR, 6 * _HOUR))


@dataclass(frozen=True, slots=True)
class NewAlert:
    """An alert that begins.

    With `hold`, it is notified only after missed evaluations are caught up; with `late`, never. `worst` is the worst
    value since `since`; NaN means that `value` is the worst.
    """

    key: Key
    kind: Kind
    rule: str
    severity: Severity
    host: str
    fired_at: int
    details: Details
    since: int | None = None
    signal: str = ""
    instance: str | None = None
    value: float = math.nan
    healthy: str = ""
    worst: float = math.nan
    hold: bool = False
    late: bool = False


def begin(connection: sqlite3.Connection, alert: NewAlert, now: int) -> int:
    """Insert an alert that begins to fire into alerts.db, and return its id."""
    columns = {field.name: getattr(alert, field.name) for field in fields(alert)} | {
        "key": encode_key(alert.key),
        "value": _encode_nan(alert.value),
        "worst": _encode_nan(alert.value if math.isnan(alert.worst) else alert.worst),
        "last": _encode_nan(alert.value),
        "hush": alert.late,
        "details": alert.details.to_json(),
    }
    query = f"INSERT INTO alerts ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    number = connection.execute(query, tuple(columns.values())).lastrowid or 0
    record(connection, number, alert.fired_at, now, "fired", alert.value, "late" if alert.late else "")
    if planned := find_maintenance_reason(connection, alert.rule, alert.host, alert.instance, alert.fired_at):
        record(connection, number, alert.fired_at, now, "planned", note=planned)
    count(connection, "alerts")
    return number


def end(connection: sqlite3.Connection, alert: int, at: int, now: int, ended: Ended, *, hold: bool = False) -> None:
    """End an alert. With `hold`, its end is not notified until missed evaluations are caught up.

    If the alert also began during catching up, its rule flaps, or the alert is muted or silenced, its end is sent only
    to targets that received the alert.
    """
    row = connection.execute("SELECT * FROM alerts WHERE id = ?", (alert,)).fetchone()
    flapping = row["kind"] != "flapping" and open_flapping(connection, row["key"]) is not None
    hush = row["hold"] or flapping or _is_muted(connection, row) or is_silenced(connection, row, now)
    connection.execute(
        "UPDATE alerts SET ended_at = ?, ended_how = ?, stale = 0, hush = hush OR ?, hold = hold OR ? WHERE id = ?",
        (at, ended, hush, hold, alert),
    )
    if flapping:
        _settle(connection, "SELECT ?", alert)
    record(connection, alert, at, now, ended)


def count_firing(connection: sqlite3.Connection, alert: int, now: int) -> None:
    """Add a new alert to the count of the flapping alert of its rule and subject.

    Without a flapping alert, begin one if the rule fired too often for the subject.
    """
    row = connection.execute("SELECT * FROM alerts WHERE id = ?", (alert,)).fetchone()
    flapping = open_flapping(connection, row["key"])
    if flapping is not None:
        connection.execute("UPDATE alerts SET firings = firings + 1 WHERE id = ?", (flapping,))
        return
    firings = _read_firing_times(connection, row["key"], row["fired_at"])
    within = [[at for at in firings if at > row["fired_at"] - span] for _, span, _ in _FLAPPING]
    many = [times for times, (most, _, _) in zip(within, _FLAPPING, strict=True) if len(times) >= most]
    if not many:
        return
    copied = "key, rule, severity, signal, host, instance, value, worst, last, healthy, hold, details"
    begun = connection.execute(
        f"INSERT INTO alerts ({copied}, kind, since, fired_at, firings)"
        f" SELECT {copied}, 'flapping', ?, fired_at, ? FROM alerts WHERE id = ?",
        (min(many[-1]), len(many[-1]), alert),
    ).lastrowid
    record(connection, begun or 0, row["fired_at"], now, "flapping")
    _settle(connection, "SELECT id FROM alerts WHERE key = ? AND ended_at IS NOT NULL AND NOT hush", row["key"])


def end_flapping(connection: sqlite3.Connection, at: int, now: int) -> None:
    """End the flapping alerts of rules that have not changed state for long enough."""
    for row in connection.execute("SELECT id, key FROM alerts WHERE ended_at IS NULL AND kind = 'flapping'").fetchall():
        last = connection.execute(
            "SELECT coalesce(ended_at, fired_at) AS at FROM alerts WHERE key = ? AND kind <> 'flapping'"
            " ORDER BY fired_at DESC LIMIT 1",
            (row["key"],),
        ).fetchone()
        quiet = at - (last["at"] if last else 0)
        if quiet < min(stable for _, _, stable in _FLAPPING):
            continue
        firings = _read_firing_times(connection, row["key"], at)
        often = [stable for most, span, stable in _FLAPPING if sum(firing > at - span for firing in firings) >= most]
        if quiet >= max(often, default=0):
            end(connection, row["id"], at, now, "recovered")


def _read_firing_times(connection: sqlite3.Connection, key: str, at: int) -> list[int]:
    """Return the latest times at which a key fired, newest first: as many and as old as count for flapping at `at`."""
    rows = connection.execute(
        "SELECT fired_at FROM alerts WHERE key = ? AND kind <> 'flapping' AND NOT late AND replaced_at IS NULL"
        " AND fired_at > ? ORDER BY fired_at DESC LIMIT ?",
        (key, at - max(span for _, span, _ in _FLAPPING), max(most for most, _, _ in _FLAPPING)),
    )
    return [row["fired_at"] for row in rows]


def open_flapping(connection: sqlite3.Connection, key: str) -> int | None:
    """Return the id of the flapping alert that fires for a key (as stored in alerts.db); None if there is none."""
    row = connection.execute(
        "SELECT id FROM alerts WHERE key = ? AND ended_at IS NULL AND kind = 'flapping'", (key,)
    ).fetchone()
    return row and row["id"]


def record(
    connection: sqlite3.Connection,
    alert: int,
    at: int,
    now: int,
    text: str,
    value: float = math.nan,
    note: str = "",
) -> None:
    """Add an event to the history of an alert."""
    connection.execute(
        "INSERT INTO events (alert, at, recorded_at, what, value, note) VALUES (?, ?, ?, ?, ?, ?)",
        (alert, at, now, text, _encode_nan(value), note),
    )


def count(connection: sqlite3.Connection, name: str, by: int = 1) -> None:
    """Add `by` to the counter `name` in alerts.db."""
    connection.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value", (name, by)
    )


def _settle(connection: sqlite3.Connection, alerts: str, value: str | int) -> None:
    """Treat the ends of alerts of a flapping rule as notified. `alerts` is a query for the ids of the alerts."""
    connection.execute(f"UPDATE told SET what = 'ended' WHERE alert IN ({alerts})", (value,))
    connection.execute(f"UPDATE alerts SET hush = 1 WHERE id IN ({alerts})", (value,))


def _is_muted(connection: sqlite3.Connection, row: sqlite3.Row) -> bool:
    """Return whether a firing alert says that this alert's host, or every host, is silent."""
    if row["kind"] in ("all-silent", "plimsoll"):
        return False
    kinds = "('all-silent')" if row["kind"] == "host-silent" else "('all-silent', 'host-silent')"
    silent = connection.execute(
        f"SELECT host FROM alerts WHERE ended_at IS NULL AND kind IN {kinds} AND id <> ?", (row["id"],)
    ).fetchall()
    return any(not alert["host"] or make_host_key(alert["host"]) == make_host_key(row["host"]) for alert in silent)


def _encode_nan(value: float) -> float | None:
    return None if math.isnan(value) else value

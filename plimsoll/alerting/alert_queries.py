"""Queries of alerts.db: the firing alerts, the alerts in a range of time, and pages of alerts."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from plimsoll.alerting.alert import COLUMNS, Alert, Key, encode_key, parse_alert
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES

_DAY = 86_400 * SECOND
KEPT_ALERTS = 400 * _DAY
KEPT_MESSAGES = 90 * _DAY
MOST_KEPT = 100_000  # alerts that have ended, and messages
_WORST_FIRST = "CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, fired_at DESC, id DESC"
_CURRENT = "replaced_at IS NULL"


@dataclass(frozen=True, slots=True)
class Event:
    """A change of an alert at an evaluation, with the time at which the change was saved (UTC ns)."""

    alert: int
    at: int
    recorded_at: int
    what: str
    value: float | None
    note: str


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """A selection of alerts. `host` and `rule` are patterns, in which `*` stands for any text.

    `start` and `end` (UTC ns) apply to ended alerts, and select alerts that were firing at some time in between.
    """

    severities: Sequence[Severity] = SEVERITIES
    host: str = "*"
    rule: str = "*"
    start: int = 0
    end: int = 0


Page: TypeAlias = tuple[Sequence[Alert], int]  # the alerts of a page, and the number of alerts in all pages


def read_firing_alerts(file: AlertsFile) -> list[Alert]:
    """Return the firing alerts: critical alerts first, and within a severity the latest first."""
    return _read(file, f"ended_at IS NULL ORDER BY {_WORST_FIRST}")


def read_history(file: AlertsFile, start: int, end: int, *, replaced: bool = False) -> list[Alert]:
    """Return the alerts that fired in a range, in time order; with `replaced` also alerts that late samples refute."""
    also = "" if replaced else f" AND {_CURRENT}"
    where = f"fired_at <= ? AND (ended_at IS NULL OR ended_at >= ?){also} ORDER BY fired_at, id"
    return _read(file, where, end, start)


def read_alert(file: AlertsFile, number: int) -> Alert | None:
    """Return the alert with this id; None if there is none."""
    return next(iter(_read(file, "id = ?", number)), None)


def read_events(file: AlertsFile, number: int) -> list[Event]:
    """Return the history of an alert (all its events), in order."""
    query = "SELECT alert, at, recorded_at, what, value, note FROM events WHERE alert = ? ORDER BY id"
    return [Event(**dict(row)) for row in file.rows(query, (number,))]


def find_firing(file: AlertsFile, chosen: AlertFilter, first: int, most: int, *, exact: bool = False) -> Page:
    """Return a page of firing alerts: `most` from number `first` on.

    If `first` is beyond the last alert, return the last page, or with `exact` an empty page.
    """
    return _find(file, "ended_at IS NULL", [], _WORST_FIRST, first, most, chosen, exact=exact)


def find_ended(file: AlertsFile, chosen: AlertFilter, first: int, most: int, *, exact: bool = False) -> Page:
    """Return a page of the alerts that have ended, the latest first; for `first` and `exact` see `find_firing`."""
    where, span = f"{_CURRENT} AND ended_at >= ? AND fired_at <= ?", [chosen.start, chosen.end]
    return _find(file, where, span, "ended_at DESC, id DESC", first, most, chosen, exact=exact)


def find_latest(file: AlertsFile, rule_or_key: str | Key, first: int, most: int) -> Page:
    """Return a page of the alerts, firing or ended, of a rule or of one rule and subject, the latest first."""
    is_rule = isinstance(rule_or_key, str)
    where, value = ("rule = ?", rule_or_key) if is_rule else ("key = ?", encode_key(rule_or_key))
    return _find(file, f"{where} AND {_CURRENT}", [value], "fired_at DESC, id DESC", first, most)


def tidy(connection: sqlite3.Connection, now: int) -> None:
    """Delete old rows: ended alerts and audit entries after 400 days, messages and silences after 90 days.

    Of ended alerts, audit entries and messages, at most the newest 100,000 of each are kept.
    """
    old = (
        "SELECT id FROM alerts WHERE ended_at < ? UNION"
        " SELECT * FROM (SELECT id FROM alerts WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT -1 OFFSET ?)"
    )
    gone = [(row["id"],) for row in connection.execute(old, (now - KEPT_ALERTS, MOST_KEPT)).fetchall()]
    for table, column in (("told", "alert"), ("events", "alert"), ("alerts", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)
    for table, kept in (("notifications", KEPT_MESSAGES), ("deeds", KEPT_ALERTS)):
        query = f"DELETE FROM {table} WHERE at < ? OR id <= (SELECT max(id) FROM {table}) - ?"
        connection.execute(query, (now - kept, MOST_KEPT))
    connection.execute("DELETE FROM silences WHERE until < ?", (now - KEPT_MESSAGES,))


def _read(file: AlertsFile, where: str, *values: str | int) -> list[Alert]:
    return [*map(parse_alert, file.rows(f"SELECT {COLUMNS} FROM alerts WHERE {where}", values))]


def _find(
    file: AlertsFile,
    where: str,
    values: Sequence[str | int],
    order: str,
    first: int,
    most: int,
    chosen: AlertFilter = AlertFilter(),
    *,
    exact: bool = False,
) -> Page:
    """Return a page of the alerts that fulfil both the SQL condition `where` and the filter `chosen`."""
    conditions = [where, f"severity IN ({', '.join('?' * len(chosen.severities))})"]
    values = [*values, *chosen.severities]
    for column, pattern in (("rule", chosen.rule), ("host", chosen.host)):
        if pattern != "*":
            conditions.append(f"is_like(coalesce({column}, ''), ?)")
            values.append(pattern)
    where = " AND ".join(conditions)
    total = file.rows(f"SELECT count(*) AS number FROM alerts WHERE {where}", values)[0]["number"]
    first = first if exact else min(first, max(total - 1, 0) // most * most)
    return _read(file, f"{where} ORDER BY {order} LIMIT ? OFFSET ?", *values, most, first), total

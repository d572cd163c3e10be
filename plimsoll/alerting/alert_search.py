"""Finds alerts in alerts.db, a page at a time, however many there are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.alerting.alert import COLUMNS, Alert, Key, alert_of, key_text
from plimsoll.alerting.alert_queries import WORST_FIRST
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.severity import SEVERITIES

_KEPT = "replaced_at IS NULL"


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Which alerts that have ended: those that were firing at some time of a span (UTC ns).

    `host` and `rule` are patterns, in which `*` is any text.
    """

    start: int
    end: int
    severities: Sequence[Severity] = SEVERITIES
    host: str = "*"
    rule: str = "*"


@dataclass(frozen=True, slots=True)
class AlertPage:
    """Some alerts, and how many there are in all."""

    alerts: Sequence[Alert]
    total: int


def firing(
    file: AlertsFile,
    severities: Sequence[Severity],
    first: int,
    most: int,
    *,
    host: str = "*",
    rule: str = "*",
    exact: bool = False,
) -> AlertPage:
    """Alerts that are firing: critical ones first, then the latest first. `host` and `rule` are patterns.

    `exact`: beyond the last ones there are none; otherwise the last page; so for `ended`.
    """
    where = ["ended_at IS NULL", f"severity IN ({_places(severities)})"]
    like, patterns = _like(rule=rule, host=host)
    values = [*severities, *patterns]
    return _found(file, " AND ".join([*where, *like]), values, WORST_FIRST, first, most, exact=exact)


def ended(file: AlertsFile, wanted: AlertFilter, first: int, most: int, *, exact: bool = False) -> AlertPage:
    """Alerts that have ended, the latest first."""
    where = [_KEPT, "ended_at >= ?", "fired_at <= ?", f"severity IN ({_places(wanted.severities)})"]
    like, patterns = _like(rule=wanted.rule, host=wanted.host)
    values = [wanted.start, wanted.end, *wanted.severities, *patterns]
    return _found(file, " AND ".join([*where, *like]), values, "ended_at DESC, id DESC", first, most, exact=exact)


def of_key(file: AlertsFile, key: Key, first: int, most: int) -> AlertPage:
    """The alerts of a rule and subject, the latest first."""
    return _found(file, f"key = ? AND {_KEPT}", [key_text(key)], "fired_at DESC, id DESC", first, most)


def of_rule(file: AlertsFile, rule: str, first: int, most: int) -> AlertPage:
    """The alerts of a rule, the latest first."""
    return _found(file, f"rule = ? AND {_KEPT}", [rule], "fired_at DESC, id DESC", first, most)


def firing_by_severity(file: AlertsFile) -> Mapping[Severity, int]:
    """How many alerts are firing."""
    rows = file.rows("SELECT severity, count(*) AS number FROM alerts WHERE ended_at IS NULL GROUP BY severity")
    return {row["severity"]: row["number"] for row in rows}


def firing_by_rule(file: AlertsFile) -> Mapping[str, int]:
    """How many alerts of each rule are firing."""
    rows = file.rows("SELECT rule, count(*) AS number FROM alerts WHERE ended_at IS NULL AND kind = 'rule' GROUP BY 1")
    return {row["rule"]: row["number"] for row in rows}


def _like(**patterns: str) -> tuple[list[str], list[str]]:
    """The conditions that columns match patterns, and their values; none for a pattern that anything matches."""
    asked = {column: pattern for column, pattern in patterns.items() if pattern != "*"}
    return [f"is_like(coalesce({column}, ''), ?)" for column in asked], [*asked.values()]


def _found(
    file: AlertsFile,
    where: str,
    values: Sequence[str | int],
    order: str,
    first: int,
    most: int,
    *,
    exact: bool = False,
) -> AlertPage:
    total = file.rows(f"SELECT count(*) AS number FROM alerts WHERE {where}", values)[0]["number"]
    first = first if exact else min(first, max(total - 1, 0) // most * most)
    query = f"SELECT {COLUMNS} FROM alerts WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?"
    return AlertPage([*map(alert_of, file.rows(query, [*values, most, first]))], total)


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))

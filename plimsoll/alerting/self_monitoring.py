"""Plimsoll's own troubles as alerts: a full disk, data that cannot be judged."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from plimsoll.alerting.alert import Details
from plimsoll.alerting.alert_rows import NewAlert, begin, count_firing, end
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.rules.schema.field_types import Severity

NOT_WRITTEN = "samples-not-written"
NOT_JUDGED = "not-judged"
HOSTS_LEFT_OUT = "hosts-left-out"
LIMITS_LEFT_OUT = "limits-left-out"
CONNECTIONS = "connections"
ALERTS_DAMAGED = "alerts-damaged"
DAYS_DAMAGED = "days-damaged"
NOT_CHECKED = "not-checked-"  # and the name of the check
NOT_COLLECTED = "not-collected-"  # and the name of what does not answer
NOT_NOTIFIED = "notify-"  # and the name of the target
_HOST = "plimsoll"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of Plimsoll itself that somebody has to mend: an id (`store-full`), and a sentence.

    A warning is of what works still.
    """

    id: str
    text: str
    severity: Severity = "critical"


class SelfMonitoring:
    """Begins and ends the alerts of troubles."""

    def __init__(self, file: AlertsFile) -> None:
        self._file = file
        self._last: tuple[str, ...] | None = None

    def step(self, troubles: Sequence[Problem], now: int) -> None:
        """Begin an alert for each trouble that is new, and end those of troubles that are over."""
        ids = tuple(one.id for one in troubles)
        if ids == self._last:
            return
        with self._file.transaction() as connection:
            rows: list[sqlite3.Row] = connection.execute(
                "SELECT id, rule FROM alerts WHERE ended_at IS NULL AND kind = 'plimsoll'"
            ).fetchall()
            firing = {row["rule"]: row["id"] for row in rows}
            for one in troubles:
                if one.id not in firing:
                    count_firing(connection, begin(connection, _begun(one, now), now), now)
            for rule, alert in firing.items():
                if rule not in ids:
                    end(connection, alert, now, now, "recovered")
        self._last = ids


def _begun(one: Problem, now: int) -> NewAlert:
    return NewAlert(
        key=(one.id, _HOST, None),
        kind="plimsoll",
        rule=one.id,
        severity=one.severity,
        signal="",
        host=_HOST,
        instance=None,
        since=now,
        fired_at=now,
        value=nan,
        healthy="",
        details=Details(title=one.text, summary=one.text),
    )

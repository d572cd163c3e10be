"""Alerts about Plimsoll itself, such as a full disk or data that cannot be judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.alerting.alert import Details
from plimsoll.alerting.alert_rows import NewAlert, begin, count_firing, end
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.rules.schema.field_types import Severity

NOT_WRITTEN = "samples-not-written"
NOT_JUDGED = "not-judged"
NOT_NOTIFIED = "notify-"  # and the name of the target
_HOST = "plimsoll"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of Plimsoll itself to be solved: id, sentence, and severity (warning: everything still works)."""

    id: str
    text: str
    severity: Severity = "critical"


class SelfMonitoring:
    """The alerts about problems of Plimsoll itself."""

    def __init__(self, file: AlertsFile) -> None:
        self._file = file
        self._last: tuple[str, ...] | None = None

    def step(self, problems: Sequence[Problem], now: int) -> None:
        """Begin an alert for each new problem, and end the alerts of solved problems."""
        ids = tuple(problem.id for problem in problems)
        if ids == self._last:
            return
        with self._file.transaction() as connection:
            rows = connection.execute("SELECT id, rule FROM alerts WHERE ended_at IS NULL AND kind = 'plimsoll'")
            firing = {row["rule"]: row["id"] for row in rows.fetchall()}
            for problem in problems:
                if problem.id not in firing:
                    key, details = (problem.id, _HOST, None), Details(title=problem.text, summary=problem.text)
                    begun = NewAlert(key, "plimsoll", problem.id, problem.severity, _HOST, now, details, since=now)
                    count_firing(connection, begin(connection, begun, now), now)
            for rule, alert in firing.items():
                if rule not in ids:
                    end(connection, alert, now, now, "recovered")
        self._last = ids

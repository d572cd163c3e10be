"""The alerts that fire, kept in memory: of thousands only that is read again which has changed."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from plimsoll.alerting.alert import COLUMNS, READING, Alert, alert_of, reading_of
from plimsoll.alerting.alert_queries import firing, worst_first
from plimsoll.alerting.alerts_file import AlertsFile

# SQLite itself notes what this connection changes, whoever asks for it: nobody can forget to. Values are not noted, as
# an evaluation changes those of all alerts; and what other processes change is known by the file's version.
_FACTS = COLUMNS.removesuffix(f", {READING}")
_NOTE = "BEGIN INSERT OR IGNORE INTO changed VALUES ({}.id); END"
_NOTED = (
    "PRAGMA temp_store = MEMORY",  # there may be no place for a file
    "CREATE TEMP TABLE IF NOT EXISTS changed (id INTEGER PRIMARY KEY)",
    f"CREATE TEMP TRIGGER IF NOT EXISTS begun AFTER INSERT ON main.alerts {_NOTE.format('new')}",
    f"CREATE TEMP TRIGGER IF NOT EXISTS amended AFTER UPDATE OF {_FACTS} ON main.alerts {_NOTE.format('new')}",
    f"CREATE TEMP TRIGGER IF NOT EXISTS deleted AFTER DELETE ON main.alerts {_NOTE.format('old')}",
)
_OPEN = "FROM alerts WHERE ended_at IS NULL"
_Reading: TypeAlias = tuple[float | None, float | None, int]


class OpenAlerts:
    """The alerts of a file that fire."""

    def __init__(self) -> None:
        self._version: tuple[int, int] | None = None
        self._notes = False
        self._readings: Mapping[int, _Reading] = {}
        self._alerts: Sequence[Alert] = ()

    def now(self, file: AlertsFile) -> Sequence[Alert]:
        """Critical ones first, then the latest first. The same object until one changes."""
        with file.alone():  # several who ask at once read it once
            version = file.version
            if version is None:  # within a transaction, which may be undone
                return firing(file)
            if version != self._version:
                last, self._version = self._version, None  # if it cannot be read, all is read the next time
                by_others, _ = version
                self._read(file, changes_alone=last is not None and last[0] == by_others)
                self._version = by_others, file.own_changes
            return self._alerts

    def _read(self, file: AlertsFile, *, changes_alone: bool) -> None:
        before = self._readings
        if not self._notes:
            for statement in _NOTED:
                file.rows(statement)
            self._notes = True
        self._readings = {row[0]: row[1:] for row in file.rows(f"SELECT id, {READING} {_OPEN}")}
        if not changes_alone:
            self._alerts = firing(file)
        else:
            changed = {row["id"] for row in file.rows("SELECT id FROM changed")}
            if not changed and self._readings == before:
                return
            kept = (one for one in self._alerts if one.id in self._readings and one.id not in changed)
            renewed = (_with(one, self._readings[one.id], before[one.id]) for one in kept)
            fresh = file.rows(f"SELECT {COLUMNS} {_OPEN} AND id IN (SELECT id FROM changed)")
            self._alerts = sorted([*renewed, *map(alert_of, fresh)], key=worst_first)
        file.rows("DELETE FROM changed")


def _with(alert: Alert, reading: _Reading, before: _Reading) -> Alert:
    return alert if reading == before else Alert._make((*alert[: -len(reading)], *reading_of(*reading)))

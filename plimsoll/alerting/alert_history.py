"""Saves the outcome of each evaluation in alerts.db: state changes, statuses and alerts.

All results of an evaluation are committed at once. The notifier reads from alerts.db which alerts each notification
target has not received yet (plimsoll/notify/targets.py), so a saved alert is never left unnotified.
"""

import logging
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.alerting import silences
from plimsoll.alerting.alert import Key, decode_key, describe_alert, encode_key, select_worst
from plimsoll.alerting.alert_queries import tidy
from plimsoll.alerting.alert_rows import NewAlert, begin, count, count_firing, end, end_flapping, record
from plimsoll.alerting.alerts_file import DAMAGED, NAME, AlertsFile, DamagedFile
from plimsoll.alerting.state_changes import AlertInterval, StateChange
from plimsoll.model.errors import Unusable
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_iso
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import State, Status

_LAST = "last evaluation"
_TIDY_EVERY = 3600 * SECOND
# The columns of past times.
_TIMES = {
    "alerts": ("since", "fired_at", "ended_at", "acked_at", "replaced_at"),
    "events": ("at", "recorded_at"),
    "statuses": ("since",),
    "roster": ("since", "newest", "retired_at"),
    "told": ("at",),
    "targets": ("since", "sent_at", "failing_since", "next_try"),
    "notifications": ("at",),
}
_log = logging.getLogger(__name__)


class AlertHistory:
    """The states and alerts of `plimsoll up` in alerts.db.

    Only the alert loop writes; other threads and processes may read. A method that cannot write, for example because
    the disk is full, raises NotKept and leaves the file unchanged; the call can be repeated.
    """

    def __init__(self, file: AlertsFile, signals: Mapping[str, Signal]) -> None:
        self.file = file
        self._signals = signals
        self._tidied = 0

    def statuses(self) -> dict[Key, Status]:
        """Return the status of each rule and subject that is not OK."""
        rows = self.file.rows("SELECT * FROM statuses")
        return {decode_key(row["key"]): Status(State(row["state"]), row["since"]) for row in rows}

    def step(
        self,
        at: int,
        changes: Sequence[StateChange],
        statuses: Mapping[Key, Status],
        *,
        now: int,
        readings: Mapping[Key, float] | None = None,
        processes: Mapping[str, Sequence[str]] | None = None,
        usual: Mapping[Key, str] | None = None,
        quiet: bool = False,
    ) -> frozenset[Key]:
        """Save the evaluation at `at`, which must be later than the last saved evaluation.

        `statuses` are all statuses other than OK. `readings` are the values of firing rules; NaN means no data (the
        alert is stale). `processes` are the top processes by host, a line for each resource. `usual` are texts on the
        usual values, by key of a new alert. With `quiet`, nothing is notified until `caught_up` is called.

        Return the keys of firing statuses whose alert no longer exists, because somebody retired the host. The loop
        must forget these statuses, so that the rules can fire again.
        """
        last = read_last_evaluation(self.file)
        if last is not None and at <= last:
            raise ValueError(f"the evaluation at {format_iso(at)} is not after the last one, at {format_iso(last)}")
        by_host = {make_host_key(host): tuple(lines) for host, lines in (processes or {}).items()}
        with self.file.transaction() as connection:
            firing = self._read_firing()
            opened: dict[Key, int] = {key: row["id"] for key, row in firing.items()}
            for change in changes:
                key = change.key
                if change.after == State.FIRING and key not in opened:
                    begun = self._begin_alert(change, change.at, by_host.get(make_host_key(change.subject.host), ()))
                    begun = replace(begun, details=replace(begun.details, usual=(usual or {}).get(key, "")))
                    opened[key] = begin(connection, replace(begun, hold=quiet), now)
                    count_firing(connection, opened[key], now)
                elif change.before == State.FIRING and change.after != State.FIRING and key in opened:
                    end(connection, opened.pop(key), change.at, now, "recovered", hold=quiet)
                    firing.pop(key, None)
            _read(connection, firing, readings or {}, at, now)
            end_flapping(connection, at, now)
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LAST, at))
            if abs(now - self._tidied) >= _TIDY_EVERY:
                tidy(connection, now)
            lost = frozenset(key for key, status in statuses.items() if status.state == State.FIRING) - opened.keys()
            before, after = self.statuses(), {key: status for key, status in statuses.items() if key not in lost}
            _keep_statuses(connection, dict.fromkeys(before.keys() - after.keys(), Status()))
            _keep_statuses(connection, {key: status for key, status in after.items() if before.get(key) != status})
        if abs(now - self._tidied) >= _TIDY_EVERY:
            self._tidied = now
        return lost

    def return_to(self, at: int) -> None:
        """Make `at` (UTC ns) the last evaluation, and replace later saved times, which a wrong clock gave, by `at`."""
        with self.file.transaction() as connection:
            for table, columns in _TIMES.items():
                for column in columns:
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} > ?", (at, at))
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LAST, at))

    def caught_up(self) -> None:
        """Allow notifications of alerts that were held back while missed evaluations were caught up."""
        with self.file.transaction() as connection:
            connection.execute("UPDATE alerts SET hold = 0 WHERE hold")

    def amend(self, key: Key, start: int, intervals: Iterable[AlertInterval], *, now: int) -> None:
        """Replace the history of one rule and subject from `start` on; new alerts are marked late.

        `intervals` are all intervals in which the rule fired and that end after `start`. New alerts that have already
        ended are never notified. An alert that is firing continues and only its beginning may change; the next
        evaluation decides whether it ends.
        """
        by_ends = {(interval.since, interval.fired_at, interval.ended_at): interval for interval in intervals}
        closed = {ends: interval for ends, interval in by_ends.items() if interval.ended_at is not None}
        still_open = next((interval for interval in by_ends.values() if interval.ended_at is None), None)
        with self.file.transaction() as connection:
            rows = connection.execute(
                "SELECT * FROM alerts WHERE key = ? AND kind = 'rule' AND replaced_at IS NULL"
                " AND (ended_at IS NULL OR ended_at >= ?)",
                (encode_key(key), start),
            ).fetchall()
            for row in rows:
                if row["ended_at"] is None:
                    if still_open and (still_open.since, still_open.fired_at) != (row["since"], row["fired_at"]):
                        connection.execute(
                            "UPDATE alerts SET since = ?, fired_at = ?, late = 1 WHERE id = ?",
                            (still_open.since, still_open.fired_at, row["id"]),
                        )
                        record(connection, row["id"], still_open.fired_at, now, "amended", note="its beginning")
                elif closed.pop((row["since"], row["fired_at"], row["ended_at"]), None) is None:
                    connection.execute("UPDATE alerts SET replaced_at = ?, hush = 1 WHERE id = ?", (now, row["id"]))
                    record(connection, row["id"], row["fired_at"], now, "amended", note="replaced: samples came late")
            for interval in closed.values():
                alert = begin(connection, replace(self._begin_alert(interval, interval.fired_at), late=True), now)
                connection.execute(
                    "UPDATE alerts SET worst = ?, ended_at = ?, ended_how = 'recovered' WHERE id = ?",
                    (None if math.isnan(interval.worst) else interval.worst, interval.ended_at, alert),
                )
                count(connection, "late alerts")

    def fire_late(self, interval: AlertInterval, *, now: int) -> None:
        """Begin the alert of an interval that, as late samples show, still lasts, and allow its notification."""
        with self.file.transaction() as connection:
            alert = begin(connection, replace(self._begin_alert(interval, interval.fired_at), late=True), now)
            connection.execute("UPDATE alerts SET hush = 0 WHERE id = ?", (alert,))
            _keep_statuses(connection, {interval.key: Status(State.FIRING, interval.since)})

    def end_late(self, key: Key, interval: AlertInterval | None, at: int, *, now: int) -> None:
        """End a firing alert that has ended according to late samples.

        The alert gets the times of `interval`, the last interval in which the rule fired. If the interval is None or
        has no end, the alert ends at `at` (UTC ns).
        """
        with self.file.transaction() as connection:
            row = connection.execute(
                "SELECT id FROM alerts WHERE key = ? AND kind = 'rule' AND ended_at IS NULL", (encode_key(key),)
            ).fetchone()
            if row is not None:
                connection.execute("UPDATE alerts SET late = 1 WHERE id = ?", (row["id"],))
                if interval is not None:
                    query = "UPDATE alerts SET since = ?, fired_at = ? WHERE id = ?"
                    connection.execute(query, (interval.since, interval.fired_at, row["id"]))
                ended = at if interval is None or interval.ended_at is None else interval.ended_at
                end(connection, row["id"], ended, now, "recovered")
            _keep_statuses(connection, {key: Status()})

    def keep_only(self, is_judged: Callable[[str, str], bool], at: int, *, now: int) -> None:
        """End firing alerts (at `at`), and forget statuses, for which `is_judged` (rule, host) is false."""
        with self.file.transaction() as connection:
            for row in self._read_firing().values():
                if not is_judged(row["rule"], row["host"]):
                    end(connection, row["id"], at, now, "rule removed")
            gone = [key for key in self.statuses() if not is_judged(key[0], key[1])]
            _keep_statuses(connection, dict.fromkeys(gone, Status()))

    def _read_firing(self) -> dict[Key, sqlite3.Row]:
        rows = self.file.rows(
            "SELECT id, key, rule, host, worst, last, healthy, stale FROM alerts"
            " WHERE ended_at IS NULL AND kind = 'rule'"
        )
        return {decode_key(row["key"]): row for row in rows}

    def _begin_alert(self, firing: StateChange | AlertInterval, at: int, processes: Sequence[str] = ()) -> NewAlert:
        """Return the alert to begin for a rule that fires at the evaluation `at`."""
        subject, rule = firing.subject, firing.rule
        return NewAlert(
            key=firing.key,
            kind="rule",
            rule=rule.id,
            severity=rule.severity,
            signal=rule.signal,
            host=subject.host,
            instance=subject.instance,
            since=firing.since,
            fired_at=at,
            value=firing.value,
            healthy=str(firing.healthy),
            worst=firing.worst,
            details=describe_alert(rule, firing.healthy, firing.note, self._signals, tuple(processes), firing.covered),
        )


def open_alerts_file(folder: Path) -> AlertsFile:
    """Open the alerts.db of `plimsoll up`. If damaged, set it aside and copy its silences to a new file.

    Raise Unusable if the file is not damaged but cannot be used, or if it cannot be set aside.
    """
    path, now = folder / NAME, time.time_ns()
    try:
        file = AlertsFile(path)
    except DamagedFile as error:
        aside = path.with_name(f"{DAMAGED}{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}")
        try:
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
        except OSError as failure:
            raise Unusable(f"{path}: is damaged, and cannot be moved: {failure.strerror or failure}") from None
        _log.error("%s; it is %s now, and all alerts of before are missing", error, aside.name)
        file = AlertsFile(path, is_new=True)
        try:
            silences.restore_copy(file)
        except Unusable as lost:
            _log.error("the silences are missing, too: %s", lost)
    silences.save_copy(file, now)
    return file


def list_damaged_files(folder: Path) -> list[Path]:
    """Return the damaged files that were set aside and not deleted since, the oldest first."""
    return sorted(folder.glob(f"{DAMAGED}*Z"))


def read_last_evaluation(file: AlertsFile) -> int | None:
    """Return the time (UTC ns) of the last evaluation that was saved; None if none was saved."""
    rows = file.rows("SELECT value FROM meta WHERE name = ?", (_LAST,))
    return rows[0]["value"] if rows else None


def _keep_statuses(connection: sqlite3.Connection, statuses: Mapping[Key, Status]) -> None:
    for key, status in statuses.items():
        if status == Status():
            connection.execute("DELETE FROM statuses WHERE key = ?", (encode_key(key),))
        else:
            values = (encode_key(key), int(status.state), status.since)
            connection.execute("INSERT OR REPLACE INTO statuses VALUES (?, ?, ?)", values)


def _read(
    connection: sqlite3.Connection, firing: Mapping[Key, sqlite3.Row], readings: Mapping[Key, float], at: int, now: int
) -> None:
    """Store the current value of each firing alert, and record when its samples stop or return.

    The value is stored as the last value, and as the worst value if no earlier value was worse.
    """
    for row, value in ((firing[key], value) for key, value in readings.items() if key in firing):
        stale = math.isnan(value)
        if stale != bool(row["stale"]):
            record(connection, row["id"], at, now, "stale" if stale else "data again", value)
        last = row["last"] if stale else value
        number = math.nan if row["worst"] is None else row["worst"]
        worst = select_worst(row["healthy"], number, value)
        if (stale, last, worst) != (bool(row["stale"]), row["last"], number):
            connection.execute(
                "UPDATE alerts SET stale = ?, last = ?, worst = ? WHERE id = ?",
                (stale, last, None if math.isnan(worst) else worst, row["id"]),
            )

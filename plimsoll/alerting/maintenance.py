"""Recurring maintenance: each occurrence becomes a planned silence, a week before it begins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from plimsoll.alerting import silences
from plimsoll.alerting.alerts_file import AlertsFile, is_like
from plimsoll.alerting.silences import MAINTENANCE
from plimsoll.model.times import SECOND, Zone, convert_to_instant

_AHEAD_DAYS = 7
_LOOK_EVERY = 600 * SECOND
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Maintenance:
    """Recurring work on hosts chosen by a pattern or by labels, during which alerts of `rule` are silenced.

    It begins at `begin` on `days` of the week, or on `dates` of the month; with `weeks`, only on the first, second, ...
    of these days in a month. If `end` is not after `begin`, it ends on the next day. `until` is its last day.
    """

    reason: str
    zone: Zone
    begin: time
    end: time
    days: Sequence[str] = _WEEKDAYS
    weeks: Sequence[int] = ()
    dates: Sequence[int] = ()
    until: date | None = None
    rule: str = "*"
    host: str = "*"
    labels: Mapping[str, str] = field(default_factory=dict[str, str])

    def times(self, now: int) -> Iterator[tuple[int, int]]:
        """Yield beginning and end (UTC ns) of each occurrence that is not over at `now` and begins within a week."""
        local = self.zone.local(now)
        for ahead in range(-1, _AHEAD_DAYS + 1):
            day = local.date() + timedelta(days=ahead)
            if self._is_on(day):
                last = day if self.end > self.begin else day + timedelta(days=1)
                start = convert_to_instant(datetime.combine(day, self.begin, local.tzinfo))
                end = convert_to_instant(datetime.combine(last, self.end, local.tzinfo))
                if end > now:
                    yield start, end

    def hosts(self, labels_of: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Return the patterns of the hosts; if labels are given, instead the names of the hosts that have them."""
        if not self.labels:
            return [self.host]
        return [
            host
            for host, labels in labels_of.items()
            if is_like(host, self.host)
            and all(is_like(labels.get(name, ""), value) for name, value in self.labels.items())
        ]

    def _is_on(self, day: date) -> bool:
        if self.until and day > self.until:
            return False
        if self.dates:
            return day.day in self.dates
        return _WEEKDAYS[day.weekday()] in self.days and (not self.weeks or (day.day + 6) // 7 in self.weeks)


class MaintenancePlan:
    """The maintenance of up.toml as silences in alerts.db. `labels_of` has the labels of hosts by case-folded name."""

    def __init__(
        self, file: AlertsFile, plans: Sequence[Maintenance], labels_of: Mapping[str, Mapping[str, str]], now: int
    ) -> None:
        self._file = file
        self._plans = plans
        self._labels_of = labels_of
        self._looked: int | None = None
        self._forget_planned(now)

    def step(self, now: int) -> None:
        """Every ten minutes, plan the silences of the next week. Raise NotKept if alerts.db cannot be written."""
        if self._looked is not None and 0 <= now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        values = [
            (plan.rule, host, start, end, plan.reason, MAINTENANCE)
            for plan in self._plans
            for start, end in plan.times(now)
            for host in plan.hosts(self._labels_of)
        ]
        with self._file.transaction() as connection:
            query = "SELECT rule, host, start FROM silences WHERE who = ?"
            planned = {tuple(row) for row in connection.execute(query, (MAINTENANCE,)).fetchall()}
            if new := [row for row in values if row[:3] not in planned]:
                query = "INSERT INTO silences (rule, host, instance, start, until, reason, who)"
                connection.executemany(f"{query} VALUES (?, ?, '*', ?, ?, ?, ?)", dict.fromkeys(new))
                silences.save_copy(self._file, now)

    def _forget_planned(self, now: int) -> None:
        """Remove the silences that former settings planned and that have not begun."""
        with self._file.transaction() as connection:
            connection.execute(
                "DELETE FROM silences WHERE who = ? AND start > ? AND until > ?", (MAINTENANCE, now, now)
            )
            silences.save_copy(self._file, now)

"""Quiet hours: times of the week in which only critical alerts, or none, are notified."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time, timedelta
from typing import Literal

from plimsoll.model.times import Zone
from plimsoll.rules.schema.field_types import Severity

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of certain days. It begins on each of `days`; if it ends before it begins, it ends on the next day.

    With equal ends it lasts the whole day.
    """

    days: frozenset[Day]
    begin: time
    end: time


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The windows, by the clock of a zone, and whether critical alerts are notified in them."""

    zone: Zone
    windows: Sequence[Window] = ()
    critical_passes: bool = True

    def hold(self, severity: Severity, at: int) -> bool:
        """Whether an alert of this severity is held back at `at` (UTC ns)."""
        return not (severity == "critical" and self.critical_passes) and self.are_at(at)

    def are_at(self, at: int) -> bool:
        """Whether `at` (UTC ns) is in a window."""
        moment = self.zone.local(at)
        today, clock = DAYS[moment.weekday()], moment.time()
        yesterday = DAYS[(moment - timedelta(days=1)).weekday()]
        for one in self.windows:
            if one.begin < one.end:
                inside = today in one.days and one.begin <= clock < one.end
            elif one.begin == one.end:
                inside = today in one.days
            else:
                inside = (today in one.days and clock >= one.begin) or (yesterday in one.days and clock < one.end)
            if inside:
                return True
        return False

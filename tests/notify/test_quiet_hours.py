"""Quiet hours go by the clock of their zone and by the day on which they begin."""

from datetime import datetime, time

from plimsoll.model.times import Zone, instant
from plimsoll.notify.quiet_hours import DAYS, QuietHours, Window
from tests.each import each

BERLIN = Zone.parse("Europe/Berlin")
NIGHTS = Window(frozenset({"mon", "tue", "wed", "thu", "fri"}), time(22), time(7))
WEEKEND = Window(frozenset({"sat", "sun"}), time(), time())
NOON = Window(frozenset(DAYS), time(12), time(13))

CASES = (
    ("2026-03-09T21:59+01:00", False),  # a Monday
    ("2026-03-09T22:00+01:00", True),
    ("2026-03-10T06:59+01:00", True),
    ("2026-03-10T07:00+01:00", False),
    ("2026-03-09T06:00+01:00", False),  # the night from Sunday is not in the list, and the weekend has ended
    ("2026-03-14T06:59+01:00", True),  # Friday's night ends on Saturday
    ("2026-03-14T12:00+01:00", True),
    ("2026-03-15T23:59+01:00", True),
    ("2026-03-10T12:30+01:00", True),
    ("2026-03-10T13:00+01:00", False),
    ("2026-03-31T04:59+00:00", True),  # in summer 6:59
    ("2026-03-31T05:00+00:00", False),
    ("2026-03-10T05:00+00:00", True),  # in winter 6:00
)


@each(CASES, named=lambda case: case[0])
def test_quiet_hours(case):
    text, quiet = case
    hours = QuietHours(BERLIN, [NIGHTS, WEEKEND, NOON])
    at = instant(datetime.fromisoformat(text))
    assert hours.are_at(at) == quiet
    assert hours.hold("warning", at) == quiet
    assert not hours.hold("critical", at)
    assert QuietHours(BERLIN, hours.windows, critical_passes=False).hold("critical", at) == quiet

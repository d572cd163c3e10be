"""Quiet hours go by the clock of their zone and by the day on which they begin."""

from datetime import datetime

from plimsoll.model.times import Zone, convert_to_instant
from plimsoll.notify.settings import QuietHours, QuietSettings, QuietWindow
from tests.each import run_each

BERLIN = Zone.parse("Europe/Berlin")
WINDOWS = (
    QuietWindow.model_validate({"days": ["mon", "tue", "wed", "thu", "fri"], "from": "22:00", "to": "07:00"}),
    QuietWindow(days=("sat", "sun")),
    QuietWindow.model_validate({"from": "12:00", "to": "13:00"}),
)

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


@run_each(CASES, named=lambda case: case[0])
def test_quiet_hours(case):
    text, quiet = case
    hours = QuietHours(BERLIN, QuietSettings(hours=WINDOWS))
    at = convert_to_instant(datetime.fromisoformat(text))
    assert hours.hold("warning", at) == quiet
    assert not hours.hold("critical", at)
    assert QuietHours(BERLIN, QuietSettings(passes="nothing", hours=WINDOWS)).hold("critical", at) == quiet

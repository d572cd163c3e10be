"""Wall clocks that change, and what becomes of the rows."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ingest.clock import to_utc
from model.remark import Remarks
from model.times import SECOND, Zone, instant


def clock(start, minutes):
    """Wall-clock times in ns: `start`, and so many minutes later each."""
    first = datetime.fromisoformat(start).replace(tzinfo=UTC)
    return np.array([instant(first + timedelta(minutes=m)) for m in minutes], dtype=np.int64)


def told(local, zone):
    remarks = Remarks()
    found = to_utc(local, zone, range(2, 2 + len(local)), remarks)
    order = None if found.order is None else found.order.tolist()
    return (np.diff(found.times) // (60 * SECOND)).tolist(), [(r.line, r.text) for r in remarks], order


BACK = [0, 5, 10, 15, -40, -35, -30]
FORWARD = [0, 5, 10, 15, 80, 85, 90]


def test_the_hour_that_repeats_in_autumn():
    steps, remarks, order = told(clock("2024-11-03 01:44:30", BACK), Zone.from_bias("Eastern Daylight Time", 240))
    assert steps == [5] * 6
    assert order is None
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock goes back an hour, as at the end of daylight saving time")


def test_the_hour_that_is_missing_in_spring():
    steps, remarks, _ = told(clock("2024-03-10 01:44:30", FORWARD), Zone.from_bias("Eastern Standard Time", 300))
    assert steps == [5] * 6
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock skips an hour, as when daylight saving time begins")


@pytest.mark.parametrize(
    "start", ["2024-03-12 01:44:30", "2024-03-10 13:44:30", "2024-06-09 01:44:30", "2024-03-10 01:20:30"]
)
def test_an_hour_without_samples_at_any_other_time_is_a_pause(start):
    steps, remarks, _ = told(clock(start, FORWARD), Zone.from_bias("Eastern Standard Time", 300))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


def test_a_step_back_that_is_no_hour_is_put_in_order():
    steps, ((line, text),), order = told(clock("2024-06-09 12:00:00", [0, 5, 10, 7, 12]), Zone.from_bias("", 0))
    assert steps == [5, 2, 3, 2]
    assert (line, order) == (5, [0, 1, 3, 2, 4])
    assert text == "the clock steps back by 3 min: rows are put in the order of time"


@pytest.mark.parametrize(("start", "minutes"), [("2024-11-03 01:44:30", BACK), ("2024-03-10 01:44:30", FORWARD)])
def test_a_named_zone_knows_its_changes(start, minutes):
    steps, remarks, _ = told(clock(start, minutes), Zone.parse("America/New_York"))
    assert steps == [5] * 6
    assert remarks == []


def test_a_named_zone_whose_change_fell_between_two_logs_hours():
    steps, remarks, _ = told(clock("2024-11-03 00:50:00", [0, 5, 10, 15]), Zone.parse("America/New_York"))
    assert steps == [5, 5, 5]
    assert remarks == []


@pytest.mark.parametrize("zone", [Zone.from_bias("Eastern Daylight Time", 240), Zone.parse("America/New_York")])
def test_a_pause_while_the_hour_repeats(zone):
    steps, _, order = told(clock("2024-11-03 01:44:30", [0, 5, 10, 15, -36, -31, -26]), zone)
    assert steps == [5, 5, 5, 9, 5, 5]
    assert order is None


@pytest.mark.parametrize("zone", ["India Standard Time", "UTC", "Tokyo Standard Time"])
def test_clocks_that_are_never_changed(zone):
    steps, remarks, _ = told(clock("2024-03-10 01:44:30", FORWARD), Zone.from_bias(zone, -330))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


def test_a_small_step_back_in_the_hour_that_repeats_is_no_change():
    steps, ((_, text),), _ = told(clock("2024-11-03 01:10:00", [0, 5, 4, 10]), Zone.parse("America/New_York"))
    assert steps == [4, 1, 5]
    assert text.startswith("the clock steps back by 1 min")


@pytest.mark.parametrize(
    ("start", "minutes", "doubtful"),
    [
        ("2024-11-03 01:30:00", [0, 5, 10], 3),
        ("2024-11-03 01:30:00", [0, 5, 40], 2),
        ("2024-11-03 01:30:00", [0, 5, -30, -25], 0),
        ("2024-11-03 00:50:00", [0, 5, 10, 15], 0),
        ("2024-11-02 20:00:00", [0, 5, 320], 1),
    ],
)
def test_rows_that_may_be_of_either_hour_are_told(start, minutes, doubtful):
    _, remarks, _ = told(clock(start, minutes), Zone.parse("America/New_York"))
    said = "of the hour that repeats when daylight saving time ends: taken for its first time round"
    rows = {0: [], 1: [f"1 row {said}"]}.get(doubtful, [f"{doubtful} rows {said}"])
    assert [text for _, text in remarks] == rows

"""Wall clocks that change, and the resulting times of rows."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from plimsoll.ingest.shared.clock import convert_to_utc, sort_times
from plimsoll.model.remark import Remarks
from plimsoll.model.times import SECOND, Zone, convert_to_instant


def clock(start, minutes):
    """Wall-clock times in ns: `start`, and so many minutes later each."""
    first = datetime.fromisoformat(start).replace(tzinfo=UTC)
    return np.array([convert_to_instant(first + timedelta(minutes=m)) for m in minutes], dtype=np.int64)


def read(local, zone, lines, headers=()):
    """The instants of rows in ascending order, their order where it is not that of the file, and the remarks."""
    remarks = Remarks()
    times, order = sort_times(convert_to_utc(local, zone, lines, remarks, headers), lines, headers, remarks)
    return times, None if order is None else order.tolist(), list(remarks)


def reported(local, zone):
    times, order, remarks = read(local, zone, range(2, 2 + len(local)))
    return (np.diff(times) // (60 * SECOND)).tolist(), [(r.line, r.text) for r in remarks], order


BACK = [0, 5, 10, 15, -40, -35, -30]
FORWARD = [0, 5, 10, 15, 80, 85, 90]


def test_the_hour_that_repeats_in_autumn():
    steps, remarks, order = reported(clock("2024-11-03 01:44:30", BACK), Zone.from_bias("Est", 240))
    assert steps == [5] * 6
    assert order is None
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock goes back an hour, as at the end of daylight saving time")


def test_the_hour_that_is_missing_in_spring():
    steps, remarks, _ = reported(clock("2024-03-10 01:44:30", FORWARD), Zone.from_bias("Est", 300))
    assert steps == [5] * 6
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock skips an hour, as when daylight saving time begins")


@pytest.mark.parametrize(
    "start", ["2024-03-12 01:44:30", "2024-03-10 13:44:30", "2024-06-09 01:44:30", "2024-03-10 01:20:30"]
)
def test_an_hour_without_samples_at_any_other_time_is_a_pause(start):
    steps, remarks, _ = reported(clock(start, FORWARD), Zone.from_bias("Est", 300))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


def test_a_step_back_that_is_no_hour_is_put_in_order():
    steps, ((line, text),), order = reported(clock("2024-06-09 12:00:00", [0, 5, 10, 7, 12]), Zone.from_bias("", 0))
    assert steps == [5, 2, 3, 2]
    assert (line, order) == (5, [0, 1, 3, 2, 4])
    assert text == "the clock steps back by 3 min: rows are put in the order of time"


@pytest.mark.parametrize("away", [75 * 366 * 1440, -1500], ids=["a year to come", "the day before"])
def test_a_row_of_a_time_that_is_far_from_those_around_it_is_left_out(away):
    minutes = [5 * at for at in range(40)]
    minutes[20] += away
    steps, ((line, text),), order = reported(clock("2024-06-09 12:00:00", minutes), Zone.from_bias("", 0))
    assert steps == [5] * 19 + [10] + [5] * 18
    assert (line, order) == (22, [*range(20), *range(21, 40)])
    assert text.endswith("is far from those around it: the row is left out")


@pytest.mark.parametrize(("start", "minutes"), [("2024-11-03 01:44:30", BACK), ("2024-03-10 01:44:30", FORWARD)])
def test_a_named_zone_knows_its_changes(start, minutes):
    steps, remarks, _ = reported(clock(start, minutes), Zone.parse("America/New_York"))
    assert steps == [5] * 6
    assert remarks == []


def test_a_named_zone_whose_change_fell_between_two_logs_hours():
    steps, remarks, _ = reported(clock("2024-11-03 00:50:00", [0, 5, 10, 15]), Zone.parse("America/New_York"))
    assert steps == [5, 5, 5]
    assert remarks == []


@pytest.mark.parametrize("zone", [Zone.from_bias("Eastern Daylight Time", 240), Zone.parse("America/New_York")])
def test_a_pause_while_the_hour_repeats(zone):
    steps, _, order = reported(clock("2024-11-03 01:44:30", [0, 5, 10, 15, -36, -31, -26]), zone)
    assert steps == [5, 5, 5, 9, 5, 5]
    assert order is None


@pytest.mark.parametrize("zone", ["India Standard Time", "UTC", "Tokyo Standard Time"])
def test_clocks_that_are_never_changed(zone):
    steps, remarks, _ = reported(clock("2024-03-10 01:44:30", FORWARD), Zone.from_bias(zone, -330))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


def test_a_small_step_back_in_the_hour_that_repeats_is_no_change():
    steps, remarks, _ = reported(clock("2024-11-03 01:10:00", [0, 5, 4, 10]), Zone.parse("America/New_York"))
    assert steps == [4, 1, 5]
    assert [text.partition(":")[0] for _, text in remarks] == [
        "4 rows of the hour that repeats when daylight saving time ends",
        "the clock steps back by 1 min",
    ]


@pytest.mark.parametrize(
    ("start", "minutes", "doubtful"),
    [
        ("2024-11-03 01:30:00", [0, 5, 10], 3),
        ("2024-11-03 01:30:00", [0, 5, 40], 2),
        ("2024-11-03 01:30:00", [0, 5, -30, -25], 0),
        ("2024-11-03 00:50:00", [0, 5, 10, 15], 0),
        ("2024-11-02 20:00:00", [0, 5, 320], 1),
        ("2024-11-02 19:34:00", [0, 120, 240, 380], 1),
    ],
)
def test_rows_that_may_be_of_either_hour_are_told(start, minutes, doubtful):
    _, remarks, _ = reported(clock(start, minutes), Zone.parse("America/New_York"))
    result = "of the hour that repeats when daylight saving time ends: taken for its first time round"
    rows = {0: [], 1: [f"1 row {result}"]}.get(doubtful, [f"{doubtful} rows {result}"])
    assert [text for _, text in remarks] == rows


def test_a_pause_before_the_second_time_round_of_the_hour():
    moments = clock("2024-10-27 01:40:00", [0, 5, 10, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90])
    steps, remarks, _ = reported(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert steps == [5, 5, 90, *[5] * 10]
    assert remarks == [
        (
            5,
            "the clock goes back by 1 h while the log pauses, as the rules of Europe/Berlin say: 1 h is added from here on",
        )
    ]


def test_a_clock_that_is_not_changed_is_believed_though_samples_are_lost():
    moments = clock("2024-10-27 01:40:00", [*range(40), *range(44, 120)])
    steps, ((_, text),), _ = reported(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert set(steps) == {1, 5}
    assert text == "the clock was not changed as the rules of Europe/Berlin say: its rows are read as they are written"


def test_two_pauses_of_which_either_may_hold_the_change():
    moments = clock("2024-10-27 01:50:00", [0, 5, 10, 15, 36, 41, 62, 67, 72, 77])
    steps, remarks, _ = reported(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert steps == [5, 5, 5, 21, 5, 81, 5, 5, 5]
    assert [line for line, _ in remarks] == [8, 6]
    assert remarks[1][1].startswith("2 rows of the hour that repeats")


def test_a_log_every_hour_over_a_change():
    steps, remarks, _ = reported(
        clock("2024-10-27 00:00:00", [0, 60, 120, 120, 180, 240]), Zone.from_bias("Romance Standard Time", -120)
    )
    assert steps == [60] * 5
    assert [line for line, _ in remarks] == [5]


@pytest.mark.parametrize("name", ["W. Europe Daylight Time", "Mitteleuropa", "Egypt Daylight Time"])
def test_an_hour_back_behind_a_second_header_is_another_file(name):
    local = clock("2024-06-05 10:30:00", [0, 5, 10, 15, 20, 25, -30, -25, -20])
    times, _, remarks = read(local, Zone.from_bias(name, -120), [2, 3, 4, 5, 6, 7, 9, 10, 11], headers=[8])
    assert times.tolist() == sorted(local - 7200 * SECOND)
    assert [remark.text for remark in remarks] == [
        "files are joined out of order or overlap, as times step back by 55 min: rows are put in the order of time"
    ]


def test_each_header_s_offset_holds_anew():
    """The first file was recorded across the change, the second before it."""
    local = clock("2024-10-27 02:50:00", [0, 5, -50, -45, -40, -35, *range(-180, -150, 5)])
    zone = Zone.from_bias("W. Europe Daylight Time", -120)
    times, _, _ = read(local, zone, [*range(2, 8), *range(9, 15)], headers=[8])
    assert (np.diff(times) // (60 * SECOND)).tolist() == [5] * 5 + [155] + [5] * 5


@pytest.mark.parametrize(("start", "is_change"), [("2024-10-27 02:40:00", True), ("2024-06-05 10:30:00", False)])
def test_headers_that_say_no_zone(start, is_change):
    local = clock(start, [0, 5, 10, 15, -40, -35, -30])
    _, order, _ = read(local, Zone.unknown(), [2, 3, 4, 5, 7, 8, 9], headers=[6])
    assert (order is None) == is_change


def test_rows_before_a_change_behind_rows_after_it_are_only_put_in_order():
    steps, remarks, order = reported(
        clock("2024-04-26 02:00:00", [0, 5, 10, -180, -175, -170]), Zone.from_bias("Egypt Daylight Time", -180)
    )
    assert steps == [5, 5, 110, 5, 5]
    assert order == [3, 4, 5, 0, 1, 2]
    assert [text for _, text in remarks] == ["the clock steps back by 2 h 10 min: rows are put in the order of time"]


def test_half_an_hour_is_told():
    steps, ((line, text),), _ = reported(
        clock("2024-04-07 01:44:30", [0, 5, 10, 15, -10, -5]), Zone.from_bias("Lord Howe Daylight Time", -660)
    )
    assert steps == [5] * 5
    assert line == 6
    assert (
        text == "the clock goes back by 30 min, as the rules of Australia/Lord_Howe say: 30 min is added from here on"
    )


def test_rows_are_by_a_bias_that_its_zone_never_has():
    steps, remarks, _ = reported(clock("2024-04-25 23:44:30", FORWARD), Zone.from_bias("Egypt Standard Time", -60))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


@pytest.mark.parametrize("zone", [Zone.parse("America/New_York"), Zone.from_bias("Egypt Standard Time", -120)])
def test_a_log_without_rows(zone):
    assert reported(np.array([], dtype=np.int64), zone) == ([], [], None)


def test_half_an_hour_that_repeats_in_a_named_zone():
    steps, remarks, _ = reported(
        clock("2024-04-07 01:44:30", [0, 5, 10, 15, -10, -5]), Zone.parse("Australia/Lord_Howe")
    )
    assert steps == [5] * 5
    assert remarks == []


def test_a_pause_while_half_an_hour_or_two_repeat():
    steps, remarks, order = reported(
        clock("2024-04-07 01:44:30", [0, 5, 10, 15, -6, -1]), Zone.parse("Australia/Lord_Howe")
    )
    assert (steps, remarks, order) == ([5, 5, 5, 9, 5], [], None)
    steps, remarks, order = reported(clock("2014-10-26 01:40:00", [0, 5, 10, -31, -26]), Zone.parse("Asia/Magadan"))
    assert (steps, remarks, order) == ([5, 5, 79, 5], [], None)


def test_a_log_that_begins_in_the_hour_that_repeats_and_goes_on_after_it_began_in_its_second_time_round():
    steps, remarks, _ = reported(clock("2024-11-03 01:44:30", [0, 5, 10, 15, 20, 25]), Zone.parse("America/New_York"))
    assert steps == [5] * 5
    assert remarks == []

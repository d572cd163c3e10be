"""Wall clocks that change, and what becomes of the rows."""

from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from importlib.resources import files
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import yaml

from ingest.clock import to_utc
from ingest.zones import stated
from model.remark import Kind, Remarks
from model.times import SECOND, Zone, instant

MINUTE = timedelta(minutes=1)
ZONES = yaml.safe_load(files("ingest").joinpath("zones.yaml").read_text(encoding="utf-8"))
# Zones under names that zones.yaml does not know, as those of other languages: their changes are one whole hour in the
# small hours of a Sunday in spring or autumn.
USUAL = {
    "Est": "America/New_York",
    "Mitteleuropa": "Europe/Berlin",
    "Londres": "Europe/London",
    "Kiew": "Europe/Kyiv",
    "AUS Ost": "Australia/Sydney",
    "Neuseeland": "Pacific/Auckland",
    "Montagne": "America/Denver",
}


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
    steps, remarks, order = told(clock("2024-11-03 01:44:30", BACK), Zone.from_bias("Est", 240))
    assert steps == [5] * 6
    assert order is None
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock goes back an hour, as at the end of daylight saving time")


def test_the_hour_that_is_missing_in_spring():
    steps, remarks, _ = told(clock("2024-03-10 01:44:30", FORWARD), Zone.from_bias("Est", 300))
    assert steps == [5] * 6
    ((line, text),) = remarks
    assert line == 6
    assert text.startswith("the clock skips an hour, as when daylight saving time begins")


@pytest.mark.parametrize(
    "start", ["2024-03-12 01:44:30", "2024-03-10 13:44:30", "2024-06-09 01:44:30", "2024-03-10 01:20:30"]
)
def test_an_hour_without_samples_at_any_other_time_is_a_pause(start):
    steps, remarks, _ = told(clock(start, FORWARD), Zone.from_bias("Est", 300))
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
    steps, remarks, _ = told(clock("2024-11-03 01:10:00", [0, 5, 4, 10]), Zone.parse("America/New_York"))
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
    _, remarks, _ = told(clock(start, minutes), Zone.parse("America/New_York"))
    said = "of the hour that repeats when daylight saving time ends: taken for its first time round"
    rows = {0: [], 1: [f"1 row {said}"]}.get(doubtful, [f"{doubtful} rows {said}"])
    assert [text for _, text in remarks] == rows


@cache
def changes_of(key):
    """Every change of a zone's offset from 2005 to 2026: the instant, and minutes ahead of UTC before and after."""
    rule = ZoneInfo(key)

    def offset(moment):
        return moment.astimezone(rule).utcoffset() // MINUTE

    found = []
    days = [datetime(2005, 1, 1, tzinfo=UTC) + timedelta(days=2 * n) for n in range(22 * 183)]
    for before, after in pairwise(days):
        first, last = before, after
        while offset(first) != offset(last) and last - first > MINUTE:
            middle = first + (last - first) // MINUTE // 2 * MINUTE
            first, last = (middle, last) if offset(middle) == offset(first) else (first, middle)
        # The wall clock is looked up by quarters of an hour: Hebron's change of 2011, a minute past the hour, is not had.
        if offset(first) != offset(last) and last.minute % 15 == 0:
            found.append((last, offset(before), offset(after)))
    return found


def recorded(moments, name, key, *, clock=None):
    """What is made of the wall clock of these moments: minutes by which each is wrong, and the remarks."""
    rule = ZoneInfo(key)
    local = [instant(moment.astimezone(clock or rule).replace(tzinfo=UTC)) for moment in moments]
    bias = -(moments[0].astimezone(rule).utcoffset() // MINUTE)
    remarks = Remarks()
    found = to_utc(np.array(local), Zone.from_bias(name, bias), range(2, 2 + len(local)), remarks)
    wrong = (found.times - np.array([instant(moment) for moment in moments])) // (60 * SECOND)
    return set(wrong.tolist()) - {0}, list(remarks)


def every(minutes, start, end):
    return [start + minutes * MINUTE * n for n in range(int((end - start) / MINUTE / minutes))]


@pytest.mark.parametrize("name", [*ZONES["changing"], *USUAL])
def test_rows_across_each_change_of_a_zone(name):
    """Whatever the interval, and also where the log begins in the hour that repeats: the bias tells which it is."""
    key = (ZONES["changing"] | USUAL)[name]
    assert changes_of(key)
    for at, before, after in changes_of(key):
        for minutes, lead in ((1, 150), (20, 10), *(() if name in USUAL else ((60, 300), (90, 300)))):
            start = at - lead * MINUTE + timedelta(seconds=7)
            season = "Daylight" if before > after else "Standard"
            wrong, remarks = recorded(
                every(minutes, start, at + max(150, 4 * minutes) * MINUTE), f"{name} {season} Time", key
            )
            assert not wrong, (name, at, minutes, lead)
            assert [remark.kind for remark in remarks] == [Kind.REPAIRED]
        wrong, remarks = recorded(every(1, at + timedelta(seconds=7), at + 150 * MINUTE), f"{name} Standard Time", key)
        assert (wrong, remarks) == (set(), [])


@pytest.mark.parametrize("name", ZONES["changing"])
def test_a_pause_over_a_change_is_by_the_rules_and_told(name):
    key = ZONES["changing"][name]
    for at, before, after in changes_of(key):
        away = (abs(after - before) + 20) * MINUTE
        moments = [*every(5, at - away - 60 * MINUTE, at - away), *every(5, at + away, at + away + 60 * MINUTE)]
        wrong, remarks = recorded(moments, f"{name} Standard Time", key)
        assert not wrong, (name, at)
        (remark,) = remarks
        assert remark.kind is Kind.GUESSED
        assert f"while the log pauses, as the rules of {key} say" in remark.text


@pytest.mark.parametrize("name", ZONES["changing"])
@pytest.mark.parametrize("minutes", [5, 60])
def test_a_clock_that_goes_on_over_its_zone_s_change_is_believed(name, minutes):
    key = ZONES["changing"][name]
    for at, before, _ in changes_of(key):
        clock = timezone(before * MINUTE)
        moments = every(minutes, at - 240 * MINUTE + timedelta(seconds=7), at + 240 * MINUTE)
        wrong, remarks = recorded(moments, f"{name} Standard Time", key, clock=clock)
        assert not wrong, (name, at)
        (remark,) = remarks
        assert remark.text == f"the clock was not changed as the rules of {key} say: its rows are read as they stand"


def test_a_pause_before_the_second_time_round_of_the_hour():
    moments = clock("2024-10-27 01:40:00", [0, 5, 10, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90])
    steps, remarks, _ = told(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert steps == [5, 5, 90, *[5] * 10]
    assert remarks == [
        (
            5,
            "the clock goes back by 1 h while the log pauses, as the rules of Europe/Berlin say: later rows are 1 h later",
        )
    ]


def test_a_clock_that_is_not_changed_is_believed_though_samples_are_lost():
    moments = clock("2024-10-27 01:40:00", [*range(40), *range(44, 120)])
    steps, ((_, text),), _ = told(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert set(steps) == {1, 5}
    assert text == "the clock was not changed as the rules of Europe/Berlin say: its rows are read as they stand"


def test_two_pauses_of_which_either_may_hold_the_change():
    moments = clock("2024-10-27 01:50:00", [0, 5, 10, 15, 36, 41, 62, 67, 72, 77])
    steps, remarks, _ = told(moments, Zone.from_bias("W. Europe Daylight Time", -120))
    assert steps == [5, 5, 5, 21, 5, 81, 5, 5, 5]
    assert [line for line, _ in remarks] == [8, 6]
    assert remarks[1][1].startswith("2 rows of the hour that repeats")


def test_a_log_every_hour_over_a_change():
    steps, remarks, _ = told(clock("2024-10-27 00:00:00", [0, 60, 120, 120, 180, 240]), Zone.from_bias("Romance", -120))
    assert steps == [60] * 5
    assert [line for line, _ in remarks] == [5]


@pytest.mark.parametrize("name", ["W. Europe Daylight Time", "Mitteleuropa", "Egypt Daylight Time"])
def test_an_hour_back_behind_a_second_header_is_another_file(name):
    local = clock("2024-06-05 10:30:00", [0, 5, 10, 15, 20, 25, -30, -25, -20])
    remarks = Remarks()
    found = to_utc(local, Zone.from_bias(name, -120), [2, 3, 4, 5, 6, 7, 9, 10, 11], remarks, headers=[8])
    assert found.times.tolist() == sorted(local - 7200 * SECOND)
    assert [remark.text for remark in remarks] == ["the clock steps back by 55 min: rows are put in the order of time"]


def test_each_header_s_offset_holds_anew():
    """The first file was recorded over the change, the second before it."""
    local = clock("2024-10-27 02:50:00", [0, 5, -50, -45, -40, -35, *range(-180, -150, 5)])
    remarks = Remarks()
    zone = Zone.from_bias("W. Europe Daylight Time", -120)
    found = to_utc(local, zone, [*range(2, 8), *range(9, 15)], remarks, headers=[8])
    assert (np.diff(found.times) // (60 * SECOND)).tolist() == [5] * 5 + [155] + [5] * 5


@pytest.mark.parametrize(("start", "is_change"), [("2024-10-27 02:40:00", True), ("2024-06-05 10:30:00", False)])
def test_headers_that_say_no_zone(start, is_change):
    local = clock(start, [0, 5, 10, 15, -40, -35, -30])
    remarks = Remarks()
    found = to_utc(local, Zone.unknown(), [2, 3, 4, 5, 7, 8, 9], remarks, headers=[6])
    assert (found.order is None) == is_change


def test_rows_before_a_change_behind_rows_after_it_are_only_put_in_order():
    steps, remarks, order = told(
        clock("2024-04-26 02:00:00", [0, 5, 10, -180, -175, -170]), Zone.from_bias("Egypt Daylight Time", -180)
    )
    assert steps == [5, 5, 110, 5, 5]
    assert order == [3, 4, 5, 0, 1, 2]
    assert [text for _, text in remarks] == ["the clock steps back by 2 h 10 min: rows are put in the order of time"]


def test_half_an_hour_is_told():
    steps, ((line, text),), _ = told(
        clock("2024-04-07 01:44:30", [0, 5, 10, 15, -10, -5]), Zone.from_bias("Lord Howe Daylight Time", -660)
    )
    assert steps == [5] * 5
    assert line == 6
    assert text == "the clock goes back by 30 min, as the rules of Australia/Lord_Howe say: later rows are 30 min later"


def test_a_bias_that_its_zone_never_has_is_trusted():
    steps, remarks, _ = told(clock("2024-04-25 23:44:30", FORWARD), Zone.from_bias("Egypt Standard Time", -60))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


def test_a_zone_without_rules_here_is_as_any_other(monkeypatch):
    monkeypatch.setitem(ZONES["changing"], "Egypt", "Nowhere/City")
    monkeypatch.setattr("ingest.zones._file", lambda: ZONES)
    steps, remarks, _ = told(clock("2024-04-25 23:44:30", FORWARD), Zone.from_bias("Egypt Standard Time", -120))
    assert steps == [5, 5, 5, 65, 5, 5]
    assert remarks == []


@pytest.mark.parametrize("zone", [Zone.parse("America/New_York"), Zone.from_bias("Egypt Standard Time", -120)])
def test_a_log_without_rows(zone):
    assert told(np.array([], dtype=np.int64), zone) == ([], [], None)


def test_half_an_hour_that_repeats_in_a_named_zone():
    steps, remarks, _ = told(clock("2024-04-07 01:44:30", [0, 5, 10, 15, -10, -5]), Zone.parse("Australia/Lord_Howe"))
    assert steps == [5] * 5
    assert remarks == []


def test_a_pause_while_half_an_hour_or_two_repeat():
    steps, remarks, order = told(
        clock("2024-04-07 01:44:30", [0, 5, 10, 15, -6, -1]), Zone.parse("Australia/Lord_Howe")
    )
    assert (steps, remarks, order) == ([5, 5, 5, 9, 5], [], None)
    steps, remarks, order = told(clock("2014-10-26 01:40:00", [0, 5, 10, -31, -26]), Zone.parse("Asia/Magadan"))
    assert (steps, remarks, order) == ([5, 5, 79, 5], [], None)


def test_a_log_that_begins_in_the_hour_that_repeats_and_goes_on_after_it_began_in_its_second_time_round():
    steps, remarks, _ = told(clock("2024-11-03 01:44:30", [0, 5, 10, 15, 20, 25]), Zone.parse("America/New_York"))
    assert steps == [5] * 5
    assert remarks == []


@pytest.mark.parametrize(
    ("name", "bias", "named", "is_", "zone_"),
    [
        ("Tokyo Standard Time", 540, "+09:00", "-09:00", "+09:00"),
        ("SA Pacific Standard Time", -300, "-05:00", "+05:00", "-05:00"),
        ("India Standard Time", 330, "+05:30", "-05:30", "+05:30"),
        ("UTC+03:00", 180, "+03:00", "-03:00", "+03:00"),
        ("(UTC+03:00) Kuwait, Riyadh", 180, "+03:00", "-03:00", "+03:00"),
        ("UTC-11", -660, "-11:00", "+11:00", "-11:00"),
        ("Pacific Daylight Time", -420, "-07:00", "+07:00", "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "-08:00", "+08:00", "America/Los_Angeles"),
        ("Pacific Standard Time", -420, "-07:00", "+07:00", "America/Los_Angeles"),
        ("Eastern Daylight Time", -240, "-04:00", "+04:00", "America/New_York"),
        ("W. Europe Standard Time", 60, "+01:00", "-01:00", "Europe/Berlin"),
        ("W. Europe Daylight Time", 120, "+02:00", "-02:00", "Europe/Berlin"),
        ("GMT Daylight Time", 60, "+01:00", "-01:00", "Europe/London"),
        ("AUS Eastern Daylight Time", 660, "+11:00", "-11:00", "Australia/Sydney"),
    ],
)
def test_a_bias_with_the_opposite_sign_is_taken_and_told(name, bias, named, is_, zone_):
    remarks = Remarks()
    zone = stated(name, bias, None, remarks)
    assert zone == Zone.from_bias(name, bias)
    (remark,) = remarks
    assert (remark.kind, remark.text) == (
        Kind.GUESSED,
        f'the zone\'s name in the header, "{name}", is UTC{named}, but its bias of {bias} minutes is the opposite, '
        f"UTC{is_}: the bias is taken; if the name is right, say so with --zone {zone_}",
    )


@pytest.mark.parametrize("name", ZONES["changing"])
def test_the_offsets_that_a_zone_has_are_trusted(name):
    for _, before, after in changes_of(ZONES["changing"][name]):
        remarks = Remarks()
        stated(f"{name} Standard Time", -before, None, remarks)
        stated(f"{name} Daylight Time", -after, None, remarks)
        assert not list(remarks)


@pytest.mark.parametrize(
    ("name", "bias", "given"),
    [
        ("Tokyo Standard Time", 540, "+09:00"),
        ("Tokyo Standard Time", 540, "Asia/Tokyo"),
        ("Pacific Daylight Time", -420, "-07:00"),
        ("Pacific Daylight Time", -420, "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "America/Los_Angeles"),
        ("Pacific Standard Time", -480, "America/Vancouver"),
    ],
)
def test_people_can_say_that_the_name_is_right(name, bias, given):
    remarks = Remarks()
    assert stated(name, bias, Zone.parse(given), remarks) == Zone.parse(given)
    (remark,) = remarks
    assert remark.kind is Kind.REPAIRED
    assert remark.text.endswith("--zone agrees with the name, which is taken")


def test_a_zone_that_is_neither_the_name_s_nor_the_bias_does_not_count():
    remarks = Remarks()
    assert (
        stated("Tokyo Standard Time", 540, Zone.parse("Europe/Berlin"), remarks).rule.utcoffset(None) == -540 * MINUTE
    )
    assert [remark.kind for remark in remarks] == [Kind.GUESSED]


@pytest.mark.parametrize(
    ("name", "bias"),
    [
        ("GMT Standard Time", -60),
        ("Eastern Standard Time", 240),
        ("Pacific Standard Time", 300),
        ("Azores Standard Time", 60),
        ("Azores Standard Time", 0),
        ("Tokyo Standard Time", -540),
        ("Tokyo Standard Time", 0),
        ("UTC", 0),
        ("UTC", 60),
        ("UTC+03:00", -180),
        ("(UTC+01:00) Amsterdam, Berlin", -120),
        ("GMT+5", 300),
        ("Eastern Daylight Time", 240),
        ("+03:00", -180),
        ("", 0),
    ],
)
def test_a_bias_is_trusted_without_a_word(name, bias):
    remarks = Remarks()
    assert stated(name, bias, Zone.parse("Asia/Tokyo"), remarks) == Zone.from_bias(name, bias)
    assert list(remarks) == []


@pytest.mark.parametrize("minutes", ZONES["unchanging"])
def test_each_offset_of_the_zones_that_never_change(minutes):
    for name in ZONES["unchanging"][minutes]:
        remarks = Remarks()
        stated(name, -minutes, None, remarks)
        assert not list(remarks)
        stated(name, minutes, None, remarks)
        assert len(list(remarks)) == (minutes != 0)

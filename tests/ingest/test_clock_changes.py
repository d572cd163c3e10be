"""Each kind of change that the clock of a known zone has made since 2005, and logs that were recorded over it."""

from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from itertools import pairwise, product
from zoneinfo import ZoneInfo

import numpy as np

from plimsoll.ingest.shared.clock import convert_to_utc
from plimsoll.ingest.shared.zones import _load_zones, make_stated_zone
from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.times import SECOND, Zone, convert_to_instant
from tests.each import run_each

MINUTE = timedelta(minutes=1)
CHANGING = _load_zones().changing
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


@cache
def changes_of(key):
    """The changes of a zone's offset from 2005 to 2026: the instant, and minutes ahead of UTC before and after.

    Of those that are alike, on the same Sunday of the month, only the first.
    """
    rule = ZoneInfo(key)

    def offset(moment):
        return moment.astimezone(rule).utcoffset() // MINUTE

    fields = {}
    days = [datetime(2005, 1, 1, tzinfo=UTC) + timedelta(days=2 * n) for n in range(22 * 183)]
    for (day, before), (next_day, after) in pairwise((day, offset(day)) for day in days):
        if before == after:
            continue
        first, last = day, next_day
        while last - first > MINUTE:
            middle = first + (last - first) // MINUTE // 2 * MINUTE
            first, last = (middle, last) if offset(middle) == before else (first, middle)
        # The wall clock is looked up by quarters of an hour: Hebron's change of 2011, a minute past the hour, is not had.
        if last.minute % 15 == 0:
            fields.setdefault((last.month, (last.day - 1) // 7, before, after), (last, before, after))
    return list(fields.values())


def recorded(moments, name, key, *, clock=None):
    """What is made of the wall clock of these moments: minutes by which each is wrong, and the remarks."""
    rule = ZoneInfo(key)
    local = [convert_to_instant(moment.astimezone(clock or rule).replace(tzinfo=UTC)) for moment in moments]
    bias = -(moments[0].astimezone(rule).utcoffset() // MINUTE)
    remarks = Remarks()
    times = convert_to_utc(np.array(local), Zone.from_bias(name, bias), range(2, 2 + len(local)), remarks)
    wrong = (times - np.array([convert_to_instant(moment) for moment in moments])) // (60 * SECOND)
    return set(wrong.tolist()) - {0}, list(remarks)


def interval(minutes, start, end):
    return [start + minutes * MINUTE * n for n in range(int((end - start) / MINUTE / minutes))]


@run_each([*CHANGING, *USUAL], str)
def test_rows_across_each_change_of_a_zone(name):
    """At any interval, also where the log begins in the repeated hour: the bias tells which pass it is."""
    key = (CHANGING | USUAL)[name]
    assert changes_of(key)
    for at, before, after in changes_of(key):
        for minutes, lead in ((1, 70), (20, 10), *(() if name in USUAL else ((60, 300), (90, 300)))):
            start = at - lead * MINUTE + timedelta(seconds=7)
            season = "Daylight" if before > after else "Standard"
            wrong, remarks = recorded(
                interval(minutes, start, at + max(70, 4 * minutes) * MINUTE), f"{name} {season} Time", key
            )
            assert not wrong, (name, at, minutes, lead)
            assert [remark.kind for remark in remarks] == [Kind.REPAIRED]
        wrong, remarks = recorded(
            interval(1, at + timedelta(seconds=7), at + 70 * MINUTE), f"{name} Standard Time", key
        )
        assert (wrong, remarks) == (set(), [])


@run_each(CHANGING, str)
def test_a_pause_over_a_change_is_by_the_rules_and_told(name):
    key = CHANGING[name]
    for at, before, after in changes_of(key):
        away = (abs(after - before) + 20) * MINUTE
        moments = [*interval(5, at - away - 60 * MINUTE, at - away), *interval(5, at + away, at + away + 60 * MINUTE)]
        wrong, remarks = recorded(moments, f"{name} Standard Time", key)
        assert not wrong, (name, at)
        (remark,) = remarks
        assert remark.kind is Kind.GUESSED
        assert f"while the log pauses, as the rules of {key} say" in remark.text


@run_each(product(CHANGING, [5, 60]), str)
def test_a_clock_that_goes_on_over_its_zone_s_change_is_believed(case):
    name, minutes = case
    key = CHANGING[name]
    for at, before, _ in changes_of(key):
        clock = timezone(before * MINUTE)
        moments = interval(minutes, at - 240 * MINUTE + timedelta(seconds=7), at + 240 * MINUTE)
        wrong, remarks = recorded(moments, f"{name} Standard Time", key, clock=clock)
        assert not wrong, (name, at)
        (remark,) = remarks
        assert (
            remark.text == f"the clock was not changed as the rules of {key} say: its rows are read as they are written"
        )


@run_each(CHANGING, str)
def test_the_offsets_that_a_zone_has_are_trusted(name):
    for _, before, after in changes_of(CHANGING[name]):
        remarks = Remarks()
        make_stated_zone(f"{name} Standard Time", -before, None, remarks)
        make_stated_zone(f"{name} Daylight Time", -after, None, remarks)
        assert not list(remarks)

"""Instants, durations and zones."""

import zoneinfo
from datetime import UTC, datetime

import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.times import (
    SECOND,
    Zone,
    convert_to_instant,
    format_duration,
    format_iso,
    format_offset,
    parse_duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("5m", 300), ("1h30m", 5400), ("1.5m", 90), ("250ms", 0.25), (60, 60), ("2d", 172800)],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds * SECOND


@pytest.mark.parametrize("text", ["", "5", "5 m", "m5", "1m x", "-5m"])
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "output"),
    [
        (0.25, "250 ms"),
        (30, "30 s"),
        (59.9, "59.9 s"),
        (59.996, "1 min"),
        (60, "1 min"),
        (90, "1 min 30 s"),
        (5040, "1 h 24 min"),
        (172825, "2 d"),
    ],
)
def test_durations_in_words(seconds, output):
    assert format_duration(seconds * SECOND) == output


def test_bias_is_what_utc_is_ahead_by():
    zone = Zone.from_bias("Eastern Daylight Time", 240)
    assert zone.clock(0) == "1969-12-31 20:00:00"
    assert zone.label(0) == "Eastern Daylight Time, UTC-04:00"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("UTC", "UTC"),
        ("utc", "UTC"),
        ("Z", "UTC"),
        ("GMT", "GMT, UTC"),
        ("+05:30", "UTC+05:30"),
        ("Asia/Tokyo", "Asia/Tokyo, UTC+09:00"),
    ],
)
def test_zones_people_name(text, label):
    assert Zone.parse(text).label(0) == label


@pytest.mark.parametrize(("minutes", "text"), [(0, "+00:00"), (330, "+05:30"), (-570, "-09:30"), (-30, "-00:30")])
def test_an_offset_is_written_as_it_is_read(minutes, text):
    assert format_offset(minutes) == text
    assert Zone.parse(text).rule == Zone.from_bias("", -minutes).rule


@pytest.mark.parametrize("text", ["", "Nowhere/City", "+25:00", "-01:99", "../etc/passwd", "Europe", "localtime"])
def test_zones_that_are_none(text):
    with pytest.raises(Unusable, match="is not known"):
        Zone.parse(text)


def test_instants_for_programs():
    assert format_iso(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123Z"
    assert format_iso(-SECOND // 1000) == "1969-12-31T23:59:59.999Z"


def test_a_span_names_both_days_where_they_differ():
    zone = Zone.parse("UTC")
    assert zone.span(0, 60 * SECOND) == "1970-01-01 00:00:00–00:01:00"
    assert zone.span(0, 86400 * SECOND) == "1970-01-01 00:00:00–1970-01-02 00:00:00"


def test_rules_of_zones_are_those_of_tzdata():
    """The system's rules may be older: Vancouver has no winter time from 2026 on."""
    assert zoneinfo.TZPATH == ()
    assert Zone.parse("America/Vancouver").label(convert_to_instant(datetime(2026, 12, 1, tzinfo=UTC))) == (
        "America/Vancouver, UTC-07:00"
    )

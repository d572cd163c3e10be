"""Instants and spans as people type them."""

import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.time_arguments import parse_span, parse_time
from plimsoll.model.times import SECOND, Zone

BERLIN = Zone.parse("Europe/Berlin")


def at(text):
    return parse_time(text, BERLIN, 0)


@pytest.mark.parametrize(
    ("start", "clock", "result"),
    [
        ("2024-10-27T02:50+02:00", "02:10", "2024-10-27T02:10+01:00"),
        ("2024-10-27T02:50+02:00", "02:55", "2024-10-27T02:55+02:00"),
        ("2024-10-27T02:50+02:00", "02:50", "2024-10-27T02:50+02:00"),
        ("2024-10-27T02:50+02:00", "02:48", "2024-10-27T02:48+01:00"),
        ("2024-10-27T01:00+02:00", "02:10", "2024-10-27T02:10+02:00"),
        ("2024-10-27T02:10+01:00", "02:50", "2024-10-27T02:50+01:00"),
        ("2024-10-27T02:50+01:00", "02:10", "2024-10-28T02:10+01:00"),
        ("2024-10-26T02:50+02:00", "02:10", "2024-10-27T02:10+02:00"),
        ("2024-10-27T02:50+02:00", "01:00", "2024-10-28T01:00+01:00"),
        ("2024-03-31T01:00+01:00", "02:30", "2024-03-31T03:30+02:00"),
        ("2024-03-31T01:50+01:00", "03:10", "2024-03-31T03:10+02:00"),
        ("2024-03-31T03:10+02:00", "01:50", "2024-04-01T01:50+02:00"),
        ("2024-01-15T00:00:30+01:00", "00:00", "2024-01-15T00:00+01:00"),
        ("2024-01-15T23:00+01:00", "01:00", "2024-01-16T01:00+01:00"),
    ],
)
def test_a_clock_time_is_the_first_from_the_start_on(start, clock, result):
    assert parse_time(clock, BERLIN, at(start)) == at(result)


def test_a_span_within_an_hour_that_comes_twice():
    start, end = at("2024-10-27T01:00+02:00"), at("2024-10-27T03:00+01:00")
    begin, finish = parse_span("02:50/02:10", BERLIN, start, end)
    assert finish - begin == 20 * 60 * SECOND


def test_a_clock_time_after_the_last_day_there_is():
    with pytest.raises(Unusable, match="the day of"):
        parse_time("09:00", BERLIN, at("9999-12-31 10:00"))

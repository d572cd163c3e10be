"""Axes carry round values and round moments."""

from datetime import UTC, datetime

import pytest

from model.times import SECOND, Zone, instant
from review.axes import time_ticks, value_axis

BERLIN = Zone.parse("Europe/Berlin")


def texts(low, high, unit):
    return [tick.text for tick in value_axis(low, high, unit).ticks]


@pytest.mark.parametrize(
    ("low", "high", "unit", "expected"),
    [
        (3, 98, "%", ["0", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (281, 3600, "s", ["0", "1,000 s", "2,000 s", "3,000 s", "4,000 s"]),
        (0, 0.18, "s", ["0", "50 ms", "100 ms", "150 ms", "200 ms"]),
        (4 * 2**20, 100 * 2**20, "bytes", ["0", "32 MB", "64 MB", "96 MB", "128 MB"]),
        (0, 2.5, "requests", ["0", "0.5", "1.0", "1.5", "2.0", "2.5"]),
        (99.91, 99.98, "%", ["99.90 %", "99.92 %", "99.94 %", "99.96 %", "99.98 %"]),
        (-3, 4, "ms", ["-4 ms", "-2 ms", "0", "2 ms", "4 ms"]),
        (0, 0, "/s", ["0", "0.2 /s", "0.4 /s", "0.6 /s", "0.8 /s", "1.0 /s"]),
        (7, 7, "/s", ["0", "2 /s", "4 /s", "6 /s", "8 /s"]),
    ],
)
def test_values_stand_at_round_ticks(low, high, unit, expected):
    assert texts(low, high, unit) == expected


@pytest.mark.parametrize(("low", "high"), [(0, 1e-300), (-1e300, 1e300), (1e15, 1e15 + 1), (-5, -5)])
def test_odd_values_have_an_axis_too(low, high):
    axis = value_axis(low, high, "bytes")
    assert axis.low <= low <= high <= axis.high
    assert 2 <= len(axis.ticks) <= 12


def at(*moment):
    return instant(datetime(*moment, tzinfo=UTC))


def test_moments_are_round_on_the_log_s_own_clock():
    ticks = time_ticks(at(2008, 1, 15, 9, 2), at(2008, 1, 15, 11, 32), BERLIN)
    assert [tick.text for tick in ticks] == [f"{h}:{m:02}" for h in (10, 11, 12) for m in (0, 20, 40)][1:-1]
    assert {tick.date for tick in ticks} == {""}


def test_the_first_moment_of_a_day_carries_its_date():
    ticks = time_ticks(at(2008, 1, 15, 15), at(2008, 1, 17, 6), BERLIN)
    assert [(tick.text, tick.date) for tick in ticks][:3] == [("18:00", "15 Jan"), ("00:00", "16 Jan"), ("06:00", "")]


def test_summer_time_neither_repeats_nor_loses_a_moment():
    """The clock of 2024-03-31 has no 02:30, that of 2024-10-27 has it twice."""
    spring = time_ticks(at(2024, 3, 30, 23, 30), at(2024, 3, 31, 3, 0), BERLIN)
    autumn = time_ticks(at(2024, 10, 26, 22, 30), at(2024, 10, 27, 3, 0), BERLIN)
    for ticks in (spring, autumn):
        places = [tick.at for tick in ticks]
        assert places == sorted(set(places))
    assert "04:00" in [tick.text for tick in spring]


@pytest.mark.parametrize("seconds", [1, 90, 3600, 86400, 40 * 86400, 20 * 365 * 86400])
def test_any_span_has_a_few_ticks(seconds):
    start = at(2008, 1, 15, 9, 2)
    assert 1 <= len(time_ticks(start, start + seconds * SECOND, BERLIN)) <= 9


def test_throughput_has_round_ticks_in_powers_of_ten():
    shown = [tick.text for tick in value_axis(14_800_000, 18_600_000, "bytes/s").ticks]
    assert shown == ["14 MB/s", "15 MB/s", "16 MB/s", "17 MB/s", "18 MB/s", "19 MB/s"]

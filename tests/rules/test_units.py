"""Limits name their unit where another unit is possible, and mean the same in each unit."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.units import KINDS, convert_limit, find_unit, format_healthy, is_named

UNITS = sorted({signal.unit for signal in load_signals().values()})
NAMED = [unit for kind in KINDS for unit in kind]


def limit(text, unit):
    return convert_limit(Healthy.parse(text), unit).limit


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("< 25 ms", "s", 0.025),
        ("< 35ms", "s", 0.035),  # and not 0.035000000000000003
        ("<= 100 ms", "ms", 100),
        ("<= 0.1 s", "ms", 100),
        ("> 1 h", "s", 3600),
        ("> 90 min", "s", 5400),
        ("< 250 us", "ms", 0.25),
        ("< 250 µs", "s", 0.00025),
        (">= 4 GB", "bytes", 4 * 2**30),
        (">= 4 GB", "MB", 4096),
        ("> 4194304 bytes", "bytes", 4 * 2**20),
        ("> 1 byte", "bytes", 1),
        ("< 100 MB/s", "bytes/s", 10**8),
        ("> -30 KB/s", "bytes/s", -30000),
        ("< 1e3 KB", "bytes", 1024000),
        ("> 10 %", "%", 10),
        ("> 10%", "%", 10),
        ("> 10", "%", 10),
        ("< 15000 /s", "/s", 15000),
        ("< 3 requests", "requests", 3),
        ("< 1 request", "requests", 1),
        ("≤ 3", "requests", 3),
        ("≥ 0.9", "ratio", 0.9),
        ("> 0", "s", 0),
        ("= 0", "bytes", 0),
    ],
)
def test_a_limit_in_the_unit_of_its_signal(text, unit, expected):
    assert limit(text, unit) == expected


@pytest.mark.parametrize(
    ("text", "unit", "output"),
    [
        ("< 0.025", "s", 'does not name its unit; write "< 0.025 s" or "< 25 ms" (s, ms, us, µs, min and h fit)'),
        ("< 25", "ms", 'does not name its unit; write "< 25 ms" (s, ms'),
        (
            "> 4194304",
            "bytes",
            'does not name its unit; write "> 4194304 bytes" or "> 4 MB" (bytes, KB, MB, GB and TB fit)',
        ),
        (">= 4096", "MB", 'does not name its unit; write ">= 4096 MB" or ">= 4 GB"'),
        ("< 100000000", "bytes/s", 'does not name its unit; write "< 100000000 bytes/s" or "< 100 MB/s"'),
        ("< 25 MS", "s", 'the signal is in s, and "MS" is no unit of that (did you mean "ms"?)'),
        ("< 25 mss", "s", '(did you mean "ms"?)'),
        ("< 4 GB", "s", 'the signal is in s, and "GB" is no unit of that; s, ms, us, µs, min and h fit'),
        ("< 4 GB", "bytes/s", "bytes/s, KB/s, MB/s, GB/s and TB/s fit"),
        ("< 4 ms", "%", 'write "< 4" or "< 4 %"'),
        ("< 4 %", "ratio", 'the signal has no unit; write "< 4"'),
        ("< 4 requests", "connections", 'write "< 4" or "< 4 connections"'),
        ("< 1e999 s", "s", "is no limit"),
    ],
)
def test_what_cannot_be_told_is_refused_with_what_to_write(text, unit, output):
    with pytest.raises(ValueError, match=re.escape(output)):
        limit(text, unit)


@pytest.mark.parametrize("text", ["< 15,000 /s", "< 0,025 s", "25 ms", "< ms", "< 25 ms or so", "< 1_000", "", "<"])
def test_what_is_no_limit(text):
    with pytest.raises(ValueError, match="is not a limit; write it"):
        Healthy.parse(text)


@settings(max_examples=400)
@given(
    unit=st.sampled_from([*UNITS, *NAMED]),
    number=st.floats(-1e18, 1e18, allow_nan=False).map(lambda item: float(f"{item:.12g}")),
)
def test_what_is_shown_can_be_written_back(unit, number):
    healthy = Healthy("<", number)
    assert convert_limit(Healthy.parse(format_healthy(healthy, unit)), unit).limit == number


def test_every_shipped_limit_reads_best_in_the_unit_it_is_written_in():
    """That unit is the one that reports show."""
    catalogue = load()
    for rule in catalogue.rules.values():
        for condition in rule.conditions:
            unit = find_unit(condition, catalogue.signals)
            assert condition.healthy.unit is None
            if is_named(unit):
                assert convert_limit(Healthy.parse(format_healthy(condition.healthy, unit)), unit) == condition.healthy

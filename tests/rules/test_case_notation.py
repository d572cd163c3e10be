"""The notation of cases: what it stands for, and what is refused with a hint."""

import pytest

from plimsoll.rules.schema.field_types import parse


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("95", [95]),
        ("95x3", [95, 95, 95, 95]),
        ("95x0", [95]),
        ("0+10x3", [0, 10, 20, 30]),
        ("10-1x5", [10, 9, 8, 7, 6, 5]),
        ("-5+2.5x2", [-5, -2.5, 0]),
        ("-5-1x2", [-5, -6, -7]),
        ("1e3+1e-1x1", [1000, 1000.1]),
        (".5 +2", [0.5, 2]),
        ("_", [None]),
        ("_x3", [None, None, None]),
        ("  1   _x2\n2x1 ", [1, None, None, 2, 2]),
    ],
)
def test_what_it_stands_for(text, samples):
    assert parse(text) == samples


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("", "a series without samples; write it like 95x60"),
        ("95 NaN", '"NaN" is not a series of samples; a sample that is missing is written _'),
        ("stale", '"stale" is not a series of samples; a sample that is missing is written _'),
        ("1 10-1", '"10-1" is not a series of samples; say how many follow: 10-1x10'),
        ("1,5", '"1,5" is not a series of samples; items are separated by spaces'),
        ("95 x60", '"x60" is not a series of samples; write it like 95x60'),
        ("95x", '"95x" is not a series of samples'),
        ("95x-1", '"95x-1" is not a series of samples'),
        ("_x0", '"_x0" is no sample at all'),
        ("1x99999 2", '"2" makes more than 100,000 samples'),
        ("1x999999999999", '"1x999999999999" makes more than 100,000 samples'),
        ("1e999", '"1e999" is past the largest number there is'),
        ("1e308+1e308x9", '"1e308+1e308x9" is past the largest number there is'),
    ],
)
def test_what_is_refused(text, output):
    with pytest.raises(ValueError, match=r".") as refused:
        parse(text)
    assert output in str(refused.value)

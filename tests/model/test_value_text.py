"""Values as people read them."""

import pytest

from plimsoll.model.remark import join_names
from plimsoll.model.value_text import format_percent, format_value, number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1064, "1,064"),
        (30000, "30,000"),
        (78.24, "78.2"),
        (9.996, "10"),
        (0.02114, "0.0211"),
        (5.0, "5"),
        (1e-7, "1.00e-07"),
    ],
)
def test_number(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (612 * 1024**2, "bytes", "612 MB"),
        (39_000_000, "bytes/s", "39 MB/s"),
        (0.0211, "s", "21.1 ms"),
        (3600, "s", "3,600 s"),
        (1, "packets", "1 packet"),
        (12, "requests", "12 requests"),
        (0.5, "/s", "0.5 /s"),
        (float("nan"), "%", "no value"),
    ],
)
def test_quantity(value, unit, shown):
    assert format_value(value, unit) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(0, "0 %"), (0.0001, "< 0.1 %"), (0.9999, "> 99.9 %"), (1, "100 %"), (0.375, "37.5 %")]
)
def test_percent(share, shown):
    assert format_percent(share) == shown


def test_names_that_contain_commas_are_told_apart():
    names = ["Response time, median", "Response time", "Disk latency"]
    assert join_names(names, 2) == "Response time, median; Response time; and 1 more"
    assert join_names(names[1:], 2) == "Response time, Disk latency"

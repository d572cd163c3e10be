"""Sparklines of values that no chart was made for."""

import math
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.times import SECOND
from plimsoll.pages.health.sparkline import HEIGHT, LastHour

NOW = 1_800_000_000 * SECOND
KEY = "cpu-busy", "web1", None
VALUES = st.floats() | st.sampled_from([1.7e308, -1.7e308, 1e300, -1e300, 5e-324, math.inf, -math.inf, 0.0, 99.0])


@given(st.lists(VALUES, min_size=1, max_size=60), VALUES | st.none())
def test_any_values_are_drawn_within_the_drawing(values, limit):
    hour = LastHour()
    hour.keep({KEY: "higher"})
    hour.add(KEY, NOW - np.arange(len(values))[::-1] * 60 * SECOND, np.array(values))
    (sparkline,) = hour.drawn([(KEY, None if limit is None or math.isnan(limit) else limit)], NOW)
    if sparkline is None:
        assert all(map(math.isnan, values))
        return
    for line in filter(None, sparkline.path.split("M")):
        first = re.match(r"\d+ (-?\d+)", line)
        assert first
        height = int(first[1])
        for rise in re.findall(r" 1 (-?\d+)", line):
            assert 0 <= height <= HEIGHT
            height += int(rise)
        assert 0 <= height <= HEIGHT
    assert sparkline.limit is None or 0 <= sparkline.limit <= HEIGHT

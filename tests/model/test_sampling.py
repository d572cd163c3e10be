"""How far apart samples were taken, and where there are none."""

import numpy as np
import pytest

from plimsoll.model.log import find_other_intervals, find_pauses, find_sampling_interval
from plimsoll.model.times import SECOND


@pytest.mark.parametrize(
    ("seconds", "interval"),
    [
        ([0, 10, 20, 30], 10),
        ([0, 600, 3600], 600),  # not 1800, at which nothing was sampled
        ([0, 10, 30], 10),
        ([0, 10.1, 20.2, 30.3], 10),  # a timer that runs late
        ([0, 0, 10, 10, 20, 20], 10),  # rows of the same time have no distance
        ([0], None),
        ([5, 5], None),
    ],
)
def test_interval(seconds, interval):
    times = (np.array(seconds) * SECOND).astype(np.int64)
    assert find_sampling_interval(times) == (interval and interval * SECOND)


def at(*distances):
    """Times so many seconds apart."""
    return np.cumsum([0, *distances], dtype=np.int64) * SECOND


@pytest.mark.parametrize(
    ("distances", "paused"),
    [
        ([10, 10, 25, 10], []),
        ([10, 10, 26, 10, 10], [2]),
        ([10] * 9 + [600] * 4, [9, 10, 11, 12]),  # so few may be chance
        ([10] * 9 + [600] * 5, []),
        ([10] * 9 + [600] * 5 + [10], []),
        ([10] * 9 + [600, 600, 1900, 600, 600], [9, 10, 11, 12, 13]),
        ([10] * 20 + [600] * 5 + [1900] + [600] * 5, [25]),
        ([10] * 20 + [60] * 5 + [600] * 5, []),
        ([10] * 20 + [60, 95, 60, 95, 60], [20, 21, 22, 23, 24]),
        ([], []),
    ],
)
def test_a_pause_is_where_no_interval_is_kept_up(distances, paused):
    assert np.flatnonzero(find_pauses(at(*distances))).tolist() == paused


def test_stretches_of_another_interval():
    minutes, tens = find_other_intervals(at(*[10] * 20, *[60] * 5, *[600] * 6, *[10] * 3))
    assert seconds(minutes) == (260, 500, 60, 200, 1100)
    assert seconds(tens) == (1100, 4100, 600, 500, 4110)
    assert find_other_intervals(at(10, 10, 60, 10)) == []


def test_a_stretch_at_an_end_of_the_recording():
    (last,) = find_other_intervals(at(*[60] * 9, *[10] * 5))
    assert seconds(last)[:4] == (550, 590, 10, 540)
    assert last.until > last.end
    (first,) = find_other_intervals(at(*[60] * 9, *[10] * 20))
    assert seconds(first) == (0, 540, 60, 0, 550)


def seconds(stretch):
    return tuple(instant // SECOND for instant in stretch)

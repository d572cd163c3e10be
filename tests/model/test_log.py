"""The interval of a log."""

import numpy as np
import pytest

from model.log import sampling_interval
from model.times import SECOND


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
    assert sampling_interval(times) == (interval and interval * SECOND)

"""What a series did, in numbers: of the time recorded, however often a sample was taken."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.log import Log
from plimsoll.model.run import Phase
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.review.statistics import WHOLE_RUN, compute_statistics

SERIES = Series("WEB01", "win_cpu", (("instance", "_Total"),), "Percent_Processor_Time")


def log(seconds, values):
    times = np.array(seconds, dtype=np.int64) * SECOND
    column = np.array(values, dtype=float)
    return Log(Path("log.csv"), "PDH-CSV", times, (column,), (SERIES,), Zone.parse("UTC"))


def whole(*logs):
    (statistic,) = compute_statistics(logs, (), None, None)
    assert statistic.phase == WHOLE_RUN
    return statistic.figures


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_at_one_interval_they_are_those_of_the_samples(values):
    result = whole(log(range(0, 5 * len(values), 5), values))
    assert (result.samples, result.minimum, result.maximum) == (len(values), min(values), max(values))
    assert result.mean == pytest.approx(np.mean(values))
    shares = [0.01, 0.05, 0.5, 0.95, 0.99]
    levels = [result.p1, result.p5, result.median, result.p95, result.p99]
    assert levels == pytest.approx(np.quantile(values, shares).tolist())
    assert result.nonzero_share == pytest.approx(np.mean([value != 0 for value in values]))


def test_five_minutes_at_every_second_are_five_minutes_beside_ten_hours():
    slow = range(0, 36_000, 600)
    fast = range(slow[-1] + 1, slow[-1] + 301)
    result = whole(log([*slow, *fast], [96.0] * len(slow) + [4.0] * len(fast)))
    assert result.samples == 360
    assert result.mean == pytest.approx((60 * 600 * 96 + 300 * 4) / (60 * 600 + 300))
    assert result.median == result.p95 == 96
    assert result.minimum == 4


def test_evaluation_budget_of_nonzero_samples_are_shares_of_time():
    slow = range(0, 6000, 60)
    fast = range(slow[-1] + 1, slow[-1] + 1001)
    result = whole(log([*slow, *fast], [0.0] * len(slow) + [8.0] * len(fast)))
    assert result.nonzero_share == pytest.approx(1000 / 7000)
    assert result.nonzero_mean == 8


def test_a_phase_within_one_of_the_intervals_is_as_if_it_were_alone():
    slow = range(0, 6000, 60)
    fast = range(slow[-1] + 1, slow[-1] + 101)
    recorded = log([*slow, *fast], [*np.arange(100.0), *np.arange(100.0)])
    phase = Phase("steady", fast[0] * SECOND, fast[-1] * SECOND)
    _, steady = compute_statistics([recorded], [phase], None, None)
    assert (steady.phase, steady.figures.samples) == ("steady", 100)
    assert steady.figures.mean == steady.figures.median == pytest.approx(49.5)

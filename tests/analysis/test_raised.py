"""A signal that is higher during events is found; other signals are found only as often as chance allows."""

import numpy as np
import pytest

from plimsoll.analysis.regular_spikes import compare_during_events, split_events
from tests.simulated import ar1

ROWS, PERIOD, WIDTH = 1440, 60, 5
TIMES = np.arange(ROWS, dtype=np.int64)


def compared(values, times=TIMES):
    parts = split_events(np.arange(24, ROWS - PERIOD, PERIOD), WIDTH, PERIOD, times, 1)
    return compare_during_events(parts, values) if parts else None


def test_what_is_higher_during_events_is_found_with_both_means():
    inside = ((TIMES - 24) % PERIOD < WIDTH) & (TIMES >= 24)
    result = compared(10 + 4 * inside + ar1(np.random.default_rng(1), ROWS))
    assert result is not None
    assert result.chance < 1e-6
    assert (result.inside, result.between) == pytest.approx((14, 10), abs=0.3)


@pytest.mark.parametrize("autocorrelation", [0.0, 0.9])
def test_grouping_is_higher_during_events_as_often_as_chance_says(autocorrelation):
    rows = [compared(ar1(np.random.default_rng(seed), ROWS, autocorrelation)) for seed in range(300)]
    chances = np.array([item.chance for item in rows if item])
    assert len(chances) == 300
    assert np.mean(chances < 0.05) == pytest.approx(0.05, abs=0.035)


def test_a_signal_that_does_not_change_tells_nothing():
    assert compared(np.full(ROWS, 5.0)) is None
    assert compared(np.empty(0), np.empty(0, dtype=np.int64)) is None

"""How far one series lies behind another."""

import numpy as np

from plimsoll.analysis.lag import find_lag


def test_stairs_of_equal_steps_have_no_lag_of_a_step():
    """In a load test with a varying mix, a lag of one step fits better by chance."""
    rng = np.random.default_rng(1)
    load = np.repeat([1.0, 2, 3, 4, 5, 6], 24)
    use = np.repeat([1.5, 1, 2, 3, 4, 5], 24) + rng.normal(0, 0.05, 144)
    assert find_lag(load, use, 40) is None
    later = find_lag(load, np.append(np.full(10, 0.5), load[:-10]) + rng.normal(0, 0.05, 144), 48)
    assert later
    assert later.best == 10

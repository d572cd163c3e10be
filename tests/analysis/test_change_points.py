"""Change points of series of runs: found where they began, and not where there are none."""

import numpy as np
import pytest

from plimsoll.analysis.change_points import find_change_points

REFERENCE = 0.002, 1.0, 6.0  # the chance of a false alarm, and what is known of the spread
RUNS = 30


def series(seed, changes=(), spread=0.02):
    rng = np.random.default_rng(seed)
    level = np.full(RUNS, 50.0)
    for first, factor in changes:
        level[first:] *= factor
    return level * np.exp(spread * rng.standard_normal(RUNS))


def test_a_change_of_a_tenth_is_found_within_two_runs():
    rows = [find_change_points(series(seed, [(18, 1.1)]), *REFERENCE) for seed in range(30)]
    assert sum(len(item) == 1 and abs(item[0].first - 18) <= 2 for item in rows) >= 27


def test_runs_alike_have_none():
    assert sum(bool(find_change_points(series(1000 + seed), *REFERENCE)) for seed in range(100)) <= 2


def test_two_changes_are_both_found_with_their_levels():
    first, second = find_change_points(series(3, [(10, 1.15), (20, 0.85)]), *REFERENCE)
    assert (abs(first.first - 10) <= 1, abs(second.first - 20) <= 1) == (True, True)
    assert (first.after, second.after) == pytest.approx((57.5, 48.9), rel=0.03)


@pytest.mark.parametrize("values", [np.full(20, 3.0), np.array([1.0, 2.0, 3.0]), np.array([])])
def test_what_cannot_change_has_none(values):
    assert find_change_points(values, *REFERENCE) == []

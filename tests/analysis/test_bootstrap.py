"""The stationary bootstrap agrees with the package arch, and its intervals hold as often as they claim."""

import json
from pathlib import Path

import numpy as np
import pytest

from plimsoll.analysis.bootstrap import Difference, estimate, estimate_quantile
from plimsoll.analysis.significance import choose_block_lengths, compute_autocovariances
from tests.data.bootstrap_series import SERIES
from tests.simulated import ar1

REFERENCE = json.loads((Path(__file__).parents[1] / "data/bootstrap-reference.json").read_text())["series"]


@pytest.mark.parametrize("name", SERIES)
def test_it_agrees_with_arch(name):
    values, expected = SERIES[name], REFERENCE[name]
    result = estimate(values)
    assert choose_block_lengths(values[np.newaxis], compute_autocovariances(values[np.newaxis]))[0] == pytest.approx(
        max(1.0, expected["block"]), rel=1e-9
    )
    # 5,000 draws know a standard error to 1 %, and the ends of an interval to 4 % of it; a skewed mean is not normal.
    assert result.error == pytest.approx(expected["error"], rel=0.03)
    slack = (0.25 if name in ("skewed", "short") else 0.1) * result.error
    assert result.mean - 1.96 * result.error == pytest.approx(expected["low"], abs=slack)
    assert result.mean + 1.96 * result.error == pytest.approx(expected["high"], abs=slack)


def test_the_interval_of_a_difference_holds_the_true_one_as_often_as_it_says():
    rng = np.random.default_rng(1)
    runs = [(estimate(ar1(rng, 400)), estimate(2 + ar1(rng, 900))) for _ in range(300)]
    intervals = [Difference.of(first, second).interval() for first, second in runs]
    assert np.mean([low <= 2 <= high for low, high in intervals]) >= 0.9


def test_the_interval_of_a_quantile_holds_the_true_one_as_often_as_it_says():
    rng = np.random.default_rng(2)
    intervals = [estimate_quantile(ar1(rng, 800, phi=0.5), 0.95).interval for _ in range(200)]
    assert np.mean([low <= 1.645 <= high for low, high in intervals]) >= 0.9


def test_the_effective_number_of_samples_is_that_of_independent_ones():
    rng = np.random.default_rng(3)
    assert np.median([estimate(ar1(rng, 2000, phi=0.7)).effective for _ in range(50)]) == pytest.approx(
        2000 * 0.3 / 1.7, rel=0.25
    )
    assert estimate(rng.standard_normal(2000)).effective == pytest.approx(2000, rel=0.15)


def test_a_part_that_was_sampled_more_often_counts_for_its_time():
    values, weights = np.array([1.0] * 60 + [10.0] * 60), np.array([1.0] * 60 + [9.0] * 60)
    assert estimate(values, weights).mean == pytest.approx(0.1 * 1 + 0.9 * 10)


def test_blocks_do_not_reach_across_a_long_pause():
    rng = np.random.default_rng(4)
    morning, evening = ar1(rng, 500), 5 + ar1(rng, 500)
    apart = estimate(np.concatenate((morning, evening)), breaks=[500])
    assert apart.error > 4 * estimate(morning).error  # two levels are two samples of the level


def test_samples_that_never_change_are_known_exactly():
    result = estimate(np.full(100, 7.25))
    assert (result.mean, result.error, result.effective) == (7.25, 0.0, 100.0)


@pytest.mark.parametrize("freedom", [1.0, 1.7, 2.0, 3.5, 40.0, 1000.5, 1e8, float("inf")])
def test_the_short_cut_past_the_interval_says_what_the_interval_says(freedom):
    difference = Difference(0.0, 0.3, freedom)
    half = difference.interval().high
    assert [difference.is_vaguer_than(share * half) for share in (-1, 0.5, 0.999, 1.001, 2)] == [True] * 3 + [False] * 2

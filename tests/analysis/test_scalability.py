"""The universal scalability law and knees of known curves."""

import numpy as np
import pytest

from plimsoll.analysis.demand import fit_isotonic
from plimsoll.analysis.scalability import Law, Refused, find_latency_knee, find_throughput_knee, fit_scalability

LOADS = np.array([1, 2, 4, 8, 16, 32, 64, 128.0])
SEEDS = 100


def measured(contention, coherency, loads=LOADS, seed=0, deviation=0.02):
    exact = 10 * loads / (1 + contention * (loads - 1) + coherency * loads * (loads - 1))
    return exact * (1 + deviation * np.random.default_rng(seed).standard_normal(len(loads)))


@pytest.mark.parametrize("loads", [LOADS, np.arange(20, 140, 20.0)])
def test_the_intervals_hold_the_true_values_in_90_of_100_seeds(loads):
    fields = {"contention": 0, "peak": 0}
    for seed in range(SEEDS):
        rates = measured(0.02, 0.0005, loads, seed)
        law = fit_scalability(loads, rates, 0.02 * rates)
        assert isinstance(law, Law)
        assert law.peak
        fields["contention"] += law.contention.low <= 0.02 <= law.contention.high
        fields["peak"] += law.peak.low <= np.sqrt(0.98 / 0.0005) <= law.peak.high
    assert min(fields.values()) >= 90


def test_the_law_fits_better_than_a_straight_line():
    rates = measured(0.02, 0.0005)
    law = fit_scalability(LOADS, rates, 0.02 * rates)
    assert isinstance(law, Law)
    assert law.r_squared > 0.99
    assert law.aic < law.aic_line - 10


def test_a_straight_line_is_refused_in_every_seed():
    for seed in range(SEEDS):
        rates = measured(0, 0, seed=seed)
        law = fit_scalability(LOADS, rates, 0.02 * rates)
        assert isinstance(law, Refused)
        assert "in proportion" in law.why


def test_four_loads_are_too_few():
    rates = measured(0.02, 0.0005, LOADS[:4])
    law = fit_scalability(LOADS[:4], rates, 0.02 * rates)
    assert law == Refused("the law needs 6 different loads, and there are 4")


def test_a_maximum_is_claimed_only_where_the_data_have_one():
    claimed = 0
    for seed in range(SEEDS):
        rates = measured(0.05, 0, seed=seed)
        law = fit_scalability(LOADS, rates, 0.02 * rates)
        claimed += isinstance(law, Law) and law.peak is not None
    assert claimed <= 5


def test_the_knee_is_where_throughput_stops_growing():
    loads = np.arange(10, 210, 10.0)
    rates = np.minimum(2 * loads, 200 + 0.1 * (loads - 100)) + np.random.default_rng(0).normal(0, 2, len(loads))
    knee = find_throughput_knee(loads, rates)
    assert knee
    assert knee.load == pytest.approx(100, abs=5)
    assert find_throughput_knee(loads, 2 * loads) is None


def test_the_latency_of_openldap_is_flat_up_to_105_a_second():
    """Measurement and Analysis of LDAP Performance: 8 ms up to 105 requests/s, 140/s at most."""
    rates, latencies = [20, 40, 60, 80, 105, 120, 130, 140], [8, 8.1, 7.9, 8, 8.2, 12, 20, 40]
    knee = find_latency_knee(np.array(rates), np.array(latencies))
    assert knee
    assert (knee.rate, knee.highest, knee.flat) == (105, 140, pytest.approx(8, abs=0.1))
    assert find_latency_knee(np.array(rates), np.full(8, 8.0)) is None


def test_the_nearest_curve_that_never_falls_is_that_of_scipy():
    from scipy.optimize import isotonic_regression  # here, as it is slow and every worker imports this file

    rng = np.random.default_rng(0)
    for count in [1, 2, 3, *rng.integers(4, 100, 50)]:
        values = np.round(rng.normal(size=count) + np.linspace(0, rng.integers(0, 5), count), int(rng.integers(0, 9)))
        weights = rng.integers(1, 6, count).astype(float)
        expected = isotonic_regression(values, weights=weights).x
        assert fit_isotonic(values, weights) == pytest.approx(expected, rel=1e-12, abs=1e-15)

"""A climb throughout is found with its slope; noise, saw-teeth, steps and series that level off are no trends."""

import numpy as np
import pytest

from plimsoll.analysis.trend import find_trend
from tests.simulated import ar1

SEEDS = range(100)
STEP = 5.0


def directions(make, rows):
    x = np.arange(rows) / rows
    item = [find_trend(np.arange(rows) * STEP, make(np.random.default_rng(seed), x)) for seed in SEEDS]
    return [entry.direction if entry else 0 for entry in item], [entry for entry in item if entry]


WITHOUT_TREND = {
    "noise of autocorrelation 0.9": lambda rng, x: 100 + ar1(rng, len(x), 0.9),
    "noise of autocorrelation 0.99": lambda rng, x: 100 + ar1(rng, len(x), 0.99),
    "a random walk": lambda rng, x: np.cumsum(rng.normal(0, 1, len(x))),
    "a saw-tooth, as a garbage collector makes it": lambda rng, x: 100 + 50 * ((x * 12 + rng.random()) % 1),
    "a few saw-teeth": lambda rng, x: 100 + 50 * ((x * 3 + rng.random()) % 1) + ar1(rng, len(x)),
    "a saw-tooth and a half": lambda rng, x: 100 + 50 * ((x * 1.5 + rng.random()) % 1) + ar1(rng, len(x)),
    "saw-teeth that become higher above the same floor": lambda rng, x: 100 + 50 * x * ((x * 60) % 1),
    "a step": lambda rng, x: 100 + 50 * (x > rng.uniform(0.1, 0.9)) + 2 * ar1(rng, len(x)),
    "two steps": lambda rng, x: 100 + 50 * (x > 0.33) + 50 * (x > 0.66) + 2 * ar1(rng, len(x)),
    "a warm-up that levels off": lambda rng, x: 100 + 50 * (1 - np.exp(-x / 0.33)) + 2 * ar1(rng, len(x)),
    "a climb that ends": lambda rng, x: 100 + 50 * np.minimum(x / 0.6, 1) + 2 * ar1(rng, len(x)),
    "a wave": lambda rng, x: 100 + 50 * np.sin(2 * np.pi * (x + rng.random())) + 2 * ar1(rng, len(x)),
}


@pytest.mark.parametrize("rows", [120, 2000])
@pytest.mark.parametrize("kind", WITHOUT_TREND)
def test_what_does_not_climb_throughout_has_no_trend(kind, rows):
    moved, _ = directions(WITHOUT_TREND[kind], rows)
    assert np.count_nonzero(moved) <= 5


WITH_TREND = {
    "a climb in noise": lambda rng, x: 100 + 10 * x + ar1(rng, len(x)),
    "a climb in noise of autocorrelation 0.9": lambda rng, x: 100 + 10 * x + 0.5 * ar1(rng, len(x), 0.9),
    "a climb with a saw-tooth": lambda rng, x: 100 + 50 * x + 30 * ((x * 12 + rng.random()) % 1),
    "many small steps": lambda rng, x: 100 + 5 * np.floor(12 * x) + ar1(rng, len(x)),
}


@pytest.mark.parametrize("kind", WITH_TREND)
def test_a_climb_and_a_fall_are_found(kind):
    for sign in (1, -1):
        moved, _ = directions(lambda rng, x, s=sign: s * WITH_TREND[kind](rng, x), 400)
        assert moved.count(sign) >= 95
        assert moved.count(-sign) == 0


@pytest.mark.parametrize("autocorrelation", [0.0, 0.7, 0.9])
@pytest.mark.parametrize("rows", [240, 2000])
def test_the_interval_holds_the_slope(rows, autocorrelation):
    true = 10 / (rows * STEP)
    _, result = directions(lambda rng, x: 100 + 10 * x + ar1(rng, len(x), autocorrelation), rows)
    assert np.mean([item.interval[0] <= true <= item.interval[1] for item in result]) >= 0.9
    assert np.mean([item.slope for item in result]) == pytest.approx(true, rel=0.1)


def test_a_line_without_noise_is_exact():
    result = find_trend(np.arange(100.0), 5 + 0.25 * np.arange(100.0))
    assert result is not None
    assert result.direction == 1
    assert (result.slope, result.start, result.end) == pytest.approx((0.25, 5, 29.75))


def test_too_few_samples_tell_nothing():
    assert find_trend(np.arange(40.0), np.arange(40.0)) is None

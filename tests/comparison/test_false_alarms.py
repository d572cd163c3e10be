"""How often comparisons are wrong: regressions without a change, and changes that are missed.

A run has 24 signals, as many as are usually compared at once; each seed is a comparison of two runs.
"""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.comparison.compared_signal import Compared, ComparisonOutcome, correct_for_several
from plimsoll.comparison.levels import SignalLevel
from plimsoll.comparison.signal_settings import Treatment, Treatments
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.subjects import Subject
from tests.each import run_each
from tests.simulated import ar1

SEEDS, SIGNALS = 24, 24
BUSY = load_signals()["cpu.busy"]
HIGHER = Treatment("higher", tolerance=0.05, smallest=0.0, needed=False, critical=True)


def level(values, every_s=5.0):
    times = np.arange(len(values), dtype=np.int64) * int(every_s * SECOND)
    result = SignalLevel.of(Samples(times, np.asarray(values, dtype=float)), None)
    assert result
    return result


def compared(first, second, *, every_s=(5.0, 5.0), treatment=HIGHER):
    """The outcomes of the signals of two runs, which are lists of values by signal."""
    host = Subject("A")
    rows = [
        Compared.of("cpu.busy", BUSY, (host, host), (level(item, every_s[0]), level(other, every_s[1])), treatment)
        for item, other in zip(first, second, strict=True)
    ]
    return [item.outcome for item in correct_for_several(rows)]


def noisy(rng, rows, mean=50.0):
    return [mean * (1 + ar1(rng, rows, deviation=0.1)) for _ in range(SIGNALS)]


def false_alarms(runs, every_s, seeds):
    return sum(
        ComparisonOutcome.REGRESSION in compared(*runs(np.random.default_rng(seed)), every_s=every_s)
        for seed in range(seeds)
    )


def with_its_second_half(values):
    def runs(rng):
        signals = [values(rng) for _ in range(SIGNALS)]
        return signals, [signal[len(signal) // 2 :] for signal in signals]

    return runs


def independent(values, other=None):
    return lambda rng: ([values(rng) for _ in range(SIGNALS)], [(other or values)(rng) for _ in range(SIGNALS)])


def noise(rows, mean=50.0, phi=0.7):
    return lambda rng: mean * (1 + ar1(rng, rows, phi, deviation=0.1))


def bursts(rows, item=60):
    def created(rng):
        out = np.zeros(rows)
        for start in range(int(rng.integers(item)), rows, item):
            length = int(rng.integers(3, 6))
            out[start : start + length] = rng.uniform(200, 1000, length)[: rows - start]
        return out

    return created


def climbing(rows):
    return lambda rng: np.cumsum(rng.uniform(0.5, 1.5, rows))


def spike(rows):
    def created(rng):
        out = 50 * (1 + ar1(rng, rows, deviation=0.1))
        out[rng.integers(rows)] = 1e6
        return out

    return created


def heavy(rows):
    return lambda rng: np.exp(1.2 * ar1(rng, rows))


BARS = {
    "a run and its second half": (with_its_second_half(noise(700)), (5, 5)),
    "two runs alike": (independent(noise(720)), (5, 5)),
}
CASES = {
    "two runs of slow noise": (independent(noise(1000, phi=0.95)), (5, 5)),
    "two runs of very slow noise": (independent(noise(400, phi=0.99)), (5, 5)),
    "runs of other lengths": (independent(noise(2000), noise(350)), (5, 5)),
    "bursts and their second half": (with_its_second_half(bursts(720)), (5, 5)),
    "what climbs and its second half": (with_its_second_half(climbing(720)), (5, 5)),
    "a spike": (independent(noise(300), spike(300)), (5, 5)),
    "heavy tails": (independent(heavy(720)), (5, 5)),
}


@pytest.mark.parametrize("name", BARS)
def test_nothing_is_called_worse_where_nothing_changed(name):
    assert false_alarms(*BARS[name], SEEDS) <= 1


@run_each(CASES, str)
def test_nor_where_samples_are_unusual(name):
    result = false_alarms(*CASES[name], seeds=6)
    assert result <= 1, result


def test_a_run_is_not_worse_than_itself_and_constants_are_constant():
    rng = np.random.default_rng(1)
    signals = [*noisy(rng, 400), np.full(400, 3.0), np.zeros(400), np.full(10, 5.0)]
    assert ComparisonOutcome.REGRESSION not in compared(signals, signals)


@pytest.mark.parametrize(("rows", "shifted"), [(300, 1), (300, SIGNALS)])
def test_a_shift_of_a_tenth_is_found(rows, shifted):
    number = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(1000 + seed)
        first, second = noisy(rng, rows), noisy(rng, rows)
        second[:shifted] = [item + 5 for item in second[:shifted]]
        number += compared(first, second)[0] == ComparisonOutcome.REGRESSION
    assert number >= 23


def test_a_constant_that_changed_is_found():
    assert compared([np.full(100, 3.0)], [np.full(80, 4.0)]) == [ComparisonOutcome.REGRESSION]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(1.5, ComparisonOutcome.REGRESSION), (1.3, ComparisonOutcome.SPREAD)],
    ids=["by half", "by less"],
)
def test_answers_that_take_longer_by_half_are_no_spread_of_runs(factor, expected):
    treatment = Treatments().of("client.response_time", load_signals()["client.response_time"])
    rng = np.random.default_rng(1)
    first, second = noisy(rng, 300, 0.12), noisy(rng, 300, factor * 0.12)
    assert set(compared(first, second, treatment=treatment)) == {expected}


@pytest.mark.parametrize(("noise_of_a_run", "reason"), [(0.02, "within-spread"), (0.3, "unclear")])
def test_the_larger_part_of_the_error_is_the_reason(noise_of_a_run, reason):
    """A change a tenth above what a spread of 4 % allows, or above noise that drifts for a tenth of the run."""
    rng, treatment = np.random.default_rng(3), replace(HIGHER, spread=0.04)
    first, second = (mean * (1 + ar1(rng, 300, phi=0.9, deviation=noise_of_a_run)) for mean in (50, 55))
    assert compared([first], [second], treatment=treatment) == [reason]


def test_a_clear_difference_of_a_signal_that_drifts_is_found():
    """A fifth more, six times the difference between runs of one build, although the whole run is one drift."""
    drift = np.linspace(-2, 2, 200)
    first, second = (mean + drift + np.random.default_rng(mean).normal(0, 0.5, 200) for mean in (50, 60))
    assert compared([first], [second], treatment=replace(HIGHER, spread=0.025)) == [ComparisonOutcome.REGRESSION]


def test_what_follows_the_load_is_no_noise():
    """The load wanders by a fifth for minutes; processor time follows it, with noise of 2 % besides."""
    rng = np.random.default_rng(4)
    load = 100 * np.exp(ar1(rng, 360, phi=0.97, deviation=0.2))
    busy = level(0.4 * load * (1 + ar1(rng, 360, phi=0.3, deviation=0.02)))
    assert busy.beside(level(load)).error < 0.1 * busy.mean.error
    assert busy.growth(level(load)) > 0.97
    half_when_idle = level(20 + 0.2 * load + rng.normal(0, 1, 360))
    assert 0.5 < half_when_idle.growth(level(load)) < 0.55

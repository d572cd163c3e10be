"""Regular spikes are found despite jitter and missing beats; irregular spikes have no rhythm."""

from dataclasses import dataclass

import numpy as np
import pytest

from plimsoll.analysis.regular_spikes import find_regular_spikes, find_rhythm
from tests.simulated import ar1

SEEDS = range(60)
ROWS, STEP = 1800, 5.0


def result(values, step=STEP):
    return find_regular_spikes(np.arange(len(values), dtype=np.float64) * step, np.asarray(values, dtype=np.float64))


def spiking(rng, at, *, rows=ROWS, step=STEP, width=25.0, height=60.0, noise=3.0, base=10.0):
    """Noise around a level, and a spike of `width` seconds at each of the times `at`."""
    values = base + noise * ar1(rng, rows)
    for start in at:
        first = int(start / step)
        values[first : first + max(1, int(width / step))] += height * rng.uniform(0.7, 1.3)
    return np.maximum(values, 0)


def beats(rng, period, length, jitter=0.0, missing=0.0):
    grid = period * np.arange(1, int(length / period))
    return (grid + rng.uniform(-jitter, jitter, len(grid)) * period)[rng.random(len(grid)) >= missing]


WITHOUT_RHYTHM = {
    "noise of autocorrelation 0.7": lambda rng: 50 + 10 * ar1(rng, ROWS),
    "noise of autocorrelation 0.9": lambda rng: 50 + 10 * ar1(rng, ROWS, 0.9),
    "noise with a long tail": lambda rng: np.exp(1.2 * ar1(rng, ROWS)),
    "bursts by chance": lambda rng: spiking(rng, np.sort(rng.uniform(0, ROWS * STEP, 30)), height=300),
    "bursts by chance above nothing": lambda rng: spiking(rng, rng.uniform(0, ROWS * STEP, 40), noise=0.0, base=0.0),
    "a single spike": lambda rng: spiking(rng, [3000], width=60, height=300),
    "a daily load": lambda rng: 50 + 30 * np.sin(np.arange(2880) / 720 * 2 * np.pi) + 3 * ar1(rng, 2880),
    "a daily load with nights at zero": lambda rng: np.maximum(
        0, 50 * np.sin(np.arange(2880) / 288 * 2 * np.pi) + 3 * ar1(rng, 2880)
    ),
    "a saw-tooth that climbs": lambda rng: np.arange(ROWS) % 60 + rng.normal(0, 1, ROWS),
    "on and off": lambda rng: (np.arange(ROWS) % 60 < 30) * 50 + rng.normal(0, 1, ROWS),
}


@pytest.mark.parametrize("kind", WITHOUT_RHYTHM)
def test_no_rhythm_is_seen_where_there_is_none(kind):
    false = [seed for seed in SEEDS if result(WITHOUT_RHYTHM[kind](np.random.default_rng(seed)))]
    assert len(false) <= 3, false


@dataclass(frozen=True)
class Case:
    period: float
    length: float
    step: float
    width: float
    jitter: float = 0.1
    missing: float = 0.2


RHYTHMS = {
    "every 5 min": Case(300, 9000, 5, 25),
    "every 5 min, like a clock": Case(300, 9000, 5, 25, jitter=0, missing=0),
    "every 100 s, sampled every 7 s": Case(100, 5000, 7, 10),
    "every hour for 2 days": Case(3600, 172_800, 15, 300),
    "every minute, sampled every second": Case(60, 1800, 1, 5),
}


@pytest.mark.parametrize("name", RHYTHMS)
def test_a_period_with_jitter_and_missing_beats_is_found(name):
    case = RHYTHMS[name]
    right = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        at = beats(rng, case.period, case.length, case.jitter, case.missing)
        item = result(spiking(rng, at, rows=int(case.length / case.step), step=case.step, width=case.width), case.step)
        right += item is not None and abs(item.period_s / case.period - 1) < 0.03
    assert right >= 57


def test_the_spikes_of_a_rhythm_are_measured():
    rng = np.random.default_rng(1)
    at = [start for start in range(300, 9000, 300) if start != 3000]
    item = result(spiking(rng, at, width=20, height=400, noise=0, base=2))
    assert item is not None
    assert item.period_s == pytest.approx(300)
    assert (len(item.first), item.missing, item.level, item.width_s) == (28, 1, 2, 20)
    assert 400 * 0.7 < np.median(item.tops) < 400 * 1.3


def test_a_rhythm_is_seen_through_a_change_of_level():
    # While users log on, the level is more than twice that of the steady state.
    rng = np.random.default_rng(2)
    level = np.where(np.arange(ROWS) < 240, 68, 30)
    item = result(spiking(rng, range(120, 9000, 300), height=25, noise=2) + level)
    assert item is not None
    assert item.period_s == pytest.approx(300, rel=0.01)


def test_counters_that_are_updated_at_intervals_have_no_rhythm():
    rng = np.random.default_rng(3)
    every_tenth = (np.arange(ROWS) % 10 == 0) * rng.normal(50, 5, ROWS)
    assert result(every_tenth, step=1) is None
    # Two updates fall into one sample now and then.
    assert result(rng.normal(50, 1, ROWS) * (1 + (np.arange(ROWS) % 97 == 0)), step=1) is None


@pytest.mark.parametrize("intervals", [4, 8, 20])
def test_events_by_chance_reach_the_agreement_of_a_rhythm_once_in_a_thousand_times(intervals):
    rng = np.random.default_rng(4)
    apart = 0.35 + rng.exponential(0.65, (800, intervals))
    total = sum(find_rhythm(np.concatenate(([0.0], np.cumsum(item))), shortest=0.0) is not None for item in apart)
    assert total <= 5  # two measures, each 0.8 on average

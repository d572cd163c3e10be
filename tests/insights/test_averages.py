"""Averages that mislead are reported with better figures; other averages are not reported."""

import numpy as np
import pytest

from plimsoll.insights.averages.find import find_misleading_averages
from plimsoll.insights.averages.insight import describe_average
from tests.simulated import a_log, ar1, reviewed

WRITES = r"\PhysicalDisk(2 E:)\Disk Writes/sec"
CPU = r"\Processor(_Total)\% Processor Time"
QUEUE = r"\System\Processor Queue Length"


def reported(columns, interval_s=5):
    return find_misleading_averages(reviewed(a_log(columns, interval_s=interval_s)))


def product(figures):
    """The mean of what is not zero, times its share."""
    return (figures.nonzero_mean or 0.0) * (figures.nonzero_share or 0.0)


def test_the_example_of_the_study():
    # Of 2,331 samples 190 are above zero; those average 462/s and reach 1,230/s. The study prints 32/s for all of
    # them, which its other figures contradict: 190 x 462 / 2,331 is 37.7.
    writes = np.zeros(2331)
    writes[10::12][:190] = (190 * 462 - 1230) / 189
    writes[10] = 1230
    [item] = reported({WRITES: writes})
    figures = item.figures
    assert figures.samples == 2331
    assert figures.mean == pytest.approx(product(figures))
    assert describe_average(item) == (
        "The average of Disk writes of SUT, 2 E: is 37.7 /s, but 91.8 % of the samples are zero; the other 8.2 % average "
        "462 /s, at most 1,230 /s."
    )


def test_a_long_tail_and_two_levels_are_told():
    rng = np.random.default_rng(1)
    tail = np.where(np.arange(1000) % 50 == 0, 60.0, 1 + rng.random(1000))
    levels = np.where(np.arange(1000) % 100 < 50, 95.0, 4.0) + rng.normal(0, 1, 1000)
    kinds = {item.name: item for item in reported({QUEUE: tail, CPU: levels})}
    assert {name: kind.kind for name, kind in kinds.items()} == {"cpu.queue_length": "tail", "cpu.busy": "two levels"}
    assert kinds["cpu.busy"].share == pytest.approx(0.5)
    assert (kinds["cpu.busy"].low, kinds["cpu.busy"].high) == pytest.approx((4, 95), rel=0.1)


SAYS_ENOUGH = {
    "noise": lambda rng: 50 + 10 * ar1(rng, 1000),
    "a load that is raised once": lambda rng: np.where(np.arange(1000) < 300, 20, 70) + ar1(rng, 1000),
    "little of it": lambda rng: (np.arange(1000) % 20 == 0) * 5.0,
    "a single event": lambda rng: (np.arange(1000) == 500) * 90.0,
    "evenly spread": lambda rng: rng.uniform(0, 100, 1000),
}


@pytest.mark.parametrize("kind", SAYS_ENOUGH)
def test_averages_that_say_enough_are_not_told(kind):
    assert not reported({CPU: SAYS_ENOUGH[kind](np.random.default_rng(2))})

"""Phases, load steps and knees tell the same of the same load."""

import numpy as np
import pytest

from plimsoll.analysis.scalability import latency_knee
from plimsoll.insights.load_steps.find import load_steps
from tests.insights.queueing import queue, stairs
from tests.simulated import a_log, reviewed

BATCHES = r"\SQLServer:SQL Statistics\Batch Requests/sec"
INTERVAL = 5


@pytest.mark.parametrize("seed", range(18))
def test_phases_and_load_steps_agree_on_stairs(seed):
    """What has load steps is steady on a level that lasts for half the run, from its beginning, and else nowhere."""
    values, edges = stairs(seed)
    review = reviewed(a_log({BATCHES: values}, interval_s=INTERVAL))
    steps, phases = load_steps(review), review.phases_found
    assert steps is not None
    assert phases is not None
    assert review.start is not None
    assert review.end is not None
    assert len(steps.steps) == len(edges)
    if seed % 3:
        assert "the load changes in steps" in phases.sentence
        assert not review.phases
    else:
        [steady] = [one for one in review.phases if one.name == "steady"]
        assert abs(steady.start - steps.steps[-1].start) <= 2 * INTERVAL * 10**9
        assert abs(steady.start - review.start - edges[-1] * INTERVAL * 10**9) <= 0.02 * (review.end - review.start)


def test_the_knee_of_a_queue_is_the_same_by_steps_and_by_samples():
    """An M/M/1 queue raised in twelve steps, and one raised without any, of which many short parts are known."""
    utilizations = np.linspace(0.08, 0.92, 12)
    step = (utilizations[1] - utilizations[0]) * 100
    apart: list[float] = []
    for seed in range(60):
        by_steps = latency_knee(*queue(seed, utilizations, 12_000))
        by_samples = latency_knee(*queue(seed + 100, np.linspace(0.05, 0.92, 100), 1_500))
        assert by_steps is not None
        assert by_samples is not None
        assert by_steps.flat == pytest.approx(by_samples.flat, rel=0.25)
        apart.append(abs(by_steps.rate - by_samples.rate) / step)
    assert np.mean(np.array(apart) <= 1) >= 0.9
    assert max(apart) <= 1.5


def test_a_queue_that_is_hardly_used_has_no_knee():
    for points in (8, 100):
        assert latency_knee(*queue(1, np.linspace(0.02, 0.15, points), 3_000)) is None

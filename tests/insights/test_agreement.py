"""Phases and load steps agree on the same load."""

import numpy as np
import pytest

from plimsoll.insights.load_steps.find import load_steps
from tests.simulated import a_log, reviewed

BATCHES = r"\SQLServer:SQL Statistics\Batch Requests/sec"
INTERVAL = 5


def stairs(seed, rows=720):
    """A load at three to ten levels with autocorrelated noise, and the first row of each level.

    Every third has a last level that is longer than all others together: it is steady there.
    """
    rng = np.random.default_rng(seed)
    levels = 100 * np.cumsum(rng.uniform(0.6, 1.4, rng.integers(3, 8)))
    lengths = rng.uniform(0.8, 1.6, len(levels))
    if seed % 3 == 0:
        lengths[-1] = 1.8 * lengths[:-1].sum()
    elif seed % 3 == 1:
        levels, lengths = np.append(levels, levels[-2::-1]), np.append(lengths, lengths[-2::-1])
    edges = np.round(rows * np.append(0, np.cumsum(lengths)) / lengths.sum()).astype(int)
    noise = np.zeros(rows)
    for row in range(1, rows):
        noise[row] = 0.6 * noise[row - 1] + 0.02 * rng.standard_normal()
    return levels[np.searchsorted(edges, np.arange(rows), side="right") - 1] * (1 + noise), edges[:-1]


@pytest.mark.parametrize("seed", range(18))
def test_phases_and_load_steps_agree_on_stairs(seed):
    """A load with steps is steady only on a level that lasts for half the run, from the level's beginning."""
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
        [steady] = [phase for phase in review.phases if phase.name == "steady"]
        assert abs(steady.start - steps.steps[-1].start) <= 2 * INTERVAL * 10**9
        assert abs(steady.start - review.start - edges[-1] * INTERVAL * 10**9) <= 0.02 * (review.end - review.start)

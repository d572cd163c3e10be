"""A limit scaled by a fact of its subject recovers at a limit scaled alike."""

import numpy as np
import pytest

from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.states import State
from tests.rules.one_series import a_rule, evaluated


@pytest.mark.parametrize(("left", "state"), [(25, State.FIRING), (15, State.OK)])
def test_a_scaled_rule_recovers_at_a_scaled_limit(left, state):
    """With ten spindles the limit is 30 and recovery is at 20; at 15 the disk has recovered."""
    rule = a_rule(healthy="<= 3", recover="<= 2", scale="spindles", over="10s")
    values = np.array([35.0] * 10 + [float(left)] * 10)
    track = evaluated(rule, Samples(np.arange(20, dtype=np.int64) * 10 * SECOND, values), fact=10.0)
    assert track.states[9] == State.FIRING
    assert track.states[-1] == state

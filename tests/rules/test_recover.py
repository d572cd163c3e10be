"""A limit scaled by a fact of its subject recovers at a limit scaled alike."""

import numpy as np
import pytest

from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.load import load
from plimsoll.rules.signal_finder import Finder
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


def test_memory_that_ran_short_is_well_again_at_the_limit_of_recovery():
    catalogue, times = load(), np.arange(120, dtype=np.int64) * 10 * SECOND
    series = Series("h", "mem", (), "available_percent")
    samples = Samples(times, np.repeat([4.0, 7.0, 12.0], 40))
    finder = Finder(catalogue.signals, [series], lambda _: True)
    judge = RuleEvaluator(finder.find, lambda _: samples, lambda subject, name: 1.0, signals=catalogue.signals)
    (track,) = judge.evaluate(catalogue.rules["linux-memory-available-critical"], lambda _: times)
    assert [track.states[at] for at in (39, 79, 119)] == [State.FIRING, State.FIRING, State.OK]

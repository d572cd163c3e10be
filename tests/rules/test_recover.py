"""A limit scaled by a fact of its subject recovers at a limit scaled alike."""

import numpy as np
import pytest

from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import State, evaluation_times

SIGNALS = {
    "disk.queue": Signal.model_validate(
        {"title": "Queue", "unit": "requests", "meaning": "m", "sources": [{"measurement": "m", "field": "x"}]}
    )
}
RULE = Rule.model_validate(
    {
        "id": "r",
        "signal": "disk.queue",
        "healthy": "<= 3",
        "recover": "<= 2",
        "scale": "spindles",
        "over": "10s",
        "severity": "warning",
        "summary": "s",
        "sources": [{"document": "d", "place": "p"}],
    }
)


@pytest.mark.parametrize(("left", "state"), [(25, State.FIRING), (15, State.OK)])
def test_a_scaled_rule_recovers_at_a_scaled_limit(left, state):
    """Of ten spindles the limit is 30 and recovery at 20; at 15 the disk has long recovered."""
    values = [35.0] * 10 + [float(left)] * 10
    series = Series("h", "m", (), "x")
    samples = Samples(np.arange(20, dtype=np.int64) * 10 * SECOND, np.array(values))
    judge = RuleEvaluator(
        Finder(SIGNALS, [series], lambda one: True).find, lambda one: samples, lambda subject, fact: 10.0
    )
    (track,) = judge.evaluate(RULE, lambda subject: evaluation_times(samples.times))
    assert track.states[9] == State.FIRING
    assert track.states[-1] == state

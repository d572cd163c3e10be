"""The simulated host of `plimsoll up --demo`: which alerts fire, and when."""

import numpy as np
import pytest

from plimsoll.alerting.evaluator import Evaluator, list_evaluation_times
from plimsoll.alerting.rule_targets import Site
from plimsoll.demo.live_host import BACK, CYCLE, HOST, simulate_points
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.rules.states import State
from plimsoll.store.duck.duck_store import open_embedded

MINUTE = 60 * SECOND
STARTS = [1_800_000_000 * SECOND + offset for offset in (0, 123_456_789_012_345)]


@pytest.mark.parametrize("start", STARTS)
def test_one_rule_fires_within_two_minutes_and_recovers_again_and_again(start, tmp_path):
    store = open_embedded(tmp_path)
    store.live.write_points(simulate_points(start, start - BACK, start + 2 * CYCLE))
    judge = Evaluator(store.live, Site(load()), {}, {})
    changes = judge.advance(list_evaluation_times(start - BACK, start + 2 * CYCLE)).changes
    fired = [change for change in changes if State.FIRING in (change.before, change.after)]
    assert {(change.rule.id, change.subject.host) for change in fired} == {("sql-page-life-expectancy", HOST)}
    begun = [change.at - start for change in fired if change.after == State.FIRING]
    ended = [change.at - start for change in fired if change.before == State.FIRING]
    assert 30 * SECOND <= begun[0] <= 50 * SECOND  # an evaluation is done 30 s later
    assert np.diff(begun).tolist() == [CYCLE] * (len(begun) - 1)
    assert [2 * MINUTE < end - begin < 4 * MINUTE for begin, end in zip(begun, ended, strict=True)] == [True, True]


def test_points_are_the_same_however_they_are_asked_for():
    start = STARTS[0]
    at_once = simulate_points(start, start - BACK, start + MINUTE)
    one_by_one = [simulate_points(start, at, at) for at in range(start - BACK, start + MINUTE + 1, 10 * SECOND)]
    assert len(at_once) == sum(map(len, one_by_one))
    result = {
        (at_once.series[n].key, t): v for n, t, v in zip(at_once.which, at_once.times, at_once.values, strict=True)
    }
    for points in one_by_one:
        for n, t, v in zip(points.which, points.times, points.values, strict=True):
            assert result[points.series[n].key, t] == v
    assert one_by_one[0].series[0] is one_by_one[1].series[0]

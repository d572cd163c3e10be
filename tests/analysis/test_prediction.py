"""Against how many earlier runs a difference would be certain."""

from plimsoll.analysis.bootstrap import runs_to_decide

CHANCE = 0.0004


def test_fewer_runs_decide_a_larger_difference_and_never_as_few_as_there_are():
    large, small = (runs_to_decide(value, 0.02, 4, CHANCE, (2, 10)) for value in (0.2, 0.11))
    assert large == 2
    assert small is not None
    assert 2 < small <= 10
    assert runs_to_decide(0.2, 0.02, 4, CHANCE, (6, 10)) == 6


def test_a_difference_within_the_spread_is_decided_by_no_number():
    assert runs_to_decide(0.03, 0.02, 4, CHANCE, (2, 10)) is None

"""Comparisons of runs that differ as real runs of one build do, made by simulators independent of the code."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from plimsoll.comparison.compared_signal import ComparisonOutcome
from plimsoll.comparison.doubts import find_suspects, list_doubts
from plimsoll.comparison.signal_settings import LoadEffect, Treatments
from plimsoll.comparison.summary import Answer, answer, list_critical, tell_story
from plimsoll.rules.load import load_signals
from tests.simulators.trials import a_side, against
from tests.simulators.web_and_sql import Build

PAIRS = 3
USUAL = Build()
COSTLIER = Build(cpu_ms=1.2 * 4.4, sql_cpu_ms=1.2 * 2.2)


@cache
def pairs(build=USUAL):
    """Comparisons of runs of a build with runs of the usual one."""
    return [against([a_side("a", Build(), seed)], a_side("b", build, 50 + seed)) for seed in range(PAIRS)]


def answers(found):
    return [answer(one).value for one in found]


@pytest.mark.parametrize("build", [Build(), Build(load=440.0), Build(load=352.0)], ids=["alike", "more", "less load"])
def test_runs_of_one_build_are_not_worse_under_any_load(build):
    found = pairs(build)
    assert Answer.WORSE not in answers(found), [[one.name for one in list_critical(each)] for each in found]


def test_a_higher_load_is_told_first_and_what_goes_with_it_is_compared_for_each_operation():
    found = pairs(Build(load=440.0))
    for one in found:
        assert tell_story(one)[0].startswith("The load was not the same")
        assert all(each.outcome != ComparisonOutcome.REGRESSION for each in one.judged if each.name == "cpu.busy")
    assert answers(found).count(Answer.NOT_WORSE) >= PAIRS / 3


def test_more_processor_time_for_an_operation_is_the_cause_that_is_named_first():
    found = pairs(COSTLIER)
    assert answers(found).count(Answer.WORSE) >= PAIRS - 1
    for one in found:
        if answer(one) == Answer.WORSE:
            assert "than a: processor time of" in tell_story(one)[1]
        else:
            assert "runs of the baseline would decide it" in tell_story(one)[1]


def test_so_it_is_under_a_higher_load():
    found = pairs(replace(COSTLIER, load=440.0))
    assert answers(found).count(Answer.WORSE) >= PAIRS / 2
    assert any("for each operation" in tell_story(one)[1] for one in found)


def test_several_baselines_find_a_smaller_difference():
    seven = [a_side("a", Build(), seed) for seed in range(7)]
    assert answer(against(seven, a_side("b", Build(cpu_ms=1.12 * 4.4, sql_cpu_ms=1.12 * 2.2), 0))) == Answer.WORSE
    assert answer(against(seven[:5], a_side("b", Build(), 0))) != Answer.WORSE


def test_when_a_server_was_started_makes_no_run_worse():
    for one in pairs():
        assert "sql.page_life_expectancy" not in {each.name for each in one.judged}
        assert "Page life expectancy" in {each.title for each in one.integrating}


def test_idle_time_is_to_fall_with_a_higher_load():
    treatment = Treatments().of("disk.idle", load_signals()["disk.idle"])
    high, low = LoadEffect(1.2, 1.2).band(treatment.load, treatment.whole).ends(80.0)
    assert low == pytest.approx(76.0)
    assert 76.0 < high < 80.0


def waiting(servers, busy):
    """The mean number that waits in M/M/c, by the formula of Erlang (1917)."""
    offered = servers * busy
    terms = [offered**at / math.factorial(at) for at in range(servers)]
    all_busy = offered**servers / math.factorial(servers) / (1 - busy)
    return all_busy / (sum(terms) + all_busy) * busy / (1 - busy)


@pytest.mark.parametrize("servers", [1, 2, 4, 8])
def test_a_queue_is_expected_by_the_utilisation(servers):
    before, after = waiting(servers, 0.6), waiting(servers, 0.78)
    cpu = ("web1", None)
    effect = LoadEffect(1.3, 1.3, {cpu: np.full(100, 0.6), ("web1", "0 c:"): np.full(100, 0.9)})
    band = effect.band(Treatments().of("cpu.queue_length", load_signals()["cpu.queue_length"]).load, 0.0, before, cpu)
    assert band.low == 1.0
    assert band.high == pytest.approx(after / before, rel=0.15)


def test_what_varied_as_much_between_the_baselines_leaves_nothing_open():
    """One of five baselines had as little free memory as the new run."""
    small, usual = Build(memory_mb=1.25 * Build().memory_mb, spread=0), Build(spread=0)
    known, new = [a_side("a", usual, seed) for seed in range(4)], a_side("b", small, 9)
    as_small = a_side("a", replace(small, memory_mb=1.3 * Build().memory_mb), 5)
    assert "memory.committed_bytes" in {one.name for one in find_suspects(against(known, new))}
    assert "memory.committed_bytes" not in {one.name for one in find_suspects(against([as_small, *known], new))}


def test_processor_time_is_held_against_a_load_that_counts_as_the_same():
    usual, more = Build(spread=0), Build(spread=0, load=1.03 * Build().load)
    found = against([a_side("a", usual, 1)], a_side("b", more, 2))
    busy = next(one for one in found.judged if one.name == "cpu.busy" and one.subject.host == "WEB1")
    assert found.load.is_same
    assert abs(busy.between.value) < 0.5 * busy.difference.value


def test_every_signal_has_a_difference_that_does_not_matter_near_zero():
    tolerated = {name: Treatments().of(name, one).tolerated(0.0) for name, one in load_signals().items()}
    assert min(tolerated.values()) > 0


def test_a_missing_counter_that_no_answer_rests_on_leaves_nothing_open():
    def without(*paths):
        def more(columns, _):
            for host in columns.values():
                for path in [path for path in host if any(part in path for part in paths)]:
                    del host[path]

        return more

    first, missing = a_side("a", Build(), 0), "b does not record"
    second = a_side("b", Build(), 50, without("Queue Length"))
    assert not any(missing in doubt for doubt in list_doubts(against([first], second)))
    second = a_side("b", Build(), 50, without("% Processor Time"))
    assert any(missing in doubt for doubt in list_doubts(against([first], second)))

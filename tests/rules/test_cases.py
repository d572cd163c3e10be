"""The cases of the shipped rules come out as they expect; one that does not is told in a sentence.

A case can be run alone: `pytest -q tests/rules/test_cases.py -k "windows-cpu-busy and below"`.
"""

import pytest

from plimsoll.model.file_models import parse_content
from plimsoll.rules.cases import run_case
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.pack import Case, Rule

SIGNALS = load_signals()
RULES = [rule for pack in load().packs for rule in pack.rules]
SHIPPED = [(rule, case) for rule in RULES for case in rule.cases]


def a_rule(**options):
    fields = {"id": "r", "signal": "cpu.busy", "healthy": "< 80", "for": "5m", "severity": "warning", "summary": "s"}
    return parse_content(Rule, {**fields, "sources": [{"document": "d", "place": "p"}], **options})


def reported(rule, series, fires, **options):
    return run_case(rule, parse_content(Case, {"name": "c", "series": series, "fires": fires, **options}), SIGNALS)


@pytest.mark.parametrize(("rule", "case"), SHIPPED, ids=[f"{rule.id}: {case.name}" for rule, case in SHIPPED])
def test_shipped_case(rule, case):
    failure = run_case(rule, case, SIGNALS)
    assert failure is None, f'rule {rule.id}, case "{case.name}": {failure}'


@pytest.mark.parametrize(
    ("series", "fires"),
    [("95x60", True), ("79x60", False), ("95x10 20x60", False), ("_x60", None), ("20 _x60", False)],
)
def test_as_expected(series, fires):
    assert reported(a_rule(), {"cpu.busy": series}, fires) is None


@pytest.mark.parametrize(
    ("series", "fires", "output"),
    [
        ("79x60", True, "expected to fire, but it was never crossed; the highest value was 79 %, healthy is < 80"),
        (
            "20 95x18 20x9",
            True,
            "expected to fire, but it was crossed for 2 min 40 s at most, and fires after 5 min; "
            "the highest value was 95 %, healthy is < 80",
        ),
        ("_x60", True, "expected to fire, but it had no data"),
        (
            "95x60",
            False,
            "expected to be judged and not to fire, but it fired 5 min into the case; "
            "the highest value was 95 %, healthy is < 80",
        ),
        ("_x60", False, "expected to be judged and not to fire, but it had no data"),
        (
            "_x6 20",
            None,
            "expected to have no data throughout, but it was never crossed; "
            "the highest value was 20 %, healthy is < 80",
        ),
        (
            "95x60",
            None,
            "expected to have no data throughout, but it fired 5 min into the case; "
            "the highest value was 95 %, healthy is < 80",
        ),
    ],
)
def test_what_happened_instead(series, fires, output):
    assert reported(a_rule(), {"cpu.busy": series}, fires) == output


def test_a_signal_is_given_as_it_is_after_its_rate_or_transform():
    assert reported(a_rule(signal="disk.reads", healthy="< 50"), {"disk.reads": "60x60"}, True, instance="2 E:") is None


def test_a_derived_signal_is_given_by_what_it_is_derived_from():
    rule = a_rule(signal="memory.pool", healthy="<= 1", reduce="last", **{"for": 0})
    both = {"memory.pool_nonpaged": "1x6", "memory.pool_paged": "1x6"}
    assert reported(rule, both, True) is None
    assert reported(rule, {"memory.pool_nonpaged": "1x6"}, True) == (
        "expected to fire, but it had no data: the case gives no memory.pool_paged"
    )
    assert reported(rule, {"memory.pool": "2x6"}, True) == (
        'its series name "memory.pool", which is derived: give what it is derived from, '
        "memory.pool_nonpaged, memory.pool_paged"
    )


def test_a_signal_that_is_not_known():
    assert reported(a_rule(), {"cpu.bussy": "95x60"}, None) == (
        'its series name "cpu.bussy", which is not a signal (did you mean "cpu.busy"?)'
    )


def test_an_instance_that_stands_for_all_the_others():
    rule = a_rule(signal="cpu.processor_busy")
    result = reported(rule, {"cpu.processor_busy": "95x60"}, True, instance="_Total")
    assert result == 'its instance "_Total" stands for all the others, and cpu.processor_busy is kept for each'


def test_conditions_at_the_same_time():
    rule = a_rule(**{"and": [{"signal": "memory.available", "healthy": "> 100"}]})
    assert reported(rule, {"cpu.busy": "95x60", "memory.available": "50x60"}, True) is None
    assert reported(rule, {"cpu.busy": "95x60", "memory.available": "500x60"}, True) == (
        "expected to fire, but its other conditions never held while its own did; "
        "the highest value was 95 %, healthy is < 80"
    )
    assert reported(rule, {"cpu.busy": "95x60"}, True) == (
        "expected to fire, but it had no data: the case gives no memory.available"
    )


def test_a_phase_covers_the_whole_case():
    rule = a_rule(phase="steady", when_phase_unknown=[{"signal": "memory.available", "healthy": "> 100"}])
    assert reported(rule, {"cpu.busy": "95x60"}, True, phase="steady") is None
    assert reported(rule, {"cpu.busy": "95x60"}, None, phase="ramp-up") is None
    assert reported(rule, {"cpu.busy": "95x60"}, True, phase="ramp-up") == (
        'expected to fire, but it was not judged: it is for the phase "steady", and the case is of "ramp-up"'
    )
    assert reported(rule, {"cpu.busy": "95x60", "memory.available": "50x60"}, True) is None
    assert reported(rule, {"cpu.busy": "95x60", "memory.available": "500x60"}, False) is None


def test_a_limit_scales_by_the_facts_of_the_case():
    rule = a_rule(signal="disk.queue_length", healthy="<= 3", scale="spindles")
    assert reported(rule, {"disk.queue_length": "13x60"}, True, facts={"spindles": 4}) is None
    assert reported(rule, {"disk.queue_length": "12x60"}, False, facts={"spindles": 4}) is None
    assert reported(rule, {"disk.queue_length": "12x60"}, True) == (
        "the limit scales by spindles, which the case does not give; write facts: {spindles: 1}"
    )


def test_a_rule_for_marked_disks_is_judged_as_if_the_instance_were_marked():
    rule = a_rule(signal="disk.reads", healthy="< 50", drive="database")
    assert reported(rule, {"disk.reads": "60x60"}, True) is None

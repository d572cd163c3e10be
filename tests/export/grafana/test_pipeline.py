"""The interpreter of Grafana's pipeline: expressions, reducers, thresholds and states behave as documented by Grafana."""

import math

import pytest

from plimsoll.export.grafana.alerts.alert_rules import Options, Refused, alert_rules
from plimsoll.export.grafana.alerts.file import AlertRule, Evaluator, ReduceModel, ThresholdCondition
from plimsoll.export.grafana.check.expressions import names, parse
from plimsoll.hosts.site import Site
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from tests.export.grafana.pipeline.compute import compute
from tests.export.grafana.pipeline.evaluate import _held, _reduced, evaluate, run
from tests.export.grafana.pipeline.results import Table, statement
from tests.export.grafana.pipeline.states import Instances, Result, State, key
from tests.export.grafana.pipeline.values import NoData, Number, Results, Series

H, OTHER = {"host": "h"}, {"host": "o"}
NAN = math.nan


def computed(expression, **variables):
    given: dict[str, Results] = {name: [Number(H, value)] for name, value in variables.items()}
    (found,) = compute(parse(expression), given)
    assert isinstance(found, Number)
    return found.value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("2 ** 3 * 2", 16),
        ("-2 + 5", 3),
        ("!0 + 1", 2),
        ("7 % 4", 3),
        ("1 / 0", math.inf),
        ("-1 / 0", -math.inf),
        ("1 < 2 && 2 >= 2", 1),
        ("1 == 2 || 0", 0),
        ("3 != 3", 0),
        ("1.5e3 <= 1500", 1),
    ],
)
def test_expressions_are_computed(expression, expected):
    assert computed(expression) == expected


def test_nan_makes_nan_but_where_the_first_side_decides():
    assert computed("0 && $A", A=NAN) == 0
    assert computed("1 || $A", A=NAN) == 1
    for expression in ("1 && $A", "$A && 0", "$A + 1", "$A > 1", "!$A", "-$A", "0 / $B"):
        value = computed(expression, A=NAN, B=0.0)
        assert value is not None
        assert math.isnan(value), expression
    assert computed("0 && $A", A=None) is None


def test_values_are_joined_on_their_labels():
    cpu: Results = [Number({"host": "h", "cpu": "0"}, 1.0), Number({"host": "h", "cpu": "1"}, 2.0), Number({"host": "x", "cpu": "0"}, 9.0)]  # fmt: skip
    found = compute(parse("$A * $B"), {"A": cpu, "B": [Number(H, 10.0), Number(OTHER, 5.0)]})
    assert found == [Number({"host": "h", "cpu": "0"}, 10.0), Number({"host": "h", "cpu": "1"}, 20.0)]


def test_one_on_each_side_is_joined_whatever_its_labels():
    assert compute(parse("$A + $B"), {"A": [Number(H, 1.0)], "B": [Number(OTHER, 2.0)]}) == [Number({}, 3.0)]
    assert compute(parse("$A + $B"), {"A": [Number(H, 1.0)], "B": [Number(OTHER, 2.0)] * 2}) == []


def test_no_data_on_one_side_is_no_data():
    assert compute(parse("$A + $B"), {"A": [Number(H, 1.0)], "B": [NoData()]}) == [NoData()]


def test_series_are_joined_at_equal_times():
    left, right = Series(H, (1, 2, 3), (1.0, None, 3.0)), Series(H, (2, 3), (5.0, 6.0))
    assert compute(parse("$A + $B"), {"A": [left], "B": [right]}) == [Series(H, (2, 3), (None, 9.0))]


def test_names_are_the_refids():
    assert names(parse("$A + ${BC} / ($A - 2)")) == {"A", "BC"}


def reduced(reducer, values, mode="", other=None):
    settings = {"mode": mode, "replaceWithValue": other}
    model = ReduceModel.model_validate({"refId": "B", "datasource": {"type": "x", "uid": "x"}, "type": "reduce", "expression": "A", "reducer": reducer, "settings": settings})  # fmt: skip
    found = _reduced(model, Series(H, tuple(range(len(values))), tuple(values)))
    assert isinstance(found, Number)
    return found.value


@pytest.mark.parametrize("reducer", ["sum", "mean", "min", "max", "median"])
def test_strict_reduce_of_a_null_is_nan_which_passes_what_it_is_not(reducer):
    value = reduced(reducer, [1.0, None, 3.0])
    assert value is not None
    assert math.isnan(value)
    for kind in ("gt", "lt", "eq", "ne", "gte", "lte", "within_range", "outside_range"):
        evaluator = Evaluator.model_validate({"type": kind, "params": [0, 9]})
        passes = kind == "ne"
        assert _held(ThresholdCondition(evaluator=evaluator), Number(H, value), loaded=False) == Number(H, passes)
        either = ThresholdCondition(evaluator=evaluator, unloadEvaluator=evaluator)
        assert _held(either, Number(H, value), loaded=True) == Number(H, not passes)


@pytest.mark.parametrize(("reducer", "value"), [("sum", 4), ("mean", 2), ("min", 1), ("max", 3), ("median", 2), ("count", 2), ("last", 3)])  # fmt: skip
def test_drop_leaves_out_what_is_no_number(reducer, value):
    assert reduced(reducer, [1.0, None, NAN, 3.0, math.inf], "dropNN") == value


@pytest.mark.parametrize(("reducer", "value"), [("sum", 0), ("count", 0), ("mean", None), ("last", None), ("max", None)])  # fmt: skip
def test_drop_of_everything(reducer, value):
    assert reduced(reducer, [None, NAN], "dropNN") == value


def test_replace_takes_another_value():
    assert reduced("sum", [1.0, None], "replaceNN", 5) == 6


def test_reduced_numbers_that_are_none_are_dropped():
    model = ReduceModel.model_validate({"refId": "B", "datasource": {"type": "x", "uid": "x"}, "type": "reduce", "expression": "A", "reducer": "last", "settings": {"mode": "dropNN"}})  # fmt: skip
    assert [_reduced(model, Number(H, value)) for value in (1.0, NAN, math.inf, None)] == [
        Number(H, 1.0),
        None,
        None,
        None,
    ]


def a_rule(**what):
    return AlertRule.model_validate({"uid": "u", "title": "t", "condition": "A", "data": [{"refId": "A", "datasourceUid": "x", "model": {"refId": "A", "datasource": {"type": "x", "uid": "x"}, "type": "math", "expression": "$A"}}], "noDataState": "KeepLast", "execErrState": "Error", "for": "20s", **what})  # fmt: skip


def stepped(rule, *found):
    """Return the state of the host after each evaluation, ten seconds apart; None if it has no instance."""
    instances = Instances(rule, 10 * SECOND)
    for at, results in enumerate(found):
        instances.step(at * 10 * SECOND, results)
        one = instances.by_labels.get(key(H))
        yield one.state if one else None


ON, OFF, SILENT = {key(H): Result.ALERTING}, {key(H): Result.NORMAL}, {frozenset(): Result.NO_DATA}
BESIDE = {key(OTHER): Result.NORMAL}
FAILED = {frozenset(): Result.ERROR}
PENDING, ALERTING, NORMAL = State.PENDING, State.ALERTING, State.NORMAL


@pytest.mark.parametrize(
    ("rule", "found", "states"),
    [
        ({}, [ON, ON, ON, OFF, ON], [PENDING, PENDING, ALERTING, NORMAL, PENDING]),
        ({"for": "0s"}, [ON, OFF], [ALERTING, NORMAL]),
        ({}, [ON, BESIDE, ON], [PENDING, PENDING, ALERTING]),
        ({}, [ON, SILENT, SILENT, OFF], [PENDING, PENDING, ALERTING, NORMAL]),
        ({"for": "0s"}, [ON, SILENT, OFF], [ALERTING, ALERTING, NORMAL]),
        ({"for": "0s", "noDataState": "OK"}, [ON, SILENT], [ALERTING, NORMAL]),
        ({"for": "0s", "noDataState": "Alerting"}, [OFF, SILENT], [NORMAL, ALERTING]),
        ({"for": "0s", "noDataState": "NoData"}, [ON, SILENT], [ALERTING, ALERTING]),
        ({"for": "0s"}, [ON, BESIDE, BESIDE], [ALERTING, ALERTING, None]),
        ({"for": "0s", "missing_series_evals_to_resolve": 3}, [ON, BESIDE, BESIDE, BESIDE], [ALERTING] * 3 + [None]),
        ({"for": "0s", "keepFiringFor": "20s"}, [ON, OFF, OFF, OFF], [ALERTING, State.RECOVERING, State.RECOVERING, NORMAL]),
        ({"for": "20s", "keepFiringFor": "20s"}, [ON, ON, ON, OFF, ON], [PENDING, PENDING, ALERTING, State.RECOVERING, ALERTING]),
        ({"for": "0s", "keepFiringFor": "20s"}, [ON, OFF, SILENT, SILENT], [ALERTING, State.RECOVERING, State.RECOVERING, NORMAL]),
        ({"for": "0s"}, [ON, FAILED, OFF], [ALERTING, ALERTING, NORMAL]),
        ({"for": "0s", "execErrState": "OK"}, [ON, FAILED], [ALERTING, NORMAL]),
    ],
)  # fmt: skip
def test_states_follow_each_other(rule, found, states):
    assert list(stepped(a_rule(**rule), *found)) == states


@pytest.mark.parametrize(
    ("rule", "found", "loaded"),
    [
        ({}, [ON, ON, ON, OFF], [True, True, True, False]),
        ({}, [ON, SILENT, ON], [True, False, True]),
        ({"for": "0s"}, [ON, BESIDE, SILENT], [True, True, False]),
        ({"for": "0s"}, [ON, FAILED], [True, True]),
        ({"for": "0s", "execErrState": "KeepLast"}, [ON, FAILED, ON], [True, False, True]),
        ({"for": "0s", "keepFiringFor": "20s"}, [ON, OFF, ON], [True, False, True]),
    ],
)
def test_what_is_kept_or_recovers_is_not_loaded(rule, found, loaded):
    instances = Instances(a_rule(**rule), 10 * SECOND)
    held = []
    for at, results in enumerate(found):
        instances.step(at * 10 * SECOND, results)
        held.append(key(H) in instances.loaded)
    assert held == loaded


def test_two_values_of_the_same_labels_are_an_error():
    rule = a_rule(condition="Q", data=[{"refId": "Q", "datasourceUid": "x", "relativeTimeRange": {"from": 9, "to": 0}, "model": {"refId": "Q", "datasource": {"type": "x", "uid": "x"}, "rawQuery": True, "resultFormat": "time_series", "query": "SELECT"}}])  # fmt: skip
    wide = [Table(H, ["time", "a", "b"], [[0, 1, 2]])]
    assert evaluate(rule, {"Q": wide}, set())[0] == {frozenset(): Result.ERROR}


def test_macros_are_those_of_the_evaluation():
    rule = a_rule(data=[{"refId": "A", "datasourceUid": "x", "relativeTimeRange": {"from": 90, "to": 30}, "model": {"refId": "A", "datasource": {"type": "x", "uid": "x"}, "rawQuery": True, "resultFormat": "time_series", "query": "$timeFilter $__interval $__interval_ms", "intervalMs": 5000}}])  # fmt: skip
    assert statement(rule.data[0], 100 * SECOND) == "time >= 10000ms and time <= 70000ms 5000ms 5000"


def test_hosts_that_are_alone_on_each_side_are_not_taken_for_one(influx):
    """One host reports the rule's own signal only, another that of its further condition only: nothing fires."""
    given = {"title": "t", "unit": "u", "meaning": "m"}
    signals = {name: Signal.model_validate({**given, "sources": [{"measurement": f"alone-{name[-1]}", "field": "v"}]}) for name in ("s.a", "s.b")}  # fmt: skip
    both = {"id": "r", "signal": "s.a", "healthy": "< 1", "severity": "warning", "summary": "s"}
    rule = Rule.model_validate({**both, "and": [{"signal": "s.b", "healthy": "< 1"}], "sources": [{"document": "d", "place": "p"}]})  # fmt: skip
    influx.write([f"alone-a,host=x v=5 {1000 * SECOND}\n", f"alone-b,host=y v=5 {1000 * SECOND}\n"])
    (made,) = alert_rules(rule, Pack(pack="p", title="t", about="a", rules=(rule,)), signals, Site(), Options())
    assert not isinstance(made, Refused)
    ((_, found, _),) = run(made[0], 10 * SECOND, [1030 * SECOND], influx.ask)
    assert {one.state for one in found.values()} <= {State.NORMAL}
    influx.write([f"alone-b,host=x v=5 {1000 * SECOND}\n"])
    ((_, found, _),) = run(made[0], 10 * SECOND, [1030 * SECOND], influx.ask)
    assert found[key({"host": "x"})].state == State.ALERTING

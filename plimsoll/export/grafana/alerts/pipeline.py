"""Builds the queries and expressions of a Grafana alert rule.

The simple case is a query over the window, `reduce` and `threshold`. If a rule has further conditions, or its value is
computed, a `math` step precedes the threshold. Missing values (no sample, a zero divisor, an increase over too short a
time) are NaN. The `reduce` steps drop NaN, so that missing values mean "no data", not a false condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plimsoll.export.grafana.dashboards.parts import DATASOURCE_UID
from plimsoll.export.grafana.influxql import (
    JoinedWith,
    build_requests_query,
    build_span_query,
    build_window_query,
    build_worst_span_query,
    build_worst_window_query,
)
from plimsoll.export.rule_sources import BoundCondition, Inexpressible
from plimsoll.export.selections import Selection
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.window import OCCUPIED
from plimsoll.store.quoting import number

Json: TypeAlias = dict[str, Any]
# The comparison that is true for a crossed limit negates the healthy one.
_CROSSED = {"<": ("gte", ">="), "<=": ("gt", ">"), ">": ("lte", "<="), ">=": ("lt", "<"), "=": ("ne", "!=")}
_HOLDS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "=": "eq"}
_EXPRESSION = "__expr__"
_TRUE = {"type": "gt", "params": [0]}


@dataclass
class Pipeline:
    """The steps of an alert rule: queries and expressions, which get the refIds A, B, C and so on.

    Windows end `delay` ns before the evaluation.
    """

    delay: int
    queries: list[Json] = field(default_factory=list[Json])

    def query(self, influxql: str, length: int) -> str:
        """Add an InfluxQL query over a window of this length in ns; return its refId."""
        begin, end = (count_seconds(ago, "its window is") for ago in (self.delay + length, self.delay))
        model = {"rawQuery": True, "resultFormat": "time_series", "query": influxql}
        return self._add("influxdb", DATASOURCE_UID, model, {"relativeTimeRange": {"from": begin, "to": end}})

    def reduce(self, operand: str) -> str:
        """Add a step that takes the last value of each series, ignoring nulls and NaN; return its refId."""
        return self._add_expression("reduce", operand, reducer="last", settings={"mode": "dropNN"})

    def math(self, expression: str) -> str:
        """Add an expression over other refIds, such as `$A / $B`; return its refId."""
        return self._add_expression("math", expression)

    def threshold(self, operand: str, evaluator: Json, recover: Healthy | None = None) -> str:
        """Add a threshold; return its refId. With `recover`, it stays true until the value is within `recover`."""
        condition = {"evaluator": evaluator}
        if recover:
            condition["unloadEvaluator"] = {"type": _HOLDS[recover.operator], "params": [recover.limit]}
        return self._add_expression("threshold", operand, conditions=[condition])

    def _add_expression(self, kind: str, expression: str, **fields: Any) -> str:
        return self._add(_EXPRESSION, _EXPRESSION, {"type": kind, "expression": expression, **fields}, {})

    def _add(self, kind: str, datasource: str, model: Json, span: Json) -> str:
        at = len(self.queries)
        ref = chr(ord("A") + at) if at < 26 else f"{chr(ord('A') + at // 26 - 1)}{chr(ord('A') + at % 26)}"
        whole = {"refId": ref, "datasource": {"type": kind, "uid": datasource}, **model}
        self.queries.append({"refId": ref, **span, "datasourceUid": datasource, "model": whole})
        return ref


def count_seconds(length: int, subject: str) -> int:
    """Return a length (ns) as whole seconds. Raise Inexpressible, naming the subject, if it is not whole."""
    if length % SECOND:
        raise Inexpressible(f"{subject} not in whole seconds")
    return length // SECOND


def add_conditions(
    pipeline: Pipeline, bound: BoundCondition, further: Sequence[BoundCondition], recover: Healthy | None
) -> tuple[str, str]:
    """Add the steps for a rule's condition and its further conditions; return the refIds of the result and the value.

    The result is true if all conditions are true, and false if any is false, even if another condition's value is NaN,
    provided that the subject has a sample of each signal.
    """
    value = _add_value(pipeline, bound)
    # The refId of the value, without NaN.
    value = value[1:] if value[1:].isalpha() else pipeline.reduce(pipeline.math(value))
    first = JoinedWith(bound.variant.selections[0], bound.matchers[0])
    if not further:
        return pipeline.threshold(value, _build_evaluator(bound.healthy), recover), value
    inner = bound.healthy  # the stricter of the limit and the limit at which it recovers
    if recover and inner.worse == "either" and inner != recover:
        raise Inexpressible(f"it recovers at {recover} from a limit of {inner}, which lies on no side of it")
    if recover:
        choose = max if inner.worse == "lower" else min
        inner = choose(recover, inner, key=lambda limit: limit.limit)
    terms = [(_format_crossed(f"${value}", inner), False)]
    for other in further:
        may_be_nan = other.condition.reduce == "increase" or other.variant.operation == "ratio"
        terms.append((_format_crossed(_add_value(pipeline, other, first), other.healthy), may_be_nan))
    # `0 && NaN` is 0 but `NaN && 0` is NaN, so terms that may be NaN come last.
    terms.sort(key=lambda term: term[1])
    conjunction = pipeline.math(" && ".join(f"({text})" for text, _ in terms))
    if recover is None:
        return pipeline.threshold(pipeline.reduce(conjunction), _TRUE), value
    # While the further conditions are false, the threshold gets a recovered value.
    recovered = inner.limit + {"higher": -1, "lower": 1, "either": 0}[inner.worse]
    judged = pipeline.math(f"${value} * ${conjunction} + {number(recovered)} * (1 - ${conjunction})")
    return pipeline.threshold(pipeline.reduce(judged), _build_evaluator(bound.healthy), recover), value


def _build_evaluator(healthy: Healthy) -> Json:
    """Return Grafana's evaluator that is true for values past a limit: `gte 80` for the healthy range `< 80`."""
    return {"type": _CROSSED[healthy.operator][0], "params": [healthy.limit]}


def _format_crossed(value: str, healthy: Healthy) -> str:
    return f"{value} {_CROSSED[healthy.operator][1]} {number(healthy.limit)}"


def _add_value(pipeline: Pipeline, bound: BoundCondition, joined_with: JoinedWith | None = None) -> str:
    """Add the queries for a condition's value; return it as an expression, which is NaN for missing values."""
    if bound.variant.alternatives:
        # For a limit of 0 that can be crossed on both sides, the worst value is the one furthest from 0.
        absolute = bound.healthy.worse == "either"
        query = build_worst_window_query(
            bound.variant, bound.condition.reduce, bound.matchers, bound.worst, absolute=absolute
        )
        value = pipeline.reduce(pipeline.query(query, bound.window))
        if bound.condition.reduce == "increase":
            return _add_increase(pipeline, value, build_worst_span_query(bound.variant, bound.matchers), bound)
        return f"${value}"
    operands: list[str] = []
    for selection, where in zip(bound.variant.selections, bound.matchers, strict=True):
        operands.append(_add_operand(pipeline, bound, selection, where, joined_with))
        joined_with = joined_with or JoinedWith(selection, where)
    match bound.variant.operation:
        case None:
            return operands[0]
        case "ratio":
            above, below = operands
            # The second term is 0, or 0 / 0 if the divisor is zero or negative.
            return f"({above} / {below} + 0 / ({below} > 0))"
        case "sum":
            weights = bound.weights or (1.0,) * len(operands)
            weighted = [
                operand if weight == 1 else f"{number(weight)} * {operand}"
                for operand, weight in zip(operands, weights, strict=True)
            ]
            return f"({' + '.join(weighted)})"
        case "difference":
            return f"({' - '.join(operands)})"
        case "product":
            return f"(({' + '.join(operands[:-1])}) * {operands[-1]})"


def _add_operand(
    pipeline: Pipeline,
    bound: BoundCondition,
    selection: Selection,
    where: Sequence[str],
    joined_with: JoinedWith | None,
) -> str:
    """Add the query for one operand and its reduction to a number per subject; return it as an expression."""
    if joined_with and (joined_with.selection, tuple(joined_with.where)) == (selection, tuple(where)):
        joined_with = None  # a selection needs no nulls for its own subjects, only for those of others
    reduce = bound.condition.reduce
    value = pipeline.reduce(pipeline.query(build_window_query(selection, reduce, where, joined_with), bound.window))
    if selection.weight and selection.minimum_rate and reduce == "mean":
        rate = pipeline.reduce(pipeline.query(build_requests_query(selection, where, joined_with), bound.window))
        # With too few requests to tell, the value is 0, so that no limit is crossed.
        enough = f"${rate} >= {number(selection.minimum_rate)} || ${rate} * ${value} >= {number(OCCUPIED)}"
        return f"(${value} * ({enough}))"
    if reduce == "increase":
        return _add_increase(pipeline, value, build_span_query(selection, where, joined_with), bound)
    return f"${value}"


def _add_increase(pipeline: Pipeline, value: str, span_query: str, bound: BoundCondition) -> str:
    """Return the increase `value` as an expression: NaN (no data) if its samples span less than half a window.

    Also add `span_query`, the query for the time between the first and the last sample, to the pipeline.
    """
    distance = pipeline.reduce(pipeline.query(span_query, bound.window))
    return f"(${value} + 0 / (${distance} >= {bound.window / 2:.0f}))"

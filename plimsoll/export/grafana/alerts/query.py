"""Builds the queries and expressions of an alert rule.

The simple case is a query over the window, `reduce` and `threshold`. If a rule has further conditions, or its value
is computed, `math` comes before the threshold. Missing values (no sample, a zero divisor, an increase over too short
a time) are NaN and are dropped by a `reduce` with `dropNN`: they are no data, and not a false condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from plimsoll.export.grafana.alerts.file import (
    EXPRESSION,
    DataSource,
    Evaluation,
    Evaluator,
    InfluxModel,
    MathModel,
    Query,
    ReduceModel,
    ReduceSettings,
    ThresholdCondition,
    ThresholdModel,
    TimeRange,
)
from plimsoll.export.grafana.influxql import JoinedWith, Worst, requests, span, window, worst_span, worst_window
from plimsoll.export.grafana.links import DATASOURCE_UID
from plimsoll.export.grafana.selections import Selection, Variant
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.weighted import OCCUPIED
from plimsoll.store.influx.quoting import number

# The comparison for a crossed limit is the negation of the healthy one.
_CROSSED: dict[str, tuple[Evaluation, str]] = {
    "<": ("gte", ">="),
    "<=": ("gt", ">"),
    ">": ("lte", "<="),
    ">=": ("lt", "<"),
    "=": ("ne", "!="),
}
_HOLDS: dict[str, Evaluation] = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "=": "eq"}
_EXPRESSION = DataSource(type=EXPRESSION, uid=EXPRESSION)
_INFLUXDB = DataSource(type="influxdb", uid=DATASOURCE_UID)


class Inexpressible(ValueError):
    """A rule cannot be expressed in Grafana; the text is the reason."""


@dataclass(frozen=True)
class BoundCondition:
    """A condition of a rule for one target: its limit, and the sources of its signal.

    `wheres` are the further conditions on each selection's points; `window` is the length in ns after widening.
    `weights` are the factors of a sum's operands, empty if all are 1. If a host has values from several alternatives,
    `worst` chooses the greatest or the least of them.
    """

    condition: Condition
    healthy: Healthy
    variant: Variant
    wheres: tuple[tuple[str, ...], ...]
    window: int
    weights: tuple[float, ...] = ()
    worst: Worst = "max"


@dataclass
class Pipeline:
    """Queries and expressions with the refIds A, B, C, ... . Windows end `delay` ns before the evaluation."""

    delay: int
    queries: list[Query] = field(default_factory=list[Query])

    def query(self, influxql: str, length: int) -> str:
        """Add an InfluxQL query over a window of this length in ns; return its refId."""
        if length % SECOND or self.delay % SECOND:
            raise Inexpressible("its window is not in whole seconds")
        ref = self._ref()
        model = InfluxModel(refId=ref, datasource=_INFLUXDB, rawQuery=True, resultFormat="time_series", query=influxql)
        past = TimeRange.model_validate({"from": (self.delay + length) // SECOND, "to": self.delay // SECOND})
        self.queries.append(Query(refId=ref, relativeTimeRange=past, datasourceUid=DATASOURCE_UID, model=model))
        return ref

    def reduce(self, of: str) -> str:
        """Add a reduction of each series to one number, without nulls and NaN; return its refId."""
        ref = self._ref()
        return self._expression(
            ReduceModel(
                refId=ref,
                datasource=_EXPRESSION,
                type="reduce",
                expression=of,
                reducer="last",
                settings=ReduceSettings(mode="dropNN"),
            )
        )

    def math(self, expression: str) -> str:
        """Add an expression over other refIds, such as `$A / $B`; return its refId."""
        return self._expression(
            MathModel(refId=self._ref(), datasource=_EXPRESSION, type="math", expression=expression)
        )

    def threshold(self, of: str, evaluator: Evaluator, unload: Evaluator | None = None) -> str:
        """Add a threshold; return its refId. With `unload`, it stays true until that comparison is true."""
        condition = ThresholdCondition(evaluator=evaluator, unloadEvaluator=unload)
        return self._expression(
            ThresholdModel(
                refId=self._ref(), datasource=_EXPRESSION, type="threshold", expression=of, conditions=[condition]
            )
        )

    def _expression(self, model: MathModel | ReduceModel | ThresholdModel) -> str:
        self.queries.append(Query(refId=model.ref_id, datasourceUid=EXPRESSION, model=model))
        return model.ref_id

    def _ref(self) -> str:
        at = len(self.queries)
        return chr(ord("A") + at) if at < 26 else f"{chr(ord('A') + at // 26 - 1)}{chr(ord('A') + at % 26)}"


@dataclass(frozen=True)
class Decision:
    """The refId of the condition, and that of the value for the annotations."""

    condition: str
    value: str


def decide(
    pipeline: Pipeline, own: BoundCondition, others: Sequence[BoundCondition], recover: Healthy | None
) -> Decision:
    """Add a rule's own condition and the others, all of which must be true, to the pipeline.

    One false condition makes the result false even if others are NaN, if the subject has a sample of each signal.
    """
    value = _number(pipeline, own)
    first = JoinedWith(own.variant.selections[0], own.wheres[0])
    if not others:
        unload = Evaluator(type=_HOLDS[recover.operator], params=[recover.limit]) if recover else None
        return Decision(pipeline.threshold(value, crossed(own.healthy), unload), value)
    inner = _inner(own.healthy, recover) if recover else own.healthy
    terms = [(_crossed_text(f"${value}", inner), False)]
    for other in others:
        terms.append((_crossed_text(_value(pipeline, other, first), other.healthy), _may_lack(other)))
    # `0 && NaN` is 0 but `NaN && 0` is NaN, so terms that may be NaN come last.
    terms.sort(key=lambda term: term[1])
    both = " && ".join(f"({text})" for text, _ in terms)
    if recover is None:
        return Decision(pipeline.threshold(pipeline.reduce(pipeline.math(both)), _TRUE), value)
    met = pipeline.math(both)
    # While the other conditions are false, the threshold gets a recovered value.
    judged = pipeline.math(f"${value} * ${met} + {number(_well(inner))} * (1 - ${met})")
    unload = Evaluator(type=_HOLDS[recover.operator], params=[recover.limit])
    return Decision(pipeline.threshold(pipeline.reduce(judged), crossed(own.healthy), unload), value)


_TRUE = Evaluator(type="gt", params=[0])


def crossed(healthy: Healthy) -> Evaluator:
    """Return the comparison that is true where a limit is crossed: `gte 80` for `< 80`."""
    return Evaluator(type=_CROSSED[healthy.operator][0], params=[healthy.limit])


def _inner(healthy: Healthy, recover: Healthy) -> Healthy:
    """Return the stricter of a limit and the limit at which it recovers."""
    if healthy.worse == "either" and healthy != recover:
        raise Inexpressible(f"it recovers at {recover} from a limit of {healthy}, which lies on no side of it")
    choose = max if healthy.worse == "lower" else min
    return choose(recover, healthy, key=lambda one: one.limit)


def _well(healthy: Healthy) -> float:
    """Return a value on the healthy side of a limit."""
    return healthy.limit + {"higher": -1, "lower": 1, "either": 0}[healthy.worse]


def _crossed_text(value: str, healthy: Healthy) -> str:
    return f"{value} {_CROSSED[healthy.operator][1]} {number(healthy.limit)}"


def _number(pipeline: Pipeline, bound: BoundCondition) -> str:
    """Return the refId of a condition's value, without NaN."""
    value = _value(pipeline, bound)
    return value[1:] if value[1:].isalpha() else pipeline.reduce(pipeline.math(value))


def _value(pipeline: Pipeline, bound: BoundCondition, joined_with: JoinedWith | None = None) -> str:
    """Return a condition's value as an expression, which is NaN if the samples do not determine it."""
    if bound.variant.alternatives:
        return _any(pipeline, bound)
    operands: list[str] = []
    for selection, where in zip(bound.variant.selections, bound.wheres, strict=True):
        operands.append(_operand(pipeline, bound, selection, where, joined_with))
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
            return f"({' + '.join(_weighed(one, weight) for one, weight in zip(operands, weights, strict=True))})"
        case "difference":
            return f"({' - '.join(operands)})"
        case "product":
            return f"(({' + '.join(operands[:-1])}) * {operands[-1]})"


def _weighed(operand: str, weight: float) -> str:
    return operand if weight == 1 else f"{number(weight)} * {operand}"


def _operand(
    pipeline: Pipeline,
    bound: BoundCondition,
    selection: Selection,
    where: Sequence[str],
    joined_with: JoinedWith | None,
) -> str:
    if joined_with and (joined_with.selection, tuple(joined_with.where)) == (selection, tuple(where)):
        joined_with = None  # a selection needs no nulls for its own subjects
    reduce = bound.condition.reduce
    value = pipeline.reduce(pipeline.query(window(selection, reduce, where, joined_with), bound.window))
    if selection.weight and selection.least and reduce == "mean":
        return _if_enough(
            value, pipeline.reduce(pipeline.query(requests(selection, where, joined_with), bound.window)), selection
        )
    if reduce != "increase":
        return f"${value}"
    return _if_far_enough(
        value, pipeline.reduce(pipeline.query(span(selection, where, joined_with), bound.window)), bound
    )


def _any(pipeline: Pipeline, bound: BoundCondition) -> str:
    """Return the value of a condition whose signal has several alternative sources."""
    # Of a limit of 0 that is broken on both sides, the worst value is the one furthest from 0.
    absolute = bound.healthy.worse == "either"
    query = worst_window(bound.variant, bound.condition.reduce, bound.wheres, bound.worst, absolute=absolute)
    value = pipeline.reduce(pipeline.query(query, bound.window))
    if bound.condition.reduce != "increase":
        return f"${value}"
    distance = pipeline.reduce(pipeline.query(worst_span(bound.variant, bound.wheres), bound.window))
    return _if_far_enough(value, distance, bound)


def _if_far_enough(value: str, distance: str, bound: BoundCondition) -> str:
    """Add 0 to the value, or 0 / 0 if first and last sample are less than half a window apart."""
    return f"(${value} + 0 / (${distance} >= {bound.window / 2:.0f}))"


def _if_enough(value: str, rate: str, selection: Selection) -> str:
    """Multiply a time per request by 0, so that no limit is crossed, if there were too few requests to tell."""
    return f"(${value} * (${rate} >= {number(selection.least)} || ${rate} * ${value} >= {number(OCCUPIED)}))"


def _may_lack(bound: BoundCondition) -> bool:
    return bound.condition.reduce == "increase" or bound.variant.operation == "ratio"

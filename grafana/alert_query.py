"""A rule as Grafana's pipeline: queries, each reduced to a number, and what is held against what.

The plain case is a query over the window, `reduce` and `threshold`. Where a rule has further conditions, or its value
is computed, `math` stands between. Numbers that are none (no sample, a zero divisor, an increase over too short a
time) are dropped by a `reduce` with `dropNN`, so that they are no data and not a false condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from grafana.alert_file import (
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
from grafana.influxql import Beside, Worst, span, window, worst_span, worst_window
from grafana.links import DATASOURCE_UID
from grafana.selections import Selection, Variant
from model.times import SECOND
from rules.healthy import Healthy
from rules.pack_schema import Condition
from store.quoting import number

# A limit is crossed where its healthy side does not hold.
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
    """Grafana cannot say this; the text is the reason."""


@dataclass(frozen=True)
class Taken:
    """A condition with its limit as it holds for the target, where its signal is taken from, and for whom.

    `wheres` are the further conditions of each selection's points; `window` is the length in ns after widening.
    `weights` say how much each operand of a sum counts, where not all count once. `worst` is the side of what counts
    where a host has a value from several alternatives.
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
    """Queries and expressions under the refIds A, B, C, ... . `delay` is how late an evaluation looks, in ns."""

    delay: int
    queries: list[Query] = field(default_factory=list[Query])

    def query(self, influxql: str, length: int) -> str:
        """An InfluxQL query over a window of this length in ns."""
        if length % SECOND or self.delay % SECOND:
            raise Inexpressible("its window is not in whole seconds")
        ref = self._ref()
        model = InfluxModel(refId=ref, datasource=_INFLUXDB, rawQuery=True, resultFormat="time_series", query=influxql)
        past = TimeRange.model_validate({"from": (self.delay + length) // SECOND, "to": self.delay // SECOND})
        self.queries.append(Query(refId=ref, relativeTimeRange=past, datasourceUid=DATASOURCE_UID, model=model))
        return ref

    def reduce(self, of: str) -> str:
        """One number for each series; what is no number is left out."""
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
        """A value of other refIds: `$A / $B`."""
        return self._expression(
            MathModel(refId=self._ref(), datasource=_EXPRESSION, type="math", expression=expression)
        )

    def threshold(self, of: str, evaluator: Evaluator, unload: Evaluator | None = None) -> str:
        """Where a number is past a limit; with `unload`, until it is past that."""
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
    """What decides: the refId of the condition, and that of the value people are told."""

    condition: str
    value: str


def decide(pipeline: Pipeline, own: Taken, others: Sequence[Taken], recover: Healthy | None) -> Decision:
    """Put a rule's own condition and its others, all of which must hold, into the pipeline.

    A false condition decides whatever the others lack, as long as the subject has a value of each signal.
    """
    value = _number(pipeline, own)
    first = Beside(own.variant.selections[0], own.wheres[0])
    if not others:
        unload = Evaluator(type=_HOLDS[recover.operator], params=[recover.limit]) if recover else None
        return Decision(pipeline.threshold(value, crossed(own.healthy), unload), value)
    inner = _inner(own.healthy, recover) if recover else own.healthy
    terms = [(_crossed_text(f"${value}", inner), False)]
    for other in others:
        terms.append((_crossed_text(_value(pipeline, other, first), other.healthy), _may_lack(other)))
    # `0 && NaN` is 0 and `NaN && 0` is NaN, so what may be no number comes last.
    terms.sort(key=lambda term: term[1])
    both = " && ".join(f"({text})" for text, _ in terms)
    if recover is None:
        return Decision(pipeline.threshold(pipeline.reduce(pipeline.math(both)), _TRUE), value)
    met = pipeline.math(both)
    # Where the other conditions do not hold, the value given is one that has recovered.
    judged = pipeline.math(f"${value} * ${met} + {number(_well(inner))} * (1 - ${met})")
    unload = Evaluator(type=_HOLDS[recover.operator], params=[recover.limit])
    return Decision(pipeline.threshold(pipeline.reduce(judged), crossed(own.healthy), unload), value)


_TRUE = Evaluator(type="gt", params=[0])


def crossed(healthy: Healthy) -> Evaluator:
    """What a threshold compares for a limit to be crossed: `< 80` is `gte 80`."""
    return Evaluator(type=_CROSSED[healthy.operator][0], params=[healthy.limit])


def _inner(healthy: Healthy, recover: Healthy) -> Healthy:
    """The one of two limits of one side that fewer values keep."""
    if healthy.worse == "either" and healthy != recover:
        raise Inexpressible(f"it recovers at {recover} from a limit of {healthy}, which lies on no side of it")
    choose = max if healthy.worse == "lower" else min
    return choose(recover, healthy, key=lambda one: one.limit)


def _well(healthy: Healthy) -> float:
    """A value that keeps a limit."""
    return healthy.limit + {"higher": -1, "lower": 1, "either": 0}[healthy.worse]


def _crossed_text(value: str, healthy: Healthy) -> str:
    return f"{value} {_CROSSED[healthy.operator][1]} {number(healthy.limit)}"


def _number(pipeline: Pipeline, taken: Taken) -> str:
    """The refId of a condition's value, without what is no number."""
    value = _value(pipeline, taken)
    return value[1:] if value[1:].isalpha() else pipeline.reduce(pipeline.math(value))


def _value(pipeline: Pipeline, taken: Taken, beside: Beside | None = None) -> str:
    """A condition's value as an expression; NaN where the samples do not make one."""
    if taken.variant.alternatives:
        return _any(pipeline, taken)
    operands: list[str] = []
    for selection, where in zip(taken.variant.selections, taken.wheres, strict=True):
        operands.append(_operand(pipeline, taken, selection, where, beside))
        beside = beside or Beside(selection, where)
    match taken.variant.operation:
        case None:
            return operands[0]
        case "ratio":
            above, below = operands
            # Adds nothing, or 0 / 0 where the divisor is zero or below.
            return f"({above} / {below} + 0 / ({below} > 0))"
        case "sum":
            weights = taken.weights or (1.0,) * len(operands)
            return f"({' + '.join(_weighed(one, weight) for one, weight in zip(operands, weights, strict=True))})"
        case "difference":
            return f"({' - '.join(operands)})"


def _weighed(operand: str, weight: float) -> str:
    return operand if weight == 1 else f"{number(weight)} * {operand}"


def _operand(
    pipeline: Pipeline, taken: Taken, selection: Selection, where: Sequence[str], beside: Beside | None
) -> str:
    if beside and (beside.selection, tuple(beside.where)) == (selection, tuple(where)):
        beside = None  # it is joined to itself
    reduce = taken.condition.reduce
    value = pipeline.reduce(pipeline.query(window(selection, reduce, where, beside), taken.window))
    if reduce != "increase":
        return f"${value}"
    return _apart_enough(value, pipeline.reduce(pipeline.query(span(selection, where, beside), taken.window)), taken)


def _any(pipeline: Pipeline, taken: Taken) -> str:
    """The value of a condition whose signal a host has from any of several sources."""
    query = worst_window(taken.variant, taken.condition.reduce, taken.wheres, taken.worst)
    value = pipeline.reduce(pipeline.query(query, taken.window))
    if taken.condition.reduce != "increase":
        return f"${value}"
    apart = pipeline.reduce(pipeline.query(worst_span(taken.variant, taken.wheres), taken.window))
    return _apart_enough(value, apart, taken)


def _apart_enough(value: str, apart: str, taken: Taken) -> str:
    """Adds nothing, or 0 / 0 where first and last are less than half a window apart."""
    return f"(${value} + 0 / (${apart} >= {taken.window / 2:.0f}))"


def _may_lack(taken: Taken) -> bool:
    return taken.condition.reduce == "increase" or taken.variant.operation == "ratio"

"""Evaluates alert rules like Grafana does, over answers of a real InfluxDB.

Query, reduce, math and threshold give a result for each set of labels, which changes the state of the rule's instance
with these labels. Only what exported rules use is implemented.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from plimsoll.export.grafana.alerts.file import (
    AlertRule,
    Evaluator,
    InfluxModel,
    MathModel,
    Query,
    ReduceModel,
    ThresholdCondition,
    ThresholdModel,
)
from plimsoll.export.grafana.check.expressions import parse
from tests.export.grafana.pipeline.compute import compute
from tests.export.grafana.pipeline.results import Table, results, statement
from tests.export.grafana.pipeline.states import Instance, Instances, Key, Result, key
from tests.export.grafana.pipeline.values import Failed, NoData, Number, Results, Series, Value, is_no_data

Ask = Callable[[Sequence[str]], Sequence[Sequence[Table]]]

_STATEMENTS_AT_ONCE = 50
_parsed = cache(parse)


def run(
    rule: AlertRule, every: int, times: Sequence[int], ask: Ask
) -> Iterator[tuple[int, Mapping[Key, Instance], Mapping[str, Results]]]:
    """Evaluate a rule at each of these instants (UTC ns); yield the instances after it, and the results of each refId.

    `ask` answers InfluxQL statements in order, each with its series.
    """
    instances = Instances(rule, every)
    queries = [one for one in rule.data if isinstance(one.model, InfluxModel)]
    at_once = max(1, _STATEMENTS_AT_ONCE // max(1, len(queries)))
    for first in range(0, len(times), at_once):
        some = times[first : first + at_once]
        answers = iter(ask([statement(query, at) for at in some for query in queries]))
        for at in some:
            tables = {query.ref_id: next(answers) for query in queries}
            found, values = evaluate(rule, tables, instances.loaded)
            instances.step(at, found)
            yield at, dict(instances.by_labels), values


def evaluate(
    rule: AlertRule, tables: Mapping[str, Sequence[Table]], loaded: set[Key]
) -> tuple[Mapping[Key, Result], Mapping[str, Results]]:
    """Evaluate a rule once; return the result for each set of labels, and the results of each refId."""
    values: dict[str, Results] = {}
    try:
        for query in rule.data:
            values[query.ref_id] = _outcome(query, tables, values, loaded)
        return _found(values[rule.condition]), values
    except Failed:
        return {frozenset(): Result.ERROR}, values


def _outcome(
    query: Query, tables: Mapping[str, Sequence[Table]], values: Mapping[str, Results], loaded: set[Key]
) -> Results:
    match query.model:
        case InfluxModel():
            return results(tables[query.ref_id])
        case ReduceModel(expression=of) as model:
            return [one for value in values[of] if (one := _reduced(model, value)) is not None]
        case MathModel(expression=expression):
            return compute(_parsed(expression), values)
        case ThresholdModel(expression=of, conditions=[condition]):
            return [_held(condition, value, key(value.labels) in loaded) for value in values[of]]
        case ThresholdModel():
            raise Failed("a threshold has exactly one condition")


def _reduced(model: ReduceModel, value: Value) -> Value | None:
    """Reduce a series to a number. With dropNN, null and NaN are dropped, also where the input is a number already."""
    mode = model.settings.mode if model.settings else ""
    other = model.settings.replace_with_value if model.settings else None
    match value:
        case NoData():
            return value
        case Number(labels, number):
            if mode == "":
                return value
            kept = _numbers([number], mode, other)
            return Number(labels, kept[0]) if kept else None
        case Series(labels, _, numbers):
            reduced = _REDUCERS[model.reducer](_numbers(numbers, mode, other))
            if mode == "dropNN" and reduced is not None and math.isnan(reduced):
                reduced = None
            return Number(labels, reduced)


def _numbers(values: Sequence[float | None], mode: str, other: float | None) -> list[float | None]:
    match mode:
        case "dropNN":
            return [value for value in values if value is not None and math.isfinite(value)]
        case "replaceNN":
            return [value if value is not None and math.isfinite(value) else other for value in values]
        case _:
            return list(values)


def _strict(reduce: Callable[[list[float]], float]) -> Callable[[list[float | None]], float | None]:
    """Return a reducer that gives NaN if any value is null or NaN."""

    def strictly(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None and not math.isnan(value)]
        return math.nan if len(known) < len(values) else reduce(known)

    return strictly


def _last(values: list[float | None]) -> float | None:
    return values[-1] if values else math.nan


_REDUCERS: Mapping[str, Callable[[list[float | None]], float | None]] = {
    "sum": _strict(sum),
    "mean": _strict(lambda values: sum(values) / len(values) if values else math.nan),
    "min": _strict(lambda values: min(values, default=math.nan)),
    "max": _strict(lambda values: max(values, default=math.nan)),
    "median": _strict(lambda values: statistics.median(values) if values else math.nan),
    "count": lambda values: float(len(values)),
    "last": _last,
}


def _held(condition: ThresholdCondition, value: Value, loaded: bool) -> Value:
    """Return 1 if the condition is true. If loaded, it stays true until its unloadEvaluator is. NaN is only `ne`."""
    if not isinstance(value, Number) or value.value is None:
        return value
    if loaded and condition.unload_evaluator:
        return Number(value.labels, float(not _compared(condition.unload_evaluator, value.value)))
    return Number(value.labels, float(_compared(condition.evaluator, value.value)))


def _compared(evaluator: Evaluator, value: float) -> bool:
    first, *rest = evaluator.params
    second = rest[0] if rest else math.nan
    match evaluator.type:
        case "gt":
            return value > first
        case "gte":
            return value >= first
        case "lt":
            return value < first
        case "lte":
            return value <= first
        case "eq":
            return value == first
        case "ne":
            return value != first
        case "within_range":
            return first < value < second
        case "within_range_included":
            return first <= value <= second
        case "outside_range":
            return value < first or value > second
        case "outside_range_included":
            return value <= first or value >= second


def _found(condition: Results) -> Mapping[Key, Result]:
    if is_no_data(condition):
        return {frozenset(): Result.NO_DATA}
    found: dict[Key, Result] = {}
    for one in condition:
        if isinstance(one, NoData):
            continue
        if not isinstance(one, Number):
            raise Failed("the condition is not reduced to numbers")
        labels = key(one.labels)
        if labels in found:
            raise Failed(f"the condition has two values of the labels {dict(one.labels)}")
        found[labels] = Result.NO_DATA if one.value is None else Result.ALERTING if one.value else Result.NORMAL
    return found

"""Computes Grafana's math expressions over results, which are joined on their labels."""

import math
import operator
from collections.abc import Callable, Mapping

from plimsoll.export.grafana.check.expressions import Node, Operation
from tests.export.grafana.pipeline.values import Labels, NoData, Number, Results, Series, Value

_COMPUTE: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "**": math.pow,
    "%": math.fmod,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def compute(node: Node, variables: Mapping[str, Results]) -> Results:
    """Return the results of an expression."""
    if isinstance(node, str):
        return list(variables[node[1:]])
    if not isinstance(node, Operation):
        return [Number({}, node)]
    parts = [compute(part, variables) for part in node.parts]
    if len(parts) == 1:
        return [_negated(node.sign, one) for one in parts[0]]
    return [_applied(node.sign, labels, left, right) for labels, left, right in union(*parts)]


def union(left: Results, right: Results) -> list[tuple[Labels, Value, Value]]:
    """Join values: two belong together if one has all the labels of the other.

    If there is one value on each side and their labels differ, they are combined as well, without labels.
    """
    if not left or not right:
        return []
    if 1 in (len(left), len(right)) and any(isinstance(side[0], NoData) for side in (left, right)):
        return [({}, left[0], right[0])]
    found = [(max(a.labels, b.labels, key=len), a, b) for a in left for b in right if _fit(a.labels, b.labels)]
    if not found and len(left) == 1 == len(right):
        return [({}, left[0], right[0])]
    return found


def _fit(left: Labels, right: Labels) -> bool:
    if len(left) == len(right):
        return left == right
    fewer, more = sorted((left, right), key=len)
    return fewer.items() <= more.items()


def _negated(sign: str, value: Value) -> Value:
    def one(number: float | None) -> float | None:
        if number is None or math.isnan(number):
            return number
        return -number if sign == "-" else float(number == 0)

    match value:
        case NoData():
            return value
        case Number(labels, number):
            return Number(labels, one(number))
        case Series(labels, times, values):
            return Series(labels, times, tuple(one(number) for number in values))


def _applied(sign: str, labels: Labels, left: Value, right: Value) -> Value:
    match left, right:
        case (NoData(), _) | (_, NoData()):
            return NoData()
        case Number(), Number():
            return Number(labels, _two(sign, left.value, right.value))
        case Series(), Number():
            return Series(labels, left.times, tuple(_two(sign, one, right.value) for one in left.values))
        case Number(), Series():
            return Series(labels, right.times, tuple(_two(sign, left.value, one) for one in right.values))
        case Series(), Series():
            at = dict(zip(right.times, right.values, strict=True))
            shared = [(time, one) for time, one in zip(left.times, left.values, strict=True) if time in at]
            times = tuple(time for time, _ in shared)
            return Series(labels, times, tuple(_two(sign, one, at[time]) for time, one in shared))


def _two(sign: str, left: float | None, right: float | None) -> float | None:
    """Apply an operator. Null and NaN propagate, except that `0 && x` is 0 and `1 || x` is 1. NaN counts as not 0."""
    if left is None or right is None:
        return None
    if sign == "||" and left != 0:
        return 1.0
    if sign == "&&" and left == 0:
        return 0.0
    if math.isnan(left) or math.isnan(right):
        return math.nan
    match sign:
        case "||" | "&&":
            return float(right != 0)
        case "/":
            if right == 0:
                return math.nan if left == 0 else math.copysign(math.inf, left)
            return left / right
        case _:
            return float(_COMPUTE[sign](left, right))

"""The value of a signal at one evaluation: the samples of its window, reduced."""

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right

from .signals import Fact, Leaf, Signal


def value_at(signal: Signal, reduce: str, over: int, at: int) -> float | None:
    """The reduced value, None for no data. A derived signal reduces its operands first and then combines."""
    if isinstance(signal, Fact):
        return signal.value
    if isinstance(signal, Leaf):
        return _reduced(signal, reduce, over, at)
    values = [value_at(operand, reduce, over, at) for operand in signal.operands]
    present = [value for value in values if value is not None]
    if signal.how == "total":
        return math.fsum(present) if present else None
    if len(present) < len(values):
        return None
    match signal.how:
        case "sum":
            return math.fsum(weight * value for weight, value in zip(signal.weights, present, strict=True))
        case "difference":
            return present[0] - present[1]
        case _:
            return present[0] / present[1] if present[1] else None


def width(signal: Signal, over: int) -> int:
    """How far back the window looks: twice the log's interval where that is more than the rule says."""
    if isinstance(signal, Fact):
        return over
    if isinstance(signal, Leaf):
        return max(over, 2 * (signal.column.interval or 0))
    return max(width(operand, over) for operand in signal.operands)


def _reduced(leaf: Leaf, reduce: str, over: int, at: int) -> float | None:
    back = width(leaf, over)
    first, end = bisect_left(leaf.column.times, at - back), bisect_right(leaf.column.times, at)
    times = leaf.column.times[first:end]
    values = [leaf.scale * value + leaf.offset for value in leaf.column.values[first:end]]
    if leaf.rate:
        pairs = list(zip(times, values, strict=True))
        rates = [
            (later, (after - before) * 1000 / (later - earlier))
            for (earlier, before), (later, after) in itertools.pairwise(pairs)
            if after >= before
        ]
        times, values = [time for time, _ in rates], [rate for _, rate in rates]
    if not values:
        return None
    match reduce:
        case "mean":
            # Rounding must not carry it beyond its samples: 80, 80, 80 is 80.
            return min(max(math.fsum(values) / len(values), min(values)), max(values))
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "last":
            return values[-1]
        case "sum":
            return math.fsum(values)
        case "count":
            return float(len(values))
        case "median":
            return statistics.median(values)
        case _:
            assert reduce == "increase"
            return values[-1] - values[0] if 2 * (times[-1] - times[0]) >= back else None

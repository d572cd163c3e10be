"""The value of a signal at one evaluation: the samples of its window, reduced."""

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right

from .signals import Fact, Leaf, Made, Signal, leaves


def value_at(signal: Signal, reduce: str, over: int, at: int) -> float | None:
    """The reduced value, None for no data. A derived signal reduces its operands first and then combines."""
    if isinstance(signal, Fact):
        return signal.value
    if isinstance(signal, Leaf | Made):
        back = width(signal, over)
        samples = _leaf(signal, back, at) if isinstance(signal, Leaf) else _made(signal, back, at)
        return _reduced(samples, reduce, back)
    values = [value_at(operand, reduce, over, at) for operand in signal.operands]
    present = [value for value in values if value is not None]
    if signal.how == "total":
        return math.fsum(present) if present else None
    if signal.how in ("mean", "max"):
        made = max(present, default=None) if signal.how == "max" else math.fsum(present) / max(len(present), 1)
        return made if present else None
    if len(present) < len(values):
        return None
    match signal.how:
        case "sum":
            return math.fsum(weight * value for weight, value in zip(signal.weights, present, strict=True))
        case "difference":
            return present[0] - present[1]
        case _:
            return present[0] / present[1] if present[1] > 0 else None


def width(signal: Signal, over: int) -> int:
    """How far back the window looks: twice the log's interval where that is more than the rule says."""
    if isinstance(signal, Fact):
        return over
    if isinstance(signal, Leaf | Made):
        return max(over, *(2 * (leaf.column.interval or 0) for leaf in leaves(signal)))
    return max(width(operand, over) for operand in signal.operands)


def _leaf(leaf: Leaf, back: int, at: int) -> dict[int, float]:
    """The samples of the window by their times; of a growing count what it gains per second up to each of them."""
    first, end = bisect_left(leaf.column.times, at - back), bisect_right(leaf.column.times, at)
    times = leaf.column.times[first:end]
    values = [min(leaf.scale * value + leaf.offset, leaf.most) for value in leaf.column.values[first:end]]
    pairs = list(zip(times, values, strict=True))
    if not leaf.rate:
        return dict(pairs)
    return {
        later: (after - before) * 1000 / (later - earlier)
        for (earlier, before), (later, after) in itertools.pairwise(pairs)
        if after >= before
    }


def _made(made: Made, back: int, at: int) -> dict[int, float]:
    """What several columns give together, where all of them give something."""
    parts = [_leaf(part, back, at) for part in made.parts]
    values: dict[int, float] = {}
    for time in sorted(set(parts[0]).intersection(*parts[1:])):
        given = [part[time] for part in parts]
        if made.how == "ratio" and given[1] <= 0:
            continue
        match made.how:
            case "sum":
                value = math.fsum(given)
            case "difference":
                value = given[0] - given[1]
            case _:
                value = given[0] / given[1]
        values[time] = made.scale * value + made.offset
    return values


def _reduced(samples: dict[int, float], reduce: str, back: int) -> float | None:
    times, values = list(samples), list(samples.values())
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

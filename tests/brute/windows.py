"""The value of a signal at one evaluation: the samples of its window, reduced."""

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right
from functools import lru_cache

from .signals import Fact, Leaf, Made, PerRequest, Signal, leaves


@lru_cache(4096)
def values_at(signal: Signal, reduce: str, over: int, evaluations: tuple[int, ...]) -> list[float | None]:
    """The reduced value at each evaluation. Many rules ask the same of a signal."""
    return [value_at(signal, reduce, over, at) for at in evaluations]


def value_at(signal: Signal, reduce: str, over: int, at: int) -> float | None:
    """The reduced value, None for no data. A derived signal reduces its operands first and then combines."""
    if isinstance(signal, Fact):
        return signal.value
    if isinstance(signal, Leaf | Made):
        back = width(signal, over)
        samples = _leaf(signal, back, at) if isinstance(signal, Leaf) else _made(signal, back, at)
        return _reduced(samples, reduce, back)
    if isinstance(signal, PerRequest):
        back = width(signal, over)
        times, rates = _requests(signal, back, at)
        if reduce == "mean" and times:
            weighed = math.fsum(times[one] * rates[one] for one in times) / math.fsum(rates[one] for one in times)
            return min(max(weighed, min(times.values())), max(times.values()))
        return _reduced(times, reduce, back)
    values = [value_at(operand, reduce, over, at) for operand in signal.operands]
    present = [value for value in values if value is not None]
    if signal.how == "total":
        return math.fsum(present) if present else None
    if signal.how in ("mean", "max", "min"):
        mean = math.fsum(present) / max(len(present), 1)
        made = {"mean": mean, "max": max(present, default=None), "min": min(present, default=None)}[signal.how]
        return made if present else None
    if len(present) < len(values):
        return None
    match signal.how:
        case "sum":
            return math.fsum(weight * value for weight, value in zip(signal.weights, present, strict=True))
        case "difference":
            return present[0] - present[1]
        case "product":
            return math.fsum(present[:-1]) * present[-1]
        case _:
            return present[0] / present[1] if present[1] > 0 else None


def idle_at(signal: PerRequest, value: float | None, over: int, at: int) -> bool:
    """Whether nobody waited: there were no requests in the window, or too few."""
    back = width(signal, over)
    if signal.rate is None:
        return value is None and bool(_samples(signal.time, back, at))
    rates = list(_samples(signal.rate, back, at).values())
    if not rates:
        return False
    mean = math.fsum(rates) / len(rates)
    return mean <= 0 or (mean < signal.least and not (value is not None and mean * value >= 0.5))


def _requests(signal: PerRequest, back: int, at: int) -> tuple[dict[int, float], dict[int, float]]:
    """The times of requests in the window and their rates, at the times of the samples where there were requests."""
    times = _samples(signal.time, back, at)
    if signal.rate is not None and signal.is_together:
        rates = {time: rate for time, rate in _samples(signal.rate, back, at).items() if rate > 0}
    else:
        rates = {time: 1.0 for time, value in times.items() if value != 0}
    return {time: value for time, value in times.items() if time in rates}, rates


def _samples(signal: Leaf | Made, back: int, at: int) -> dict[int, float]:
    return _leaf(signal, back, at) if isinstance(signal, Leaf) else _made(signal, back, at)


def width(signal: Signal, over: int) -> int:
    """How far back the window looks: twice the log's interval where that is more than the rule says."""
    if isinstance(signal, Fact):
        return over
    if isinstance(signal, Leaf):
        return max(over, 2 * (signal.column.interval or 0))
    if isinstance(signal, Made):
        return max(over, *(2 * (leaf.column.interval or 0) for leaf in leaves(signal)))
    if isinstance(signal, PerRequest):
        return max(width(one, over) for one in (signal.time, signal.rate) if one is not None)
    return max(width(operand, over) for operand in signal.operands)


def _leaf(leaf: Leaf, back: int, at: int) -> dict[int, float]:
    """The samples of the window by their times; of a growing count what it gains per second up to each of them."""
    first, end = bisect_left(leaf.column.times, at - back), bisect_right(leaf.column.times, at)
    pairs = zip(leaf.column.times[first:end], leaf.values[first:end], strict=True)
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
    values = list(samples.values())
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
            times = list(samples)
            return values[-1] - values[0] if 2 * (times[-1] - times[0]) >= back else None

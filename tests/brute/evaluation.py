"""The value of a signal at one evaluation: the samples of its window, reduced."""

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right

from .signals import Leaf, PerRequest, Signal


def value_at(signal: Signal, reduce: str, over: int, at: int, only: int | None = None) -> float | None:
    """Return the reduced value, None for no data. A derived signal reduces its operands first and then combines.

    `only` is how far back to look where that is not the window.
    """
    if isinstance(signal, Leaf):
        back = only or width(signal, over)
        return _reduced(_unbroken(signal, back, at, anew=not signal.rate and reduce != "increase"), reduce, back)
    if isinstance(signal, PerRequest):
        back = only or width(signal, over)
        if any(_break(leaf, at)[0] for leaf in (signal.time, signal.rate) if leaf is not None):
            return None
        times, rates = _requests(signal, back, at)
        if reduce == "mean" and times:
            weighed = math.fsum(times[at] * rates[at] for at in times) / math.fsum(rates[at] for at in times)
            return min(max(weighed, min(times.values())), max(times.values()))
        return _reduced(times, reduce, back)
    values = [value_at(operand, reduce, over, at, only) for operand in signal.operands]
    present = [value for value in values if value is not None]
    if not present:
        return None
    match signal.operation:
        case "total":
            return math.fsum(present)
        case "mean":
            return math.fsum(present) / len(present)
        case "max" | "min":
            return max(present) if signal.operation == "max" else min(present)
        case _:
            pass
    if len(present) < len(values):
        return None
    match signal.operation:
        case "sum":
            return math.fsum(weight * value for weight, value in zip(signal.weights, present, strict=True))
        case "difference":
            return present[0] - present[1]
        case "product":
            return math.fsum(present[:-1]) * present[-1]
        case _:
            return present[0] / present[1] if present[1] > 0 else None


def idle_at(signal: PerRequest, value: float | None, over: int, at: int) -> bool:
    """Return whether nobody waited: there were no requests in the window, or too few."""
    back = width(signal, over)
    if signal.rate is None:
        return value is None and bool(_unbroken(signal.time, back, at))
    rates = list(_unbroken(signal.rate, back, at).values())
    if not rates:
        return False
    mean = math.fsum(rates) / len(rates)
    return mean <= 0 or (mean < signal.minimum_rate and not (value is not None and mean * value >= 0.5))


def width(signal: Signal, over: int) -> int:
    """Return how far back the window looks: twice the log's interval where that is more than the rule says."""
    if isinstance(signal, Leaf):
        return max(over, 2 * (signal.column.interval or 0))
    if isinstance(signal, PerRequest):
        return max(width(part, over) for part in (signal.time, signal.rate) if part is not None)
    return max(width(operand, over) for operand in signal.operands)


def _requests(signal: PerRequest, back: int, at: int) -> tuple[dict[int, float], dict[int, float]]:
    """The times of requests in the window and their rates, at the times of the samples where there were requests."""
    back = min(back, at - max(_break(leaf, at)[1] for leaf in (signal.time, signal.rate) if leaf is not None))
    times = _samples(signal.time, back, at)
    if signal.rate is not None and signal.is_together:
        rates = {time: rate for time, rate in _samples(signal.rate, back, at).items() if rate > 0}
    else:
        rates = {time: 1.0 for time, value in times.items() if value != 0}
    return {time: value for time, value in times.items() if time in rates}, rates


def _break(leaf: Leaf, at: int) -> tuple[bool, int]:
    """Return whether an evaluation is in a break or the first after one, and since when there was none."""
    times = leaf.column.times
    distances = sorted(after - before for before, after in itertools.pairwise(times))
    if not distances:
        return bool(times) and at > times[0] + 60_000, 0
    median = distances[(len(distances) - 1) // 2]
    whole = (median + 500) // 1000 * 1000
    interval = whole if whole and abs(median - whole) <= 0.02 * whole else median
    counts = max(60_000, 2.5 * interval)
    resumed = [after for before, after in itertools.pairwise(times) if after - before > counts and after <= at]
    newest = max((time for time in times if time <= at), default=at)
    since = resumed[-1] if resumed else 0
    return at - newest > counts or since > at - 10_000, since


def _unbroken(leaf: Leaf, back: int, at: int, *, anew: bool = True) -> dict[int, float]:
    """The samples of the window: none in a break, and where it begins anew only those since the last."""
    is_broken, since = _break(leaf, at)
    if is_broken:
        return {}
    return _samples(leaf, min(back, at - since) if anew else back, at)


def _samples(leaf: Leaf, back: int, at: int) -> dict[int, float]:
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


def _reduced(samples: dict[int, float], reduce: str, back: int) -> float | None:
    values = list(samples.values())
    if not values:
        return None
    match reduce:
        case "mean":
            # Rounding must not carry it beyond its samples: 80, 80, 80 is 80.
            return min(max(math.fsum(values) / len(values), min(values)), max(values))
        case "min" | "max":
            return min(values) if reduce == "min" else max(values)
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

"""The value of a signal over a window as PromQL: its samples reduced, and the operands of a derived one combined.

Samples that are put together from several fields, or are the rate of a growing count, are computed in a subquery with
a step of the sampling interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.export.grafana.alerts.query import Inexpressible
from plimsoll.export.grafana.selections import Selection, Variant
from plimsoll.export.prometheus.selectors import duration, number, selector, window
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.weighted import OCCUPIED

_MILLISECOND = SECOND // 1000
_FEW = 60  # samples
_FUNCTIONS: dict[Reduce, str] = {
    "mean": "avg_over_time({})",
    "min": "min_over_time({})",
    "max": "max_over_time({})",
    "last": "last_over_time({})",
    "sum": "sum_over_time({})",
    "count": "count_over_time({})",
    "median": "quantile_over_time(0.5, {})",
}
_SERIES_OF_ONE: dict[Reduce, str] = {"min": "min", "max": "max", "sum": "sum", "count": "sum"}


@dataclass(frozen=True)
class Reading:
    """How a condition reads its signal: reduced over `length` ns, with a sample every `interval` ns.

    `whom` are the matchers for the subjects, for each selection of the variant.
    """

    reduce: Reduce
    length: int
    interval: int
    whom: tuple[tuple[str, ...], ...]


def value(variant: Variant, reading: Reading, *, weights: Sequence[float] = (), partial: bool = False) -> str:
    """The value of a variant, with the labels of its subject only."""
    operands = [_operand(one, reading, whom) for one, whom in zip(variant.selections, reading.whom, strict=True)]
    if variant.operation is None:
        return operands[0]
    if weights:
        operands = [f"{number(by)} * {one}" for by, one in zip(weights, operands, strict=True)]
    pairs = zip(operands, (one.group for one in variant.selections), strict=True)
    return combined(variant.operation, [*pairs], partial=partial)


def combined(operation: Operation, operands: Sequence[tuple[str, tuple[str, ...]]], *, partial: bool = False) -> str:
    """The values of a derived signal from those of its operands, each with the labels that it has.

    `partial`: a sum of what has data. Inexpressible if their labels do not match.
    """
    first, second = operands[0], operands[1]
    match operation:
        case "ratio":
            return _joined("/", first, (f"({second[0]} > 0)", second[1]))
        case "difference":
            return _joined("-", first, second)
        case "sum":
            return _sum(operands, partial=partial)
        case "product":
            return _joined("*", (f"({_sum(operands[:-1], partial=False)})", first[1]), operands[-1])


def by(group: Sequence[str]) -> str:
    """The labels of an aggregation: `by (host, instance)`."""
    return f"by ({', '.join(group)})"


def _sum(operands: Sequence[tuple[str, tuple[str, ...]]], *, partial: bool) -> str:
    whole, group = operands[0]
    if partial:
        if len({its for _, its in operands}) > 1:
            raise Inexpressible("it adds up what has data, of signals with different labels")
        told = (f'label_replace({one}, "operand", "{at}", "", "")' for at, (one, _) in enumerate(operands))
        return f"sum {by(group)} ({' or '.join(told)})"
    for one, its in operands[1:]:
        whole = _joined("+", (whole, group), (one, its))
        group = max(group, its, key=len)
    return whole


def _joined(sign: str, left: tuple[str, tuple[str, ...]], right: tuple[str, tuple[str, ...]]) -> str:
    """Two operands with their labels. One with fewer labels is for all values of the other that have them."""
    (one, mine), (other, its) = left, right
    if set(mine) == set(its):
        return f"{one} {sign} {other}"
    common = [tag for tag in mine if tag in its]
    if set(common) not in (set(mine), set(its)):
        raise Inexpressible(f"its signals differ in their labels ({', '.join(mine)}; {', '.join(its)})")
    side = "group_left" if len(mine) > len(its) else "group_right"
    return f"{one} {sign} on ({', '.join(common)}) {side} () {other}"


def _operand(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    """The reduced value of one selection; of a sum over instances each is reduced, and then added up."""
    if selection.weight:
        return _per_request(selection, reading, whom)
    reduced = _transformed(selection, reading, whom)
    aggregate = "sum" if selection.summed else _SERIES_OF_ONE.get(reading.reduce, "avg")
    return f"{aggregate} {by(selection.group)} ({reduced})"


def _transformed(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    transform, how = selection.source.transform, reading.reduce
    if transform.most is not None or transform == Transform():
        return _reduced(selection, reading, whom, how)
    turned: dict[Reduce, Reduce] = {"min": "max", "max": "min"}
    used = turned.get(how, how) if transform.scale < 0 else how
    found = _reduced(selection, reading, whom, used)
    if how == "count":
        return found
    scaled = found if transform.scale == 1 else f"{number(transform.scale)} * {found}"
    if how == "increase" or not transform.offset:
        return scaled
    if how == "sum":
        return f"{scaled} + {number(transform.offset)} * {_reduced(selection, reading, whom, 'count')}"
    return f"{number(transform.offset)} {'-' if transform.scale < 0 else '+'} " + (
        found if abs(transform.scale) == 1 else f"{number(abs(transform.scale))} * {found}"
    )


def _reduced(selection: Selection, reading: Reading, whom: tuple[str, ...], how: Reduce) -> str:
    if how != "increase":
        return _FUNCTIONS[how].format(_range(selection, reading, whom))
    half = reading.length // 2
    late = _block(selection, reading, whom, half + _MILLISECOND)
    early = _block(selection, reading, whom, half + _MILLISECOND, reading.length - half)
    # The first sample of a full window: that of the sampling interval with which the window begins.
    first = _block(selection, reading, whom, reading.interval, reading.length - reading.interval + _MILLISECOND)
    # A younger series, while it goes on: what it grew by, if it has samples for half a window and more.
    newest = _block(selection, reading, whom, reading.interval)
    younger = f"({_growth(selection, reading, whom)} and count_over_time({early}) and count_over_time({newest}))"
    return f"((last_over_time({late}) - last_over_time({first})) or {younger})"


def _growth(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    """What the samples of a window grew by, wherever in it they begin."""
    if reading.length > _FEW * reading.interval:
        # Extrapolates by up to an interval, little of a long window; the sum would cost a step for each sample.
        return f"delta({_range(selection, reading, whom)})"
    pair = _block(selection, reading, whom, 2 * reading.interval + _MILLISECOND)
    steps = f"[{window(reading.length - reading.interval)}:{duration(reading.interval)}]"
    return f"sum_over_time(idelta({pair}){steps})"


def _range(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    """The samples of a window as a range vector."""
    if not _is_computed(selection):
        return f"{selector(selection, selection.field, whom)}[{window(reading.length)}]"
    # A rate needs two samples: the first is that of the second sample in the window.
    length = reading.length - (reading.interval if selection.source.rate else 0)
    return f"({_sample(selection, reading, whom)})[{window(length)}:{duration(reading.interval)}]"


def _block(selection: Selection, reading: Reading, whom: tuple[str, ...], length: int, offset: int = 0) -> str:
    """The samples of a part of a window that ends `offset` ns before the evaluation, and is open at its beginning."""
    earlier = f" offset {duration(offset)}" if offset else ""
    if not _is_computed(selection):
        return f"{selector(selection, selection.field, whom)}[{duration(length)}]{earlier}"
    return f"({_sample(selection, reading, whom)})[{duration(length)}:{duration(reading.interval)}]{earlier}"


def _is_computed(selection: Selection) -> bool:
    source = selection.source
    return source.rate or isinstance(source.field, Fields) or source.transform.most is not None


def _sample(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    """The newest sample of a source, computed from its fields."""
    source = selection.source
    several = source.field if isinstance(source.field, Fields) else None
    fields = [_newest(selection, field, reading, whom) for field in (several.names if several else [selection.field])]
    sign = {"sum": " + ", "difference": " - ", "ratio": " / "}[several.operation] if several else ""
    if several and several.operation == "ratio":
        fields[1] = f"({fields[1]} > 0)"
    found = sign.join(fields)
    if source.transform.most is None:
        return found
    transform = source.transform
    return (
        f"clamp_max(({found}) * {number(transform.scale)} + {number(transform.offset)}, {number(transform.most or 0)})"
    )


def _newest(selection: Selection, field: str, reading: Reading, whom: tuple[str, ...]) -> str:
    """The sample of the last sampling interval, or the rate between the last two; none where the count fell."""
    of = selector(selection, field, whom)
    if not selection.source.rate:
        return f"last_over_time({of}[{duration(reading.interval)}])"
    pair = f"{of}[{window(2 * reading.interval)}]"
    return f"(irate({pair}) and idelta({pair}) >= 0)"


def _per_request(selection: Selection, reading: Reading, whom: tuple[str, ...]) -> str:
    """A time per request, weighted by the rate of the requests; 0 where there were none, or too few to tell."""
    source = selection.source
    if reading.reduce != "mean" or source.transform.offset or source.transform.most is not None:
        raise Inexpressible(f"{selection.label} is a time per request, of which only the mean over a window is known")
    assert selection.weight
    step = duration(reading.interval)
    steps = f"[{window(reading.length - (reading.interval if source.rate else 0))}:{step}]"
    requests = _newest(selection, selection.weight, reading, whom)
    if isinstance(source.field, Fields):
        if source.field.operation != "ratio":
            raise Inexpressible(f"{selection.label} is no time divided by requests")
        waited = f"{_newest(selection, source.field.names[0], reading, whom)} and {requests} > 0"
    else:
        waited = f"{_newest(selection, selection.field, reading, whom)} * {requests}"
    group = by(selection.group)
    total = f"sum {group} (sum_over_time(({waited}){steps}))"
    number_of = f"sum {group} (sum_over_time(({requests}){steps}))"
    rate = f"avg {group} (avg_over_time(({requests}){steps}))"
    scale = "" if source.transform.scale == 1 else f"{number(source.transform.scale)} * "
    mean = f"{scale}{total} / ({number_of} > 0)"
    if selection.least:
        mean = f"({mean} and ({rate} >= {number(selection.least)} or {rate} * {mean} >= {number(OCCUPIED)}))"
    return f"({mean} or {rate} * 0)"

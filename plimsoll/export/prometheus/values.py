"""The value of a signal over a window as PromQL: its samples reduced, and the operands of a derived one combined.

Samples that are put together from several fields, or are the rate of a growing count, are computed in a subquery with
a step of the sampling interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.export.prometheus.selectors import MILLISECOND, duration, number, selector, window
from plimsoll.export.rule_sources import BoundCondition, Inexpressible
from plimsoll.export.selections import Selection
from plimsoll.rules.fields import OPERATORS
from plimsoll.rules.request_means import OCCUPIED
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Fields, Transform

_MANY = 60  # samples
FUNCTIONS: dict[Reduce, str] = {
    "mean": "avg_over_time({})",
    "min": "min_over_time({})",
    "max": "max_over_time({})",
    "last": "last_over_time({})",
    "sum": "sum_over_time({})",
    "count": "count_over_time({})",
    "median": "quantile_over_time(0.5, {})",
}
_AGGREGATES: dict[Reduce, str] = {"min": "min", "max": "max", "sum": "sum", "count": "sum"}
SWAPPED: dict[Reduce, Reduce] = {"min": "max", "max": "min"}


def signal_value(bound: BoundCondition, interval: int, *, partial: bool = False) -> str:
    """Return the value of a condition's signal, with the labels of its subject only.

    `interval` (ns) is the time between samples; `partial` is for a sum of what has data.
    """
    variant, reduce = bound.variant, bound.condition.reduce
    operands = [
        _Window(selection, matchers, reduce, bound.window, interval).value()
        for selection, matchers in zip(variant.selections, bound.matchers, strict=True)
    ]
    if variant.operation is None:
        return operands[0]
    if bound.weights:
        operands = [f"{number(by)} * {operand}" for by, operand in zip(bound.weights, operands, strict=True)]
    groups = [selection.group for selection in variant.selections]
    return combine(variant.operation, [*zip(operands, groups, strict=True)], partial=partial)


def combine(operation: Operation, operands: Sequence[tuple[str, tuple[str, ...]]], *, partial: bool = False) -> str:
    """Return the values of a derived signal from those of its operands, each with the labels that it has.

    `partial`: a sum of what has data. Raises Inexpressible if their labels do not match.
    """
    first, second = operands[0], operands[1]
    match operation:
        case "ratio":
            return _join("/", first, (f"({second[0]} > 0)", second[1]))
        case "difference":
            return _join("-", first, second)
        case "sum":
            return _add(operands, partial=partial)
        case "product":
            return _join("*", (f"({_add(operands[:-1], partial=False)})", first[1]), operands[-1])


def by(group: Sequence[str]) -> str:
    """Return the labels of an aggregation: `by (host, instance)`."""
    return f"by ({', '.join(group)})"


def _add(operands: Sequence[tuple[str, tuple[str, ...]]], *, partial: bool) -> str:
    total, group = operands[0]
    if partial:
        if len({labels for _, labels in operands}) > 1:
            raise Inexpressible("it adds up what has data, of signals with different labels")
        labelled = (f'label_replace({value}, "operand", "{at}", "", "")' for at, (value, _) in enumerate(operands))
        return f"sum {by(group)} ({' or '.join(labelled)})"
    for value, labels in operands[1:]:
        total = _join("+", (total, group), (value, labels))
        group = max(group, labels, key=len)
    return total


def _join(sign: str, left: tuple[str, tuple[str, ...]], right: tuple[str, tuple[str, ...]]) -> str:
    """Join two operands with their labels. One with fewer labels is for all values of the other that have them."""
    (left_value, left_labels), (right_value, right_labels) = left, right
    if set(left_labels) == set(right_labels):
        return f"{left_value} {sign} {right_value}"
    common = [tag for tag in left_labels if tag in right_labels]
    if set(common) not in (set(left_labels), set(right_labels)):
        labels = f"{', '.join(left_labels)}; {', '.join(right_labels)}"
        raise Inexpressible(f"its signals differ in their labels ({labels})")
    side = "group_left" if len(left_labels) > len(right_labels) else "group_right"
    return f"{left_value} {sign} on ({', '.join(common)}) {side} () {right_value}"


@dataclass(frozen=True)
class _Window:
    """The samples of one selection over `length` ns, with one every `interval` ns. `matchers` are of its subjects."""

    selection: Selection
    matchers: tuple[str, ...]
    reduce: Reduce
    length: int
    interval: int

    def value(self) -> str:
        """Return the reduced value; of a sum over instances each is reduced, and then added up."""
        if self.selection.weight:
            return self._per_request(self.selection.weight)
        aggregate = "sum" if self.selection.summed else _AGGREGATES.get(self.reduce, "avg")
        return f"{aggregate} {by(self.selection.group)} ({self._transformed()})"

    def _transformed(self) -> str:
        transform, how = self.selection.source.transform, self.reduce
        if transform.most is not None or transform == Transform():
            return self._reduced(how)
        reduced = self._reduced(SWAPPED.get(how, how) if transform.scale < 0 else how)
        if how == "count":
            return reduced
        scaled = reduced if transform.scale == 1 else f"{number(transform.scale)} * {reduced}"
        if how == "increase" or not transform.offset:
            return scaled
        if how == "sum":
            return f"{scaled} + {number(transform.offset)} * {self._reduced('count')}"
        factor = abs(transform.scale)
        magnitude = reduced if factor == 1 else f"{number(factor)} * {reduced}"
        return f"{number(transform.offset)} {'-' if transform.scale < 0 else '+'} {magnitude}"

    def _reduced(self, how: Reduce) -> str:
        if how != "increase":
            return FUNCTIONS[how].format(self._range())
        half = self.length // 2
        late = self._block(half + MILLISECOND)
        early = self._block(half + MILLISECOND, self.length - half)
        # The first sample of a full window: that of the sampling interval with which the window begins.
        first = self._block(self.interval, self.length - self.interval + MILLISECOND)
        # A younger series, while it goes on: what it grew by, if it has samples for half a window and more.
        newest = self._block(self.interval)
        younger = f"({self._growth()} and count_over_time({early}) and count_over_time({newest}))"
        return f"((last_over_time({late}) - last_over_time({first})) or {younger})"

    def _growth(self) -> str:
        """Return what the samples of a window grew by, wherever in it they begin."""
        if self.length > _MANY * self.interval:
            # Extrapolates by up to an interval, little of a long window; the sum would cost a step for each sample.
            return f"delta({self._range()})"
        pair = self._block(2 * self.interval + MILLISECOND)
        return f"sum_over_time(idelta({pair})[{window(self.length - self.interval)}:{duration(self.interval)}])"

    def _range(self) -> str:
        """Return the samples of the window as a range vector."""
        if not self._is_computed:
            return f"{self._selector(self.selection.field)}[{window(self.length)}]"
        return f"({self._sample()}){self._steps()}"

    def _steps(self) -> str:
        # A rate needs two samples: the first is that of the second sample in the window.
        length = self.length - (self.interval if self.selection.source.rate else 0)
        return f"[{window(length)}:{duration(self.interval)}]"

    def _block(self, length: int, offset: int = 0) -> str:
        """Return the samples of a part of a window that ends `offset` ns earlier, and is open at its beginning."""
        earlier = f" offset {duration(offset)}" if offset else ""
        if not self._is_computed:
            return f"{self._selector(self.selection.field)}[{duration(length)}]{earlier}"
        return f"({self._sample()})[{duration(length)}:{duration(self.interval)}]{earlier}"

    @property
    def _is_computed(self) -> bool:
        source = self.selection.source
        return source.rate or isinstance(source.field, Fields) or source.transform.most is not None

    def _sample(self) -> str:
        """Return the newest sample of the source, computed from its fields."""
        source = self.selection.source
        if isinstance(source.field, Fields):
            fields = [self._newest(field) for field in source.field.names]
            if source.field.operation == "ratio":
                fields[1] = f"({fields[1]} > 0)"
            sample = f" {OPERATORS[source.field.operation]} ".join(fields)
        else:
            sample = self._newest(self.selection.field)
        transform = source.transform
        if transform.most is None:
            return sample
        scaled = f"({sample}) * {number(transform.scale)} + {number(transform.offset)}"
        return f"clamp_max({scaled}, {number(transform.most)})"

    def _newest(self, field: str) -> str:
        """Return the sample of the last interval, or the rate between the last two; none where the count fell."""
        series = self._selector(field)
        if not self.selection.source.rate:
            return f"last_over_time({series}[{duration(self.interval)}])"
        pair = f"{series}[{window(2 * self.interval)}]"
        return f"(irate({pair}) and idelta({pair}) >= 0)"

    def _selector(self, field: str) -> str:
        return selector(self.selection, field, self.matchers)

    def _per_request(self, weight: str) -> str:
        """Return a time per request, weighted by the rate `weight`; 0 where there were none, or too few to tell."""
        selection, source = self.selection, self.selection.source
        if self.reduce != "mean" or source.transform.offset or source.transform.most is not None:
            raise Inexpressible(
                f"{selection.label} is a time per request, of which only the mean over a window is known"
            )
        requests = self._newest(weight)
        if isinstance(source.field, Fields):
            if source.field.operation != "ratio":
                raise Inexpressible(f"{selection.label} is no time divided by requests")
            waited = f"{self._newest(source.field.names[0])} and {requests} > 0"
        else:
            waited = f"{self._newest(selection.field)} * {requests}"
        group, steps = by(selection.group), self._steps()
        total = f"sum {group} (sum_over_time(({waited}){steps}))"
        count = f"sum {group} (sum_over_time(({requests}){steps}))"
        rate = f"avg {group} (avg_over_time(({requests}){steps}))"
        scale = "" if source.transform.scale == 1 else f"{number(source.transform.scale)} * "
        mean = f"{scale}{total} / ({count} > 0)"
        if selection.least:
            mean = f"({mean} and ({rate} >= {number(selection.least)} or {rate} * {mean} >= {number(OCCUPIED)}))"
        return f"({mean} or {rate} * 0)"

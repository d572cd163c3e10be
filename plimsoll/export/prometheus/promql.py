"""Writes the value of a signal over a window as PromQL, with samples reduced and operands of derived signals combined.

Samples that combine several fields, or are the rate of a growing count, are computed in a subquery with a step of the
sampling interval.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.export.rule_sources import BoundCondition, Inexpressible
from plimsoll.export.selections import OBJECT, POLLED, Selection
from plimsoll.model.perfmon import SQL_DEFAULT, TOTAL
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.exporter_files import list_metric_names
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.window import OCCUPIED, OPERATORS
from plimsoll.store.quoting import escape_regex

PLAIN_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
MILLISECOND = SECOND // 1000
_TOTAL = TOTAL.casefold()
_TOTALS = rf"(?i)((.*,)|(.*{_TOTAL}/))?{_TOTAL}|cpu-total|all"  # the same as subjects.is_total
_SQL_OBJECT = f"{SQL_DEFAULT}:"
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


def express_signal(bound: BoundCondition, interval: int, *, partial: bool = False) -> str:
    """Return the PromQL of a condition's signal, whose values have only the labels of its subject.

    `interval` (ns) is the time between samples. With `partial`, operands without data are left out of a sum.
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
    """Return the PromQL of a derived signal, from the PromQL and labels of each operand.

    With `partial`, operands without data are left out of a sum. Raise Inexpressible if the labels do not match.
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


def group_by(group: Sequence[str]) -> str:
    """Return the clause that keeps these labels in an aggregation: `by (host, instance)`."""
    return f"by ({', '.join(group)})"


def _add(operands: Sequence[tuple[str, tuple[str, ...]]], *, partial: bool) -> str:
    total, group = operands[0]
    if partial:
        if len({labels for _, labels in operands}) > 1:
            raise Inexpressible("it adds up what has data, of signals with different labels")
        labelled = (f'label_replace({value}, "operand", "{at}", "", "")' for at, (value, _) in enumerate(operands))
        return f"sum {group_by(group)} ({' or '.join(labelled)})"
    for value, labels in operands[1:]:
        total = _join("+", (total, group), (value, labels))
        group = max(group, labels, key=len)
    return total


def _join(sign: str, left: tuple[str, tuple[str, ...]], right: tuple[str, tuple[str, ...]]) -> str:
    """Return the operation on operands with matching labels; a value with fewer labels serves all its matches."""
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
    """The samples of one selection over `length` ns, with a sample every `interval` ns.

    `matchers` restrict the subjects.
    """

    selection: Selection
    matchers: tuple[str, ...]
    reduce: Reduce
    length: int
    interval: int

    def value(self) -> str:
        """Return the reduced value; for a sum over instances, each instance is reduced before the sum."""
        if self.selection.weight:
            return self._weight_by_requests(self.selection.weight)
        aggregate = "sum" if self.selection.summed else _AGGREGATES.get(self.reduce, "avg")
        return f"{aggregate} {group_by(self.selection.group)} ({self._transform_samples()})"

    def _transform_samples(self) -> str:
        """Return PromQL with the result of transforming the samples and then reducing them."""
        transform, reduce = self.selection.source.transform, self.reduce
        if transform.needs_samples or transform == Transform():
            return self._reduce_samples(reduce)
        reduced = self._reduce_samples(SWAPPED.get(reduce, reduce) if transform.scale < 0 else reduce)
        if reduce == "count":
            return reduced
        scaled = reduced if transform.scale == 1 else f"{number(transform.scale)} * {reduced}"
        if reduce == "increase" or not transform.offset:
            return scaled
        if reduce == "sum":
            return f"{scaled} + {number(transform.offset)} * {self._reduce_samples('count')}"
        factor = abs(transform.scale)
        magnitude = reduced if factor == 1 else f"{number(factor)} * {reduced}"
        return f"{number(transform.offset)} {'-' if transform.scale < 0 else '+'} {magnitude}"

    def _reduce_samples(self, reduce: Reduce) -> str:
        """Return the samples reduced by a function; for `increase`, the last minus the first."""
        if reduce != "increase":
            return FUNCTIONS[reduce].format(self._select_range())
        half = self.length // 2
        late = self._select_block(half + MILLISECOND)
        early = self._select_block(half + MILLISECOND, self.length - half)
        # The first sample of a full window is in the sampling interval at its beginning.
        first = self._select_block(self.interval, self.length - self.interval + MILLISECOND)
        # For a younger series that continues: its increase, if it has samples for at least half a window.
        newest = self._select_block(self.interval)
        younger = f"({self._compute_growth()} and count_over_time({early}) and count_over_time({newest}))"
        return f"((last_over_time({late}) - last_over_time({first})) or {younger})"

    def _compute_growth(self) -> str:
        """Return the increase from the first to the last sample of the window."""
        if self.length > _MANY * self.interval:
            # It extrapolates by up to an interval, little in a long window; the sum would cost a step for each sample.
            return f"delta({self._select_range()})"
        steps = f"[{format_window(self.length - self.interval)}:{format_duration(self.interval)}]"
        grown = f"idelta({self._select_block(self._lookback)}) and last_over_time({self._select_block(self.interval)})"
        return f"sum_over_time(({grown}){steps})"

    @property
    def _lookback(self) -> int:
        """How far back (ns) to look for the sample before the newest, so that growth over a gap is included."""
        return max(self.length, 2 * self.interval) + MILLISECOND

    def _select_range(self) -> str:
        """Return the samples of the window as a range vector."""
        if not self._is_computed:
            return f"{self._select_field(self.selection.field)}[{format_window(self.length)}]"
        return f"({self._sample()}){self._select_steps()}"

    def _select_steps(self) -> str:
        # A rate needs two samples: the first rate is at the second sample in the window.
        length = self.length - (self.interval if self.selection.source.rate else 0)
        return f"[{format_window(length)}:{format_duration(self.interval)}]"

    def _select_block(self, length: int, offset: int = 0) -> str:
        """Return the range of samples of `length` ns that ends `offset` ns ago, without a sample at its beginning."""
        earlier = f" offset {format_duration(offset)}" if offset else ""
        if not self._is_computed:
            return f"{self._select_field(self.selection.field)}[{format_duration(length)}]{earlier}"
        return f"({self._sample()})[{format_duration(length)}:{format_duration(self.interval)}]{earlier}"

    @property
    def _is_computed(self) -> bool:
        source = self.selection.source
        return source.rate or isinstance(source.field, Fields) or source.transform.needs_samples

    def _sample(self) -> str:
        """Return the newest sample, computed from the source's fields."""
        source = self.selection.source
        if isinstance(source.field, Fields):
            fields = [self._select_newest(field) for field in source.field.names]
            if source.field.operation == "ratio":
                fields[1] = f"({fields[1]} > 0)"
            sample = f" {OPERATORS[source.field.operation]} ".join(fields)
        else:
            sample = self._select_newest(self.selection.field)
        transform = source.transform
        if not transform.needs_samples:
            return sample
        scaled = f"({leave_out_unknown(sample, transform)}) * {number(transform.scale)} + {number(transform.offset)}"
        return scaled if transform.most is None else f"clamp_max({scaled}, {number(transform.most)})"

    def _select_newest(self, field: str) -> str:
        """Return a field's newest sample, or for a growing count its rate since the last sample; none after a reset."""
        series = self._select_field(field)
        newest = f"last_over_time({series}[{format_duration(self.interval)}])"
        if not self.selection.source.rate:
            return newest
        pair = f"{series}[{format_duration(self._lookback)}]"
        return f"(irate({pair}) and idelta({pair}) >= 0 and {newest})"

    def _select_field(self, field: str) -> str:
        return select_field(self.selection, field, self.matchers)

    def _weight_by_requests(self, weight: str) -> str:
        """Return the mean time per request, weighted by the rate `weight`; 0 with no requests, or too few to tell."""
        selection, source = self.selection, self.selection.source
        if self.reduce != "mean" or source.transform.offset or source.transform.needs_samples:
            raise Inexpressible(
                f"{selection.label} is a time per request, of which only the mean over a window is known"
            )
        requests = self._select_newest(weight)
        if isinstance(source.field, Fields):
            if source.field.operation != "ratio":
                raise Inexpressible(f"{selection.label} is no time divided by requests")
            waited = f"{self._select_newest(source.field.names[0])} and {requests} > 0"
        else:
            waited = f"{self._select_newest(selection.field)} * {requests}"
        group, steps = group_by(selection.group), self._select_steps()
        total = f"sum {group} (sum_over_time(({waited}){steps}))"
        count = f"sum {group} (sum_over_time(({requests}){steps}))"
        rate = f"avg {group} (avg_over_time(({requests}){steps}))"
        scale = "" if source.transform.scale == 1 else f"{number(source.transform.scale)} * "
        mean = f"{scale}{total} / ({count} > 0)"
        if selection.minimum_rate:
            mean = f"({mean} and ({rate} >= {number(selection.minimum_rate)} or {rate} * {mean} >= {number(OCCUPIED)}))"
        return f"({mean} or {rate} * 0)"


def quote_text(value: str) -> str:
    """Return a string literal of PromQL."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def number(value: float) -> str:
    """Return a number literal of PromQL: `0.001`, `1e+15`."""
    return f"{value:.15g}"


def leave_out_unknown(sample: str, transform: Transform) -> str:
    """Return PromQL that has no value where a sample stands for an unknown value: `x != -1 != 0`."""
    return " != ".join([sample, *map(number, transform.unknown)])


def format_duration(length: int) -> str:
    """Return a duration (ns) in PromQL, to the millisecond: `10m`, `9m50s1ms`."""
    if length <= 0 or length % MILLISECOND:
        raise ValueError(f"{length} ns is no duration of PromQL, which counts milliseconds")
    rest, parts = length // MILLISECOND, ""
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        parts += f"{count}{unit}" if count else ""
    return parts


def format_window(length: int) -> str:
    """Return the PromQL range for a window (ns) that includes both ends; a plain range would exclude its beginning."""
    return format_duration(length + MILLISECOND)


def select_field(selection: Selection, field: str, matchers: Sequence[str] = ()) -> str:
    """Return the selector of one field's series, with these matchers: `cpu_usage_idle{cpu="cpu-total"}`."""
    names = list_metric_names(selection.measurement, field)
    matchers = [*_list_source_matchers(selection), *matchers]
    if len(names) == 1 and PLAIN_NAME.fullmatch(names[0]):
        return names[0] + ("{" + ", ".join(matchers) + "}" if matchers else "")
    named = f"__name__=~{quote_text('|'.join(escape_regex(name) for name in names))}"
    return "{" + ", ".join([named, *matchers]) + "}"


def match_host(selection: Selection, host: str, instance: str | None = None, *, other: bool = False) -> str:
    """Return the matcher for a host with or without its domain, or for an instance; if `other`, for everything else.

    The matcher for an instance does not restrict the host. A Windows counter belongs to the computer it was read from.
    """
    sign = "!~" if other else "=~"
    if instance is not None:
        return f"{selection.instance}{sign}{quote_text(f'(?i){escape_regex(instance)}')}"
    tag = POLLED if POLLED in selection.group else selection.host
    short, domain, _ = host.partition(".")
    names = f"{escape_regex(host)}|{escape_regex(short)}" if domain else rf"{escape_regex(host)}(\..*)?"
    return f"{tag}{sign}{quote_text(f'(?i){names}')}"


def _list_source_matchers(selection: Selection) -> list[str]:
    """Return the matchers for the series of a selection's source."""
    source, matchers = selection.source, list[str]()
    if source.path:
        matchers.append(_match_tag(OBJECT, source.path.object))
    else:
        matchers += [_match_tag(tag, value) for tag, value in source.tags.items()]
    if instance := selection.instance or selection.summed:
        matchers += [f'{instance}!=""', f"{instance}!~{quote_text(_TOTALS)}"]
        if source.but:
            named = "|".join(".*".join(map(escape_regex, pattern.split("*"))) for pattern in source.but)
            matchers.append(f"{instance}!~{quote_text(f'(?i){named}')}")
    elif source.path:
        # Exclude series with an instance, which the object may have as well.
        alone = any(condition.startswith('"instance" = ') for condition in selection.where)
        if source.path.instance is not None or alone:
            matchers.append(f"instance={quote_text(source.path.instance or '')}")
    return matchers


def _match_tag(tag: str, value: str) -> str:
    """Return the matcher for a tag's value; for a SQL Server object, of every instance of the server."""
    if tag in ("object", OBJECT) and value.startswith(_SQL_OBJECT):
        pattern = rf"({SQL_DEFAULT}|MSSQL\$[^:]+):{escape_regex(value.removeprefix(_SQL_OBJECT))}"
        return f"{tag}=~{quote_text(pattern)}"
    return f"{tag}={quote_text(value)}"

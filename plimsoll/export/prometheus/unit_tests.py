"""The cases of rules as unit tests for `promtool test rules` and `vmalert-tool unittest`.

The cases of a pack that are about as long stand side by side, each on a host of its own, as every test evaluates every
rule of the pack. Cases of hours are in a file of their own, and are evaluated less often.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from plimsoll.export.prometheus.rules import AlertingRule, Options
from plimsoll.export.prometheus.selectors import duration, text
from plimsoll.export.selections import OBJECT, POLLED, Selection
from plimsoll.model.times import SECOND
from plimsoll.rules.cases import operands, run_case
from plimsoll.rules.exporters.schema import plain_name
from plimsoll.rules.schema.pack import Case, Rule
from plimsoll.rules.schema.signal import Fields, Signal

Samples = Sequence[float | None]

_HOUR = 3600 * SECOND
_SHORTEST = 600 * SECOND
_LONG_EVERY = 120 * SECOND
_MANY_REQUESTS = 1000.0  # per second, where a case does not say how many there were


@dataclass(frozen=True)
class UnitTests:
    """A file of tests: what is added to the name of the pack, how often it evaluates (ns), and how many cases."""

    suffix: str
    every: int
    groups: Sequence[Mapping[str, object]]
    cases: int


@dataclass
class _Group:
    """Cases of about the same length."""

    series: dict[str, str] = field(default_factory=dict[str, str])
    tests: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])

    def document(self, interval: int) -> Mapping[str, object]:
        series = [{"series": name, "values": values} for name, values in self.series.items()]
        return {"interval": duration(interval), "input_series": series, "promql_expr_test": self.tests}


def unit_tests(
    rules: Sequence[tuple[Rule, AlertingRule]], signals: Mapping[str, Signal], options: Options
) -> Iterator[UnitTests]:
    """Yield the files of tests of the rules for all hosts. Expected is what Plimsoll makes of the same samples."""
    groups: dict[int, _Group] = {}
    for rule, exported in rules:
        for given in () if exported.target.name else rule.cases:
            case = _resampled(given, exported, options)
            host = f"{rule.id}/{case.name}/{exported.labels['counters']}"
            length = max((len(values) for values in case.series.values()), default=1) * case.interval
            limit = _SHORTEST
            while limit < length:
                limit *= 2
            group = groups.setdefault(limit, _Group())
            group.series |= _input_series(exported, case, host, signals)
            group.tests.append(
                _expectation(exported, host, length - case.interval, fires=_fires(exported, case, signals))
            )
    short = [group for limit, group in sorted(groups.items()) if limit <= 2 * _HOUR]
    long = [group for limit, group in sorted(groups.items()) if limit > 2 * _HOUR]
    for suffix, every, chosen in (("", options.every, short), (".long", max(_LONG_EVERY, options.every), long)):
        if chosen:
            documents = [group.document(options.interval) for group in chosen]
            yield UnitTests(suffix, every, documents, sum(len(group.tests) for group in chosen))


def _resampled(case: Case, exported: AlertingRule, options: Options) -> Case:
    """Return the case at the export's interval, with the facts that the limits are for, and no known phase."""
    times = max(1, case.interval // options.interval)
    repeated = {name: [value for value in values for _ in range(times)] for name, values in case.series.items()}
    facts = dict(exported.target.factors)
    return case.model_copy(update={"series": repeated, "interval": options.interval, "facts": facts, "phase": None})


def _fires(exported: AlertingRule, case: Case, signals: Mapping[str, Signal]) -> bool:
    """Return whether the rule fires, as Plimsoll judges it."""
    rule = exported.target.rule
    further = tuple(condition.model_copy(update={"if_not_recorded": None}) for condition in rule.and_)
    rule = rule.model_copy(update={"and_": further, "where": {}, "where_unknown": None})
    names = {leaf for one in rule.conditions for leaf in (one.signal, *operands(one.signal, signals))}
    used = {name: signals[name] for name in (*names, *case.series)}
    return run_case(rule, case.model_copy(update={"fires": True}), used) is None


def _input_series(exported: AlertingRule, case: Case, host: str, signals: Mapping[str, Signal]) -> dict[str, str]:
    """Return the series of a case in promtool's notation.

    One that is a field of several sources has the value of the one that is only that field.
    """
    selections = [selection for variant in exported.sources.values() for selection in variant.selections]
    series: dict[str, str] = {}
    for selection in sorted(selections, key=lambda selection: -len(selection.source.fields)):
        for name, values in _raw_series(selection, case, host, signals):
            if any(value is not None for value in values):
                series[name] = notation(values)
    return series


def _expectation(exported: AlertingRule, host: str, end: int, *, fires: bool) -> Mapping[str, object]:
    """Return the test that the alert fired at some time of the case, or never did."""
    host_tag = exported.sources[exported.target.rule.signal].selections[0].host
    labels = f'alertname={text(exported.alert)}, alertstate="firing", counters={text(exported.labels["counters"])}'
    fired = f"ALERTS{{{labels}, {host_tag}={text(host)}}}"
    return {
        "expr": f"count(count_over_time({fired}[{duration(end + SECOND)}]))",
        "eval_time": duration(end) if end else "0s",
        "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
    }


def _raw_series(
    selection: Selection, case: Case, host: str, signals: Mapping[str, Signal]
) -> Iterator[tuple[str, Samples]]:
    """Yield each series that Prometheus needs of a source for the samples of a case, and its values."""
    samples, source = case.series.get(selection.signal, ()), selection.source
    scale, offset = Fraction(str(source.transform.scale)), Fraction(str(source.transform.offset))
    first: list[Fraction | None] = [None if one is None else (Fraction(one) - offset) / scale for one in samples]
    requests = _requests(selection, case, signals)
    fields = source.field if isinstance(source.field, Fields) else None
    columns: dict[str, Sequence[Fraction | None]] = {selection.field: first}
    if fields:
        # The first of several fields has the whole value; a divisor is 1, or the requests of which it is the time.
        divides = fields.operation == "ratio"
        second = [Fraction(1 if divides else 0)] * len(first)
        if divides and requests:
            second = [one or Fraction(0) for one in requests]
            first = [None if one is None else one * by for one, by in zip(first, second, strict=True)]
        others = [None if one is None else other for one, other in zip(first, second, strict=True)]
        columns = {fields.names[0]: first, **dict.fromkeys(fields.names[1:], others)}
    elif selection.weight and requests:
        columns[selection.weight] = requests
    labels = _labels(selection, case, host)
    for column, values in columns.items():
        name = plain_name(f"{selection.measurement}_{column}")
        raw = _growing_count(values, case.interval) if source.rate else values
        yield f"{name}{{{labels}}}", [None if one is None else float(one) for one in raw]


def _requests(selection: Selection, case: Case, signals: Mapping[str, Signal]) -> list[Fraction | None]:
    """Return the requests per second of a time per request: as the case says, or many wherever they took any time."""
    weight = signals[selection.signal].weight
    if weight is None:
        return []
    samples = case.series.get(selection.signal, ())
    rates: Samples | None = case.series.get(weight.rate)
    if rates is None:
        rates = [None if one is None else _MANY_REQUESTS if one else 0.0 for one in samples]
    padded = [*rates, *[None] * len(samples)][: len(samples)]
    return [None if one is None else Fraction(one) for one in padded]


def _growing_count(rates: Sequence[Fraction | None], interval: int) -> Iterator[Fraction | None]:
    """Yield the growing count that has these rates per second."""
    count = Fraction(0)
    for rate in rates:
        count += (rate or 0) * Fraction(interval, SECOND)
        yield None if rate is None else count


def _labels(selection: Selection, case: Case, host: str) -> str:
    source = selection.source
    labels = {selection.host: host, **source.tags}
    if source.path:
        labels |= {POLLED: host, OBJECT: source.path.object}
        if source.path.instance not in (None, "*"):
            labels["instance"] = source.path.instance or ""
    if tag := selection.instance or selection.summed:
        labels[tag] = case.instance
    return ", ".join(f"{name}={text(value)}" for name, value in labels.items())


def notation(values: Samples) -> str:
    """Return the values in promtool's notation: `95x60 _x3 0+10x30`."""
    items: list[str] = []
    start = 0
    while start < len(values):
        value = values[start]
        step = _step(values, start)
        end = start + 1
        while end < len(values) and _continues(values[end - 1], values[end], step):
            end += 1
        more = end - start - 1
        if value is None:
            items.append(f"_x{more + 1}" if more else "_")
        elif more > 1 or (more and not step):
            items.append(f"{_number(value)}{f'{step:+.15g}' if step else ''}x{more}")
        else:
            items.append(_number(value))
            end = start + 1
        start = end
    return " ".join(items)


def _step(values: Samples, start: int) -> float:
    """Return what each value grows by from here on; only whole numbers, as promtool adds them up."""
    value, following = values[start], values[start + 1] if start + 1 < len(values) else None
    if value is None or following is None:
        return 0.0
    return following - value if value.is_integer() and following.is_integer() else 0.0


def _continues(before: float | None, value: float | None, step: float) -> bool:
    if before is None or value is None:
        return before is value
    return value - before == step


def _number(value: float) -> str:
    return f"{value:.17g}" if not value.is_integer() or abs(value) >= 1e15 else f"{value:.0f}"

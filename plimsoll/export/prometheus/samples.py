"""The samples of a case as the series that Prometheus has of them: one for each field of each source."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from plimsoll.export.grafana.selections import OBJECT, POLLED, Selection
from plimsoll.export.prometheus.selectors import text
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.telegraf_names import plain_name
from plimsoll.rules.schema.pack import Case
from plimsoll.rules.schema.signal import Fields, Signal

Values = Sequence[float | None]
_MANY = 1000.0  # requests per second, where a case does not say how many there were


def series_of(
    selection: Selection, case: Case, host: str, signals: Mapping[str, Signal]
) -> Iterator[tuple[str, Values]]:
    """Yield each series that a source needs for the samples of a case, and its values."""
    samples = case.series.get(selection.signal, ())
    source = selection.source
    several = source.field if isinstance(source.field, Fields) else None
    names = several.names if several else (selection.field,)
    rate = signals[selection.signal].weight
    requests = _requests(samples, case.series.get(rate.rate)) if rate else None
    raw = [None if one is None else _before(Fraction(one), source.transform) for one in samples]
    # The first of several fields has the whole value; a divisor is 1, or the requests of which it is the time.
    divides = bool(several and several.operation == "ratio")
    second = [Fraction(1 if divides else 0)] * len(raw)
    if divides and requests:
        second = [Fraction(one or 0) for one in requests]
        raw = [None if one is None else one * by for one, by in zip(raw, second, strict=True)]
    columns: dict[str, list[Fraction | None]] = {names[0]: raw}
    for name in names[1:]:
        columns[name] = [None if one is None else two for one, two in zip(raw, second, strict=True)]
    if selection.weight and not several and requests:
        columns[selection.weight] = [None if one is None else Fraction(one) for one in requests]
    labels = _labels(selection, case, host)
    for name, values in columns.items():
        found = _counted(values, case.interval) if source.rate else values
        yield _series(selection, name, labels), [None if one is None else float(one) for one in found]


def _before(value: Fraction, transform: object) -> Fraction:
    """A sample before its transform."""
    scale, offset = (Fraction(str(getattr(transform, name))) for name in ("scale", "offset"))
    return (value - offset) / scale


def _requests(samples: Values, given: Values | None) -> Values:
    """The requests per second: as the case says, or many wherever they took any time."""
    if given is not None:
        return [*given, *[None] * len(samples)][: len(samples)]
    return [None if one is None else _MANY if one else 0.0 for one in samples]


def _counted(values: Sequence[Fraction | None], interval: int) -> Iterator[Fraction | None]:
    """The growing count of which the values are the rates."""
    count = Fraction(0)
    for one in values:
        count += (one or 0) * Fraction(interval, SECOND)
        yield None if one is None else count


def _labels(selection: Selection, case: Case, host: str) -> dict[str, str]:
    source = selection.source
    labels = {selection.host: host, **source.tags}
    if source.path:
        labels |= {POLLED: host, OBJECT: source.path.object}
        if source.path.instance not in (None, "*"):
            labels["instance"] = source.path.instance or ""
    if one := selection.instance or selection.summed:
        labels[one] = case.instance
    return labels


def _series(selection: Selection, field: str, labels: Mapping[str, str]) -> str:
    told = ", ".join(f"{name}={text(value)}" for name, value in labels.items())
    return f"{plain_name(f'{selection.measurement}_{field}')}{{{told}}}"


def notation(values: Values) -> str:
    """The values in promtool's notation: `95x60 _x3 0+10x30`."""
    items: list[str] = []
    at = 0
    while at < len(values):
        value = values[at]
        step = _step(values, at)
        end = at + 1
        while end < len(values) and _follows(values[end - 1], values[end], step):
            end += 1
        more = end - at - 1
        if value is None:
            items.append(f"_x{more + 1}" if more else "_")
        elif more > 1 or (more and not step):
            items.append(f"{_number(value)}{f'{step:+.15g}' if step else ''}x{more}")
        else:
            items.append(_number(value))
            end = at + 1
        at = end
    return " ".join(items)


def _step(values: Values, at: int) -> float:
    """What each value grows by from here on; only whole numbers, as promtool adds them up."""
    here, following = values[at], values[at + 1] if at + 1 < len(values) else None
    if here is None or following is None:
        return 0.0
    return following - here if here.is_integer() and following.is_integer() else 0.0


def _follows(before: float | None, value: float | None, step: float) -> bool:
    if before is None or value is None:
        return before is value
    return value - before == step


def _number(value: float) -> str:
    return f"{value:.17g}" if not value.is_integer() or abs(value) >= 1e15 else f"{value:.0f}"

"""The PromQL of panels: one expression for all sources of a signal, so that hosts of every kind are shown.

The values of each source are given the labels `host` and `instance`, whatever it calls them. Of several sources that
give a value for one subject and time, that of the first counts (`or`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.dashboards.areas import Function, PanelSpec
from plimsoll.export.grafana.dashboards.targets import DISK_VARIABLE
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.prometheus.selectors import number, selector
from plimsoll.export.prometheus.values import by, combine
from plimsoll.export.rule_sources import Inexpressible
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, drawn
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields, Transform

HOST, INSTANCE = "host", "instance"
_FUNCTIONS: dict[Function, str] = {
    "mean": "avg_over_time({}[$__interval])",
    "min": "min_over_time({}[$__interval])",
    "max": "max_over_time({}[$__interval])",
    "last": "last_over_time({}[$__interval])",
    "sum": "sum_over_time({}[$__interval])",
    "count": "count_over_time({}[$__interval])",
    "median": "quantile_over_time(0.5, {}[$__interval])",
}
_RATE = "rate({}[$__rate_interval])"
_SWAPPED: dict[Function, Function] = {"min": "max", "max": "min"}
_SIGNS = {"sum": "+", "difference": "-", "ratio": "/"}


@dataclass(frozen=True)
class Drawn:
    """An expression, the labels that its lines have, and what of the signal it leaves out: each source, and why.

    `even`: every line has all of the labels.
    """

    expr: str
    labels: tuple[str, ...]
    refused: tuple[str, ...] = ()
    even: bool = True

    @property
    def legend(self) -> str:
        """The name of a line: `{{host}} {{instance}}`."""
        return " ".join(f"{{{{{label}}}}}" for label in self.labels)


def drawn_by(spec: PanelSpec, scale: float = 1.0) -> Drawn:
    """The lines of a panel, its values multiplied by `scale`. Inexpressible if PromQL can say none of its sources."""
    signals = load_signals()
    partial = bool((derived := signals[spec.signal].derived) and derived.partial)
    found: dict[str, tuple[str, ...]] = {}
    refused: list[str] = []
    for way in drawn(spec.signal, signals):
        try:
            found |= dict(_of_variant(way, spec, partial=partial))
        except Inexpressible as error:
            refused.append(f"{way.label}: {error}")
    if not found:
        raise Inexpressible("; ".join(refused) or "it has no source that is recorded")
    every = " or ".join(found)
    scaled = every if scale == 1 else f"({every}) * {number(scale)}"
    labels = [one for one in (HOST, OBJECT, INSTANCE) if any(one in labels for labels in found.values())]
    return Drawn(scaled, tuple(labels), tuple(refused), all(len(one) == len(labels) for one in found.values()))


def _of_variant(way: Variant, spec: PanelSpec, *, partial: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the expression of a variant with its labels; of alternatives, that of each."""
    operands = [(_operand(one, spec), labels_of(one)) for one in way.selections]
    if way.operation is None:
        yield from operands
        return
    yield combine(way.operation, operands, partial=partial), max((labels for _, labels in operands), key=len)


def labels_of(selection: Selection) -> tuple[str, ...]:
    """The labels that the values of a selection are given."""
    return (HOST, *([OBJECT] if OBJECT in selection.group else ()), *([INSTANCE] if selection.instance else ()))


def chosen(selection: Selection, drive: str | None = None) -> tuple[str, ...]:
    """The matchers for the subjects that are chosen with the variables of a dashboard."""
    instance = DISK_VARIABLE.format(drive) if drive else INSTANCE_VARIABLE
    own = f'{HOST}=~"${HOST_VARIABLE}"'
    return (own, f'{selection.instance}=~"${instance}"') if selection.instance else (own,)


def renamed(selection: Selection, found: str) -> str:
    """The values with the labels `host` and `instance`. A Windows counter is of the computer that it was read from."""
    host = POLLED if POLLED in selection.group else selection.host
    for label, of in ((HOST, host), (INSTANCE, selection.instance)):
        if of and of != label:
            found = f'label_replace({found}, "{label}", "$1", "{of}", "(.+)")'
    return found


def _operand(selection: Selection, spec: PanelSpec) -> str:
    found = renamed(selection, _reduced(selection, spec.function, chosen(selection, spec.drive)))
    aggregate = "sum" if selection.summed else spec.function if spec.function in ("min", "max") else "avg"
    return f"{aggregate} {by(labels_of(selection))} ({found})"


def _reduced(selection: Selection, function: Function, whom: Sequence[str]) -> str:
    """The values of each series of a source, an interval each. Of growing counts it is the rate over the interval."""
    source, transform = selection.source, selection.source.transform
    several = source.field if isinstance(source.field, Fields) else None
    if several and not source.rate and function != "mean":
        raise Inexpressible(f"the {function} of several fields needs each sample of them")
    if function in ("sum", "count") and (transform != Transform() or source.rate):
        raise Inexpressible(f"the {function} of values that are computed needs each sample of them")
    used = _SWAPPED.get(function, function) if transform.scale < 0 else function
    form = _RATE if source.rate else _FUNCTIONS[used]
    names = several.names if several else [selection.field]
    values = [form.format(selector(selection, name, tuple(whom))) for name in names]
    if several and several.operation == "ratio":
        values[1] = f"({values[1]} > 0)"
    found = f" {_SIGNS[several.operation]} ".join(values) if several else values[0]
    if transform == Transform():
        return found
    factor = abs(transform.scale)
    scaled = f"({found})" if several else found
    if factor != 1:
        scaled = f"{number(factor)} * {scaled}"
    sign = "-" if transform.scale < 0 else "+"
    moved = f"{number(transform.offset)} {sign} {scaled}" if transform.offset or sign == "-" else scaled
    return moved if transform.most is None else f"clamp_max({moved}, {number(transform.most)})"

"""The PromQL of panels: one expression for all sources of a signal, so that hosts of every kind are shown.

The values of each source are given the labels `host` and `instance`, whatever it calls them. Of several sources that
give a value for one subject and time, that of the first counts (`or`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.dashboards.areas import Function, PanelSpec
from plimsoll.export.grafana.dashboards.panel_queries import DISK_VARIABLE
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.prometheus.promql import FUNCTIONS, SWAPPED, by, combine, number, selector
from plimsoll.export.rule_sources import Inexpressible
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, drawn
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.window import OPERATORS

HOST, INSTANCE = "host", "instance"


@dataclass(frozen=True)
class PanelQuery:
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


def panel_query(spec: PanelSpec, scale: float = 1.0) -> PanelQuery:
    """Return the lines of a panel, its values multiplied by `scale`.

    Raises Inexpressible if PromQL can say none of its sources.
    """
    signals = load_signals()
    partial = bool((derived := signals[spec.signal].derived) and derived.partial)
    labels_by_expr: dict[str, tuple[str, ...]] = {}
    refused: list[str] = []
    for variant in drawn(spec.signal, signals):
        try:
            labels_by_expr |= dict(_variant_exprs(variant, spec, partial=partial))
        except Inexpressible as error:
            refused.append(f"{variant.label}: {error}")
    if not labels_by_expr:
        raise Inexpressible("; ".join(refused) or "it has no source that is recorded")
    expr = " or ".join(labels_by_expr)
    scaled = expr if scale == 1 else f"({expr}) * {number(scale)}"
    labels = [label for label in (HOST, OBJECT, INSTANCE) if any(label in labels for labels in labels_by_expr.values())]
    even = all(len(label) == len(labels) for label in labels_by_expr.values())
    return PanelQuery(scaled, tuple(labels), tuple(refused), even)


def _variant_exprs(variant: Variant, spec: PanelSpec, *, partial: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the expression of a variant with its labels; of alternatives, that of each."""
    operands = [(_operand(selection, spec), _labels(selection)) for selection in variant.selections]
    if variant.operation is None:
        yield from operands
        return
    yield combine(variant.operation, operands, partial=partial), max((labels for _, labels in operands), key=len)


def _labels(selection: Selection) -> tuple[str, ...]:
    """Return the labels that the values of a selection are given."""
    return (HOST, *([OBJECT] if OBJECT in selection.group else ()), *([INSTANCE] if selection.instance else ()))


def _operand(selection: Selection, spec: PanelSpec) -> str:
    expr = _reduced(selection, spec)
    # A Windows counter is of the computer that it was read from.
    host = POLLED if POLLED in selection.group else selection.host
    for label, tag in ((HOST, host), (INSTANCE, selection.instance)):
        if tag and tag != label:
            expr = f'label_replace({expr}, "{label}", "$1", "{tag}", "(.+)")'
    aggregate = "sum" if selection.summed else spec.function if spec.function in ("min", "max") else "avg"
    return f"{aggregate} {by(_labels(selection))} ({expr})"


def _reduced(selection: Selection, spec: PanelSpec) -> str:
    """Return the values of each series of a source, an interval each; of growing counts the rate over the interval."""
    source, transform = selection.source, selection.source.transform
    function: Function = spec.function
    fields = source.field if isinstance(source.field, Fields) else None
    if fields and not source.rate and function != "mean":
        raise Inexpressible(f"the {function} of several fields needs each sample of them")
    if function in ("sum", "count") and (transform != Transform() or source.rate):
        raise Inexpressible(f"the {function} of values that are computed needs each sample of them")
    reduce = SWAPPED.get(function, function) if transform.scale < 0 else function
    instance = DISK_VARIABLE.format(spec.drive) if spec.drive else INSTANCE_VARIABLE
    host = f'{HOST}=~"${HOST_VARIABLE}"'
    matchers = (host, f'{selection.instance}=~"${instance}"') if selection.instance else (host,)
    series = [selector(selection, name, matchers) for name in (fields.names if fields else [selection.field])]
    if source.rate:
        values = [f"rate({series}[$__rate_interval])" for series in series]
    else:
        values = [FUNCTIONS[reduce].format(f"{series}[$__interval]") for series in series]
    if fields and fields.operation == "ratio":
        values[1] = f"({values[1]} > 0)"
    expr = f" {OPERATORS[fields.operation]} ".join(values) if fields else values[0]
    if transform == Transform():
        return expr
    factor = abs(transform.scale)
    scaled = f"({expr})" if fields else expr
    if factor != 1:
        scaled = f"{number(factor)} * {scaled}"
    sign = "-" if transform.scale < 0 else "+"
    moved = f"{number(transform.offset)} {sign} {scaled}" if transform.offset or sign == "-" else scaled
    return moved if transform.most is None else f"clamp_max({moved}, {number(transform.most)})"

"""Writes the dashboards for a Prometheus data source, from the definitions of InfluxDB's dashboards."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.dashboards.areas import Area, Function, PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, list_scaled
from plimsoll.export.annotations import DOCS
from plimsoll.export.grafana.dashboards import dashboard_files, dashboard_variables, panels
from plimsoll.export.grafana.dashboards.health import AREA as HEALTH
from plimsoll.export.grafana.dashboards.panel_queries import DISK_VARIABLE, make_ref_id
from plimsoll.export.grafana.dashboards.parts import (
    LAST,
    Json,
    build_last_values,
    build_organize,
    build_part,
    build_transformation,
)
from plimsoll.export.grafana.dashboards.runs import AREA as RUNS
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.prometheus.promql import (
    FUNCTIONS,
    SWAPPED,
    combine,
    format_duration,
    group_by,
    leave_out_unknown,
    number,
    quote_text,
    select_field,
)
from plimsoll.export.rule_sources import Inexpressible, Refusal
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, list_drawn_variants
from plimsoll.hosts.site import SiteSettings
from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.exporter_files import make_plain_name
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.window import OPERATORS
from plimsoll.store.quoting import escape_regex

HOST, INSTANCE = "host", "instance"


@dataclass(frozen=True)
class PanelQuery:
    """The PromQL of a panel, the labels of its lines, and the sources left out (`refused`), with reasons.

    If `even`, every line has all of the labels.
    """

    expr: str
    labels: tuple[str, ...]
    refused: tuple[str, ...] = ()
    even: bool = True

    @property
    def legend(self) -> str:
        """The legend's format for the names of lines: `{{host}} {{instance}}`."""
        return " ".join(f"{{{{{label}}}}}" for label in self.labels)


_TYPE = "prometheus"
DATASOURCE = {"type": _TYPE, "uid": "${datasource}"}
# Totals are not instances, as in `rules.subjects.is_total`.
_NO_TOTALS = f'/{INSTANCE}="(?!cpu-total"|all"|(?:.*[,/])?_Total")([^"]+)"/'
_LEFT_OUT = {
    HEALTH: "it compares the limits of many signals in one query of InfluxDB; the page Health of plimsoll up has it",
    RUNS: "runs are not in Prometheus",
}
# For names of lines that lack a label.
_WITHOUT_SPACES = build_transformation("renameByRegex", regex="/ +(?= |$)/g", renamePattern="")


def export(
    docs: str = DOCS,
    site: SiteSettings | None = None,
    signals: Collection[str] | None = None,
    interval: int = 10 * SECOND,
) -> tuple[Mapping[str, str], Sequence[Refusal]]:
    """Return the JSON text of each dashboard by file name, and a refusal for each part that PromQL cannot express.

    `docs` is the URL of the rules' pages; limits are those of `site`. If `signals` is set, areas that show none of
    these signals are left out. `interval` is the time between samples (ns), the shortest interval of a chart.
    """
    limits = PanelLimits(site or SiteSettings())
    texts: dict[str, str] = {}
    refused = [Refusal(f"dashboard {name}", reason) for name, reason in _LEFT_OUT.items()]
    for area in load_areas().areas:
        if signals is None or any(panel.signal in signals for panel in area.panels):
            area_panels = _Panels(area, limits, format_duration(interval), refused)
            dashboard = dashboard_files.build_area_dashboard(
                area, list_panel_variables([*area.panels], limits), area_panels.panel
            )
            texts[f"{area.area}.json"] = dashboard_files.encode_dashboard(dashboard, docs)
    return texts, refused


@dataclass(frozen=True)
class _Panels:
    """Makes the panels of an area, and adds to `refused` what PromQL cannot express."""

    area: Area
    limits: PanelLimits
    interval: str
    refused: list[Refusal]

    def panel(self, spec: PanelSpec, grid: Json) -> Json | None:
        """Return the panel for a spec, with Prometheus queries; None if PromQL cannot express it."""
        scale = panels.find_unit(spec.signal).scale
        name = f"panel {spec.id} of dashboard {self.area.area} ({spec.signal})"
        try:
            query = build_panel_query(spec, scale)
        except Inexpressible as error:
            self.refused.append(Refusal(name, str(error)))
            return None
        self.refused.extend(Refusal(name, reason) for reason in query.refused)
        targets = [self._build_target("A", query.expr, query.legend)]
        # Limits that scale with a number chosen by the reader are drawn while there are values.
        for at, limit in enumerate(list_scaled(self.limits.rules_of(spec)), 1):
            expr = f"group({query.expr}) * {limit.healthy.limit * scale:.12g} * ${limit.fact}"
            targets.append(self._build_target(make_ref_id(at), expr, panels.limit_name(limit)))
        signal_panel = panels.build_signal_panel(spec, self.area.uid, grid, self.limits)
        signal_panel |= {"datasource": DATASOURCE, "interval": self.interval, "targets": targets}
        signal_panel.pop("transformations", None)
        if spec.kind == "table":
            signal_panel["transformations"] = _list_columns(query)
        elif not query.even:
            signal_panel["transformations"] = [_WITHOUT_SPACES]
        return signal_panel

    def _build_target(self, ref: str, expr: str, legend: str) -> Json:
        """Return the target for a PromQL expression, evaluated over the dashboard's time range."""
        return {
            "refId": ref,
            "datasource": DATASOURCE,
            "expr": expr,
            "legendFormat": legend,
            "interval": self.interval,  # from which Grafana makes $__rate_interval
            "editorMode": "code",
            "range": True,
        }


def _list_columns(query: PanelQuery) -> list[Json]:
    names = {"host": "Host", "objectname": "Object", "instance": "Instance"}
    shown = {label: names[label] for label in query.labels}
    return [build_last_values(), build_organize({**shown, LAST: panels.AT_END}, hidden=("Field",))]


def list_panel_variables(panels: Sequence[PanelSpec], limits: PanelLimits) -> list[Json]:
    """Return the variables of a dashboard with these panels."""
    source = dashboard_variables.build_source_variable(query=_TYPE)
    del source["current"]
    selections = dashboard_variables.list_selections(spec.signal for spec in panels)
    hosts = _query_variable(HOST_VARIABLE, "Host", f"label_values({{{_match_metrics(selections)}}}, {HOST})")
    return [source, *dashboard_variables.list_panel_variables(panels, limits, hosts, _build_instances_variable)]


def _build_instances_variable(name: str, label: str, selections: Sequence[Selection]) -> Json:
    """Return the variable that lists the instances at the end of the time range, whichever label they have."""
    queries: list[str] = []
    for tag in dict.fromkeys(selection.instance for selection in selections):
        metrics = _match_metrics(selection for selection in selections if selection.instance == tag)
        query = f'group by ({tag}) ({{{metrics}, {HOST}=~"${HOST_VARIABLE}", {tag}!=""}})'
        queries.append(query if tag == INSTANCE else f'label_replace({query}, "{INSTANCE}", "$1", "{tag}", "(.+)")')
    promql = f"query_result(group by ({INSTANCE}) ({' or '.join(queries)}))"
    return _query_variable(name, label, promql) | {"regex": _NO_TOTALS}


def _query_variable(name: str, label: str, promql: str) -> Json:
    return dashboard_variables.query_variable(name, label, promql, **build_part("choice")) | {"datasource": DATASOURCE}


def _match_metrics(selections: Iterable[Selection]) -> str:
    """Return the matcher for all metrics of these selections' measurements: `__name__=~"(cpu|mem)_.+"`."""
    names = {
        name for selection in selections for name in (selection.measurement, make_plain_name(selection.measurement))
    }
    return f"__name__=~{quote_text('(' + '|'.join(map(escape_regex, sorted(names))) + ')_.+')}"


def build_panel_query(spec: PanelSpec, scale: float = 1.0) -> PanelQuery:
    """Return a panel's query, with values times `scale`. Raise Inexpressible if PromQL can express no source."""
    signals = load_signals()
    partial = bool((derived := signals[spec.signal].derived) and derived.partial)
    labels_by_expr: dict[str, tuple[str, ...]] = {}
    refused: list[str] = []
    for variant in list_drawn_variants(spec.signal, signals):
        try:
            labels_by_expr |= dict(_list_expressions(variant, spec, partial=partial))
        except Inexpressible as error:
            refused.append(f"{variant.label}: {error}")
    if not labels_by_expr:
        raise Inexpressible("; ".join(refused) or "it has no source that is recorded")
    expr = " or ".join(labels_by_expr)
    scaled = expr if scale == 1 else f"({expr}) * {number(scale)}"
    labels = [label for label in (HOST, OBJECT, INSTANCE) if any(label in labels for labels in labels_by_expr.values())]
    even = all(len(label) == len(labels) for label in labels_by_expr.values())
    return PanelQuery(scaled, tuple(labels), tuple(refused), even)


def _list_expressions(variant: Variant, spec: PanelSpec, *, partial: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the PromQL and labels of a variant; if the variant has alternatives, of each alternative."""
    operands = [(_express_operand(selection, spec), _list_labels(selection)) for selection in variant.selections]
    if variant.operation is None:
        yield from operands
        return
    yield combine(variant.operation, operands, partial=partial), max((labels for _, labels in operands), key=len)


def _list_labels(selection: Selection) -> tuple[str, ...]:
    """Return the labels of the values of a selection."""
    return (HOST, *([OBJECT] if OBJECT in selection.group else ()), *([INSTANCE] if selection.instance else ()))


def _express_operand(selection: Selection, spec: PanelSpec) -> str:
    expr = _express_reduction(selection, spec)
    # A Windows counter belongs to the computer it was read from.
    host = POLLED if POLLED in selection.group else selection.host
    for label, tag in ((HOST, host), (INSTANCE, selection.instance)):
        if tag and tag != label:
            expr = f'label_replace({expr}, "{label}", "$1", "{tag}", "(.+)")'
    aggregate = "sum" if selection.summed else spec.function if spec.function in ("min", "max") else "avg"
    return f"{aggregate} {group_by(_list_labels(selection))} ({expr})"


def _express_reduction(selection: Selection, spec: PanelSpec) -> str:
    """Return the PromQL of a source's values, one per series and interval; of a growing count, the rate."""
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
    series = [select_field(selection, name, matchers) for name in (fields.names if fields else [selection.field])]
    if source.rate:
        values = [f"rate({series}[$__rate_interval])" for series in series]
    else:
        values = [FUNCTIONS[reduce].format(_select_known(series, transform)) for series in series]
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


def _select_known(series: str, transform: Transform) -> str:
    """Return the range of an interval's samples, without those that stand for an unknown value."""
    if not transform.unknown:
        return f"{series}[$__interval]"
    step = format_duration(EVALUATION_INTERVAL)
    return f"({leave_out_unknown(f'last_over_time({series}[{step}])', transform)})[$__interval:{step}]"

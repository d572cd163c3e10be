"""The variables at the top of a dashboard for a Prometheus data source. Those of numbers are the same as elsewhere."""

from collections.abc import Iterable, Sequence

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import PanelLimits
from plimsoll.export.grafana.dashboards import dashboard_variables
from plimsoll.export.grafana.dashboards.panel_queries import DISK_VARIABLE
from plimsoll.export.grafana.dashboards.parts import Json, part
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.prometheus.dashboards.panel_promql import HOST, INSTANCE
from plimsoll.export.prometheus.promql import text
from plimsoll.export.selections import Selection
from plimsoll.rules.exporters.exporter_files import plain_name
from plimsoll.store.influx.quoting import literal

_TYPE = "prometheus"
DATASOURCE = {"type": _TYPE, "uid": "${datasource}"}
# Totals are no instances, as in `rules.subjects.is_total`.
_NO_TOTALS = f'/{INSTANCE}="(?!cpu-total"|all"|(?:.*[,/])?_Total")([^"]+)"/'


def panel_variables(panels: Sequence[PanelSpec], limits: PanelLimits) -> list[Json]:
    """Return the variables of a dashboard with these panels."""
    source = dashboard_variables.source_variable(query=_TYPE)
    del source["current"]
    drawn_selections = dashboard_variables.signal_selections(spec.signal for spec in panels)
    hosts = _query_variable(HOST_VARIABLE, "Host", f"label_values({{{_metric_matcher(drawn_selections)}}}, {HOST})")
    template_variables = [source, hosts]
    if instances := _with_instance(spec.signal for spec in panels if not spec.drive):
        # Not in URLs: the next dashboard has other instances, and all of them would be filtered out.
        template_variables.append(_instances_variable(INSTANCE_VARIABLE, "Instance", instances) | {"skipUrlSync": True})
    for spec in panels:
        if spec.drive:
            name, label = DISK_VARIABLE.format(spec.drive), f"{spec.drive.capitalize()} disk"
            disks = _instances_variable(name, label, _with_instance([spec.signal]))
            template_variables.append(disks | {"allValue": dashboard_variables.NOT_SYSTEM})
    return [*template_variables, *dashboard_variables.number_variables(panels, limits)]


def _with_instance(signals: Iterable[str]) -> list[Selection]:
    return [selection for selection in dashboard_variables.signal_selections(signals) if selection.instance]


def _instances_variable(name: str, label: str, selections: Sequence[Selection]) -> Json:
    """Return the variable of the instances at the end of the range, whatever label has them."""
    queries: list[str] = []
    for tag in dict.fromkeys(selection.instance for selection in selections):
        metrics = _metric_matcher(selection for selection in selections if selection.instance == tag)
        query = f'group by ({tag}) ({{{metrics}, {HOST}=~"${HOST_VARIABLE}", {tag}!=""}})'
        queries.append(query if tag == INSTANCE else f'label_replace({query}, "{INSTANCE}", "$1", "{tag}", "(.+)")')
    promql = f"query_result(group by ({INSTANCE}) ({' or '.join(queries)}))"
    return _query_variable(name, label, promql) | {"regex": _NO_TOTALS}


def _query_variable(name: str, label: str, promql: str) -> Json:
    return dashboard_variables.query_variable(name, label, promql, **part("choice")) | {"datasource": DATASOURCE}


def _metric_matcher(selections: Iterable[Selection]) -> str:
    """Return the matcher for the metrics of some measurements: a name begins with that of its measurement."""
    names = {name for selection in selections for name in (selection.measurement, plain_name(selection.measurement))}
    return f"__name__=~{text('(' + '|'.join(map(literal, sorted(names))) + ')_.+')}"

"""Writes the dashboards for a Prometheus data source, from the definitions of those for InfluxDB."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from plimsoll.dashboards.areas import Area, PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, scaled
from plimsoll.export.annotations import DOCS
from plimsoll.export.grafana.dashboards import dashboard_files, panels
from plimsoll.export.grafana.dashboards.health import AREA as HEALTH
from plimsoll.export.grafana.dashboards.panel_queries import ref_id
from plimsoll.export.grafana.dashboards.parts import LAST, Json, last_values, organize, transformation
from plimsoll.export.grafana.dashboards.runs import AREA as RUNS
from plimsoll.export.prometheus.dashboards import promql_variables
from plimsoll.export.prometheus.dashboards.panel_promql import PanelQuery, panel_query
from plimsoll.export.prometheus.promql import duration
from plimsoll.export.rule_sources import Inexpressible, Refusal
from plimsoll.hosts.site import Site
from plimsoll.model.times import SECOND

_LEFT_OUT = {
    HEALTH: "it compares the limits of many signals in one query of InfluxDB; the page Health of plimsoll up has it",
    RUNS: "runs are not in Prometheus",
}
# In the names of lines, where there is no such label.
_WITHOUT_SPACES = transformation("renameByRegex", regex="/ +(?= |$)/g", renamePattern="")


@dataclass(frozen=True)
class DashboardExport:
    """The text of each dashboard by file name, and what PromQL cannot say."""

    files: Mapping[str, str]
    refused: tuple[Refusal, ...]


def export(
    docs: str = DOCS, site: Site | None = None, signals: Collection[str] | None = None, interval: int = 10 * SECOND
) -> DashboardExport:
    """Return the dashboards of all areas; with `signals`, of those that show one of them.

    `interval` (ns) is that of the samples: the shortest of a chart. The other arguments are as for those of InfluxDB.
    """
    limits = PanelLimits(site or Site())
    texts: dict[str, str] = {}
    refused = [Refusal(f"dashboard {name}", reason) for name, reason in _LEFT_OUT.items()]
    for area in load_areas().areas:
        if signals is None or any(panel.signal in signals for panel in area.panels):
            area_panels = _Panels(area, limits, duration(interval), refused)
            dashboard = dashboard_files.area_dashboard(
                area, promql_variables.panel_variables([*area.panels], limits), area_panels.panel
            )
            texts[f"{area.area}.json"] = dashboard_files.dashboard_text(dashboard, docs)
    return DashboardExport(texts, tuple(refused))


@dataclass(frozen=True)
class _Panels:
    """The panels of an area. What is refused is added to `refused`."""

    area: Area
    limits: PanelLimits
    interval: str
    refused: list[Refusal]

    def panel(self, spec: PanelSpec, grid: Json) -> Json | None:
        """Return the panel as it is for InfluxDB, but that it asks Prometheus; None if that cannot say it."""
        scale = panels.unit_of(spec.signal).scale
        name = f"panel {spec.id} of dashboard {self.area.area} ({spec.signal})"
        try:
            query = panel_query(spec, scale)
        except Inexpressible as error:
            self.refused.append(Refusal(name, str(error)))
            return None
        self.refused.extend(Refusal(name, reason) for reason in query.refused)
        targets = [self._target("A", query.expr, query.legend)]
        # The limits that grow with a number that the reader chooses, drawn while there are values.
        for at, limit in enumerate(scaled(self.limits.rules_of(spec)), 1):
            expr = f"group({query.expr}) * {limit.healthy.limit * scale:.12g} * ${limit.fact}"
            targets.append(self._target(ref_id(at), expr, panels.limit_name(limit)))
        signal_panel = panels.signal_panel(spec, self.area.uid, grid, self.limits)
        signal_panel |= {"datasource": promql_variables.DATASOURCE, "interval": self.interval, "targets": targets}
        signal_panel.pop("transformations", None)
        if spec.kind == "table":
            signal_panel["transformations"] = _columns(query)
        elif not query.even:
            signal_panel["transformations"] = [_WITHOUT_SPACES]
        return signal_panel

    def _target(self, ref: str, expr: str, legend: str) -> Json:
        """Return a query for Grafana's Prometheus plugin, over the range of the dashboard."""
        return {
            "refId": ref,
            "datasource": promql_variables.DATASOURCE,
            "expr": expr,
            "legendFormat": legend,
            "interval": self.interval,  # from which Grafana makes $__rate_interval
            "editorMode": "code",
            "range": True,
        }


def _columns(query: PanelQuery) -> list[Json]:
    names = {"host": "Host", "objectname": "Object", "instance": "Instance"}
    shown = {label: names[label] for label in query.labels}
    return [last_values(), organize({**shown, LAST: panels.AT_END}, hidden=("Field",))]

"""Writes the dashboards for a Prometheus data source, from the definitions of those for InfluxDB."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from plimsoll.dashboards.areas import Area, PanelSpec, load_areas
from plimsoll.dashboards.limits import Limits, scaled
from plimsoll.export.annotations import DOCS
from plimsoll.export.grafana.dashboards import files, panels, targets
from plimsoll.export.grafana.dashboards.health import AREA as HEALTH
from plimsoll.export.grafana.dashboards.runs import AREA as RUNS
from plimsoll.export.grafana.sdk import Dataquery, dashboard
from plimsoll.export.prometheus.dashboards import variables
from plimsoll.export.prometheus.dashboards.queries import Drawn, drawn_by
from plimsoll.export.prometheus.selectors import duration
from plimsoll.export.rule_sources import Inexpressible, Refused
from plimsoll.hosts.site import Site
from plimsoll.model.times import SECOND

_LEFT_OUT = {
    HEALTH: "it compares the limits of many signals in one query of InfluxDB; the page Health of plimsoll up has it",
    RUNS: "runs are not in Prometheus",
}

# In the names of lines, where there is no such label.
_WITHOUT_SPACES = dashboard.DataTransformerConfig(
    "renameByRegex", options={"regex": "/ +(?= |$)/g", "renamePattern": ""}
)


@dataclass(frozen=True)
class PromQuery(Dataquery):
    """A query for Grafana's Prometheus plugin, over the range of the dashboard."""

    ref_id: str
    expr: str
    legend: str
    interval: str

    def to_json(self) -> dict[str, object]:
        """As it stands in a dashboard."""
        return {
            "refId": self.ref_id,
            "datasource": variables.DATASOURCE,
            "expr": self.expr,
            "legendFormat": self.legend,
            "interval": self.interval,  # from which Grafana makes $__rate_interval
            "editorMode": "code",
            "range": True,
        }


@dataclass(frozen=True)
class Made:
    """The text of each dashboard by file name, and what PromQL cannot say."""

    files: Mapping[str, str]
    refused: tuple[Refused, ...]


def export(
    docs: str = DOCS, site: Site | None = None, signals: Collection[str] | None = None, interval: int = 10 * SECOND
) -> Made:
    """The dashboards of all areas; with `signals`, of those that show one of them.

    `interval` (ns) is that of the samples: the shortest of a chart. The other arguments are as for those of InfluxDB.
    """
    limits = Limits(site or Site())
    written: dict[str, str] = {}
    refused = [Refused(f"dashboard {name}", why) for name, why in _LEFT_OUT.items()]
    for area in load_areas().areas:
        if signals is None or any(panel.signal in signals for panel in area.panels):
            panels_of = _Panels(area, limits, duration(interval), refused)
            chosen = variables.of_panels([*area.panels], limits)
            made = files.of_area(area, limits, chosen, panels_of.panel)
            made.annotations = dashboard.AnnotationContainer([])
            written[f"{area.area}.json"] = files.written(made, docs)
    return Made(written, tuple(refused))


@dataclass(frozen=True)
class _Panels:
    """The panels of an area. What is refused is added to `refused`."""

    area: Area
    limits: Limits
    interval: str
    refused: list[Refused]

    def panel(self, spec: PanelSpec, position: dashboard.GridPos) -> dashboard.Panel | None:
        """The panel as it is for InfluxDB, but that it asks Prometheus; None if that cannot say it."""
        scale = panels.unit_of(spec.signal).scale
        name = f"panel {spec.id} of dashboard {self.area.area} ({spec.signal})"
        try:
            found = drawn_by(spec, scale)
        except Inexpressible as error:
            self.refused.append(Refused(name, str(error)))
            return None
        self.refused.extend(Refused(name, one) for one in found.refused)
        made = panels.panel(spec, self.area.uid, position, self.limits)
        made.datasource = variables.DATASOURCE
        made.interval = self.interval
        made.targets = [PromQuery("A", found.expr, found.legend, self.interval), *self._limits(spec, found, scale)]
        named = None if found.even else [_WITHOUT_SPACES]
        made.transformations = _columns(found) if spec.kind == "table" else named
        return made

    def _limits(self, spec: PanelSpec, found: Drawn, scale: float) -> list[Dataquery]:
        """The limits that grow with a number that the reader chooses, drawn while there are values."""
        asked: list[Dataquery] = []
        for at, limit in enumerate(scaled(self.limits.rules_of(spec)), 1):
            expr = f"group({found.expr}) * {limit.healthy.limit * scale:.12g} * ${limit.fact}"
            asked.append(PromQuery(targets.ref_id(at), expr, panels.of_fact(limit), self.interval))
        return asked


def _columns(found: Drawn) -> list[dashboard.DataTransformerConfig]:
    names = {"host": "Host", "objectname": "Object", "instance": "Instance"}
    shown = {label: names[label] for label in found.labels}
    return [
        panels.rows(["lastNotNull"]),
        panels.organized({**shown, panels.LAST: panels.AT_END}, hidden=("Field",)),
    ]

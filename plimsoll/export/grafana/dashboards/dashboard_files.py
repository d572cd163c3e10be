"""Writes the dashboards as JSON files for Grafana."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from plimsoll.dashboards.areas import WIDTH, Area, PanelSpec, RowSpec, load_areas, make_uid
from plimsoll.dashboards.limits import PanelLimits
from plimsoll.export.annotations import DOCS, make_rule_url
from plimsoll.export.grafana.dashboards import dashboard_variables, health, panels, runs
from plimsoll.export.grafana.dashboards.parts import Json, build_grid, build_part
from plimsoll.hosts.site import SiteSettings

MakePanel: TypeAlias = Callable[[PanelSpec, Json], Json | None]


def build_files(
    docs: str = DOCS, site: SiteSettings | None = None, signals: Collection[str] | None = None
) -> Mapping[str, str]:
    """Return the JSON text of each dashboard, by file name.

    `docs` is the URL of the rules' pages. Limits are drawn as plimsoll.toml sets them for every host. If `signals` is
    set, areas that show none of these signals are left out.
    """
    limits, areas = PanelLimits(site or SiteSettings()), load_areas()
    about_health, about_runs = areas.health, areas.runs
    health_parts = health.list_health_variables(limits), health.list_health_panels(limits)
    run_parts = runs.run_variables(limits), runs.run_panels(limits)
    dashboards = {
        health.AREA: _build_dashboard(health.AREA, about_health.title, about_health.about, *health_parts),
        runs.AREA: _build_dashboard(runs.AREA, about_runs.title, about_runs.about, *run_parts) | {"refresh": ""},
    }
    for area in areas.areas:
        if signals is None or any(panel.signal in signals for panel in area.panels):
            dashboards[area.area] = _build_influx_area(area, limits)
    for dashboard in dashboards.values():
        dashboard["annotations"] = {"list": [runs.run_annotation()]}
    return {f"{name}.json": encode_dashboard(dashboard, docs) for name, dashboard in dashboards.items()}


def build_area_dashboard(area: Area, chosen: Sequence[Json], make_panel: MakePanel) -> Json:
    """Return the dashboard of an area, with the variables `chosen`.

    `make_panel` returns the panel for a spec and a position, or None to omit the panel.
    """
    return _build_dashboard(area.area, area.title, area.about, chosen, [*_list_rows(area, make_panel)])


def encode_dashboard(dashboard: Json, docs: str) -> str:
    """Return the text of a dashboard, with links to the pages of rules below `docs`."""
    text = json.dumps(dashboard, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    # An empty rule name gives the common prefix of all pages.
    default, chosen = (make_rule_url("", base).removesuffix(".md") for base in (DOCS, docs))
    return text.replace(default, chosen)


def _build_influx_area(area: Area, limits: PanelLimits) -> Json:
    chosen = [
        dashboard_variables.build_source_variable(),
        *dashboard_variables.list_influx_variables([*area.panels], limits),
    ]
    return build_area_dashboard(
        area, chosen, lambda spec, place: panels.build_signal_panel(spec, area.uid, place, limits)
    )


def _build_dashboard(area: str, title: str, about: str, chosen: Sequence[Json], shown: Sequence[Json]) -> Json:
    # The link to the other dashboards keeps the time range and the hosts.
    header = build_part("link", type="dashboards", title="Plimsoll", tags=["plimsoll"], keepTime=True, includeVars=True)
    return build_part(
        "dashboard",
        uid=make_uid(area),
        title=title,
        description=about,
        panels=shown,
        templating={"list": chosen},
        links=[header],
    )


def _list_rows(area: Area, make_panel: MakePanel) -> Iterator[Json]:
    """Yield the headings and panels of an area, each with its position on the dashboard."""
    y = 0
    for row in area.rows:
        if row.id is not None:
            inside = [panel for panel, _ in _place_row(row, y + 1, make_panel)] if row.collapsed else []
            heading = {"id": row.id, "title": row.title, "collapsed": row.collapsed, "panels": inside}
            yield {"type": "row", **heading, "gridPos": build_grid(1, WIDTH, 0, y)}
            y += 1
            if row.collapsed:
                continue
        for panel, below in _place_row(row, y, make_panel):
            yield panel
            y = max(y, below)


def _place_row(row: RowSpec, y: int, make_panel: MakePanel) -> Iterator[tuple[Json, int]]:
    """Yield each panel of a row and the y of its lower edge; panels are placed left to right, wrapped at the width."""
    x, bottom = 0, y
    for spec in row.panels:
        if x + spec.width > WIDTH:
            x, y = 0, bottom
        panel = make_panel(spec, build_grid(spec.height, spec.width, x, y))
        if panel is None:
            continue
        yield panel, y + spec.height
        x, bottom = x + spec.width, max(bottom, y + spec.height)

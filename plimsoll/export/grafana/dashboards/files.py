"""Writes the dashboards as JSON files for Grafana."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from plimsoll.dashboards.areas import WIDTH, Area, PanelSpec, RowSpec, load_areas, uid
from plimsoll.dashboards.limits import Limits
from plimsoll.export.annotations import DOCS, rule_page
from plimsoll.export.grafana.dashboards import describe, health, panels, runs, variables
from plimsoll.export.grafana.sdk import JSONEncoder, dashboard
from plimsoll.hosts.site import Site

MakePanel: TypeAlias = Callable[[PanelSpec, dashboard.GridPos], dashboard.Panel | None]

TAG = "plimsoll"
SCHEMA_VERSION = 42
_REFRESH = "30s"


def files(docs: str = DOCS, site: Site | None = None, signals: Collection[str] | None = None) -> Mapping[str, str]:
    """Return the text of each dashboard by file name. With `signals`, areas that show none of them are left out.

    `docs` is the URL of the rules' pages. Limits are drawn as the site sets them for every host.
    """
    limits = Limits(site or Site())
    made = {health.AREA: _health(limits), runs.AREA: _runs(limits)}
    made |= {
        area.area: _of_area(area, limits)
        for area in load_areas().areas
        if signals is None or any(panel.signal in signals for panel in area.panels)
    }
    return {f"{name}.json": written(one, docs) for name, one in made.items()}


def of_area(area: Area, limits: Limits, chosen: list[dashboard.VariableModel], panel: MakePanel) -> dashboard.Dashboard:
    """Return the dashboard of an area with these variables. Panels are made by `panel`, or left out."""
    return _dashboard(area.area, area.title, area.about, chosen, list(_rows(area, panel)))


def written(one: dashboard.Dashboard, docs: str) -> str:
    """Return the text of a dashboard, with links to the pages of rules below `docs`."""
    text = json.dumps(one, cls=JSONEncoder, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    # The page of a rule without a name is the common prefix of all pages.
    own, chosen = (rule_page("", base).removesuffix(".md") for base in (DOCS, docs))
    return text.replace(own, chosen)


def _of_area(area: Area, limits: Limits) -> dashboard.Dashboard:
    def panel(spec: PanelSpec, position: dashboard.GridPos) -> dashboard.Panel:
        return panels.panel(spec, area.uid, position, limits)

    return of_area(area, limits, variables.of_panels([*area.panels], limits), panel)


def _health(limits: Limits) -> dashboard.Dashboard:
    about, chosen = load_areas().health, health.health_variables(limits)
    return _dashboard(health.AREA, about.title, about.about, chosen, health.health_panels(limits))


def _runs(limits: Limits) -> dashboard.Dashboard:
    about, chosen = load_areas().runs, runs.run_variables(limits)
    return _dashboard(runs.AREA, about.title, about.about, chosen, runs.run_panels(limits))


def _dashboard(
    area: str,
    title: str,
    about: str,
    chosen: list[dashboard.VariableModel],
    shown: Sequence[dashboard.Panel | dashboard.RowPanel],
) -> dashboard.Dashboard:
    return dashboard.Dashboard(
        uid=uid(area),
        title=title,
        description=about,
        tags=[TAG],
        timezone="browser",
        editable=False,
        graph_tooltip=dashboard.DashboardCursorSync.CROSSHAIR,
        time=dashboard.DashboardDashboardTime("now-6h", "now"),
        timepicker=dashboard.TimePickerConfig(),
        refresh=_REFRESH if area != runs.AREA else "",
        schema_version=SCHEMA_VERSION,
        panels=list(shown),
        templating=dashboard.DashboardDashboardTemplating(chosen),
        annotations=dashboard.AnnotationContainer([runs.annotation()]),
        links=[_header()],
    )


def _header() -> dashboard.DashboardLink:
    """Return the link to the other dashboards, which keeps the time range and the hosts."""
    made = describe.link("Plimsoll", "")
    made.type_val, made.url = dashboard.DashboardLinkType.DASHBOARDS, None
    made.tags, made.keep_time, made.include_vars = [TAG], True, True
    return made


def _rows(area: Area, panel: MakePanel) -> Iterator[dashboard.Panel | dashboard.RowPanel]:
    y = 0
    for row in area.rows:
        if row.id is not None:
            heading = dashboard.RowPanel(row.collapsed, row.title, id_val=row.id)
            heading.grid_pos = dashboard.GridPos(1, WIDTH, 0, y)
            yield heading
            y += 1
            if row.collapsed:
                heading.panels = [made for made, _ in _placed(row, y, panel)]
                continue
        for made, below in _placed(row, y, panel):
            yield made
            y = max(y, below)


def _placed(row: RowSpec, y: int, panel: MakePanel) -> Iterator[tuple[dashboard.Panel, int]]:
    """Yield the panels of a row, placed from left to right and down, each with the y coordinate of its lower edge."""
    x, bottom = 0, y
    for spec in row.panels:
        if x + spec.width > WIDTH:
            x, y = 0, bottom
        made = panel(spec, dashboard.GridPos(spec.height, spec.width, x, y))
        if made is None:
            continue
        yield made, y + spec.height
        x, bottom = x + spec.width, max(bottom, y + spec.height)

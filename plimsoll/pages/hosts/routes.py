"""`/hosts/NAME`: the page of a host: its state, charts of crossed signals, then charts of further signals by area."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions, alert_queries, silences
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.alerting.process_lines import ProcessLines
from plimsoll.alerting.wording import describe_cause, describe_confidence, describe_unjudged, list_next_steps
from plimsoll.dashboards.areas import Area, load_areas
from plimsoll.model.remark import format_count
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scene, Scenes
from plimsoll.pages.charts.signal_values import find_crossed_since
from plimsoll.pages.dashboards.routes import read_last_values
from plimsoll.pages.health.host_cells import CROSSED, HostCell, list_cells
from plimsoll.pages.shared.alert_rows import build_incident_rows, list_alert_times
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import MILLISECOND, RangePicker
from plimsoll.rules.states import State
from plimsoll.up.watched import Watched

_DAY = 86_400 * SECOND
_NOTED = _DAY
_BEFORE, _MOST_BEFORE = 7 * _DAY, 4  # earlier alerts
_MOST_CROSSED = 4  # large charts
_UPTIME = "system.uptime"
_AS_SENT = " (from the log)"  # text after facts computed from samples


def list_routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the route of the host pages."""

    def page(request: Request) -> Response:
        name = request.path_params["host"]
        health = next((host for host in watched.health().hosts if host.name.casefold() == name.casefold()), None)
        now, picker = time.time_ns(), RangePicker.of(request, frame.zone_of(request))
        scene = scenes.live(picker.chosen.start, picker.chosen.end)
        if health is None and name.casefold() not in {make_host_key(host) for host in scene.hosts}:
            return frame.missing(request, f"No host {name[:200]} is known.", "Health lists every host that sends data.")
        health = health or HostHealth(name, HostState.NOT_JUDGED, "no limit applies to what it sends")
        content, links = _build_content(watched, health, scenes, picker, now), frame.links(request)
        content["address"] = lambda cell: cell.address(links, name)
        return frame.page(request, "hosts/host.html.j2", name, **content)

    return [Route("/hosts/{host:path}", page)]


def _build_content(
    watched: Watched, health: HostHealth, scenes: Scenes, picker: RangePicker, now: int
) -> dict[str, Any]:
    """Return the template variables of the page of a host."""
    host, zone, scene = make_host_key(health.name), picker.zone, scenes.live(picker.chosen.start, picker.chosen.end)
    fires = watched.health().firing.of_host.get(host, ())
    alerts = [alert for fire in fires for alert in fire.alerts]
    latest, catalogue = watched.judged(), watched.site.catalogue
    judged = latest.on(host)
    cells = list_cells(judged, alerts, catalogue)
    active, notes = (
        silences.read_active_silences(watched.file, now),
        actions.find_notes(watched.file, now - _NOTED, now),
    )
    silenced = [
        silence for silence in active if silence.host == "*" or silence.matches(silence.rule, health.name, None)
    ]
    sure = (fires and describe_confidence(fires[0], latest, catalogue)) or describe_unjudged(
        host, latest, catalogue.signals
    )
    further = f", and {format_count(len(fires) - 1, 'further incident')}" if len(fires) > 1 else ""
    charts = [*_build_charts(health.name, scene, cells)]
    crossed = [chart for chart in charts if chart.cell and chart.cell.standing in CROSSED][:_MOST_CROSSED]
    return {
        "host": health,
        "headline": f"{describe_cause(fires[0].worst)}{further}"
        if fires
        else f"{health.name}: {health.note or health.state}",
        "sure": sure,
        "next": [step for fire in fires[:1] for step in list_next_steps(fire.worst, catalogue)],
        "times": [
            time
            for fire in fires[:1]
            for time in list_alert_times(fire.worst, find_crossed_since(scenes, fire.worst), zone)
        ],
        "severity": fires[0].severity if fires else "",
        "incidents": build_incident_rows(fires, active, zone),
        "crossed": sorted(crossed, key=HostChart.rank),
        "areas": _group_by_area([chart for chart in charts if chart not in crossed]),
        "processes": next((fire.worst.details.processes for fire in fires if fire.worst.details.processes), ()),
        "processes_now": ProcessLines(watched.store.live, watched.site.catalogue.signals)(now, [host]).get(host, ()),
        "standings": _count_standings(judged),
        "before": _find_before(watched, health.name, zone, now),
        "facts": [*_list_facts(health, scene, zone, now)],
        "silences": [(silence.rule, zone.clock(silence.until), silence.reason, silence.who) for silence in silenced],
        "notes": [(zone.clock(note.at), note) for note in notes if note.concerns({host})],
        "picker": picker,
        "now": now // MILLISECOND,
    }


@dataclass(frozen=True)
class HostChart:
    """A chart of a signal of the host: area, title, spec, and the signal's cell in the host table (None: no cell).

    `spec` is empty for a signal that is not drawn as lines; then only the cell is shown.
    """

    area: Area
    title: str
    spec: str
    cell: HostCell | None

    def rank(self) -> tuple[bool, tuple[Any, ...]]:
        """Return the sort key: the worst chart first, charts without a cell last."""
        return self.cell is None, self.cell.place if self.cell else (self.title,)


def _build_charts(host: str, scene: Scene, cells: Mapping[str, HostCell]) -> Iterator[HostChart]:
    """Yield a chart for each signal that the host has and a dashboard shows."""
    panels = ((area, panel) for area in load_areas().areas for panel in area.panels if not panel.drive)
    shown: set[str] = set()
    for area, panel in panels:
        name, spec = panel.signal, Spec(panel.signal, (host,))
        is_drawn = panel.kind == "lines"
        if name in shown or not scene.has(spec) or not (is_drawn or name in cells):
            continue
        shown.add(name)
        yield HostChart(area, scene.signals[name].title, str(spec) if is_drawn else "", cells.get(name))


def _group_by_area(charts: Sequence[HostChart]) -> list[tuple[Area, list[HostChart]]]:
    """Return the charts by area. The area with the worst chart comes first, and in an area, the worst chart."""
    areas: dict[str, list[HostChart]] = {}
    for chart in sorted(charts, key=HostChart.rank):
        areas.setdefault(chart.area.area, []).append(chart)
    return [(charts[0].area, charts) for charts in areas.values()]


def _count_standings(judged: Sequence[RuleState]) -> list[tuple[str, int]]:
    """Return the counts of limits that are crossed, within limits, and without data; severity info does not count."""
    states = [state.state for state in judged if state.rule.severity != "info"]
    crossed = sum(state in (State.FIRING, State.PENDING) for state in states)
    silent = states.count(State.NO_DATA)
    return [("crossed", crossed), ("within limits", len(states) - crossed - silent), ("no data", silent)]


def _find_before(watched: Watched, host: str, zone: Zone, now: int) -> list[tuple[int, str, str, str]]:
    """Return the latest alerts of the host that ended in the last 7 days: id, begin, title and duration."""
    chosen = alert_queries.AlertFilter(("critical", "warning"), host, "*", now - _BEFORE, now)
    ended, _ = alert_queries.find_ended(watched.file, chosen, 0, _MOST_BEFORE)
    return [
        (alert.id, zone.clock(alert.begin), alert.details.title, format_duration((alert.ended_at or now) - alert.begin))
        for alert in ended
    ]


def _list_facts(health: HostHealth, scene: Scene, zone: Zone, now: int) -> Iterator[tuple[str, str]]:
    if health.newest is not None:
        ago = format_duration(max(now - health.newest, SECOND) // SECOND * SECOND)
        yield "Last sample", f"{zone.clock(health.newest)} {zone.label(health.newest)}, {ago} ago"
    for _, _, value in read_last_values(scene, Spec(_UPTIME, (health.name,)), scene.start, scene.end)["rows"][:1]:
        yield "Up for", value
    facts = scene.facts(health.name)
    if facts:
        yield "Facts", "; ".join(fact.removesuffix(_AS_SENT) for fact in facts)

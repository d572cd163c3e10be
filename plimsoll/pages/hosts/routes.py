"""`/hosts/NAME`: the page of a host with its state, its incidents, and its signals by area with their limits."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions, silences
from plimsoll.alerting.health import HostHealth, HostState
from plimsoll.alerting.process_lines import ProcessLines
from plimsoll.alerting.wording import cause, certainty, unjudged
from plimsoll.dashboards.areas import Area, load_areas
from plimsoll.model.remark import counted
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scene, Scenes
from plimsoll.pages.dashboards.routes import read_last_values
from plimsoll.pages.health.host_cells import HostCell, cells_of
from plimsoll.pages.shared.alert_rows import incident_rows
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import MILLISECOND
from plimsoll.up.watched import Watched

_SHOWN = 3600 * SECOND
_NOTED = 86_400 * SECOND
_MOST_CHARTS = 4  # of an area
_UPTIME = "system.uptime"
_AS_SENT = " (from the log)"  # text after facts computed from samples


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the route of the host pages."""

    def page(request: Request) -> Response:
        name = request.path_params["host"]
        health = next((host for host in watched.health().hosts if host.name.casefold() == name.casefold()), None)
        now = time.time_ns()
        scene = scenes.live(now - _SHOWN, now)
        if health is None and name.casefold() not in {host_key(host) for host in scene.hosts}:
            return frame.missing(request, f"No host {name[:200]} is known.", "Health lists every host that sends data.")
        health = health or HostHealth(name, HostState.NOT_JUDGED, "no limit applies to what it sends")
        content, links = _content(watched, health, scene, frame.zone_of(request), now), frame.links(request)
        content["address"] = lambda cell: cell.address(links, name)
        return frame.page(request, "hosts/host.html.j2", name, **content)

    return [Route("/hosts/{host:path}", page)]


def _content(watched: Watched, health: HostHealth, scene: Scene, zone: Zone, now: int) -> dict[str, Any]:
    """Return the template variables of the page of a host."""
    host = host_key(health.name)
    fires = watched.health().firing.of_host.get(host, ())
    alerts = [alert for fire in fires for alert in fire.alerts]
    cells = cells_of(watched.judged().on(host), alerts, watched.site.catalogue)
    active, notes = silences.active(watched.file, now), actions.find_notes(watched.file, now - _NOTED, now)
    silenced = [
        silence for silence in active if silence.host == "*" or silence.matches(silence.rule, health.name, None)
    ]
    lacking = unjudged(host, watched.judged(), watched.site.catalogue.signals)
    further = f", and {counted(len(fires) - 1, 'further incident')}" if len(fires) > 1 else ""
    return {
        "host": health,
        "headline": f"{cause(fires[0].worst)}{further}" if fires else f"{health.name}: {health.note or health.state}",
        "sure": " · ".join(text for text in (certainty(fires[0]) if fires else "", lacking) if text),
        "next": fires[0].worst.details.look_at if fires else (),
        "severity": fires[0].severity if fires else "",
        "incidents": incident_rows(fires, active, zone, now),
        "parts": [*_parts(health.name, scene, cells)],
        "processes": next((fire.worst.details.processes for fire in fires if fire.worst.details.processes), ()),
        "processes_now": ProcessLines(watched.store.live, watched.site.catalogue.signals)(now, [host]).get(host, ()),
        "facts": [*_facts(health, scene, zone, now)],
        "silences": [(silence.rule, zone.clock(silence.until), silence.reason, silence.who) for silence in silenced],
        "notes": [(zone.clock(note.at), note) for note in notes if note.concerns({host})],
        "start": "now-1h",
        "end": "now",
        "now": now // MILLISECOND,
    }


def _parts(
    host: str, scene: Scene, cells: Mapping[str, HostCell]
) -> Iterator[tuple[Area, Sequence[HostCell], Sequence[tuple[str, str]]]]:
    """Yield each area with signals of the host, with its cells and its first charts."""
    shown: set[str] = set()
    for area in load_areas().areas:
        panels = [panel for panel in area.panels if not panel.drive and panel.signal not in shown]
        sent = [panel for panel in panels if scene.has(Spec(panel.signal, (host,)))]
        shown |= {panel.signal for panel in sent}
        judged = sorted((cells[panel.signal] for panel in sent if panel.signal in cells), key=lambda cell: cell.place)
        signals = [cell.signal for cell in judged]
        signals += [panel.signal for panel in sent if panel.signal not in cells]
        lines = {panel.signal for panel in sent if panel.kind == "lines"}
        charts = [(scene.signals[name].title, str(Spec(name, (host,)))) for name in signals if name in lines]
        if judged or charts:
            yield area, judged, charts[:_MOST_CHARTS]


def _facts(health: HostHealth, scene: Scene, zone: Zone, now: int) -> Iterator[tuple[str, str]]:
    if health.newest is not None:
        ago = duration_text(max(now - health.newest, SECOND) // SECOND * SECOND)
        yield "Last sample", f"{zone.clock(health.newest)} {zone.label(health.newest)}, {ago} ago"
    for _, _, value in read_last_values(scene, Spec(_UPTIME, (health.name,)), scene.start, scene.end)["rows"][:1]:
        yield "Up for", value
    facts = scene.facts(health.name)
    if facts:
        yield "Facts", "; ".join(fact.removesuffix(_AS_SENT) for fact in facts)

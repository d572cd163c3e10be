"""`/hosts/NAME`: how one host is doing, what fires on it, and its signals by area with their limits."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions, silences
from plimsoll.alerting.firing import Incident
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
from plimsoll.pages.health.host_cells import Cell, cells
from plimsoll.pages.shared.alert_rows import incident_rows
from plimsoll.pages.shared.frame import Frame
from plimsoll.up.watched import Watched

_SHOWN = 3600 * SECOND
_NOTED = 86_400 * SECOND
_MOST_CHARTS = 4  # of an area
_UPTIME = "system.uptime"
_AS_SENT = " (from the log)"  # which a host that sends its samples has none of
_MILLISECONDS = 1_000_000


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """The page of each host."""

    def page(request: Request) -> Response:
        name = request.path_params["host"]
        health = next((one for one in watched.health().hosts if one.name.casefold() == name.casefold()), None)
        now = time.time_ns()
        scene = scenes.live(now - _SHOWN, now)
        if health is None and name.casefold() not in {host_key(one) for one in scene.hosts}:
            return frame.missing(request, f"No host {name[:200]} is known.", "Health lists every host that sends data.")
        content = _content(
            watched,
            health or HostHealth(name, HostState.NOT_JUDGED, "sends nothing that is judged"),
            scene,
            frame.zone_of(request),
            now,
        )
        links = frame.links(request)
        return frame.page(
            request,
            "hosts/host.html.j2",
            name,
            **content,
            address=lambda cell: cell.address(links, name),
        )

    return [Route("/hosts/{host:path}", page)]


def _content(watched: Watched, health: HostHealth, scene: Scene, zone: Zone, now: int) -> dict[str, Any]:
    host = host_key(health.name)
    fires = watched.health().firing.of_host.get(host, ())
    alerts = [alert for one in fires for alert in one.alerts]
    own = cells(watched.judged().on(host), alerts, watched.site.catalogue)
    active = silences.active(watched.file, now)
    silenced = [one for one in active if one.host == "*" or one.matches(one.rule, health.name, None)]
    return {
        "host": health,
        "headline": _headline(health, fires),
        "sure": _sure(watched, host, fires),
        "next": fires[0].worst.details.look_at if fires else (),
        "severity": fires[0].severity if fires else "",
        "incidents": incident_rows(fires, active, zone, now),
        "parts": [*_parts(health.name, scene, own)],
        "processes": next((one.worst.details.processes for one in fires if one.worst.details.processes), ()),
        "processes_now": ProcessLines(watched.store.live, watched.site.catalogue.signals)(now, [host]).get(host, ()),
        "facts": [*_facts(health, scene, zone, now)],
        "silences": [(one.rule, zone.clock(one.until), one.reason, one.who) for one in silenced],
        "notes": [
            (zone.clock(one.at), one)
            for one in actions.find_notes(watched.file, now - _NOTED, now)
            if one.concerns({host})
        ],
        "start": "now-1h",
        "end": "now",
        "now": now // _MILLISECONDS,
    }


def _headline(health: HostHealth, fires: Sequence[Incident]) -> str:
    if not fires:
        return f"{health.name}: {health.note or health.state}"
    more = f", and {counted(len(fires) - 1, 'further incident')}" if len(fires) > 1 else ""
    return f"{cause(fires[0].worst)}{more}"


def _sure(watched: Watched, host: str, fires: Sequence[Incident]) -> str:
    found = [certainty(fires[0])] if fires else []
    lacking = unjudged(host, watched.judged(), watched.site.catalogue.signals)
    return " · ".join(one for one in (*found, lacking) if one)


def _parts(
    host: str, scene: Scene, own: Mapping[str, Cell]
) -> Iterator[tuple[Area, Sequence[Cell], Sequence[tuple[str, str]]]]:
    """Yield the areas of which the host sends something, with the cells and the first charts of each."""
    shown: set[str] = set()
    for area in load_areas().areas:
        panels = [one for one in area.panels if not one.drive and one.signal not in shown]
        sent = [one for one in panels if scene.has(Spec(one.signal, (host,)))]
        shown |= {one.signal for one in sent}
        judged = sorted((own[one.signal] for one in sent if one.signal in own), key=lambda cell: cell.place)
        lines = [one for one in sent if one.kind == "lines"]
        first = sorted(
            lines, key=lambda one: (one.signal not in own, own[one.signal].place if one.signal in own else ())
        )
        charts = [(scene.signals[one.signal].title, str(Spec(one.signal, (host,)))) for one in first[:_MOST_CHARTS]]
        if judged or charts:
            yield area, judged, charts


def _facts(health: HostHealth, scene: Scene, zone: Zone, now: int) -> Iterator[tuple[str, str]]:
    if health.newest is not None:
        ago = duration_text(max(now - health.newest, SECOND) // SECOND * SECOND)
        yield "Last sample", f"{zone.clock(health.newest)} {zone.label(health.newest)}, {ago} ago"
    for _, _, value in read_last_values(scene, Spec(_UPTIME, (health.name,)), scene.start, scene.end)["rows"][:1]:
        yield "Up for", value
    facts = scene.facts(health.name)
    if facts:
        yield "Known of it", "; ".join(one.removesuffix(_AS_SENT) for one in facts)

"""The first page: whether all is well, what fires, and the hosts by signals. Its script renews it every 10 s."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.alerting.book import silences
from plimsoll.alerting.health import HostState
from plimsoll.alerting.incidents import incidents
from plimsoll.model.host_key import host_key
from plimsoll.pages.health import words as health_words
from plimsoll.pages.health.cell_links import address
from plimsoll.pages.health.host_cells import Cell, cells, shown
from plimsoll.pages.health.host_table import Row, host_table
from plimsoll.pages.health.recent_values import RecentValues
from plimsoll.pages.health.sparkline import Sparkline
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.html.gauge import water
from plimsoll.up.watched import Watched

_MOST_ALERTS = 10


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The page, and the part of it that is renewed."""
    recent = RecentValues(watched)

    def page(request: Request) -> Response:
        content = _content(watched, frame, recent, request)
        return frame.page(request, "health/health.html.j2", content["mark"], **content)

    def part(request: Request) -> Response:
        content = _content(watched, frame, recent, request)
        text = frame.fragment("health/health_now.html.j2", links=frame.links(request), **content)
        return HTMLResponse(text.encode(errors="replace"))

    return [Route("/", page), Route("/api/health", part)]


def _content(watched: Watched, frame: Frame, recent: RecentValues, request: Request) -> dict[str, Any]:
    now, zone, links = time.time_ns(), frame.zone_of(request), frame.links(request)
    health, catalogue = watched.health(), watched.site.catalogue
    silent = {host_key(one.name) for one in health.hosts if one.state == HostState.SILENT}
    judged = recent.follow(health.evaluated, shown(watched.judged()), silent) if health.evaluated else {}
    table = host_table(health.hosts, health.alerts, cells(judged, health.alerts, catalogue), catalogue)
    found, silenced = incidents(health.alerts), silences.active(watched.file, now)
    alerts = [one.worst for one in found]

    def sparkline(cell: Cell) -> Sparkline | None:
        return recent.sparkline(cell.key, cell.healthy.limit if cell.healthy else None)

    def words(cell: Cell, row: Row) -> list[str]:
        newest = row.newest if row.grade == "silent" else recent.newest(cell.key)
        return health_words.of_cell(cell, newest, now)

    return {
        "health": health,
        "mark": health_words.mark(health, alerts),
        "standing": health_words.standing(health, alerts),
        "water": water(table.level),
        "basis": health_words.basis(health, zone, now),
        "as_of": health_words.as_of(health, zone, now),
        "alerts": [health_words.fires(one, silenced, now) for one in found[:_MOST_ALERTS]],
        "more": len(found[_MOST_ALERTS:]),
        "table": table,
        "data": health_words.data(health),
        "is_wall": "wall" in request.query_params,
        "sparkline": sparkline,
        "words": words,
        "figure": health_words.figure,
        "limit": health_words.limit,
        "address": lambda cell, host: address(links, cell, host),
    }

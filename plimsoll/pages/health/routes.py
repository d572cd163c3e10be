"""The first page: whether all is well, what fires, and the hosts by signals. Its script renews it every 10 s."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.alerting import silences
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.rule_targets import Key
from plimsoll.model.series import host_key
from plimsoll.pages.health import words
from plimsoll.pages.health.choice import STEP, Choice
from plimsoll.pages.health.host_cells import Cell
from plimsoll.pages.health.host_table import Hosts, HostTable, Row, Tile, host_table
from plimsoll.pages.health.latest_health import LatestHealth
from plimsoll.pages.health.sparkline import Sparkline
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.html.gauge import water
from plimsoll.up.watched import Watched

_MOST_ALERTS = 5
_MOST_ON_WALL = 3
# How many tiles of each size fit a screen of 16 by 9, below three incidents.
_TILES = (("xl", 30), ("l", 96), ("m", 240), ("s", 576))


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the page, and the part of it that is renewed."""
    latest = LatestHealth(watched)

    def page(request: Request) -> Response:
        content = _content(watched, frame, latest, request)
        return frame.page(request, "health/health.html.j2", content["mark"], **content)

    def part(request: Request) -> Response:
        content = _content(watched, frame, latest, request)
        text = frame.fragment("health/health_now.html.j2", links=frame.links(request), **content)
        return HTMLResponse(text.encode(errors="replace"))

    return [Route("/", page), Route("/api/health", part)]


def _content(watched: Watched, frame: Frame, latest: LatestHealth, request: Request) -> dict[str, Any]:
    now, zone, links = time.time_ns(), frame.zone_of(request), frame.links(request)
    health, hosts = latest.hosts()
    choice, is_wall = Choice.of(request.query_params), "wall" in request.query_params
    table = host_table(hosts, choice, watched.site.catalogue)
    incidents, active = health.firing.incidents, silences.active(watched.file, now)
    alerts = [incident.worst for incident in incidents]
    shown = incidents[: _MOST_ON_WALL if is_wall else _MOST_ALERTS]
    labels = {(name, value) for own in hosts.labels.values() for name, value in own.items()}

    def describe(cell: Cell, row: Row) -> list[str]:
        newest = row.newest if row.grade == "silent" else latest.newest(cell.key)
        return [*words.describe_cell(cell, newest, now)]

    return {
        "health": health,
        "mark": words.mark(health, alerts),
        "standing": words.standing(health, alerts),
        "water": water(table.level),
        "basis": [*words.basis(health, zone, now)],
        "as_of": words.as_of(health, zone, now),
        "alerts": [words.fires(incident, active, _lacking(incident, hosts), now) for incident in shown],
        "more": len(incidents) - len(shown),
        "table": table,
        "choice": choice,
        "labels": sorted(f"{name}={value}" for name, value in labels),
        "label_names": sorted({name for name, _ in labels}),
        "next_rows": choice.rows + STEP,
        "own_address": f"{request.url.scheme}://{request.url.netloc}",
        "data": words.data(health),
        "is_wall": is_wall,
        "wall": _tiles(table) if is_wall else None,
        "lines": _lines(table, latest),
        "words": describe,
        "address": lambda cell, host: cell.address(links, host),
    }


def _lines(table: HostTable, latest: LatestHealth) -> Mapping[Key, Sparkline | None]:
    """Return the sparklines of all cells that are shown, by the rule that each is about."""
    cells = [cell for row in table.rows for cell in (*row.cells, *row.others) if cell and cell.standing != "none"]
    keys = [(cell.key, cell.healthy.limit if cell.healthy else None) for cell in cells]
    return {cell.key: line for cell, line in zip(cells, latest.sparklines(keys), strict=True)}


def _tiles(table: HostTable) -> tuple[str, Sequence[Tile], int]:
    """Return the size of the tiles on the wall, those that fit the screen, the worst first, and how many do not."""
    most = _TILES[-1][1]
    size = next((size for size, fits in _TILES if len(table.tiles) <= fits), _TILES[-1][0])
    return size, table.tiles[:most], len(table.tiles[most:])


def _lacking(incident: Incident, hosts: Hosts) -> str:
    """Return what is not judged on the host of an incident."""
    alert = incident.worst
    return hosts.judged.lacking(host_key(alert.host)) if alert.kind == "rule" else ""

"""The health page: the health answer, the incidents, and the host table. A script reloads it every 10 s."""

import time
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.alerting import silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.health import Health, HealthAnswer, HostState
from plimsoll.alerting.rule_targets import Key
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import describe_cause, describe_state, name_quantity
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_value, number
from plimsoll.pages.health.host_cells import CROSSED, HostCell
from plimsoll.pages.health.host_table import STEP, HostChoice, HostRow, HostTable, Tile
from plimsoll.pages.health.judged_hosts import JudgedHosts
from plimsoll.pages.health.latest_health import LatestHealth
from plimsoll.pages.health.sparkline import Sparkline
from plimsoll.pages.shared.frame import Frame
from plimsoll.report.html.gauge import draw_water
from plimsoll.up.watched import Watched

_OLD = 120 * SECOND  # the last evaluation is usually 30 to 40 s old, to wait for late samples
_MINUTE = 60 * SECOND
_MOST_ALSO = 3
_STANDINGS = {HealthAnswer.HEALTHY: "healthy", HealthAnswer.NO_ALERT: "pending"}
_MOST_ALERTS = 3
# The number of tiles of each size that fit a 16:9 screen below three incidents.
_TILES = (("xl", 30), ("l", 96), ("m", 240), ("s", 576))


def list_routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the routes of the health page, and of the part of the page that its script reloads."""
    latest = LatestHealth(watched)

    def page(request: Request) -> Response:
        content = _build_content(watched, frame, latest, request)
        return frame.page(request, "health/health.html.j2", content["mark"], **content)

    def part(request: Request) -> Response:
        content = _build_content(watched, frame, latest, request)
        text = frame.fragment("health/health_now.html.j2", links=frame.links(request), **content)
        return HTMLResponse(text.encode(errors="replace"))

    return [Route("/", page), Route("/api/health", part)]


def _build_content(watched: Watched, frame: Frame, latest: LatestHealth, request: Request) -> dict[str, Any]:
    """Return the variables of the templates of the page and of the part that its script reloads."""
    now, zone, links = time.time_ns(), frame.zone_of(request), frame.links(request)
    health, hosts = latest.hosts()
    choice, is_wall = HostChoice.of(request.query_params), "wall" in request.query_params
    as_of = zone.clock(health.evaluated) if health.evaluated and now - health.evaluated > _OLD else ""
    incidents, active = health.firing.incidents, silences.read_active_silences(watched.file, now)
    alerts = [incident.worst for incident in incidents]
    shown = incidents[:_MOST_ALERTS]
    labels = {(name, value) for label in hosts.labels.values() for name, value in label.items()}

    def describe(cell: HostCell, row: HostRow) -> list[str]:
        newest = row.newest if row.grade == "silent" else latest.newest(cell.key)
        return [*describe_cell(cell, newest, now)]

    def render(table: HostTable, lines: Mapping[Key, Sparkline | None]) -> str:
        if is_wall:
            return ""
        content = {"links": links, "table": table, "lines": lines, "as_of": as_of, "words": describe}
        return frame.fragment("health/host_rows.html.j2", **content)

    table, rows = latest.table(hosts, choice, render, (links.kept_zone, is_wall, as_of, now // _MINUTE))
    return {
        "health": health,
        "mark": mark(health, alerts),
        "standing": alerts[0].severity if alerts else _STANDINGS.get(health.answer, "none"),
        "water": draw_water(table.level),
        "basis": [*list_basis(health, zone, now)],
        "as_of": as_of,
        "alerts": [describe_incident(incident, active, hosts.judged, now) for incident in shown],
        "more": len(incidents) - len(shown),
        "table": table,
        "rows": Markup(rows),
        "choice": choice,
        "labels": sorted(f"{name}={value}" for name, value in labels),
        "label_names": sorted({name for name, _ in labels}),
        "next_rows": choice.rows + STEP,
        "own_address": f"{request.url.scheme}://{request.url.netloc}",
        "data": list_data(health),
        "is_wall": is_wall,
        "wall": _fit_tiles(table) if is_wall else None,
    }


def _fit_tiles(table: HostTable) -> tuple[str, Sequence[Tile], int]:
    """Return the size of the wall view's tiles, the tiles that fit (worst first), and how many do not fit."""
    most = _TILES[-1][1]
    size = next((size for size, fits in _TILES if len(table.tiles) <= fits), _TILES[-1][0])
    return size, table.tiles[:most], len(table.tiles[most:])


def mark(health: Health, alerts: Sequence[Alert]) -> str:
    """Return the title of the browser window: counts of alerts (`◆ 2 ▲ 1`), or the health answer if no alert fires."""
    severities = [alert.severity for alert in alerts]
    counts = [(symbol, severities.count(severity)) for symbol, severity in (("◆", "critical"), ("▲", "warning"))]
    return " ".join(f"{symbol} {count}" for symbol, count in counts if count) or health.answer


def list_basis(health: Health, zone: Zone, now: int) -> Iterator[str]:
    """Yield sentences on what the health answer rests on, and on the age of the last evaluation."""
    if health.basis:
        yield health.basis
    silent = sum(host.state == HostState.SILENT for host in health.hosts)
    if silent:
        yield f"{format_count(silent, 'host')} silent"
    if health.evaluated:
        yield f"evaluated at {zone.clock(health.evaluated, date=False)} {zone.label(health.evaluated)}"
    newest = max((host.newest for host in health.hosts if host.newest), default=None)
    if newest:
        yield f"last sample {_format_length(now - newest)} ago"


def describe_incident(incident: Incident, silences: Sequence[Silence], judged: JudgedHosts, now: int) -> dict[str, Any]:
    """Return the template variables of an incident, which counts as silenced if all of its alerts are."""
    alert, sure = incident.worst, judged.confidence(incident)
    return {
        "alert": alert,
        "cause": describe_cause(alert),
        "sentence": describe_state(alert),
        "sure": sure,
        "lasts": f"{_format_length(now - alert.fired_at)} ago",
        "facts": [*_list_facts(incident, sure)],
        "silenced": _describe_silence(incident, silences),
    }


def _describe_silence(incident: Incident, silences: Sequence[Silence]) -> str:
    """Return who silenced an incident, and why; empty unless all of its alerts are silenced."""
    holding = [
        next((silence for silence in silences if silence.matches(alert.rule, alert.host, alert.instance)), None)
        for alert in incident.alerts
    ]
    reasons = dict.fromkeys(f"{silence.who}: {silence.reason}" for silence in holding if silence)
    return "; ".join(reasons) if all(holding) else ""


def _list_facts(incident: Incident, sure: str) -> Iterator[str]:
    """Yield texts on an incident: worst value, other limits, and signals to look at that `sure` omits."""
    alert = incident.worst
    if alert.kind == "rule" and not isnan(alert.worst):
        yield f"at worst {format_value(alert.worst, alert.details.unit)}"
    if incident.other_alerts:
        also = [
            name
            for name in dict.fromkeys(name_quantity(other) for other in incident.other_alerts)
            if name != name_quantity(alert)
        ]
        yield (
            f"also {join_names(also, _MOST_ALSO)}"
            if also
            else f"{format_count(len(incident.other_alerts), 'further limit')} crossed"
        )
    if alert.acked_at:
        yield f"acknowledged by {alert.acked_by}" if alert.acked_by else "acknowledged"
    if titles := [title for title in alert.details.look_at if title not in sure][:_MOST_ALSO]:
        yield f"look at {', '.join(titles)}"


def describe_cell(cell: HostCell, newest: int | None, now: int) -> Iterator[str]:
    """Yield the lines of text below a cell's value. `newest` is the time of the cell's last value (UTC ns)."""
    crossed = f"for {_format_length(now - cell.since)}" if cell.since else ""
    if cell.alert and cell.alert.kind == "flapping":
        yield "flapping"
    elif cell.standing in CROSSED:
        yield crossed
        if cell.ends:
            yield f"passed its limit, ends when {cell.ends}"
    elif cell.standing == "none" and newest:
        yield f"for {_format_length(now - newest)}"
    if cell.alert and cell.alert.stale:
        yield "no data now"
    if cell.crossed:
        yield f"{number(cell.crossed)} more crossed"
    if cell.silent and cell.standing != "none":
        yield f"{number(cell.silent)} without data"


def list_data(health: Health) -> list[str]:
    """Return texts on how many values arrive, where they are stored, and their size on disk."""
    size = format_value(health.store_bytes, "bytes") if health.store_bytes else ""
    parts = [f"{format_count(health.points_a_minute, 'value')} in the last minute", health.store, size]
    if health.info:
        parts.append(f"{format_count(health.info, 'alert')} of severity info")
    return [part for part in parts if part]


def _format_length(length: int) -> str:
    """Return a duration (ns) as text, in whole minutes, or in seconds if it is shorter than a minute."""
    step = SECOND if length < _MINUTE else _MINUTE
    return format_duration(max(length // step, 1) * step)

"""The dashboards of the pages, built from the definitions (`areas.yaml`) that Grafana's are exported from."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.alerting.firing import group_incidents, load_firing
from plimsoll.alerting.wording import describe_cause
from plimsoll.dashboards.areas import Area, PanelSpec, RowSpec, load_areas
from plimsoll.model.errors import Unusable
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scene, Scenes
from plimsoll.pages.charts.signal_values import draw_signals
from plimsoll.pages.dashboards import explore
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import MILLISECOND, RangePicker
from plimsoll.up.watched import Watched

_MOST_OFFERED = 500
_MOST_HOSTS = 50  # in an address
_LAST_VALUES = 900 * SECOND  # a last value is looked for so long before the end
_MOST_VALUES = 50  # rows of a table


@dataclass(frozen=True)
class Panel:
    """A panel of a dashboard: its definition in `areas.yaml`, its title, and the spec of its chart."""

    spec: PanelSpec
    title: str
    chart: str


def list_routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the routes of the dashboards, of their table data, and of the Explore page."""

    def listing(request: Request) -> Response:
        open_incidents = group_incidents(
            alert for alert in load_firing(watched.file).all_alerts if alert.severity != "info"
        )
        span = RangePicker.of(request, frame.zone_of(request)).chosen
        areas = [
            (area, [incident for incident in open_incidents if signals & {alert.signal for alert in incident.alerts}])
            for area in _list_areas(scenes.live(span.start, span.end))
            if (signals := {panel.signal for panel in area.panels})
        ]
        return frame.page(request, "dashboards/dashboards.html.j2", "Dashboards", areas=areas, cause=describe_cause)

    def dashboard(request: Request) -> Response:
        """Return the page of a dashboard."""
        area = next((area for area in load_areas().areas if area.area == request.path_params["area"]), None)
        if area is None:
            return frame.missing(request, "There is no such dashboard.", "Dashboards lists all of them.")
        picker = RangePicker.of(request, frame.zone_of(request))
        hosts = tuple(host for host in request.query_params.getlist("host") if host)[:_MOST_HOSTS]
        scene = scenes.live(picker.chosen.start, picker.chosen.end)
        missing: list[str] = []
        rows = [*_list_rows(area, scene, hosts, missing)]
        return frame.page(
            request,
            "dashboards/dashboard.html.j2",
            area.title,
            area=area,
            areas=_list_areas(scene, area),
            rows=rows,
            missing=missing,
            hosts=HostPicker(request, scene.hosts, hosts),
            picker=picker,
            now=time.time_ns() // MILLISECOND,
        )

    def table(request: Request) -> Response:
        span = RangePicker.of(request, frame.zone_of(request)).chosen
        content: dict[str, Any] = {"problem": ""}
        try:
            spec = Spec.parse(request.query_params.get("chart", ""))
            content |= read_last_values(scenes.live(span.start, span.end), spec, span.start, span.end)
        except Unusable as error:
            content["problem"] = str(error)
        return HTMLResponse(frame.fragment("dashboards/table.html.j2", **content))

    return [
        Route("/dashboards", listing),
        Route("/dashboards/{area}", dashboard),
        Route("/api/table", table),
        *explore.list_routes(frame, scenes),
    ]


@dataclass(frozen=True)
class HostPicker:
    """The list of all hosts on a dashboard, and the hosts chosen in the URL (`chosen`; empty means all)."""

    request: Request
    hosts: Sequence[str]
    chosen: Sequence[str]

    @property
    def words(self) -> str:
        """The names of the chosen hosts as text, such as `WEB1, WEB2`; `All hosts (12)` if none is chosen."""
        if not self.chosen:
            return f"All hosts ({len(self.hosts)})"
        first = ", ".join(self.chosen[:3])
        return f"{first} and {len(self.chosen) - 3} more" if len(self.chosen) > 3 else first

    @property
    def offered(self) -> list[tuple[str, str, bool]]:
        """The hosts in the list: name, link to this dashboard for this host alone, and whether the host is chosen."""
        chosen = {*map(make_host_key, self.chosen)}
        absent = [host for host in self.chosen if make_host_key(host) not in {*map(make_host_key, self.hosts)}]
        offered = [*absent, *self.hosts][:_MOST_OFFERED]
        return [(host, self.link([host]), make_host_key(host) in chosen) for host in offered]

    @property
    def left_out(self) -> int:
        """The number of hosts left out because the list is full; a URL can still name them."""
        return max(0, len(self.hosts) - _MOST_OFFERED)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The names and values of all URL parameters but `host`, for hidden fields of a form."""
        return [(name, value) for name, value in self.request.query_params.multi_items() if name != "host"]

    def area(self, name: str) -> str:
        """Return the link to the dashboard `name` with the same hosts and time range."""
        query = urlencode(self.request.query_params.multi_items())
        return f"/dashboards/{name}?{query}" if query else f"/dashboards/{name}"

    def link(self, hosts: Sequence[str]) -> str:
        """Return the link to this dashboard for these hosts; for all hosts if `hosts` is empty."""
        query = urlencode([*self.kept, *(("host", host) for host in hosts)])
        return f"?{query}" if query else self.request.url.path


def read_last_values(scene: Scene, spec: Spec, start: int, end: int) -> dict[str, Any]:
    """Return the template variables of a table: the last value of each host and instance, worst first.

    Only the last 15 minutes of the range are searched. Raise Unusable if the signal is not in the catalogue.
    """
    if spec.signal not in scene.signals:
        raise Unusable(f'No signal is named "{spec.signal}".')
    signal, sources = scene.signals[spec.signal], scene.find(spec)
    start = max(start, end - _LAST_VALUES)
    lines = draw_signals(scene.store, [source.origin for source in sources], start, end, 1)
    values = [
        (float(line.samples.present.values[-1]), source.subject)
        for source, line in zip(sources, lines, strict=True)
        if line.count
    ]
    values.sort(key=lambda pair: pair[0], reverse=signal.worse != "lower")
    rows = [
        (subject.host, subject.instance or "", format_value(at, signal.unit)) for at, subject in values[:_MOST_VALUES]
    ]
    return {"rows": rows, "more": len(values) - len(rows), "reach": format_duration(end - start)}


def _list_areas(scene: Scene, opened: Area | None = None) -> list[Area]:
    """Return the dashboards to list.

    A dashboard is listed if a host has its signals, or if it is the `opened` dashboard.
    """
    return [
        area
        for area in load_areas().areas
        if area == opened or any(scene.has(Spec(panel.signal, (), drive=panel.drive)) for panel in area.panels)
    ]


def _list_rows(
    area: Area, scene: Scene, hosts: tuple[str, ...], missing: list[str]
) -> Iterator[tuple[RowSpec, Sequence[Panel]]]:
    """Yield each row of a dashboard with the panels for which a chosen host has data.

    The titles of panels without data are added to `missing`, except those of a collapsed row without any data: such a
    row is for a server role that no host has.
    """
    for row in area.rows:
        drawn: list[Panel] = []
        without: list[str] = []
        for panel in row.panels:
            signal = scene.signals[panel.signal]
            title = f"{signal.title}, disks of the {panel.drive}" if panel.drive else signal.title
            spec = Spec(panel.signal, hosts, drive=panel.drive)
            if scene.has(spec):
                drawn.append(Panel(panel, title, str(spec)))
            else:
                without.append(title)
        if drawn or not row.collapsed:
            missing += without
        if drawn:
            yield row, drawn

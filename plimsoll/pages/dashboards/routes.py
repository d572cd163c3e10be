"""The dashboards, from the definitions that those of Grafana are exported from; and charts that an address names."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from plimsoll.alerting.causes import cause
from plimsoll.alerting.firing import firing
from plimsoll.alerting.incidents import Incident, incidents
from plimsoll.dashboards.areas import Area, PanelSpec, RowSpec, load_areas
from plimsoll.model.errors import Unusable
from plimsoll.model.host_key import host_key
from plimsoll.pages.charts.chart_spec import Spec, parse_lines
from plimsoll.pages.charts.hosts_in_range import Scene, Scenes
from plimsoll.pages.dashboards.last_values import last_values
from plimsoll.pages.dashboards.range_picker import RangePicker
from plimsoll.pages.shared.frame import Frame
from plimsoll.up.watched import Watched

_MOST_OFFERED = 500
_MOST_HOSTS = 50  # in an address
_MILLISECONDS = 1000


@dataclass(frozen=True)
class Panel:
    """A panel that is drawn: its spec in `areas.yaml`, its title, and what its chart shows."""

    spec: PanelSpec
    title: str
    chart: str


@dataclass(frozen=True)
class Row:
    """A row of panels."""

    row: RowSpec
    panels: Sequence[Panel]


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """The pages."""

    def listing(request: Request) -> Response:
        fires = incidents(one for one in firing(watched.file).every if one.severity != "info")
        chosen = RangePicker.of(request, frame.zone_of(request)).chosen
        shown = _listed(scenes.live(chosen.start, chosen.end))
        areas = [(area, [one for one in fires if _shows(area, one)]) for area in shown]
        return frame.page(request, "dashboards/dashboards.html.j2", "Dashboards", areas=areas, cause=cause)

    def dashboard(request: Request) -> Response:
        area = next((one for one in load_areas().areas if one.area == request.path_params["area"]), None)
        if area is None:
            return frame.missing(request, "There is no such dashboard.", "Dashboards lists all of them.")
        picker = RangePicker.of(request, frame.zone_of(request))
        hosts = tuple(one for one in request.query_params.getlist("host") if one)[:_MOST_HOSTS]
        scene = scenes.live(picker.chosen.start, picker.chosen.end)
        missing: list[str] = []
        rows = [*_rows(area, scene, hosts, missing)]
        return frame.page(
            request,
            "dashboards/dashboard.html.j2",
            area.title,
            area=area,
            areas=_listed(scene, area),
            rows=rows,
            missing=missing,
            hosts=HostPicker(request, scene.hosts, hosts),
            picker=picker,
            now=round(time.time() * _MILLISECONDS),
        )

    def charts(request: Request) -> Response:
        picker = RangePicker.of(request, frame.zone_of(request))
        titles = [(text, _title(scenes, text)) for text in request.query_params.getlist("chart")[:_MOST_HOSTS]]
        now = round(time.time() * _MILLISECONDS)
        return frame.page(request, "dashboards/charts.html.j2", "Charts", charts=titles, picker=picker, now=now)

    def table(request: Request) -> Response:
        picker = RangePicker.of(request, frame.zone_of(request))
        try:
            spec = Spec.parse(request.query_params.get("chart", ""))
            scene = scenes.live(picker.chosen.start, picker.chosen.end)
            found = last_values(scene, spec, picker.chosen.start, picker.chosen.end)
        except Unusable as error:
            return HTMLResponse(frame.fragment("dashboards/table.html.j2", found=None, problem=str(error)))
        return HTMLResponse(frame.fragment("dashboards/table.html.j2", found=found, problem=""))

    return [
        Route("/dashboards", listing),
        Route("/dashboards/{area}", dashboard),
        Route("/charts", charts),
        Route("/api/table", table),
    ]


@dataclass(frozen=True)
class HostPicker:
    """The hosts to choose from, and those that the address names; none means all."""

    request: Request
    known: Sequence[str]
    chosen: Sequence[str]

    @property
    def words(self) -> str:
        """The chosen hosts."""
        if not self.chosen:
            return f"All hosts ({len(self.known)})"
        first = ", ".join(self.chosen[:3])
        return f"{first} and {len(self.chosen) - 3} more" if len(self.chosen) > 3 else first

    @property
    def offered(self) -> list[tuple[str, str, bool]]:
        """Each host, the link that shows it alone, and whether it is chosen."""
        chosen = {host_key(host) for host in self.chosen}
        absent = [one for one in self.chosen if one.casefold() not in {host_key(host) for host in self.known}]
        offered = [*absent, *self.known][:_MOST_OFFERED]
        return [(host, self._link([host]), host_key(host) in chosen) for host in offered]

    @property
    def more(self) -> int:
        """How many hosts are not offered; their names can be given in the address."""
        return max(0, len(self.known) - _MOST_OFFERED)

    @property
    def all(self) -> str:
        """The link that shows all hosts."""
        return self._link([])

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The other parameters of the address, for hidden fields of a form."""
        return [(name, value) for name, value in self.request.query_params.multi_items() if name != "host"]

    def area(self, name: str) -> str:
        """The link to another dashboard with the same hosts and range."""
        query = urlencode(self.request.query_params.multi_items())
        return f"/dashboards/{name}?{query}" if query else f"/dashboards/{name}"

    def _link(self, hosts: Sequence[str]) -> str:
        query = urlencode([*self.kept, *(("host", host) for host in hosts)])
        return f"?{query}" if query else self.request.url.path


def _listed(scene: Scene, opened: Area | None = None) -> list[Area]:
    """The dashboards that are listed: those of roles only where a host has any of their signals, or if it is open."""

    def has_any(area: Area) -> bool:
        return any(scene.has(Spec(panel.signal, (), drive=panel.drive)) for panel in area.panels)

    return [area for area in load_areas().areas if not area.a_role or area == opened or has_any(area)]


def _rows(area: Area, scene: Scene, hosts: tuple[str, ...], missing: list[str]) -> Iterator[Row]:
    """The rows with the panels that any chosen host has data for; the titles of the others are added to `missing`.

    A collapsed row without any is that of a role that no host has, and not missed.
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
            yield Row(row, drawn)


def _shows(area: Area, incident: Incident) -> bool:
    return any(panel.signal == alert.signal for panel in area.panels for alert in incident.alerts)


def _title(scenes: Scenes, text: str) -> str:
    """The title of a chart that an address names."""
    try:
        spec = parse_lines(text)[0]
    except Unusable:
        return text
    signal = scenes.signals.get(spec.signal)
    return " · ".join(
        [signal.title if signal else spec.signal, *spec.hosts[:3], *([spec.instance] if spec.instance else [])]
    )

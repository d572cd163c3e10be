"""The frame of every page: the base template, the navigation, and the time zone."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import quote, unquote, urlencode
from zoneinfo import ZoneInfo

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_value
from plimsoll.pages.shared.form_words import replace_options_by_fields
from plimsoll.report.html.templates import make_environment
from plimsoll.rules.wording import MARKS
from plimsoll.serve.principals import find_person

NAVIGATION = (
    ("/", "Health"),
    ("/dashboards", "Dashboards"),
    ("/explore", "Explore"),
    ("/alerts", "Alerts"),
    ("/runs", "Runs"),
    ("/rules", "Rules"),
)
_UTC = Zone.parse("UTC")


@dataclass(frozen=True)
class Frame:
    """The frame of the pages. `zone` is the time zone from up.toml.

    The URL (`?zone=Europe/Berlin`), else a cookie, can choose another time zone for a request.
    """

    zone: Zone

    def page(
        self, request: Request, template: str, title: str, status: HTTPStatus = HTTPStatus.OK, **content: Any
    ) -> Response:
        """Return a page from a template that extends `shared/base.html.j2`."""
        text = self.part(request, template, title=title, person=find_person(request), **content)
        return HTMLResponse(text.encode(errors="replace"), status)

    def part(self, request: Request, template: str, **content: Any) -> str:
        """Render a page, or a part of a page, with the navigation, and with links that keep the zone of the request."""
        zone = self.zone_of(request)
        links = self.links(request)
        page = _make_environment().get_template(template)
        return replace_options_by_fields(page.render(zone=zone, links=links, navigation=NAVIGATION, **content))

    def fragment(self, template: str, **content: Any) -> str:
        """Render a part of a page without navigation and links, for a script to insert."""
        return replace_options_by_fields(_make_environment().get_template(template).render(**content))

    def links(self, request: Request) -> "Links":
        """Return links that keep the zone of a request."""
        return Links(request, self.zone_of(request), self.zone)

    def missing(self, request: Request, text: str, hint: str) -> Response:
        """Return a page with status 404. `text` says what does not exist, `hint` where to look."""
        return self.page(request, "shared/missing.html.j2", "Not found", HTTPStatus.NOT_FOUND, text=text, hint=hint)

    def zone_of(self, request: Request) -> Zone:
        """Return the zone in the address, else in the browser's cookie; if neither is valid, the zone of up.toml."""
        name = request.query_params.get("zone") or unquote(request.cookies.get("zone", ""))
        try:
            return Zone.parse(name) if name else self.zone
        except Unusable:
            return self.zone


@dataclass(frozen=True)
class Links:
    """Makes links that keep the time zone of the request; `usual` is the time zone from up.toml."""

    request: Request
    zone: Zone
    usual: Zone

    def to(self, path: str, **parameters: str | int | None) -> str:
        """Return the link to a path with the parameters that are not None, and with the zone of the request."""
        chosen = {"zone": self.kept_zone} if self.kept_zone else {}
        texts = {name: str(value) for name, value in parameters.items() if value is not None}
        query = urlencode({**texts, **chosen}, errors="replace")
        return f"{path}?{query}" if query else path

    def kept(self, address: str) -> str:
        """Return a URL of this server with the time zone of the request, if the request chose a zone."""
        zone = urlencode({"zone": self.kept_zone}) if self.kept_zone else ""
        return f"{address}{'&' if '?' in address else '?'}{zone}" if zone else address

    @property
    def here(self) -> str:
        """The path and query of the request."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @property
    def kept_zone(self) -> str:
        """The name of the request's zone, for links and hidden form fields; empty if it is the usual zone."""
        return self.zone.name if self.zone != self.usual else ""

    def is_current(self, path: str) -> bool:
        """Return whether the request is for `path`, or below it; for marking the current entry of the navigation."""
        text = self.request.url.path
        return text == path or (path != "/" and text.startswith(f"{path}/"))

    @property
    def zones(self) -> list[tuple[str, str, bool]]:
        """The zones to choose from: name, link to this page in the zone, and whether it is the request's zone."""
        kept = [(name, value) for name, value in self.request.query_params.multi_items() if name != "zone"]
        zones = {zone.name: zone for zone in (self.usual, _UTC, self.zone)}
        return [(name, f"?{urlencode([*kept, ('zone', name)])}", zone == self.zone) for name, zone in zones.items()]


def find_browser_zone(zone: Zone) -> str:
    """Return a zone's name for browsers: an IANA name, or an offset to UTC."""
    return zone.rule.key if isinstance(zone.rule, ZoneInfo) else zone.rule.tzname(datetime.now(zone.rule)) or "UTC"


@cache
def _make_environment() -> Environment:
    names = {"symbols": MARKS, "iana": find_browser_zone, "quantity": format_value, "run_path": run_path}
    return make_environment(read_asset, names)


def read_asset(name: str) -> str:
    """Return the text of a file below the folder plimsoll/pages, such as a style or a script."""
    return files("plimsoll.pages").joinpath(name).read_text(encoding="utf-8")


def run_path(name: str) -> str:
    """Return the address of a run's page.

    A name of dots only, such as `..`, is put in the query, as browsers would resolve it in a path.
    """
    return f"/runs/{quote(name, safe='')}" if name.strip(".") else f"/runs/show?{urlencode({'run': name})}"

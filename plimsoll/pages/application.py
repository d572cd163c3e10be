"""The routes of all pages of `plimsoll up`."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from plimsoll.pages.alerts import routes as alerts
from plimsoll.pages.charts import routes as chart_api
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.dashboards import routes as dashboards
from plimsoll.pages.finding import routes as finding
from plimsoll.pages.health import routes as health
from plimsoll.pages.hosts import routes as hosts
from plimsoll.pages.http_api import api_application as http_api
from plimsoll.pages.notes import routes as notes
from plimsoll.pages.record import routes as record
from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.rules import routes as rules
from plimsoll.pages.runs import routes as runs
from plimsoll.pages.shared import static_files
from plimsoll.pages.shared.forms import keep_own_address, redirect_to
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.uploads import routes as uploads
from plimsoll.serve.access import LOGIN
from plimsoll.up.watched import Watched

_LEAST_PACKED = 1000  # bytes
_EFFORT = 3  # a page of many hosts becomes 8 times smaller, in a few ms


def list_routes(watched: Watched) -> Sequence[BaseRoute]:
    """Return the routes of all pages and of the data that their scripts request."""
    frame, scenes, reviews = Frame(watched.zone), Scenes(watched), RunReviews(watched)

    def missing(request: Request) -> Response:
        text = f"There is no page {request.url.path[:200]}."
        return frame.missing(request, text, "The links above lead to all pages.")

    all_routes: list[Route] = [
        *static_files.list_routes(),
        *health.list_routes(watched, frame),
        *hosts.list_routes(watched, frame, scenes),
        *finding.list_routes(watched, frame),
        *notes.list_routes(watched, frame),
        *record.list_routes(watched, frame),
        # The password has been checked before.
        Route(LOGIN, lambda request: redirect_to(keep_own_address(request.query_params.get("back", "")))),
        *http_api.list_routes(watched, frame, scenes, reviews),
        *alerts.list_routes(watched, frame, scenes),
        *rules.list_routes(watched, frame),
        *chart_api.list_routes(watched, frame, scenes),
        *dashboards.list_routes(watched, frame, scenes),
        *runs.list_routes(watched, frame, reviews),
        *uploads.list_routes(watched, frame, reviews),
        _ForBrowsers("/{path:path}", missing),
    ]
    for route in all_routes:
        route.app = GZipMiddleware(route.app, _LEAST_PACKED, _EFFORT)
    return all_routes


class _ForBrowsers(Route):
    """A route for requests that accept HTML, except below `/api/`.

    Paths that end in a slash do not match either, so that Starlette redirects them to the path without the slash.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope["path"]
        is_page = scope["type"] == "http" and not path.startswith("/api/") and not path.endswith("/")
        if not is_page or "text/html" not in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        match, child = super().matches(scope)
        return (match, child) if match is Match.FULL else (Match.NONE, {})

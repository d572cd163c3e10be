"""`GET /api/charts`: the data of charts, for static/live_charts.js."""

import json
from collections.abc import Sequence
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.alerting import host_inventory
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.pages.charts.chart_data import LEAST_COLUMNS, MOST_COLUMNS, Ask, encoded
from plimsoll.pages.charts.chart_spec import parse_lines
from plimsoll.pages.charts.drawing import Drawing
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.shared.form_words import with_fields
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import TimeRange
from plimsoll.up.watched import Watched

_MOST_CHARTS = 60
_USUAL_COLUMNS = 1000


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """The route."""

    def charts(request: Request) -> Response:
        asked = request.query_params
        try:
            specs = [parse_lines(one) for one in asked.getlist("chart")[:_MOST_CHARTS]]
            ask = _ask(request, frame, [one.host for one in host_inventory.hosts(watched.file)])
            contents = Drawing(scenes, watched.file, ask).contents(specs)
        except Unusable as error:
            return JSONResponse({"error": with_fields(str(error))}, HTTPStatus.BAD_REQUEST)
        except Unreachable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        text = json.dumps(encoded(contents, ask), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/api/charts", charts)]


def _ask(request: Request, frame: Frame, hosts: Sequence[str]) -> Ask:
    """The range, width and zone of a request. Without a range it is the last hour."""
    asked, zone = request.query_params, frame.zone_of(request)
    columns = asked.get("width", "")
    columns = int(columns) if columns.isdecimal() and len(columns) < 6 else _USUAL_COLUMNS
    columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, columns))
    chosen = TimeRange.parse(asked.get("from"), asked.get("to"), zone)
    return Ask(chosen.start, chosen.end, columns, zone, hosts)

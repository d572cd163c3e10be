"""`GET /api/charts`: the data of charts, for static/live_charts.js."""

import json
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.alerting import host_inventory
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.pages.charts.chart_data import encode_charts
from plimsoll.pages.charts.chart_spec import parse_lines
from plimsoll.pages.charts.drawing import ChartRange, Drawing
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.shared.form_words import with_fields
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import TimeRange
from plimsoll.up.watched import Watched

_MOST_CHARTS = 60
_USUAL_COLUMNS, _LEAST_COLUMNS, _MOST_COLUMNS = 1000, 50, 4000


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """Return the route."""

    def charts(request: Request) -> Response:
        try:
            specs = [parse_lines(text) for text in request.query_params.getlist("chart")[:_MOST_CHARTS]]
            span = _range(request, frame, watched)
            contents = Drawing(scenes, watched.file, span).contents(specs)
        except Unusable as error:
            return JSONResponse({"error": with_fields(str(error))}, HTTPStatus.BAD_REQUEST)
        except Unreachable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        text = json.dumps(encode_charts(contents, span), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/api/charts", charts)]


def _range(request: Request, frame: Frame, watched: Watched) -> ChartRange:
    """Return the range, width and zone of a request. Without a range it is the last hour."""
    query, zone = request.query_params, frame.zone_of(request)
    width = query.get("width", "")
    columns = int(width) if width.isdecimal() and len(width) < 6 else _USUAL_COLUMNS
    columns = max(_LEAST_COLUMNS, min(_MOST_COLUMNS, columns))
    span = TimeRange.parse(query.get("from"), query.get("to"), zone)
    hosts = [host.host for host in host_inventory.hosts(watched.file)]
    return ChartRange(span.start, span.end, columns, zone, hosts)

"""`GET /api/charts`: the data of charts, for static/live_charts.js."""

import json
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from live.watched import Watched
from model.errors import Unreachable, Unusable
from pages.chart_data import LEAST_COLUMNS, MOST_COLUMNS, Ask, encoded
from pages.chart_spec import Spec, parse_lines
from pages.drawing import Drawing
from pages.frame import Frame
from pages.scene import Scenes
from pages.time_range import MILLISECOND, TimeRange

_MOST_CHARTS = 60
_USUAL_COLUMNS = 1000


def routes(watched: Watched, frame: Frame, scenes: Scenes) -> list[Route]:
    """The route."""

    def charts(request: Request) -> Response:
        asked = request.query_params
        try:
            specs = [parse_lines(one) for one in asked.getlist("chart")[:_MOST_CHARTS]]
            ask = _ask(request, frame, scenes, [spec for one in specs for spec in one])
            contents = Drawing(scenes, watched.file, ask).contents(specs)
        except Unusable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except Unreachable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
        text = json.dumps(encoded(contents, ask), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return [Route("/api/charts", charts)]


def _ask(request: Request, frame: Frame, scenes: Scenes, specs: list[Spec]) -> Ask:
    """The range, width and zone of a request. Without a range it is that of the runs, or the last hour."""
    asked, zone = request.query_params, frame.zone_of(request)
    columns = asked.get("width", "")
    columns = int(columns) if columns.isdecimal() and len(columns) < 6 else _USUAL_COLUMNS
    columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, columns))
    since_start = asked.get("since_start", "") not in ("", "0")
    runs = [scene for name in dict.fromkeys(one.run for one in specs) if name and (scene := scenes.run(name))]
    if runs and not asked.get("from"):
        start, end = min(one.start for one in runs), max(one.end for one in runs)
        if since_start:
            start, end = 0, max(one.end - one.start for one in runs)
        return Ask(start, max(end, start + MILLISECOND), columns, zone, since_start)
    chosen = TimeRange.parse(asked.get("from"), asked.get("to"), zone)
    return Ask(chosen.start, chosen.end, columns, zone, since_start)

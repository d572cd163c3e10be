"""Notes are added and removed by forms of the pages, and by programs with `POST /api/notes`."""

import time
from dataclasses import asdict
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.alerting.actions import Actor
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.pages.shared.asking import asking
from plimsoll.pages.shared.forms import Fields, Forms, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import instant_of
from plimsoll.up.watched import Watched


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The routes of forms and programs."""
    forms = Forms()

    def made(request: Request, fields: Fields) -> Response:
        try:
            _add(watched, fields, frame.zone_of(request), asking(request, fields.get("who", "")))
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"The note was not kept: {error}.", "Go back, and change it.")
        return see(_back(fields))

    def removed(request: Request, fields: Fields) -> Response:
        try:
            actions.remove_note(watched.file, request.path_params["id"], asking(request), time.time_ns())
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"{error}.", "It may have been removed already.")
        return see(_back(fields))

    def posted(request: Request, fields: Fields) -> Response:
        try:
            note = _add(watched, fields, frame.zone_of(request), asking(request, fields.get("who", "")))
        except (Unusable, NotKept) as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        return JSONResponse(asdict(note), HTTPStatus.CREATED)

    def listed(request: Request) -> Response:
        asked, now = request.query_params, time.time_ns()
        try:
            zone = frame.zone_of(request)
            start, end = (instant_of(asked.get(name) or usual, zone, now) for name, usual in _SPAN)
        except Unusable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        return JSONResponse([asdict(one) for one in actions.find_notes(watched.file, start, end)])

    return [
        forms.route("/notes", made),
        forms.route("/notes/{id:number}/remove", removed),
        Route("/api/notes", listed),
        forms.route("/api/notes", posted),
    ]


_SPAN = (("from", "now-24h"), ("to", "now"))


def _add(watched: Watched, fields: Fields, zone: Zone, who: Actor) -> actions.Note:
    now = time.time_ns()
    at = instant_of(fields.get("at") or "now", zone, now)
    return actions.add_note(watched.file, at, fields.get("text", ""), fields.get("host", ""), who, now)


def _back(fields: Fields) -> str:
    """The page that the form was on; never one of another server."""
    found = urlsplit(fields.get("back", ""))
    path = found.path if found.path.startswith("/") and not found.path.startswith(("//", "/\\")) else "/"
    return f"{path}?{found.query}" if found.query else path

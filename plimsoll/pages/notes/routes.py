"""Notes are added and removed by forms of the pages, and by programs with `POST /api/notes`."""

import time
from dataclasses import asdict
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.model.errors import Unusable
from plimsoll.pages.shared.actor import actor_of
from plimsoll.pages.shared.forms import ID, Fields, Forms, own_address, see
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import instant_of
from plimsoll.up.watched import Watched


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the routes of forms and programs."""
    forms = Forms()

    def add(request: Request, fields: Fields) -> actions.Note:
        now, actor = time.time_ns(), actor_of(request, fields.get("who", ""))
        at = instant_of(fields.get("at") or "now", frame.zone_of(request), now)
        return actions.add_note(watched.file, at, fields.get("text", ""), fields.get("host", ""), actor, now)

    def add_from_page(request: Request, fields: Fields) -> Response:
        try:
            add(request, fields)
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"The note was not kept: {error}.", "Go back, and change it.")
        return see(own_address(fields.get("back", "")))

    def remove(request: Request, fields: Fields) -> Response:
        try:
            actions.remove_note(watched.file, request.path_params["id"], actor_of(request), time.time_ns())
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"{error}.", "It may have been removed already.")
        return see(own_address(fields.get("back", "")))

    def add_from_program(request: Request, fields: Fields) -> Response:
        try:
            return JSONResponse(asdict(add(request, fields)), HTTPStatus.CREATED)
        except (Unusable, NotKept) as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)

    def show(request: Request) -> Response:
        query, now, zone = request.query_params, time.time_ns(), frame.zone_of(request)
        try:
            start, end = (
                instant_of(query.get(name) or usual, zone, now) for name, usual in (("from", "now-24h"), ("to", "now"))
            )
        except Unusable as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        return JSONResponse([asdict(note) for note in actions.find_notes(watched.file, start, end)])

    return [
        forms.route("/notes", add_from_page),
        forms.route(f"/notes/{ID}/remove", remove),
        Route("/api/notes", show),
        forms.route("/api/notes", add_from_program),
    ]

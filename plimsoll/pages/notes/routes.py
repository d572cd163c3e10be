"""The forms that add and remove notes."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.alerting.alerts_file import NotKept
from plimsoll.model.errors import Unusable
from plimsoll.pages.shared.forms import ID, Fields, find_actor, keep_own_address, list_form_routes, redirect_to
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.time_range import parse_relative_time
from plimsoll.up.watched import Watched


def list_routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the routes of the forms that add and remove notes."""

    def add(request: Request, fields: Fields) -> Response:
        now, actor = time.time_ns(), find_actor(request, fields.get("who", ""))
        try:
            at = parse_relative_time(fields.get("at") or "now", frame.zone_of(request), now)
            actions.add_note(watched.file, at, fields.get("text", ""), fields.get("host", ""), actor, now)
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"The note was not kept: {error}.", "Go back, and change it.")
        return redirect_to(keep_own_address(fields.get("back", "")))

    def remove(request: Request, fields: Fields) -> Response:
        try:
            actions.remove_note(watched.file, request.path_params["id"], find_actor(request), time.time_ns())
        except (Unusable, NotKept) as error:
            return frame.missing(request, f"{error}.", "It may have been removed already.")
        return redirect_to(keep_own_address(fields.get("back", "")))

    return [*list_form_routes("/notes", add), *list_form_routes(f"/notes/{ID}/remove", remove)]

"""The page of the record, a hundred deeds at a time."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.pages.shared.frame import Frame
from plimsoll.pages.shared.numbers import number
from plimsoll.up.watched import Watched

_AT_ONCE = 100


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The routes."""

    def page(request: Request) -> Response:
        zone, asked = frame.zone_of(request), request.query_params
        who = asked.get("who", "").strip()
        first = max(0, (number(asked.get("page", "")) or 1) - 1) * _AT_ONCE
        found = actions.found(watched.file, 0, time.time_ns(), who, first, _AT_ONCE)
        return frame.page(
            request,
            "record/record.html.j2",
            "Who did what",
            deeds=[(zone.clock(one.at), one) for one in found.deeds],
            total=found.total,
            who=who,
            number=first // _AT_ONCE + 1,
            more=first + len(found.deeds) < found.total,
        )

    return [Route("/record", page)]

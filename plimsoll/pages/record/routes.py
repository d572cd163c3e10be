"""The page of the audit log, with a hundred actions per page."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.alerting import actions
from plimsoll.pages.shared.forms import count_before
from plimsoll.pages.shared.frame import Frame
from plimsoll.up.watched import Watched

_AT_ONCE = 100


def list_routes(watched: Watched, frame: Frame) -> list[Route]:
    """Return the route of the audit log's page."""

    def page(request: Request) -> Response:
        """Return the page of the audit log: the actions of the requested time range and person."""
        zone, query = frame.zone_of(request), request.query_params
        who = query.get("who", "").strip()
        first = count_before(query.get("page", ""), _AT_ONCE)
        entries, total = actions.find_audit_entries(watched.file, 0, time.time_ns(), who, first, _AT_ONCE)
        return frame.page(
            request,
            "record/record.html.j2",
            "Audit log",
            deeds=[(zone.clock(entry.at), entry) for entry in entries],
            total=total,
            who=who,
            number=first // _AT_ONCE + 1,
            has_next=first + len(entries) < total,
        )

    return [Route("/record", page)]

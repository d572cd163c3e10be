"""The first page: whether all is well, what fires, and the hosts."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from live.watched import Watched
from pages.frame import Frame


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The page."""

    def page(request: Request) -> Response:
        health = watched.health(frame.zone_of(request))
        return frame.page(request, "health.html.j2", "Health", health=health, size=_size(health.store_bytes))

    return [Route("/", page)]


def _size(count: int | None) -> str:
    if count is None:
        return ""
    for unit, length in (("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"

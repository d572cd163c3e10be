"""The first page: hosts, alerts, what arrives, and what somebody has to mend."""

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from live.health import Health
from model.errors import printable
from model.remark import short

_FOLDER = Path(__file__).parent
_LONGEST = 400
_FILES = ("style.css", "icon.svg")
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.filters["printable"] = lambda text: printable(short(str(text), _LONGEST))


def routes(health: Callable[[], Health]) -> list[Route]:
    """The page and the files it needs."""

    async def overview(_: Request) -> Response:
        return HTMLResponse(render(await run_in_threadpool(health)))

    async def file(request: Request) -> Response:
        return FileResponse(_FOLDER / request.url.path[1:])

    return [Route("/", overview), *(Route(f"/{name}", file) for name in _FILES)]


def render(health: Health) -> str:
    """The page."""
    return _ENVIRONMENT.get_template("overview.html.j2").render(health=health, size=_size(health.store_bytes))


def _size(count: int | None) -> str:
    if count is None:
        return ""
    for unit, length in (("GB", 1e9), ("MB", 1e6)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count / 1e3:.0f} kB"

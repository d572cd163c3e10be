"""Scripts, styles and pictures of the pages, from this package and from the report."""

from functools import cache
from http import HTTPStatus
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.pages.shared.frame import asset
from plimsoll.report.render.html import chart_script, chart_style

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def routes() -> list[Route]:
    """Return the route of all files."""

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        content = _file(name)
        if content is None:
            return Response("There is no such file.\n", HTTPStatus.NOT_FOUND, media_type="text/plain")
        return Response(content, media_type=_TYPES[name.rpartition(".")[2]])

    return [Route("/static/{name}", file)]


@cache
def _file(name: str) -> str | None:
    match name:
        case "theme.css":
            return chart_style()
        case "charts.js":
            return chart_script()
        case _:
            place = _places().get(name)
            return asset(place) if place else None


@cache
def _places() -> dict[str, str]:
    """Return the path of each script, style and picture by file name; each page has a folder."""
    pages = [page for page in files("plimsoll.pages").iterdir() if page.is_dir()]
    paths = [(file.name, f"{page.name}/{file.name}") for page in pages for file in page.iterdir()]
    return {name: place for name, place in paths if name.rpartition(".")[2] in _TYPES}

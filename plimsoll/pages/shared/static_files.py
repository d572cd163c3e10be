"""The scripts, styles and pictures of the pages, from plimsoll/pages and from the report."""

from functools import cache
from http import HTTPStatus
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.report.render.html import read_chart_script, read_chart_style

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def list_routes() -> list[Route]:
    """Return the route `/static/NAME`, which serves all files."""

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        content = _read_contents().get(name)
        if content is None:
            return Response("There is no such file.\n", HTTPStatus.NOT_FOUND, media_type="text/plain")
        return Response(content, media_type=_TYPES[name.rpartition(".")[2]])

    return [Route("/static/{name}", file)]


@cache
def _read_contents() -> dict[str, str]:
    """Return the content of each script, style and picture by file name, from the folders of the pages."""
    pages = [page for page in files("plimsoll.pages").iterdir() if page.is_dir()]
    static = [file for page in pages for file in page.iterdir() if file.name.rpartition(".")[2] in _TYPES]
    contents = {file.name: file.read_text(encoding="utf-8") for file in static}
    return {**contents, "theme.css": read_chart_style(), "charts.js": read_chart_script()}

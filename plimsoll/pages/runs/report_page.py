"""The report of a review as a page: the file as `plimsoll review` writes it, below the navigation of the pages."""

import re
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plimsoll.pages.shared.frame import Frame

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_BODY = re.compile(r"<body[^>]*>")


def report_page(frame: Frame, request: Request, report: str, **bar: object) -> Response:
    """Return a report as a page with a bar of links. Its security policy allows only its own script and style."""
    match = _POLICY.search(report)
    if match is None:
        return frame.missing(request, "Its report cannot be read.", "Have it reviewed again, on the page Runs.")
    above = frame.part(request, "runs/report_bar.html.j2", **bar)
    text = _BODY.sub(lambda body: f"{body[0]}{above}", report, count=1)
    policy = f"{match[1]}; frame-ancestors 'none'"
    return HTMLResponse(text.encode(errors="replace"), HTTPStatus.OK, {"Content-Security-Policy": policy})

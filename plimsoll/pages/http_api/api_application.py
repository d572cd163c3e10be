"""The application of the HTTP API, its OpenAPI document, and the page that describes its operations."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll.alerting.alerts_file import NotKept
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.http_api import alerts, health, rules, runs, samples
from plimsoll.pages.http_api.operation import LONGEST_BODY, ApiFault, ApiProblem
from plimsoll.pages.review_jobs.run_reviews import RunReviews
from plimsoll.pages.shared.form_words import replace_options_by_fields
from plimsoll.pages.shared.frame import Frame
from plimsoll.serve.access import PUBLIC
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.up.watched import Watched

_SHOWN_MISTAKES = 5
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ApiProblem, "description": text}
    for status, text in {
        400: "A parameter or the body is wrong.",
        401: "A token or the password is missing or wrong.",
        403: "The token may not do this, or the request comes from another site.",
        404: "What the path names is not there.",
        422: "It cannot be done.",
        503: "The store does not answer, or too much is asked for: again after Retry-After.",
        "default": "Another problem.",
    }.items()
}
_ABOUT = (
    "What the pages of plimsoll up show, for other programs. Times are ISO 8601 in UTC; values are in the unit given "
    "with them. Within v1, operations, parameters and fields may be added, but are never changed or removed."
)


def list_routes(watched: Watched, frame: Frame, scenes: Scenes, reviews: RunReviews) -> list[Route]:
    """Return the routes of the operations, of the OpenAPI document, and of the page that describes the operations."""
    api = create_api(watched, scenes, reviews)
    described = cache(lambda: describe(api))

    def page(request: Request) -> Response:
        return frame.page(request, "http_api/docs.html.j2", "HTTP API", described=described())

    return [
        Route("/api/openapi.json", lambda _: JSONResponse(described())),
        Route("/api/docs", page),
        Route(PUBLIC, api),
        Route(f"{PUBLIC}/{{path:path}}", api),
    ]


def create_api(watched: Watched, scenes: Scenes, reviews: RunReviews) -> FastAPI:
    """Return the application that serves all operations."""
    api = FastAPI(
        openapi_url=None,
        redirect_slashes=False,
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
        exception_handlers={kind: _make_handler(explain) for kind, explain in _EXPLANATIONS.items()},
    )
    api.state.watched, api.state.scenes, api.state.reviews = watched, scenes, reviews
    api.state.bodies = Bodies(RequestLimits(body_s=20))
    api.add_middleware(_answer_head_as_get)
    for module in (health, samples, alerts, rules, runs):
        api.include_router(module.router, prefix=PUBLIC, responses=_ERRORS)
    return api


def describe(api: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, version 3.1."""
    document = get_openapi(
        title="Plimsoll", version=version("plimsoll"), description=_ABOUT, routes=api.routes, servers=[{"url": "/"}]
    )
    for operations in document["paths"].values():
        for method, operation in operations.items():
            del operation["description"]  # equal to the summary
            if method != "get":
                operation["security"] = [{"token": []}, {}]
    document["security"] = [{"token": []}, {"password": []}, {}]
    document["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token for reading or for changes."},
        "password": {"type": "http", "scheme": "basic", "description": "The password for reading."},
    }
    return document


def _answer_head_as_get(app: ASGIApp) -> ASGIApp:
    def answer(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        is_head = scope.get("method") == "HEAD"
        return app({**scope, "method": "GET"} if is_head else scope, receive, send)

    return answer


def _make_handler(
    explain: Callable[[Request, Any], ApiFault],
) -> Callable[[Request, Any], Coroutine[Any, Any, Response]]:
    async def answer(request: Request, error: Any) -> Response:
        problem = explain(request, error)
        return JSONResponse(problem.problem.model_dump(), problem.status, problem.headers)

    return answer


def _explain_invalid(_: Request, error: RequestValidationError) -> ApiFault:
    """Return the first mistakes that pydantic found in a request, each with the field that is wrong."""
    mistakes: list[tuple[str, str]] = []
    for mistake in error.errors():
        kind, *path = mistake["loc"]
        place = ".".join(str(part)[:100] for part in path if mistake["type"] != "json_invalid") or f"the {kind}"
        mistakes.append((place, f"{place}: {mistake['msg']}"))
    shown = "; ".join(text for _, text in mistakes[:_SHOWN_MISTAKES])
    return ApiFault(HTTPStatus.BAD_REQUEST, shown, mistakes[0][0], "/api/docs describes it")


def _explain_no_operation(request: Request, error: HTTPException) -> ApiFault:
    """Return the problem of a request with an unknown path, a wrong method, or a body that is not JSON."""
    status, path = HTTPStatus(error.status_code), request.url.path[:200]
    if status == HTTPStatus.NOT_FOUND:
        return ApiFault(status, "there is nothing at this path", path, "/api/docs lists all")
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        operations = [route for route in request.app.routes if isinstance(route, APIRoute)]
        fits = [route for route in operations if route.path_regex.match(request.scope["path"])]
        allowed = ", ".join(sorted(method for route in fits for method in route.methods or ()))
        refusal = ApiFault(status, f"{request.method} is not possible here", path, f"use {allowed}")
        refusal.headers = {"Allow": allowed}
        return refusal
    return ApiFault(status, str(error.detail), "the body", "/api/docs describes it")


def _explain_unavailable(request: Request, error: Exception) -> ApiFault:
    text, path = replace_options_by_fields(str(error)), _find_path(request)
    return ApiFault(HTTPStatus.SERVICE_UNAVAILABLE, text, path, "ask again later", retry_after_s=10)


def _find_path(request: Request) -> str:
    """Return the path of the requested operation as in the OpenAPI document, such as `/alerts/{id}`."""
    route = request.scope.get("route")
    return route.path_format if isinstance(route, APIRoute) else request.url.path[:200]


_TOO_LARGE = f"the body has more than {LONGEST_BODY >> 10} kB"
_FULL = "too much is sent at the moment", "the body", "send it again later"
_EXPLANATIONS: dict[int | type[Exception], Callable[[Request, Any], ApiFault]] = {
    ApiFault: lambda _, error: error,
    RequestValidationError: _explain_invalid,
    HTTPException: _explain_no_operation,
    Unusable: lambda request, error: ApiFault(
        HTTPStatus.UNPROCESSABLE_ENTITY, replace_options_by_fields(str(error)), _find_path(request)
    ),
    Unreachable: _explain_unavailable,
    NotKept: _explain_unavailable,
    TooLarge: lambda *_: ApiFault(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE, "the body", "send less"),
    TooSlow: lambda *_: ApiFault(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive", "the body", "send it again"),
    Full: lambda *_: ApiFault(HTTPStatus.SERVICE_UNAVAILABLE, *_FULL, retry_after_s=5),
    Exception: lambda request, _: ApiFault(
        HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of Plimsoll; see its log", _find_path(request)
    ),
}

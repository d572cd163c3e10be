"""The routes of the API, of its OpenAPI document, and of the page that describes it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.http_api import alert_operations, health_operations, run_operations, sample_operations
from plimsoll.pages.http_api.openapi import document
from plimsoll.pages.http_api.operation import Operation, Problem, Refused, problem, refusal
from plimsoll.pages.reviewing.run_reviews import RunReviews
from plimsoll.pages.shared.frame import Frame
from plimsoll.serve.bodies import Bodies, Full, TooLarge, TooSlow
from plimsoll.serve.guard.access import PUBLIC
from plimsoll.serve.limits import Limits
from plimsoll.up.watched import Watched

_LONGEST = 32 << 10
_EVERY = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_HINT = "/api/docs lists all"


def routes(watched: Watched, frame: Frame, scenes: Scenes, reviews: RunReviews) -> list[Route]:
    """All routes."""
    every = operations(watched, scenes, reviews)
    bodies = Bodies(Limits(body_s=20))
    by_path: defaultdict[str, dict[str, Operation[Any, Any]]] = defaultdict(dict)
    for one in every:
        by_path[one.path][one.method] = one
    described = cache(lambda: document(every))

    def openapi(_: Request) -> Response:
        return JSONResponse(described())

    def page(request: Request) -> Response:
        return frame.page(request, "http_api/docs.html.j2", "HTTP API", operations=every, described=described())

    def missing(request: Request) -> Response:
        return problem(HTTPStatus.NOT_FOUND, "there is nothing at this path", request.url.path[:200], _HINT)

    return [
        Route("/api/openapi.json", openapi),
        Route("/api/docs", page),
        *(_route(path, found, bodies) for path, found in by_path.items()),
        Route(PUBLIC, missing, methods=_EVERY),
        Route(f"{PUBLIC}/{{path:path}}", missing, methods=_EVERY),
    ]


def operations(watched: Watched, scenes: Scenes, reviews: RunReviews) -> Sequence[Operation[Any, Any]]:
    """All operations."""
    return [
        *health_operations.operations(watched),
        *sample_operations.operations(watched, scenes),
        *alert_operations.operations(watched),
        *run_operations.operations(watched, reviews),
    ]


def _route(path: str, by_method: Mapping[str, Operation[Any, Any]], bodies: Bodies) -> Route:
    """The route of the operations of one path."""
    allowed = ", ".join(by_method)

    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        operation = by_method.get(method)
        if operation is None:
            told = Problem(error=f"{method} is not possible here", where=request.url.path[:200], hint=f"use {allowed}")
            return JSONResponse(told.model_dump(), HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": allowed})
        try:
            async with bodies.read(request, _LONGEST) as body:
                call = operation.read(request, bytes(body))
        except Refused as refused:
            return refusal(refused)
        except TooLarge:
            error = f"the body has more than {_LONGEST >> 10} kB"
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error, "the body", "send less")
        except TooSlow:
            return problem(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive", "the body", "send it again")
        except Full:
            error = "too much is sent at the moment"
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, error, "the body", "send it again later", "5")
        return await run_in_threadpool(operation.answered, call)

    return Route(f"{PUBLIC}{path}", endpoint, methods=_EVERY)

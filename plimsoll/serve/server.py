"""The web application of `plimsoll up`: endpoints for samples, the store for other commands, health, and pages."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cached_property
from http import HTTPStatus
from importlib.metadata import version

from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll.alerting.health import Health, HostState
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.write_queue import WriteQueue
from plimsoll.rules.wording import SEVERITIES
from plimsoll.serve.access import Access
from plimsoll.serve.guard import Guard, SecurityHeaders
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.metrics_endpoint import MetricsEndpoint
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.serve.responses import INFLUXDB, ask_to_retry, make_refusal
from plimsoll.serve.write_endpoint import WriteEndpoint
from plimsoll.serve.write_handler import WriteHandler
from plimsoll.store import remote
from plimsoll.store.store import Store

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_DAY = 86_400 * SECOND
_THREADS = 6
_MOMENT_S = 0.5
_log = logging.getLogger(__name__)


def create_app(
    store: Store,
    writing: WriteQueue,
    access: Access,
    health: Callable[[], Health],
    limits: RequestLimits | None = None,
    pages: Sequence[BaseRoute] = (),
    translator: Translator | None = None,
) -> ASGIApp:
    """Return the application. `writing` writes to `store`; the caller closes both after the server has stopped.

    `translator` translates metrics of Prometheus exporters; by default, only metrics of known exporters are accepted.
    """
    limits = limits or RequestLimits()
    bodies = Bodies(limits)
    intake = WriteHandler(writing, bodies, limits, lambda: _list_recent_series(store))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        # Each busy thread takes interpreter time from the evaluations.
        current_default_thread_limiter().total_tokens = _THREADS
        yield
        intake.close()

    app = Starlette(
        routes=[
            *WriteEndpoint(intake, bodies).routes,
            *MetricsEndpoint(intake, translator or Translator({})).routes,
            store_route(store, bodies, limits),
            *_list_health_routes(health),
            *pages,
        ],
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={
            HTTPException: _answer_no_route,
            Exception: lambda *_: make_refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of Plimsoll; see its log"),
        },
        lifespan=lifespan,
    )
    return SecurityHeaders(app)  # also on answers to internal errors


class LazyRoutes(BaseRoute):
    """Routes that are built at the first request that no earlier route takes.

    Pages take 50 MB and a second's work at each evaluation, which a server without visitors does not need.
    """

    def __init__(self, build: Callable[[], Sequence[BaseRoute]]) -> None:
        self._build = build

    @cached_property
    def _routes(self) -> Sequence[BaseRoute]:
        return self._build()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the best match of the routes, the first of several."""
        matches = [(*route.matches(scope), route) for route in self._routes]
        match, child, route = max(matches, key=lambda entry: entry[0].value)
        return match, {**child, "route": route}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request by the route that matched."""
        await scope["route"].handle(scope, receive, send)


def _list_recent_series(store: Store) -> Sequence[Series]:
    """Return the series with live samples in the last day; none if the store cannot be read."""
    now = time.time_ns()
    try:
        return store.live.series(now - _DAY, now).series
    except (Unreachable, Unusable) as error:
        _log.warning("the series of the last day are not known: %s", error)
        return ()


def _list_health_routes(health: Callable[[], Health]) -> list[Route]:
    """Return the routes `/ping` (as InfluxDB's), `/health` (pass or fail), and `/metrics`."""

    async def ping(_: Request) -> Response:
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=INFLUXDB)

    latest = _LatestHealth(health)

    async def state(_: Request) -> Response:
        # Anyone may send this request, so the answer does not list the problems.
        is_fine = not (await latest.get()).problems
        content = {
            "name": "plimsoll",
            "message": "ready for queries and writes" if is_fine else "something has to be mended; see the page",
            "status": "pass" if is_fine else "fail",
            "checks": [],
            "version": version("plimsoll"),
            "commit": "",
        }
        return JSONResponse(content, HTTPStatus.OK if is_fine else HTTPStatus.SERVICE_UNAVAILABLE, INFLUXDB)

    async def self_metrics(_: Request) -> Response:
        text = "".join(f"{line}\n" for line in _list_metric_lines(await latest.get()))
        return Response(text, media_type=_METRICS_TYPE)

    return [Route("/ping", ping), Route("/health", state), Route("/metrics", self_metrics)]


class _LatestHealth:
    """The health for all requests, computed again after `_MOMENT_S` at the earliest, as anyone may request it often."""

    def __init__(self, health: Callable[[], Health]) -> None:
        self._health = health
        self._pool = ThreadPoolExecutor(1, "health")  # separate, so that pages and passwords do not delay it
        self._lock = asyncio.Lock()
        self._last: Health | None = None
        self._until = 0.0

    async def get(self) -> Health:
        """Return the health, at most `_MOMENT_S` seconds old."""
        async with self._lock:
            health = self._last
            if health is None or time.monotonic() >= self._until:
                self._last = health = await asyncio.get_running_loop().run_in_executor(self._pool, self._health)
                self._until = time.monotonic() + _MOMENT_S
            return health


def _answer_no_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return make_refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"allow: {headers.get('Allow', '')}", headers=headers)
    return make_refusal(HTTPStatus.NOT_FOUND, "path not found")


def _list_metric_lines(health: Health) -> Iterator[str]:
    """Yield Plimsoll's own metrics in Prometheus's text format."""
    states = Counter(host.state for host in health.hosts)
    firing = Counter(alert.severity for alert in health.alerts)
    firing["info"] = health.info
    evaluated = None if health.evaluated is None else health.evaluated // SECOND
    gauges: list[tuple[str, str, dict[str, int | None]]] = [
        ("hosts", "Hosts by state.", {f'{{state="{state}"}}': states[state] for state in HostState}),
        ("alerts_firing", "Alerts that fire.", {f'{{severity="{name}"}}': firing[name] for name in SEVERITIES}),
        ("problems", "What somebody has to mend in Plimsoll itself.", {"": len(health.problems)}),
        ("values_last_minute", "Values written in the last minute.", {"": health.points_a_minute}),
        ("last_evaluation_seconds", "Unix time of the last evaluation.", {"": evaluated}),
        ("store_bytes", "Size of the store.", {"": health.store_bytes}),
    ]
    for name, about, values in gauges:
        if None not in values.values():
            yield f"# HELP plimsoll_{name} {about}"
            yield f"# TYPE plimsoll_{name} gauge"
            yield from (f"plimsoll_{name}{labels} {value}" for labels, value in values.items())


def store_route(store: Store, bodies: Bodies, limits: RequestLimits) -> Route:
    """Return the route through which other commands read the store (`plimsoll.store.remote.RemoteSamples`)."""

    async def call(request: Request) -> Response:
        if request.headers.get("content-type") != remote.JSON:
            return make_refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {remote.JSON}")
        try:
            async with bodies.read(request, limits.own_body) as body:
                return await run_in_threadpool(_answer, store, request.path_params["method"], bytes(body))
        except TooLarge:
            return make_refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the call is too long")
        except TooSlow:
            return make_refusal(HTTPStatus.REQUEST_TIMEOUT, "the call did not arrive in time")
        except Full:
            return ask_to_retry("too much is sent at the moment", 5)

    return Route(f"{remote.PATH}/{{method}}", call, methods=["POST"])


def _answer(store: Store, method: str, body: bytes) -> Response:
    """Return the response to a call of a method of the store; errors become refusals."""
    try:
        content, media_type = remote.answer(store, method, json.loads(body))
    except Unusable as error:
        return Response(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
    except Unreachable as error:
        return Response(str(error), HTTPStatus.SERVICE_UNAVAILABLE)
    except LookupError:
        return make_refusal(HTTPStatus.NOT_FOUND, "there is no such method")
    except (ValueError, TypeError, RecursionError) as error:
        _log.exception("a call to the store failed")
        return make_refusal(HTTPStatus.BAD_REQUEST, f"the call cannot be read: {error}")
    return Response(content, media_type=media_type)

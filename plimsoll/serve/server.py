"""The web application of `plimsoll up`: the write endpoint, the store for other commands, health, given pages."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from plimsoll.alerting.health import Health, HostState
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.write_queue import WriteQueue
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.wording import SEVERITIES
from plimsoll.serve.access import Access
from plimsoll.serve.guard import Guard, SecurityHeaders
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.metrics_endpoint import MetricsEndpoint
from plimsoll.serve.request_body import Bodies
from plimsoll.serve.responses import INFLUXDB, refusal
from plimsoll.serve.store_api import StoreApi
from plimsoll.serve.write_endpoint import WriteEndpoint
from plimsoll.serve.write_handler import WriteHandler
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
    signals: Mapping[str, Signal] | None = None,
) -> ASGIApp:
    """Yield the application. `writing` writes to the same store; the caller closes both when the server has stopped.

    Metrics of Prometheus are taken if they are something that `signals` read, or that an exporter is known for.
    """
    limits = limits or RequestLimits()
    bodies = Bodies(limits)
    intake = WriteHandler(writing, bodies, limits, lambda: _written_of_late(store))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        # Each thread that computes takes its part of the one interpreter from the judging.
        current_default_thread_limiter().total_tokens = _THREADS
        yield
        intake.close()

    app = Starlette(
        routes=[
            *WriteEndpoint(intake, bodies).routes,
            *MetricsEndpoint(intake, signals or {}).routes,
            *StoreApi(store, bodies, limits).routes,
            *_health_routes(health),
            *pages,
        ],
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={HTTPException: _no_route, Exception: _defect},
        lifespan=lifespan,
    )
    return SecurityHeaders(app)  # also on the answer to a defect


def _written_of_late(store: Store) -> Sequence[Series]:
    """Return the series with live samples in the last day."""
    now = time.time_ns()
    try:
        return store.live.series(now - _DAY, now).series
    except (Unreachable, Unusable) as error:
        _log.warning("the series of the last day are not known: %s", error)
        return ()


def _health_routes(health: Callable[[], Health]) -> list[Route]:
    async def ping(_: Request) -> Response:
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=INFLUXDB)

    latest = _Latest(health)

    async def state(_: Request) -> Response:
        # Anyone may ask, so what has to be mended is on the page.
        mended = not (await latest.health()).problems
        content = {
            "name": "plimsoll",
            "message": "ready for queries and writes" if mended else "something has to be mended; see the page",
            "status": "pass" if mended else "fail",
            "checks": [],
            "version": version("plimsoll"),
            "commit": "",
        }
        return JSONResponse(content, HTTPStatus.OK if mended else HTTPStatus.SERVICE_UNAVAILABLE, INFLUXDB)

    async def self_metrics(_: Request) -> Response:
        return Response(_metrics_text(await latest.health()), media_type=_METRICS_TYPE)

    return [Route("/ping", ping), Route("/health", state), Route("/metrics", self_metrics)]


class _Latest:
    """The health as it was a moment ago, found once for all who ask at the same time: anyone may, and often."""

    def __init__(self, health: Callable[[], Health]) -> None:
        self._health = health
        self._pool = ThreadPoolExecutor(1, "health")  # its own: whatever pages and passwords do, it is answered
        self._lock = asyncio.Lock()
        self._last: Health | None = None
        self._until = 0.0

    async def health(self) -> Health:
        """Return the health, at most _MOMENT_S old."""
        async with self._lock:
            health = self._last
            if health is None or time.monotonic() >= self._until:
                self._last = health = await asyncio.get_running_loop().run_in_executor(self._pool, self._health)
                self._until = time.monotonic() + _MOMENT_S
            return health


def _no_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"allow: {headers.get('Allow', '')}", headers=headers)
    return refusal(HTTPStatus.NOT_FOUND, "path not found")


def _defect(_: Request, error: Exception) -> Response:
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "a defect of Plimsoll; see its log")


def _metrics_text(health: Health) -> str:
    """Return the metrics in Prometheus's text format."""
    return "".join(f"{line}\n" for line in _lines(health))


def _lines(health: Health) -> Iterator[str]:
    states = Counter(host.state for host in health.hosts)
    firing = Counter(alert.severity for alert in health.alerts)
    firing["info"] = health.info
    yield from _gauge(
        "hosts", "Hosts by state.", {f'state="{host_state}"': states[host_state] for host_state in HostState}
    )
    yield from _gauge(
        "alerts_firing", "Alerts that fire.", {f'severity="{severity}"': firing[severity] for severity in SEVERITIES}
    )
    yield from _gauge("problems", "What somebody has to mend in Plimsoll itself.", {"": len(health.problems)})
    yield from _gauge("values_last_minute", "Values written in the last minute.", {"": health.points_a_minute})
    if health.evaluated is not None:
        yield from _gauge(
            "last_evaluation_seconds", "Unix time of the last evaluation.", {"": health.evaluated // SECOND}
        )
    if health.store_bytes is not None:
        yield from _gauge("store_bytes", "Size of the store.", {"": health.store_bytes})


def _gauge(name: str, about: str, values: dict[str, int]) -> Iterator[str]:
    yield f"# HELP plimsoll_{name} {about}"
    yield f"# TYPE plimsoll_{name} gauge"
    for labels, value in values.items():
        yield f"plimsoll_{name}{f'{{{labels}}}' if labels else ''} {value}"

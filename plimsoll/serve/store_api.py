"""Live samples for other commands while `plimsoll up` runs: `POST /api/store/{method}` with the owner's token."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.limits import Limits
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.serve.responses import later, refusal
from plimsoll.store import messages
from plimsoll.store.remote import PATH
from plimsoll.store.store import Store

_METHODS = ("write_points", "hosts", "series", "read", "drawn", "buckets", "counts")

_log = logging.getLogger(__name__)


class StoreApi:
    """Calls the store's methods for others. `plimsoll.store.remote.RemoteSamples` is the other side."""

    def __init__(self, store: Store, bodies: Bodies, limits: Limits) -> None:
        self._bodies = bodies
        self._limits = limits
        self._methods: dict[str, Callable[..., Any]] = {name: getattr(store.live, name) for name in _METHODS}
        self._methods["back_up"] = lambda path: store.back_up(Path(path))
        self._methods["runs_place"] = lambda: list(store.runs_place)
        self.routes = [Route(f"{PATH}/{{method}}", self.call, methods=["POST"])]

    async def call(self, request: Request) -> Response:
        """Call a method."""
        method = self._methods.get(request.path_params["method"])
        if method is None:
            return refusal(HTTPStatus.NOT_FOUND, "there is no such method")
        if request.headers.get("content-type") != messages.MEDIA_TYPE:
            return refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {messages.MEDIA_TYPE}")
        try:
            async with self._bodies.read(request, self._limits.own_body) as body:
                return await run_in_threadpool(_answer, method, bytes(body))
        except TooLarge:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the call is too long")
        except TooSlow:
            return refusal(HTTPStatus.REQUEST_TIMEOUT, "the call did not arrive in time")
        except Full:
            return later("too much is sent at the moment", 5)


def _answer(method: Callable[..., Any], body: bytes) -> Response:
    try:
        arguments = messages.loads(body)
        found = {"result": method(*arguments)}
        status = HTTPStatus.OK
    except Unusable as error:
        found, status = {"unusable": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY
    except Unreachable as error:
        found, status = {"unreachable": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE
    except (ValueError, TypeError) as error:
        _log.exception("a call to the store failed")
        return refusal(HTTPStatus.BAD_REQUEST, f"the call cannot be read: {error}")
    return Response(messages.dumps(found), status, media_type=messages.MEDIA_TYPE)

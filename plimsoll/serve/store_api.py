"""Live samples for other commands while `plimsoll up` runs: `POST /api/store/{method}` with the owner's token."""

import json
import logging
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.serve.limits import RequestLimits
from plimsoll.serve.request_body import Bodies, Full, TooLarge, TooSlow
from plimsoll.serve.responses import later, refusal
from plimsoll.store import remote
from plimsoll.store.store import Store

_log = logging.getLogger(__name__)


class StoreApi:
    """Reads the store for others. `plimsoll.store.remote.RemoteSamples` is the other side."""

    def __init__(self, store: Store, bodies: Bodies, limits: RequestLimits) -> None:
        self._store = store
        self._bodies = bodies
        self._limits = limits
        self.routes = [Route(f"{remote.PATH}/{{method}}", self.call, methods=["POST"])]

    async def call(self, request: Request) -> Response:
        """Call a method."""
        if request.headers.get("content-type") != remote.JSON:
            return refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {remote.JSON}")
        try:
            async with self._bodies.read(request, self._limits.own_body) as body:
                return await run_in_threadpool(self._answer, request.path_params["method"], bytes(body))
        except TooLarge:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the call is too long")
        except TooSlow:
            return refusal(HTTPStatus.REQUEST_TIMEOUT, "the call did not arrive in time")
        except Full:
            return later("too much is sent at the moment", 5)

    def _answer(self, method: str, body: bytes) -> Response:
        try:
            content, media_type = remote.answer(self._store, method, json.loads(body))
        except Unusable as error:
            return Response(str(error), HTTPStatus.UNPROCESSABLE_ENTITY)
        except Unreachable as error:
            return Response(str(error), HTTPStatus.SERVICE_UNAVAILABLE)
        except LookupError:
            return refusal(HTTPStatus.NOT_FOUND, "there is no such method")
        except (ValueError, TypeError, RecursionError) as error:
            _log.exception("a call to the store failed")
            return refusal(HTTPStatus.BAD_REQUEST, f"the call cannot be read: {error}")
        return Response(content, media_type=media_type)

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


def store_route(store: Store, bodies: Bodies, limits: RequestLimits) -> Route:
    """Return the route by which other commands read the store, through `plimsoll.store.remote.RemoteSamples`."""

    async def call(request: Request) -> Response:
        if request.headers.get("content-type") != remote.JSON:
            return refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {remote.JSON}")
        try:
            async with bodies.read(request, limits.own_body) as body:
                return await run_in_threadpool(_answer, store, request.path_params["method"], bytes(body))
        except TooLarge:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the call is too long")
        except TooSlow:
            return refusal(HTTPStatus.REQUEST_TIMEOUT, "the call did not arrive in time")
        except Full:
            return later("too much is sent at the moment", 5)

    return Route(f"{remote.PATH}/{{method}}", call, methods=["POST"])


def _answer(store: Store, method: str, body: bytes) -> Response:
    try:
        content, media_type = remote.answer(store, method, json.loads(body))
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

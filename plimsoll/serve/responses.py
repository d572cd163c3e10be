"""Answers in InfluxDB's form."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse, Response

# Headers that InfluxDB's clients look for; the version is that of the interface.
INFLUXDB = {"X-Influxdb-Build": "Plimsoll", "X-Influxdb-Version": "v2.7.12"}
_CODES = {
    HTTPStatus.BAD_REQUEST: "invalid",
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method not allowed",
    HTTPStatus.REQUEST_TIMEOUT: "request timeout",
    HTTPStatus.LENGTH_REQUIRED: "invalid",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request too large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "unsupported media type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "unprocessable entity",
    HTTPStatus.TOO_MANY_REQUESTS: "too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal error",
    HTTPStatus.NOT_IMPLEMENTED: "not implemented",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
    HTTPStatus.INSUFFICIENT_STORAGE: "insufficient storage",
}


def refusal(
    status: HTTPStatus, message: str, *, headers: Mapping[str, str] | None = None, **details: str | int
) -> Response:
    """Return an error: InfluxDB 2's `code` and `message`, and InfluxDB 1's `error`."""
    code = _CODES[status]
    content = {"code": code, "message": message, "error": message, **details}
    return JSONResponse(content, status, {**INFLUXDB, "X-Platform-Error-Code": code, **(headers or {})})


def later(message: str, seconds: int) -> Response:
    """Return a refusal after which the request can be sent again in some seconds, as Telegraf does."""
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"Retry-After": str(seconds)})

"""Error responses in InfluxDB's form."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import JSONResponse, Response

# Headers that InfluxDB's clients read; the version is that of the API.
INFLUXDB = {"X-Influxdb-Build": "Plimsoll", "X-Influxdb-Version": "v2.7.12"}
# InfluxDB's codes that differ from the status phrase.
_CODES = {
    HTTPStatus.BAD_REQUEST: "invalid",
    HTTPStatus.LENGTH_REQUIRED: "invalid",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request too large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "unprocessable entity",
    HTTPStatus.INTERNAL_SERVER_ERROR: "internal error",
    HTTPStatus.SERVICE_UNAVAILABLE: "unavailable",
}


def make_refusal(
    status: HTTPStatus, message: str, *, headers: Mapping[str, str] | None = None, **details: str | int
) -> Response:
    """Return an error response with InfluxDB 2's fields `code` and `message`, and InfluxDB 1's field `error`."""
    code = _CODES.get(status, status.phrase.lower())
    content = {"code": code, "message": message, "error": message, **details}
    return JSONResponse(content, status, {**INFLUXDB, "X-Platform-Error-Code": code, **(headers or {})})


def ask_to_retry(message: str, seconds: int) -> Response:
    """Return a refusal with a Retry-After header, so that Telegraf sends the request again."""
    return make_refusal(HTTPStatus.SERVICE_UNAVAILABLE, message, headers={"Retry-After": str(seconds)})

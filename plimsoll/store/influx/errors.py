"""Error messages for an InfluxDB that refuses a request or does not answer."""

import json
import re
from http import HTTPStatus

from influxdb_client.rest import ApiException

from plimsoll.model.errors import Unusable
from plimsoll.model.http_connections import last_words, wrapped_error
from plimsoll.store.influx.address import Address

NO_TLS = 0  # influxdb-client's status if TLS failed
_TLS_REQUIRED = re.compile(r"\b(HTTPS|SSL)\b")
_PLAIN_HTTP = re.compile(r"WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST")


def refusal(error: ApiException, address: Address) -> Unusable:
    """The error for a refused request, with what to do about it."""
    text, url = server_message(error), address.url
    match error.status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            advice = f"the token in {address.token_place} is wrong or may not do this"
        case HTTPStatus.NOT_FOUND:
            advice = f'is there a bucket "{address.bucket}" in organisation "{address.org}"?'
        case HTTPStatus.BAD_REQUEST if _TLS_REQUIRED.search(text) and url.startswith("http:"):
            return Unusable(f"{url}: speaks TLS alone there; write https:{url.removeprefix('http:')}")
        case _:
            advice = "see the server's log"
    return Unusable(f"{url}: InfluxDB refuses: {text or error.status} ({advice})")


def tls_error(error: ApiException, address: Address) -> Unusable | None:
    """The error if TLS can never work with this address; None if it may work at the next try."""
    why, url = str(error.reason), address.url
    if _PLAIN_HTTP.search(why):
        return Unusable(f"{url}: does not speak TLS there; write http:{url.removeprefix('https:')}")
    if "CERTIFICATE" in why:
        return Unusable(
            f"{url}: its certificate is not trusted here ({last_words(why)}); give the file of the one that signed it "
            "in SSL_CERT_FILE"
        )
    return None


def server_message(error: ApiException) -> str:
    """The server's message in an error response."""
    body = error.body if error.body is not None else b""
    if isinstance(body, bytes | bytearray):
        body = body.decode("utf-8", "replace")
    try:
        answer = json.loads(body)
    except ValueError:
        return " ".join(str(body).split())[:300]
    return str(answer.get("message") or answer.get("error") or "")[:300] if isinstance(answer, dict) else ""


def unanswered_advice(error: Exception, address: Address) -> str:
    """What to do if a server does not answer."""
    if address.url.startswith("http:") and isinstance(wrapped_error(error), ConnectionResetError):
        return "if it speaks TLS there, write https://; else see its log"
    return "is InfluxDB running there?"

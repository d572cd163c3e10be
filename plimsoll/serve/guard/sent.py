"""What a request says of who sends it: its address, tokens, a name with a password."""

import base64
import binascii

from starlette.requests import Request


def address_of(request: Request) -> str:
    """The address that a request comes from, which Guard has put there."""
    return request.client.host if request.client else ""


def secrets_of(request: Request) -> list[str]:
    """The tokens that a request has, in any form that InfluxDB's clients use."""
    found = [bearer_of(request) or basic_of(request)[1], request.query_params.get("p", "")]
    # InfluxDB 1's clients may send user:token.
    found += [text.partition(":")[2] for text in found if ":" in text]
    return [text for text in found if text]


def bearer_of(request: Request) -> str:
    """The token of the header Authorization; empty if it has none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() in ("token", "bearer") else ""


def basic_of(request: Request) -> tuple[str, str]:
    """The user name and password of HTTP's basic authentication; empty if there are none."""
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, password

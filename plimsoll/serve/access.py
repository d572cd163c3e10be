"""Who may reach `plimsoll up`: the names of the server, pages of others, tokens and passwords. See docs/security.md."""

import base64
import binascii
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.serve.answers import refusal
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen, ip_of
from plimsoll.serve.throttle import Throttle

STORE = "/api/store/"
_OPEN = frozenset({"/health", "/ping"})
_WRITING = frozenset({"/api/v2/write", "/write", "/query"})
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]]+))(?::[0-9]+)?")
_SAFE = ("GET", "HEAD")


@dataclass(frozen=True)
class Access:
    """The rules: where the server listens, the names it may be called by, and its secrets.

    `owner_only`: nothing is answered without the owner's token.
    """

    listen: Listen
    credentials: Credentials
    allowed_hosts: Sequence[str] = ()
    owner_only: bool = False

    def is_named(self, host: str) -> bool:
        """Whether a Host header has a name of this server."""
        found = _HOST.fullmatch(host.lower())
        name = (found["address"] or found["name"].rstrip(".")) if found else ""
        known = {"127.0.0.1", "localhost", "::1", self.listen.host.lower(), *map(str.lower, self.allowed_hosts)}
        if self.listen.is_loopback:
            return name in known
        # A page can only lead a name of its own here, never an IP address.
        return name in known or name == socket.gethostname().lower() or (self.listen.everywhere and bool(ip_of(name)))


class Guard:
    """Refuses what the rules do not allow, before anything else sees the request."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._throttle = Throttle()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            request = Request(scope)
            refused = self._from_elsewhere(request) or await self._unauthorized(request)
            if refused:
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _from_elsewhere(self, request: Request) -> Response | None:
        """The refusal of what pages of others make a browser send: under another name, or from another origin."""
        host = request.headers.get("host", "")
        if not self._access.is_named(host):
            return refusal(
                HTTPStatus.FORBIDDEN,
                f"{host or 'no name'}: is no name of this server; if it is, allow it where plimsoll up is started",
            )
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() != f"{request.url.scheme}://{host}".lower():
            return refusal(HTTPStatus.FORBIDDEN, f"{origin}: pages of other sites may not send requests here")
        site = request.headers.get("sec-fetch-site", "none")
        followed = request.method in _SAFE and request.headers.get("sec-fetch-mode") == "navigate"
        if site not in ("none", "same-origin") and not followed:
            return refusal(HTTPStatus.FORBIDDEN, "pages of other sites may not send requests here")
        return None

    async def _unauthorized(self, request: Request) -> Response | None:
        """The refusal of a request without the token or password it needs."""
        path, credentials = request.url.path, self._access.credentials
        if path.startswith(STORE) or self._access.owner_only:
            return None if any(map(credentials.is_owner, _secrets(request))) else _no_token()
        if self._access.listen.is_loopback or path in _OPEN:
            return None
        if path in _WRITING:
            return None if any(map(credentials.may_write, _secrets(request))) else _no_token()
        return await self._without_password(request)

    async def _without_password(self, request: Request) -> Response | None:
        client = request.client.host if request.client else ""
        if wait := self._throttle.wait_s(client):
            seconds = str(int(wait) + 1)
            return refusal(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"too many wrong passwords; try again in {seconds} s",
                headers={"Retry-After": seconds},
            )
        password = _basic(request)
        if password and await run_in_threadpool(self._access.credentials.may_read, password):
            self._throttle.succeeded(client)
            return None
        if password:
            self._throttle.failed(client)
        return PlainTextResponse(
            "Plimsoll needs its password here; the user name does not matter.\n",
            HTTPStatus.UNAUTHORIZED,
            {"WWW-Authenticate": 'Basic realm="Plimsoll", charset="UTF-8"'},
        )


class SecurityHeaders:
    """Adds headers to every answer: nothing is loaded from elsewhere, framed, guessed at, or told to others.

    A header that an answer has already, such as the report's policy for its own script, is left as it is.
    """

    _HEADERS = (
        (
            b"content-security-policy",
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (b"x-frame-options", b"DENY"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    )

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [*message.get("headers", ())]
                own = {name.lower() for name, _ in given}
                message = {**message, "headers": [*given, *(one for one in self._HEADERS if one[0] not in own)]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _no_token() -> Response:
    return refusal(HTTPStatus.UNAUTHORIZED, "unauthorized access")


def _secrets(request: Request) -> list[str]:
    """The tokens that a request has, in any form that InfluxDB's clients use."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    found = [token.strip()] if kind.lower() in ("token", "bearer") else [_basic(request)]
    found.append(request.query_params.get("p", ""))
    # InfluxDB 1's clients may send user:token.
    found += [text.partition(":")[2] for text in found if ":" in text]
    return [text for text in found if text]


def _basic(request: Request) -> str:
    """The password of HTTP's basic authentication; empty if there is none."""
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""

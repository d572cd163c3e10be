"""Refuses requests that the rules of access forbid, because of the host name, the origin, or the sender's role."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from http import HTTPStatus
from weakref import WeakValueDictionary

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.serve.access import OPEN, SAFE, WRITING, Access
from plimsoll.serve.listen import find_network, parse_ip
from plimsoll.serve.principals import Person, Role, find_needed_role, set_person
from plimsoll.serve.request_identity import PEER, RequestIdentity, find_address
from plimsoll.serve.responses import ask_to_retry, make_refusal

AT_ONCE = 2  # enough for a page and its charts; further requests of a browser wait
_MAX_WAITING = 64
_AGAIN_S = 5
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Guard:
    """ASGI middleware that refuses forbidden requests before the application handles them."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._identity = RequestIdentity(access)
        self._limit = ConcurrencyLimit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request: refuse it, or pass it on to the application."""
        if scope["type"] == "http":
            # Limits apply to clients; the peer may be a proxy.
            scope = {**scope, "client": (self._find_client(Request(scope)), 0), PEER: scope.get("client")}
            request = Request(scope)
            person = self._refuse_other_site(request) or await self._identity.identify(request)
            if isinstance(person, Person):
                person = _refuse_role(request, person) or person
            if isinstance(person, Response):
                await person(scope, receive, send)
                return
            set_person(request, person)
            if request.method in SAFE and request.scope["path"] not in OPEN | WRITING:
                await self._limit.answer(self._app, find_address(request), scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refuse_other_site(self, request: Request) -> Response | None:
        """Return a refusal if the Host or Origin header shows that a page of another site sent the request; else None.

        If no login is needed, requests forwarded by a proxy are refused as well.
        """
        host = request.headers.get("host", "")
        if not self._access.is_named(host):
            return make_refusal(
                HTTPStatus.FORBIDDEN,
                f"{host or 'no name'}: is no name of this server; if it is, allow it where plimsoll up is started",
            )
        origin = request.headers.get("origin")
        # A proxy that ends TLS gets https requests and sends http ones.
        schemes = {request.url.scheme, "https"} if self._access.is_behind_proxy else {request.url.scheme}
        origins = {f"{scheme}://{host}".lower() for scheme in schemes}
        if self._access.url is not None:
            origins.add(str(self._access.url).lower())
        if origin is not None and origin.lower() not in origins:
            return make_refusal(HTTPStatus.FORBIDDEN, f"{origin}: pages of other sites may not send requests here")
        site = request.headers.get("sec-fetch-site", "none")
        followed = request.method in SAFE and request.headers.get("sec-fetch-mode") == "navigate"
        if site not in ("none", "same-origin") and not followed:
            return make_refusal(HTTPStatus.FORBIDDEN, "pages of other sites may not send requests here")
        if self._access.is_open and any(name in request.headers for name in _FORWARDED):
            return make_refusal(
                HTTPStatus.FORBIDDEN,
                'a proxy passed this on, and whoever reaches that would need no login: set login = "always" in up.toml',
            )
        return None

    def _find_client(self, request: Request) -> str:
        """Return the client's IP address; behind a trusted proxy, the last address in X-Forwarded-For."""
        access, peer = self._access, request.client.host if request.client else ""
        is_proxy = access.is_behind_proxy or (access.proxy is not None and access.proxy.is_at(peer))
        forwarded = request.headers.get("x-forwarded-for", "") if is_proxy else ""
        last = forwarded.rpartition(",")[2].strip()
        return last if parse_ip(last) else peer


def _refuse_role(request: Request, person: Person) -> Response | None:
    """Return a refusal if a person's role does not permit a request; else None."""
    role = find_needed_role(request.method, request.scope["path"])
    if person.role.may(role) or request.scope["path"] in WRITING:
        return None
    if person.how.startswith("token"):
        error = f"this token is for {'reading' if person.role is Role.VIEWER else 'what operators do'}"
        return make_refusal(HTTPStatus.FORBIDDEN, error, hint="use one for changes")
    error = f"{person.name} has the role {person.role}: this needs {role}"
    hint = f"who runs Plimsoll gives it: plimsoll users role {person.name} {role}"
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse(f"{error}.\n{hint}\n", HTTPStatus.FORBIDDEN)
    return make_refusal(HTTPStatus.FORBIDDEN, error, hint=hint)


class SecurityHeaders:
    """ASGI middleware that adds security headers to every response that lacks them.

    Reports have their own Content-Security-Policy, which permits the script in the report.
    """

    _HEADERS: Mapping[str, str] = {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=[*message.get("headers", ())])
                for name, value in self._HEADERS.items():
                    headers.setdefault(name, value)
                message = {**message, "headers": headers.raw}
            await send(message)

        await self._app(scope, receive, send_with_headers)


class ConcurrencyLimit:
    """Limits how many requests of one address are handled concurrently.

    A request whose response has begun no longer counts.
    """

    def __init__(self) -> None:
        self._slots: WeakValueDictionary[str, _Slots] = WeakValueDictionary()

    async def answer(self, app: ASGIApp, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request once its address is below the limit; refuse it if too many requests wait already."""
        slots = self._slots.setdefault(find_network(address), _Slots(AT_ONCE))
        if slots.waiting >= _MAX_WAITING:
            await ask_to_retry("too much is asked for at the moment", _AGAIN_S)(scope, receive, send)
            return
        slots.waiting += 1
        try:
            await slots.acquire()
        finally:
            slots.waiting -= 1
        with ExitStack() as release:
            release.callback(slots.release)

            async def release_and_send(message: Message) -> None:
                if message["type"] == "http.response.start":
                    release.close()
                await send(message)

            await app(scope, receive, release_and_send)


class _Slots(asyncio.Semaphore):
    """A semaphore for the requests of one address, with the number of requests that wait for it."""

    waiting = 0

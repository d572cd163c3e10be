"""Refuses what the rules do not allow: other names of the server, pages of others, who has no role for it."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll.serve.answers import refusal
from plimsoll.serve.guard.access import OPEN, SAFE, WRITING, Access
from plimsoll.serve.guard.asking import PEER, Asking
from plimsoll.serve.guard.sent import address_of
from plimsoll.serve.listen import ip_of
from plimsoll.serve.people import Person, Role, known_as, needed
from plimsoll.serve.turns import Turns

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Guard:
    """Refuses what the rules do not allow, before anything else sees the request."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._asking = Asking(access)
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            # By the client everything is counted; the peer may be a proxy.
            scope = {**scope, "client": (self._client(Request(scope)), 0), PEER: scope.get("client")}
            request = Request(scope)
            found = self._from_elsewhere(request) or self._passed_on(request) or await self._asking.found(request)
            if isinstance(found, Person):
                found = _beyond(request, found) or found
            if isinstance(found, Response):
                await found(scope, receive, send)
                return
            known_as(request, found)
            if request.method in SAFE and request.scope["path"] not in OPEN | WRITING:
                await self._turns.answer(self._app, address_of(request), scope, receive, send)
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
        # A proxy that ends TLS is asked for https, and asks here for http.
        schemes = {request.url.scheme, "https"} if self._access.is_behind_proxy else {request.url.scheme}
        own = {f"{scheme}://{host}".lower() for scheme in schemes}
        if self._access.url is not None:
            own.add(str(self._access.url).lower())
        if origin is not None and origin.lower() not in own:
            return refusal(HTTPStatus.FORBIDDEN, f"{origin}: pages of other sites may not send requests here")
        site = request.headers.get("sec-fetch-site", "none")
        followed = request.method in SAFE and request.headers.get("sec-fetch-mode") == "navigate"
        if site not in ("none", "same-origin") and not followed:
            return refusal(HTTPStatus.FORBIDDEN, "pages of other sites may not send requests here")
        return None

    def _passed_on(self, request: Request) -> Response | None:
        """The refusal of what a proxy passes on where everybody who asks may read and write."""
        if self._access.is_open and any(name in request.headers for name in _FORWARDED):
            return refusal(
                HTTPStatus.FORBIDDEN,
                'a proxy passed this on, and whoever reaches that would need no login: set login = "always" in up.toml',
            )
        return None

    def _client(self, request: Request) -> str:
        """The address that a request comes from; from a proxy on this machine, the one that it adds at the end."""
        access, peer = self._access, request.client.host if request.client else ""
        is_proxy = access.is_behind_proxy or (access.proxy is not None and access.proxy.is_at(peer))
        passed_on = request.headers.get("x-forwarded-for", "") if is_proxy else ""
        last = passed_on.rpartition(",")[2].strip()
        return last if ip_of(last) else peer


def _beyond(request: Request, person: Person) -> Response | None:
    """The refusal of what somebody's role does not include."""
    role = needed(request.method, request.scope["path"])
    if person.role.may(role) or request.scope["path"] in WRITING:
        return None
    if person.how.startswith("token"):
        error = f"this token is for {'reading' if person.role is Role.VIEWER else 'what operators do'}"
        return refusal(HTTPStatus.FORBIDDEN, error, hint="use one for changes")
    error = f"{person.name} has the role {person.role}: this needs {role}"
    hint = f"who runs Plimsoll gives it: {person.given_by(role)}"
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse(f"{error}.\n{hint}\n", HTTPStatus.FORBIDDEN)
    return refusal(HTTPStatus.FORBIDDEN, error, hint=hint)

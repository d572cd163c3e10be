"""Who may reach `plimsoll up`: the names of the server, pages of others, tokens and passwords. See docs/security.md."""

import base64
import binascii
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.serve.answers import later, refusal
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import Listen, PublicAddress, ip_of
from plimsoll.serve.login import Answer, Login, wrong
from plimsoll.serve.people import NOBODY, Person, Role, known_as, needed
from plimsoll.serve.proxy import TrustedProxy, Unknown
from plimsoll.serve.turns import Turns

STORE = "/api/store/"
OWN = "/api/own/"  # other commands of the owner
PUBLIC = "/api/v1"
LOGIN = "/login"
_PEER = "plimsoll.peer"
_OPEN = frozenset({"/health", "/ping"})
# Of InfluxDB 2 and 1, of Prometheus, and of OpenTelemetry.
_WRITING = frozenset({"/api/v2/write", "/write", "/query", "/api/v1/write", "/v1/metrics"})
_OWNER = Person("the owner", Role.ADMIN, "owner's token")
_READER = Person("", Role.VIEWER)
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]]+))(?::[0-9]+)?")
_SAFE = ("GET", "HEAD")
_COME_BACK_S = 30
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


@dataclass(frozen=True)
class Access:
    """The rules: where the server listens, the names it may be called by, and its secrets.

    `login`: the loopback address needs token and password as well. `owner_only`: nothing is answered without the
    owner's token. `url` is the address under which people reach it, by a proxy that may change the scheme and name.
    `proxy` is one that says who asks.
    """

    listen: Listen
    credentials: Credentials
    allowed_hosts: Sequence[str] = ()
    owner_only: bool = False
    login: bool = False
    url: PublicAddress | None = None
    proxy: TrustedProxy | None = None

    @property
    def is_open(self) -> bool:
        """Whether everybody who reaches the server may read and write; to change things where there are users, no."""
        return self.listen.is_loopback and not self.login and not self.owner_only

    @property
    def is_behind_proxy(self) -> bool:
        """Whether a proxy on this machine may pass on what others send."""
        return self.listen.is_loopback and self.login

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
        self._login = Login(access.credentials)
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            # By the client everything is counted; the peer may be a proxy.
            scope = {**scope, "client": (self._client(Request(scope)), 0), _PEER: scope.get("client")}
            request = Request(scope)
            found = self._from_elsewhere(request) or self._passed_on(request) or await self._asking(request)
            if isinstance(found, Person):
                found = _beyond(request, found) or found
            if isinstance(found, Response):
                await found(scope, receive, send)
                return
            known_as(request, found)
            if request.method in _SAFE and request.scope["path"] not in _OPEN | _WRITING:
                await self._turns.answer(self._app, _address(request), scope, receive, send)
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
        followed = request.method in _SAFE and request.headers.get("sec-fetch-mode") == "navigate"
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

    async def _asking(self, request: Request) -> Person | Response:
        """Who sends a request, or its refusal, if it has not the token or password that it needs."""
        path, access, credentials = request.scope["path"], self._access, self._access.credentials
        if path.startswith((STORE, OWN)) or access.owner_only:
            return _OWNER if any(map(credentials.is_owner, _secrets(request))) else self._no_token(request)
        if path in _OPEN:
            return NOBODY
        if path in _WRITING:
            may = access.is_open or any(map(credentials.may_write, _secrets(request)))
            return NOBODY if may else self._no_token(request)
        if access.proxy and (person := self._by_proxy(request, access.proxy)):
            return person
        if access.is_open and not credentials.users.any:
            return NOBODY
        if token := _bearer(request):
            return self._by_token(request, token)
        name, password = _basic(request)
        is_change = request.method not in _SAFE
        if access.is_open and not is_change and not password and path != LOGIN:
            return _READER
        if is_change and (path == PUBLIC or path.startswith(f"{PUBLIC}/")):
            # A browser sends a password by itself, and a program has no need of one.
            return refusal(
                HTTPStatus.UNAUTHORIZED,
                "a change needs a token for changes, as Authorization: Bearer ...",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one",
            )
        return await self._by_password(request, name, password)

    def _by_proxy(self, request: Request, proxy: TrustedProxy) -> Person | Response | None:
        """Whom the proxy says that a request is of; None if it does not come from there, or says nothing."""
        peer = request.scope[_PEER]
        try:
            return proxy.person(peer[0] if peer else "", request.headers, self._access.credentials.users)
        except Unknown as error:
            return refusal(HTTPStatus.FORBIDDEN, str(error))

    def _by_token(self, request: Request, token: str) -> Person | Response:
        """The program that has a token, or the refusal of one that is not for reading or changes."""
        found = self._access.credentials.program(token)
        if found is None:
            wrong("token", _address(request))
            return refusal(
                HTTPStatus.UNAUTHORIZED,
                "this is no token for reading or changes",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one; the token for samples is none",
            )
        return found

    async def _by_password(self, request: Request, name: str, password: str) -> Person | Response:
        client = _address(request)
        answer = await self._login.answer(client, name, password) if password else Answer.WRONG
        match answer:
            case Person():
                return answer
            case Answer.THROTTLED:
                seconds = str(int(self._login.wait_s(client)) + 1)
                return refusal(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"too many wrong passwords; try again in {seconds} s",
                    headers={"Retry-After": seconds},
                )
            case Answer.BUSY:
                return later("too many passwords are tested at the moment", 1)
            case Answer.WRONG:
                users = self._access.credentials.users.any
                which = (
                    "the name and password of a user" if users else "its password here; the user name does not matter"
                )
                return PlainTextResponse(
                    f"Plimsoll needs {which}.\n",
                    HTTPStatus.UNAUTHORIZED,
                    {"WWW-Authenticate": 'Basic realm="Plimsoll", charset="UTF-8"'},
                )

    def _no_token(self, request: Request) -> Response:
        if any(_secrets(request)):
            wrong("token", _address(request))
        return refusal(HTTPStatus.UNAUTHORIZED, "unauthorized access")


def _beyond(request: Request, person: Person) -> Response | None:
    """The refusal of what somebody's role does not include."""
    role = needed(request.method, request.scope["path"])
    if person.role.may(role) or request.scope["path"] in _WRITING:
        return None
    if person.how.startswith("token"):
        error = f"this token is for {'reading' if person.role is Role.VIEWER else 'what operators do'}"
        return refusal(HTTPStatus.FORBIDDEN, error, hint="use one for changes")
    error = f"{person.name} has the role {person.role}: this needs {role}"
    hint = f"who runs Plimsoll gives it: plimsoll users role {person.name} {role}"
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse(f"{error}.\n{hint}\n", HTTPStatus.FORBIDDEN)
    return refusal(HTTPStatus.FORBIDDEN, error, hint=hint)


def without_agents(app: ASGIApp) -> ASGIApp:
    """The application for a connection beyond those for agents: what they send is refused, with the time to come back.

    The connection is closed after the answer, so that it is free for others.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] == "http" and scope["path"] in _WRITING:
            await later("too many agents are connected", _COME_BACK_S)(scope, receive, closing)
        else:
            await app(scope, receive, closing)

    return answer


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


def _address(request: Request) -> str:
    """The address that a request comes from, which Guard has put there."""
    return request.client.host if request.client else ""


def _secrets(request: Request) -> list[str]:
    """The tokens that a request has, in any form that InfluxDB's clients use."""
    found = [_bearer(request) or _basic(request)[1], request.query_params.get("p", "")]
    # InfluxDB 1's clients may send user:token.
    found += [text.partition(":")[2] for text in found if ":" in text]
    return [text for text in found if text]


def _bearer(request: Request) -> str:
    """The token of the header Authorization; empty if it has none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() in ("token", "bearer") else ""


def _basic(request: Request) -> tuple[str, str]:
    """The user name and password of HTTP's basic authentication; empty if there are none."""
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, password

"""Identifies the sender of a request, by the name that a proxy sends, a token, or a user name and password."""

import asyncio
import base64
import binascii
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from plimsoll.model.errors import escape
from plimsoll.serve.access import LOGIN, OPEN, OWN, PUBLIC, SAFE, STORE, WRITING, Access, TrustedProxy, UnknownUser
from plimsoll.serve.credentials import Credentials
from plimsoll.serve.listen import find_network
from plimsoll.serve.principals import NOBODY, Person, Role
from plimsoll.serve.responses import ask_to_retry, make_refusal

PEER = "plimsoll.peer"  # in a request's scope: the address that connected, which may be a proxy
FREE_ATTEMPTS = 5  # wrong passwords of an address
PAUSE_S = 60.0
_MAX_ADDRESSES = 10_000
_MAX_TESTS = 8
_MAX_VERIFIED = 10_000
_OWNER = Person("the owner", Role.ADMIN, "owner's token")
_READER = Person("", Role.VIEWER)
_log = logging.getLogger(__name__)


class RequestIdentity:
    """Identifies the sender of a request by the rules of access."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._passwords = PasswordCheck(access.credentials)

    async def identify(self, request: Request) -> Person | Response:
        """Return the sender of a request, or a refusal if the request needs a token or password that it lacks."""
        path, access, credentials = request.scope["path"], self._access, self._access.credentials
        if path.startswith((STORE, OWN)) or access.owner_only:
            return _OWNER if any(map(credentials.is_owner, list_secrets(request))) else _refuse_without_token(request)
        if path in OPEN:
            return NOBODY
        if path in WRITING:
            is_allowed = access.is_open or any(map(credentials.may_write, list_secrets(request)))
            return NOBODY if is_allowed else _refuse_without_token(request)
        if access.proxy and (person := self._identify_by_proxy(request, access.proxy)):
            return person
        if access.is_open and not credentials.users.any:
            return NOBODY
        if token := find_bearer_token(request):
            if program := credentials.program(token):
                return program
            _log_failure("token", find_address(request))
            return make_refusal(
                HTTPStatus.UNAUTHORIZED,
                "this is no token for reading or changes",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one; the token for samples is none",
            )
        is_change = request.method not in SAFE
        is_api_change = is_change and (path == PUBLIC or path.startswith(f"{PUBLIC}/"))
        name, password = find_basic_login(request)
        if not password and access.is_open and not is_change and path != LOGIN:
            return _READER
        if is_api_change:
            # A browser sends passwords and cookies on its own, so changes need more; programs use tokens.
            return make_refusal(
                HTTPStatus.UNAUTHORIZED,
                "a change needs a token for changes, as Authorization: Bearer ...",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one",
            )
        return await self._passwords.check(find_address(request), name, password)

    def _identify_by_proxy(self, request: Request, proxy: TrustedProxy) -> Person | Response | None:
        """Return the person named by the proxy, or a refusal if that person has no role.

        Return None if the proxy did not send the request, or named nobody.
        """
        peer = request.scope[PEER]
        try:
            return proxy.person(peer[0] if peer else "", request.headers, self._access.credentials.users)
        except UnknownUser as error:
            return make_refusal(HTTPStatus.FORBIDDEN, str(error))


class PasswordCheck:
    """Tests passwords, a few at a time, and remembers the right passwords of each client address.

    A test takes a fraction of a second, and runs in a separate thread so that nothing else waits.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._throttle = Throttle()
        self._pool = ThreadPoolExecutor(1, "passwords")
        self._running: dict[tuple[str, bytes], asyncio.Task[Person | None]] = {}
        self._verified: OrderedDict[tuple[str, bytes], Person] = OrderedDict()

    async def check(self, address: str, name: str, password: str) -> Person | Response:
        """Return the user with a name and password, or a refusal.

        Right passwords are remembered, as browsers send name and password with every request.
        """
        if not password:
            return self._make_challenge()
        key = find_network(address), self._credentials.mark(name, password)
        if person := self._verified.get(key):
            return person
        # A browser sends several requests with a newly entered password at once: that is one attempt.
        task = self._running.get(key)
        if task is None:
            if wait_s := self._throttle.wait_s(address):
                seconds = str(int(wait_s) + 1)
                return make_refusal(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"too many wrong passwords; try again in {seconds} s",
                    headers={"Retry-After": seconds},
                )
            if len(self._running) >= _MAX_TESTS:
                return ask_to_retry("too many passwords are tested at the moment", 1)
            self._throttle.attempt(address)
            task = self._running[key] = asyncio.create_task(self._test(address, name, password, key))
        return await asyncio.shield(task) or self._make_challenge()

    async def _test(self, address: str, name: str, password: str, key: tuple[str, bytes]) -> Person | None:
        """Return the user with a name and password, tested in a thread; None if name or password is wrong."""
        try:
            loop = asyncio.get_running_loop()
            person = await loop.run_in_executor(self._pool, self._credentials.person, name, password)
        finally:
            del self._running[key]
        if person:
            self._throttle.succeeded(address)
            self._verified[key] = person
            if len(self._verified) > _MAX_VERIFIED:
                self._verified.popitem(last=False)
        else:
            _log_failure("password", address)
        return person

    def _make_challenge(self) -> Response:
        """Return the 401 response that makes a browser ask for a name and password."""
        has_users = self._credentials.users.any
        needed = "the name and password of a user" if has_users else "its password here; the user name does not matter"
        return PlainTextResponse(
            f"Plimsoll needs {needed}.\n",
            HTTPStatus.UNAUTHORIZED,
            {"WWW-Authenticate": 'Basic realm="Plimsoll", charset="UTF-8"'},
        )


class Throttle:
    """Slows guessing: after FREE_ATTEMPTS wrong passwords, an address must wait PAUSE_S after each further attempt.

    A right password does not reset the count, as a user may be guessing the password of another user.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """Return how many seconds an address must wait; 0 if it need not."""
        count, last = self._failed.get(find_network(address), (0, 0.0))
        return max(0.0, last + PAUSE_S - self._clock()) if count >= FREE_ATTEMPTS else 0.0

    def attempt(self, address: str) -> None:
        """Count an attempt as wrong before its password is tested, so that simultaneous attempts are limited."""
        place = find_network(address)
        count, last = self._failed.pop(place, (0, 0.0))
        now = self._clock()
        self._failed[place] = (count + 1 if now - last < 10 * PAUSE_S else 1, now)
        if len(self._failed) > _MAX_ADDRESSES:
            self._failed.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Take back the count of an attempt whose password proved right."""
        place = find_network(address)
        count, last = self._failed.get(place, (0, 0.0))
        if count > 1:
            self._failed[place] = count - 1, last
        else:
            self._failed.pop(place, None)


def find_address(request: Request) -> str:
    """Return the address of the client that sent a request, as set by Guard."""
    return request.client.host if request.client else ""


def list_secrets(request: Request) -> list[str]:
    """Return the tokens in a request, wherever clients of InfluxDB 1 or 2 put tokens."""
    tokens = [find_bearer_token(request) or find_basic_login(request)[1], request.query_params.get("p", "")]
    # InfluxDB 1's clients may send user:token.
    tokens += [token.partition(":")[2] for token in tokens if ":" in token]
    return [token for token in tokens if token]


def find_bearer_token(request: Request) -> str:
    """Return the token in the header Authorization; empty if there is none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() in ("token", "bearer") else ""


def find_basic_login(request: Request) -> tuple[str, str]:
    """Return user name and password from HTTP basic authentication; two empty texts without it."""
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return "", ""
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, password


def _refuse_without_token(request: Request) -> Response:
    if any(list_secrets(request)):
        _log_failure("token", find_address(request))
    return make_refusal(HTTPStatus.UNAUTHORIZED, "unauthorized access")


def _log_failure(kind: str, address: str) -> None:
    _log.warning("a wrong %s from %s", kind, escape(address) or "an unknown address")

"""Who sends a request: a proxy says it, a token, or a name and password."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from plimsoll.serve.answers import later, refusal
from plimsoll.serve.guard.access import LOGIN, OPEN, OWN, PUBLIC, SAFE, STORE, WRITING, Access
from plimsoll.serve.guard.sent import address_of, basic_of, bearer_of, secrets_of
from plimsoll.serve.login import Answer, Login, wrong
from plimsoll.serve.people import NOBODY, Person, Role
from plimsoll.serve.proxy import TrustedProxy, Unknown

PEER = "plimsoll.peer"  # in a request's scope: where it comes from, which may be a proxy
_OWNER = Person("the owner", Role.ADMIN, "owner's token")
_READER = Person("", Role.VIEWER)


class Asking:
    """Finds who sends a request, by the rules."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._login = Login(access.credentials)

    async def found(self, request: Request) -> Person | Response:
        """Who sends a request, or its refusal, if it has not the token, password or login that it needs."""
        path, access, credentials = request.scope["path"], self._access, self._access.credentials
        if path.startswith((STORE, OWN)) or access.owner_only:
            return _OWNER if any(map(credentials.is_owner, secrets_of(request))) else _no_token(request)
        if path in OPEN:
            return NOBODY
        if path in WRITING:
            may = access.is_open or any(map(credentials.may_write, secrets_of(request)))
            return NOBODY if may else _no_token(request)
        if access.proxy and (person := self._by_proxy(request, access.proxy)):
            return person
        if access.is_open and not credentials.users.any:
            return NOBODY
        if token := bearer_of(request):
            return self._by_token(request, token)
        is_change = request.method not in SAFE
        is_api_change = is_change and (path == PUBLIC or path.startswith(f"{PUBLIC}/"))
        name, password = basic_of(request)
        if not password and access.is_open and not is_change and path != LOGIN:
            return _READER
        if is_api_change:
            # A browser sends a password or a cookie by itself, and a program has no need of one.
            return refusal(
                HTTPStatus.UNAUTHORIZED,
                "a change needs a token for changes, as Authorization: Bearer ...",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one",
            )
        return await self._by_password(request, name, password)

    def _by_proxy(self, request: Request, proxy: TrustedProxy) -> Person | Response | None:
        """Whom the proxy says that a request is of; None if it does not come from there, or says nothing."""
        peer = request.scope[PEER]
        try:
            return proxy.person(peer[0] if peer else "", request.headers, self._access.credentials.users)
        except Unknown as error:
            return refusal(HTTPStatus.FORBIDDEN, str(error))

    def _by_token(self, request: Request, token: str) -> Person | Response:
        """The program that has a token, or the refusal of one that is not for reading or changes."""
        found = self._access.credentials.program(token)
        if found is None:
            wrong("token", address_of(request))
            return refusal(
                HTTPStatus.UNAUTHORIZED,
                "this is no token for reading or changes",
                headers={"WWW-Authenticate": "Bearer"},
                hint="docs/http-api.md says how to make one; the token for samples is none",
            )
        return found

    async def _by_password(self, request: Request, name: str, password: str) -> Person | Response:
        client = address_of(request)
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


def _no_token(request: Request) -> Response:
    if any(secrets_of(request)):
        wrong("token", address_of(request))
    return refusal(HTTPStatus.UNAUTHORIZED, "unauthorized access")

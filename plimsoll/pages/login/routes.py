"""Where people log in and out: at the OpenID provider, if there is one; the guard asks for passwords."""

import logging
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plimsoll.pages.shared.forms import see
from plimsoll.pages.shared.frame import Frame
from plimsoll.serve.guard.access import LOGGED_IN, LOGIN, LOGOUT
from plimsoll.serve.listen import PublicAddress
from plimsoll.serve.oidc.handshake import Begun, Refused
from plimsoll.serve.oidc.login import TAKES_S, OidcLogin
from plimsoll.serve.people import Person, Role, known_as, person_of
from plimsoll.up.watched import Watched

_LONGEST = 1000  # a cookie holds it

_log = logging.getLogger(__name__)


def routes(watched: Watched, frame: Frame) -> list[Route]:
    """The routes."""

    def login(request: Request) -> Response:
        back, oidc = _back(request), watched.oidc
        if oidc is None or person_of(request).name or "with" in request.query_params:
            return see(back)  # the guard has asked for a password, if one is needed
        if watched.url and (elsewhere := _under(watched.url, request)):
            return see(elsewhere)
        try:
            address, begun = oidc.begin(back)
        except Refused as error:
            return failed(request, error, back)
        answer = see(address)
        _keep(answer, oidc, oidc.cookie, begun.cookie, TAKES_S)
        return answer

    def logged_in(request: Request) -> Response:
        oidc = watched.oidc
        if oidc is None:
            return see("/")
        begun = Begun.of(request.cookies.get(oidc.cookie, ""))
        back = begun.back if begun else "/"
        try:
            secret = oidc.finish(request.query_params, begun)
        except Refused as error:
            if person_of(request).name:  # logged in meanwhile, in another tab
                return see(back)
            return failed(request, error, back)
        answer = see(back)
        _keep(answer, oidc, oidc.sessions.cookie, secret, oidc.sessions.length_s)
        _forget(answer, oidc, oidc.cookie)
        return answer

    def failed(request: Request, error: Refused, back: str) -> Response:
        _log.warning("a login failed: %s", error)
        return frame.page(
            request,
            "login/login_failed.html.j2",
            "Not logged in",
            error.status,
            why=str(error),
            hint=error.hint,
            again=f"{LOGIN}?{urlencode({'back': back})}",
            with_password=f"{LOGIN}?{urlencode({'with': 'password', 'back': back})}",
        )

    def logout(request: Request) -> Response:
        oidc = watched.oidc
        if oidc is None:
            return see("/")
        elsewhere = oidc.end(request.cookies)
        known_as(request, Person("", Role.VIEWER))
        answer = frame.page(request, "login/logged_out.html.j2", "Logged out", elsewhere=elsewhere)
        _forget(answer, oidc, oidc.sessions.cookie)
        return answer

    return [Route(LOGIN, login), Route(LOGGED_IN, logged_in), Route(LOGOUT, logout, methods=["POST"])]


def _back(request: Request) -> str:
    """The page to go to after the login: one of this server."""
    parts = urlsplit(request.query_params.get("back", "")[:_LONGEST])
    path = parts.path if parts.path.startswith("/") and not parts.path.startswith(("//", "/\\")) else "/"
    return f"{path}?{parts.query}" if parts.query else path


def _under(url: PublicAddress, request: Request) -> str:
    """The login under the address that the provider sends people back to, as cookies are of one; empty if this is it.

    A proxy may change the name on the way: then nobody is led there a second time.
    """
    if request.headers.get("host", "").lower() == urlsplit(str(url)).netloc.lower() or "moved" in request.query_params:
        return ""
    return f"{url}{LOGIN}?{urlencode({'back': _back(request), 'moved': 1})}"


def _keep(answer: Response, oidc: OidcLogin, name: str, value: str, seconds: float) -> None:
    secure = oidc.sessions.secure
    answer.set_cookie(name, value, max_age=int(seconds), path="/", secure=secure, httponly=True, samesite="lax")


def _forget(answer: Response, oidc: OidcLogin, name: str) -> None:
    answer.delete_cookie(name, path="/", secure=oidc.sessions.secure, httponly=True, samesite="lax")

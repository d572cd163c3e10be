"""Logs people in and out: leads them to the OpenID provider, takes them back from there, gives them their role."""

import logging
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from plimsoll.model.errors import printable
from plimsoll.serve.oidc.handshake import Begun, Provider, Refused
from plimsoll.serve.oidc.sessions import Sessions
from plimsoll.serve.oidc.settings import Settings

TAKES_S = 600  # to log in at the provider
_AGAIN = "log in again"
_MOST_VALUES = 20
_LONGEST = 200

_log = logging.getLogger(__name__)


class OidcLogin:
    """Logs people in and out."""

    def __init__(self, settings: Settings, provider: Provider, sessions: Sessions) -> None:
        self._settings = settings
        self._provider = provider
        self.sessions = sessions
        self.cookie = f"{'__Host-' if sessions.secure else ''}plimsoll-login"

    @classmethod
    def made(cls, settings: Settings, folder: Path, *, made_with: str, length_s: float, secure: bool) -> "OidcLogin":
        """That of a data folder. `made_with` stands for the settings: when they change, everybody logs in again."""
        from plimsoll.serve.oidc.provider import OpenIdProvider  # noqa: PLC0415 - authlib only where it is needed

        return cls(settings, OpenIdProvider(settings), Sessions(folder, made_with, length_s, secure=secure))

    def begin(self, back: str) -> tuple[str, Begun]:
        """Where somebody has to go to log in, and what their browser keeps until they are back. Refused."""
        begun = Begun(_random(), _random(), _random(), back)
        return self._provider.address(begun), begun

    def finish(self, answer: Mapping[str, str], begun: Begun | None) -> str:
        """Log in who comes back from the provider with its answer; the secret of the session. Refused."""
        if begun is None or not secrets.compare_digest(answer.get("state", "").encode(), begun.state.encode()):
            raise Refused(
                "this login was not begun in this browser, or too long ago, or another one was begun since",
                f"{_AGAIN}; the browser must take cookies of this address",
                HTTPStatus.BAD_REQUEST,
            )
        if error := answer.get("error"):
            said = ": ".join(_shown(one) for one in (error, answer.get("error_description", "")) if one)
            raise Refused(f"the provider let nobody in: {said}", _AGAIN)
        known = self._provider.known(answer.get("code", ""), begun)
        name = _text(known.claims, self._settings.user)
        if not name or len(name) > _LONGEST or not name.isprintable():
            have = ", ".join(sorted(map(_shown, known.claims)))
            raise Refused(
                f"the provider says no name: the claim {self._settings.user} is missing or cannot be printed",
                f"oidc.user in up.toml names the claim; there are: {have}",
            )
        values = _values(known.claims, self._settings.claim)
        role = self._settings.roles.role(values)
        if role is None:
            have = ", ".join(map(_shown, values[:_MOST_VALUES])) or "nothing"
            _log.warning("%s has no role: the claim %s has %s", _shown(name), self._settings.claim, have)
            raise Refused(
                f"{name} has no role here: the claim {self._settings.claim} has {have}",
                "who runs Plimsoll gives one of these a role: oidc.roles in up.toml",
            )
        _log.info("%s has logged in as %s", _shown(name), role)
        return self.sessions.begin(name, role, known.id_token)

    def end(self, cookies: Mapping[str, str]) -> str:
        """Log somebody out here; where they log out at the provider, empty if that is not possible or not known."""
        session = self.sessions.end(cookies)
        if session is None:
            return ""
        try:
            return self._provider.end(session.id_token)
        except Refused:
            return ""


def _random() -> str:
    return secrets.token_urlsafe(32)


def _found(claims: Mapping[str, Any], name: str) -> Any:
    """A claim: of this very name, or within others, as realm_access.roles."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _text(claims: Mapping[str, Any], name: str) -> str:
    found = None if name == "email" and claims.get("email_verified") is False else _found(claims, name)
    return found.strip() if isinstance(found, str) else ""


def _values(claims: Mapping[str, Any], name: str) -> list[str]:
    """The values of a claim. An address of mail that was not verified is anybody's, and counts for nothing."""
    if name == "email" and claims.get("email_verified") is not True:
        return []
    found = _found(claims, name)
    return [str(one) for one in (found if isinstance(found, list) else [found]) if isinstance(one, str | int)]


def _shown(text: object) -> str:
    return printable(str(text))[:_LONGEST]

"""The OpenID provider: what it says of itself, and of who logs in. The only module that imports authlib."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from plimsoll.model.errors import printable
from plimsoll.serve.oidc.handshake import Begun, Known, Refused
from plimsoll.serve.oidc.settings import Settings

LEEWAY_S = 120  # by which the clocks of both may differ
_PATIENCE_S = 10
_KNOWN_S = 3600
_LONGEST = 300
_DISCOVERY = "/.well-known/openid-configuration"
# Signed with a key that only the provider has: never "none", nor a secret that both have.
_SIGNED = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)] + ["EdDSA", "Ed25519"]
_NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
_WAIT = "try again; if it stays so, who runs Plimsoll or the provider has to mend it"


class OpenIdProvider:
    """The provider. It is asked what it says of itself when the first person logs in, and an hour later again.

    `clock` is the time (s, Unix).
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock
        self._name = urlsplit(settings.issuer).netloc
        self._metadata: Mapping[str, Any] = {}
        self._until = 0.0

    def address(self, begun: Begun) -> str:
        """Where somebody logs in. Refused if the provider does not say it."""
        found = self._about_itself()
        with self._session(found) as session:
            address, _ = session.create_authorization_url(
                found["authorization_endpoint"], state=begun.state, nonce=begun.nonce, code_verifier=begun.verifier
            )
        return str(address)

    def known(self, code: str, begun: Begun) -> Known:
        """Who has logged in, by the code that the provider gave. Refused if what it says cannot be trusted."""
        found = self._about_itself()
        with self._session(found) as session:
            token = session.fetch_token(
                found["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=begun.verifier
            )
            id_token = token.get("id_token")
            if not isinstance(id_token, str):
                raise self._wrong("it sent no ID token", "the scope openid is needed: oidc.scopes in up.toml")
            keys: Any = self._json(session.get(found["jwks_uri"], withhold_token=True))
            claims = self._checked(
                id_token, KeySet.import_key_set(keys), begun.nonce, str(token.get("access_token", ""))
            )
            return Known({**self._more(session, found, claims), **claims}, id_token)

    def end(self, id_token: str) -> str:
        """Where somebody logs out at the provider; empty if it has no such address. Refused if it does not answer."""
        address = self._about_itself().get("end_session_endpoint")
        if not isinstance(address, str):
            return ""
        back = self._settings.redirect.removesuffix(urlsplit(self._settings.redirect).path)
        told = {"id_token_hint": id_token, "client_id": self._settings.client, "post_logout_redirect_uri": f"{back}/"}
        return f"{address}{'&' if '?' in address else '?'}{urlencode(told)}"

    def _about_itself(self) -> Mapping[str, Any]:
        now = time.monotonic()
        if not self._metadata or now >= self._until:
            with self._session({}) as session:
                address = self._settings.issuer.rstrip("/") + _DISCOVERY
                found = self._json(session.get(address, withhold_token=True))
            lacks = [name for name in _NEEDED if not isinstance(found.get(name), str)]
            if lacks:
                raise self._wrong(f"{address} does not say its {', '.join(lacks)}", "is oidc.issuer in up.toml right?")
            if found["issuer"] != self._settings.issuer:
                raise self._wrong(
                    f"it calls itself {_shown(found['issuer'])}, and oidc.issuer in up.toml is {self._settings.issuer}",
                    "who runs Plimsoll writes the name there as the provider does, with or without a / at its end",
                )
            self._metadata, self._until = found, now + _KNOWN_S
        return self._metadata

    def _checked(self, id_token: str, keys: KeySet, nonce: str, access_token: str) -> Mapping[str, Any]:
        """The claims of an ID token. Refused if it is not of the provider, for this login, and of now."""
        settings = self._settings
        read = jwt.decode(id_token, keys, registry=JWSRegistry(algorithms=_SIGNED, strict_check_header=False))
        told = {"nonce": nonce, "client_id": settings.client, "access_token": access_token}
        options: Any = {
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client},
        }
        now = self._clock()
        try:
            CodeIDToken(read.claims, read.header, options, told).validate(int(now), LEEWAY_S)
        except ExpiredTokenError:
            raise self._clocks(f"its ID token was valid until {_time(read.claims.get('exp'))}", now) from None
        except ClaimError as error:
            value = read.claims.get(error.claim)
            if error.claim in ("iat", "nbf") and isinstance(value, int | float) and value > now:
                raise self._clocks(f"its ID token is of {_time(value)}", now) from None
            wanted = {"iss": settings.issuer, "aud": settings.client}.get(error.claim, "")
            raise self._wrong(
                f"the claim {error.claim} of its ID token is {_shown(value)}" + (f", not {wanted}" if wanted else ""),
                "oidc.issuer and oidc.client in up.toml have to be those of this client at the provider"
                if wanted
                else _WAIT,
            ) from None
        return read.claims

    def _more(self, session: Any, found: Mapping[str, Any], claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the provider tells of a person beside the ID token, where that lacks the name or what gives a role."""
        address = found.get("userinfo_endpoint")
        wanted = {name.partition(".")[0] for name in (self._settings.user, self._settings.claim) if name not in claims}
        if wanted <= claims.keys() or not isinstance(address, str):
            return {}
        more = self._json(session.get(address))
        return more if more.get("sub") == claims["sub"] else {}

    @contextmanager
    def _session(self, found: Mapping[str, Any]) -> Generator[Any]:
        """Requests to the provider. What fails is Refused, in words."""
        settings = self._settings
        methods = found.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        by_post = "client_secret_basic" not in methods and "client_secret_post" in methods
        by_secret = "client_secret_post" if by_post else "client_secret_basic"
        made: Any = OAuth2Session(  # it has no types
            settings.client,
            settings.secret or None,
            token_endpoint_auth_method=by_secret if settings.secret else "none",
            scope=" ".join(settings.scopes),
            redirect_uri=settings.redirect,
            code_challenge_method="S256",
            default_timeout=_PATIENCE_S,
        )
        with made as session:
            session.verify = settings.ca or True
            try:
                yield session
            except requests.exceptions.SSLError as error:
                raise self._wrong(f"its certificate is not trusted: {_reason(error)}", "oidc.ca in up.toml") from None
            except (requests.RequestException, OSError) as error:
                raise self._wrong(f"it does not answer: {_reason(error)}", _WAIT) from None
            except AuthlibBaseError as error:
                said = ": ".join(_shown(one) for one in (error.error, error.description) if one)
                hint = {
                    "invalid_client": "oidc.client and the secret in up.toml have to be those that it knows",
                    "invalid_grant": "log in again; a login is valid once, and for a short time",
                }.get(error.error or "", _WAIT)
                raise self._wrong(f"it refuses: {said}", hint) from None
            except (JoseError, ValueError, OverflowError, TypeError, KeyError) as error:
                raise self._wrong(f"what it sent cannot be trusted: {_shown(error)}", _WAIT) from None

    def _json(self, answer: requests.Response) -> dict[str, Any]:
        if not answer.ok:
            raise self._wrong(f"it answers {answer.status_code} under {answer.url}", "is oidc.issuer in up.toml right?")
        found = answer.json()
        if not isinstance(found, dict):
            raise ValueError(f"{answer.url} is no object of JSON")
        return found

    def _clocks(self, what: str, now: float) -> Refused:
        return self._wrong(
            f"{what}, and it is {_time(now)} here",
            f"the clock of this machine or of the provider is wrong: they may differ by {LEEWAY_S // 60} min",
        )

    def _wrong(self, why: str, hint: str) -> Refused:
        return Refused(f"{self._name}: {why}", hint, HTTPStatus.BAD_GATEWAY)


def _time(value: object) -> str:
    if not isinstance(value, int | float):
        return "no time"
    return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _reason(error: BaseException) -> str:
    """What is wrong with a connection, by the innermost of what libraries have put around it."""
    inner = getattr(error, "reason", None) or next(iter(error.args), None)
    return _reason(inner) if isinstance(inner, BaseException) else _shown(error)


def _shown(value: object) -> str:
    return printable(str(value))[:_LONGEST]

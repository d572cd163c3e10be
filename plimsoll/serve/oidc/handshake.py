"""What a login and the OpenID provider tell each other."""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Protocol


class Refused(Exception):
    """Somebody could not log in: why, and what to do about it. `status` is that of the page that says so."""

    def __init__(self, why: str, hint: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(why)
        self.hint = hint
        self.status = status


@dataclass(frozen=True, slots=True)
class Begun:
    """A login that was begun, which the browser keeps: what the provider's answer has to fit, and where to go then."""

    state: str
    nonce: str
    verifier: str
    back: str

    @classmethod
    def of(cls, cookie: str) -> "Begun | None":
        """What a cookie has; None if it is none of these."""
        try:
            found = json.loads(base64.urlsafe_b64decode(cookie))
            return cls(*(str(found[name]) for name in ("state", "nonce", "verifier", "back")))
        except (ValueError, TypeError, KeyError):
            return None

    @property
    def cookie(self) -> str:
        """The cookie."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()


@dataclass(frozen=True, slots=True)
class Known:
    """What the provider says of who has logged in: claims that were checked, and the token that had them."""

    claims: Mapping[str, Any]
    id_token: str


class Provider(Protocol):
    """The provider. What fails is Refused."""

    def address(self, begun: Begun) -> str:
        """Where somebody logs in."""
        ...

    def known(self, code: str, begun: Begun) -> Known:
        """Who has logged in, by the code that the provider gave."""
        ...

    def end(self, id_token: str) -> str:
        """Where somebody logs out at the provider; empty if that is not possible."""
        ...

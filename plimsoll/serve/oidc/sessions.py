"""Who is logged in by the OpenID provider: sessions in a file of the data folder, by the hash of what a browser has."""

import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.model.errors import Unusable, printable
from plimsoll.serve.people import OPENID, Person, Role
from plimsoll.serve.secret_files import read_json, save_json

FILE = "sessions.json"
_MOST = 2000
_MENDED = "delete it, and people log in again"

_log = logging.getLogger(__name__)


class Session(BaseModel):
    """Somebody who is logged in until a time (s, Unix). `id_token` is what the provider knows the login by."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    role: Role
    until: float
    id_token: str = ""


class Sessions:
    """The sessions. They survive a restart, unless the settings by which people got their roles were changed.

    `made_with` stands for those settings, `length_s` is how long a login is valid, `secure`: the address is one of
    https. Unusable if others can read the file.
    """

    def __init__(
        self, folder: Path, made_with: str, length_s: float, *, secure: bool, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = folder / FILE
        self._made_with = hashlib.sha256(made_with.encode()).hexdigest()
        self._clock = clock
        self._changing = Lock()
        self.length_s = length_s
        self.secure = secure
        self.cookie = "__Host-plimsoll" if secure else "plimsoll-session"
        self._held = self._read()

    def begin(self, name: str, role: Role, id_token: str) -> str:
        """Log somebody in; the secret for the cookie of their browser."""
        secret = secrets.token_urlsafe(32)
        with self._changing:
            now = self._clock()
            held = {key: one for key, one in self._held.items() if one.until > now}
            held[_hash(secret)] = Session(name=name, role=role, until=now + self.length_s, id_token=id_token)
            self._held = dict([*held.items()][-_MOST:])
            self._save()
        return secret

    def person(self, cookies: Mapping[str, str]) -> Person | None:
        """Who is logged in by these cookies; None if nobody is, or not any more."""
        found = self._held.get(_hash(cookies.get(self.cookie, "")))
        return Person(found.name, found.role, OPENID) if found and found.until > self._clock() else None

    def end(self, cookies: Mapping[str, str]) -> Session | None:
        """Log somebody out; the session that there was."""
        with self._changing:
            found = self._held.pop(_hash(cookies.get(self.cookie, "")), None)
            if found:
                self._save()
        return found

    def _read(self) -> dict[str, Session]:
        kept: Mapping[str, Any] = read_json(self._path, _MENDED)
        if kept.get("made_with") != self._made_with:
            return {}
        try:
            return {key: Session.model_validate(one) for key, one in dict(kept["sessions"]).items()}
        except (KeyError, TypeError, ValueError, ValidationError):
            raise Unusable(f"{self._path}: cannot be read; {_MENDED}") from None

    def _save(self) -> None:
        sessions = {key: one.model_dump(mode="json") for key, one in self._held.items()}
        try:
            save_json(self._path, {"made_with": self._made_with, "sessions": sessions})
        except (OSError, Unusable) as error:  # a full disk locks nobody out
            _log.error("logins will not survive a restart: %s", printable(str(error)))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()

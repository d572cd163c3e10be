"""The users of `plimsoll up`: names, roles and hashes of passwords, in a file of the data folder."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.serve import secret_files
from plimsoll.serve.principals import Role
from plimsoll.serve.secret_files import Reread, read_json, save_json

FILE = "users.json"
SHORTEST = 10
_LONGEST = 200
_HOW_TO_MEND = "delete it, and add the users again"
_NAME = re.compile(r"[\w.@-]{1,64}")


@dataclass(frozen=True, slots=True)
class User:
    """A user who may log in. A user without a password can only log in at a proxy that logs people in."""

    name: str
    role: Role
    has_password: bool


class UserFile:
    """The file of users, read again when it changes."""

    def __init__(self, folder: Path) -> None:
        self._file = Reread(folder / FILE, _HOW_TO_MEND)
        self._nobody = secret_files.hash_password(secrets.token_urlsafe())

    @property
    def any(self) -> bool:
        """Whether there are users."""
        return bool(self._file.current)

    def role(self, name: str) -> Role | None:
        """Return the role of a user; None if nobody has this name."""
        entry = self._file.current.get(name.casefold())
        return _find_role(entry) if entry else None

    def name(self, name: str) -> str:
        """Return a user's name in the spelling with which the user was added; an unknown name unchanged."""
        return str(self._file.current.get(name.casefold(), {}).get("name", name))

    def hash_of(self, name: str) -> str:
        """Return the hash of a user's password; for an unknown user a random hash, whose check takes as long."""
        return str(self._file.current.get(name.casefold(), {}).get("password") or self._nobody)


def load_users(folder: Path) -> list[User]:
    """Return all users, sorted by name."""
    users = [
        User(str(entry.get("name", key)), _find_role(entry), bool(entry.get("password")))
        for key, entry in _read_users(folder).items()
    ]
    return sorted(users, key=lambda user: user.name.casefold())


def add(folder: Path, name: str, role: Role, password: str | None) -> None:
    """Add a user. Raise Unusable if the name is taken, or the password is too short."""
    if not _NAME.fullmatch(name):
        raise Unusable(f"{name!r}: is no name of a user; letters, digits, dots, dashes, underscores and @ are")
    users = _read_users(folder)
    if name.casefold() in users:
        raise Unusable(f"{name}: is a user already; plimsoll users passwd {name} changes the password")
    entry = {"name": name, "role": role.value, **({"password": _hash(password)} if password is not None else {})}
    save_json(folder / FILE, {**users, name.casefold(): entry})


def change_user(folder: Path, name: str, *, password: str | None = None, role: Role | None = None) -> None:
    """Change the password or the role of a user. Raise Unusable if there is no user of this name."""
    users = _read_users(folder)
    entry = dict(_find_entry(users, name, folder))
    if password is not None:
        entry["password"] = _hash(password)
    if role is not None:
        entry["role"] = role.value
    save_json(folder / FILE, {**users, name.casefold(): entry})


def remove(folder: Path, name: str) -> None:
    """Remove a user. Raise Unusable if there is no user of this name."""
    users = _read_users(folder)
    _find_entry(users, name, folder)
    save_json(folder / FILE, {key: entry for key, entry in users.items() if key != name.casefold()})


def make_password() -> str:
    """Return a random password."""
    return secrets.token_urlsafe(15)


def _read_users(folder: Path) -> dict[str, Any]:
    return read_json(folder / FILE, _HOW_TO_MEND)


def _find_entry(users: Mapping[str, Any], name: str, folder: Path) -> Mapping[str, Any]:
    if name.casefold() not in users:
        names = ", ".join(sorted(str(entry.get("name", key)) for key, entry in users.items())) or "nobody"
        raise Unusable(f"{name}: is no user of {folder}; those are: {names}; {Parameter.STORE} names another folder")
    return users[name.casefold()]


def _hash(password: str) -> str:
    if not SHORTEST <= len(password) <= _LONGEST:
        raise Unusable(f"the password has {len(password)} characters; {SHORTEST} to {_LONGEST} are possible")
    return secret_files.hash_password(password)


def _find_role(entry: Mapping[str, Any]) -> Role:
    # An unreadable role gets the fewest rights.
    return Role(entry["role"]) if entry.get("role") in [*Role] else Role.VIEWER

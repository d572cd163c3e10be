"""The secrets of `plimsoll up`: the owner's token in a file, and hashes of the others."""

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from plimsoll.model.atomic import atomic_write
from plimsoll.model.errors import Unusable
from plimsoll.native.private import check_private

OWNERS_FILE = "token"
HASHES_FILE = "access.json"
NEW_FILE = "new-secrets"
_TOKEN, _PASSWORD = "token", "password"
_NAME = re.compile(r"[\w.-]{1,64}")
_COST = {"n": 1 << 14, "r": 8, "p": 1}  # 16 MB and some tens of milliseconds


class Use(StrEnum):
    """What a token is for. One for changes reads as well."""

    SAMPLES = "samples"
    READ = "read"
    CHANGE = "change"

    @property
    def kept_as(self) -> str:
        """How the file calls such tokens."""
        return _TOKEN if self is Use.SAMPLES else self.value


class Made(NamedTuple):
    """The secrets that were just made, to be shown once; None if there was one already."""

    token: str | None
    password: str | None


def owner_token(folder: Path) -> str:
    """The token by which the owner's commands reach the store; made if it is missing."""
    path = folder / OWNERS_FILE
    try:
        token = _read(path).strip()
    except FileNotFoundError:
        token = ""
    if not token:
        token = _new_secret()
        _save(path, token + "\n")
    return token


def make_missing(folder: Path) -> Made:
    """Make the token for writing and the password for reading that are missing."""
    known = _hashes(folder)
    return Made(
        None if _TOKEN in known else new_token(folder),
        None if _PASSWORD in known else new_password(folder),
    )


def keep_new(folder: Path, new: Mapping[str, str]) -> Path:
    """Write new secrets to a file of the owner, where nobody is there to be shown them; the file."""
    path = folder / NEW_FILE
    _save(path, "".join(f"{name}: {secret}\n" for name, secret in new.items()))
    return path


def new_token(folder: Path, name: str = "", use: Use = Use.SAMPLES) -> str:
    """A new token; the old one of this name and use is not valid any more, for a running server too."""
    token = _new_secret()
    _change(folder, _token_name(name, use), _token_hash(token))
    return token


def end_token(folder: Path, name: str, use: Use = Use.SAMPLES) -> None:
    """Have a token not be valid any more. Unusable, naming those there are for this use, if there is none."""
    known = _hashes(folder)
    if known.pop(_token_name(name, use), None) is None:
        begin = f"{use.kept_as} "
        names = [one.removeprefix(begin) for one in known if one.startswith(begin)]
        raise Unusable(
            f"there is no token {name} for {use}; those with a name are: {', '.join(sorted(names)) or 'none'}"
        )
    _save(folder / HASHES_FILE, json.dumps(known, indent=2) + "\n")


def new_password(folder: Path) -> str:
    """A new password for reading; the old one is not valid any more, for a running server too."""
    password = secrets.token_urlsafe(15)
    _change(folder, _PASSWORD, _password_hash(password, secrets.token_bytes(16)))
    return password


class Credentials:
    """Checks tokens and passwords. A file that was changed is read again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner = owner_token(folder).encode()
        self._hashes: dict[str, str] = {}
        self._changed: tuple[int, int] | None = None
        self._one_at_a_time = Lock()  # a hash takes 16 MB and a processor
        self._key = secrets.token_bytes(32)

    def is_owner(self, token: str) -> bool:
        """Whether this is the owner's token."""
        return hmac.compare_digest(token.encode(), self._owner)

    def may_write(self, token: str) -> bool:
        """Whether this is a token for samples."""
        return self.is_token(token, Use.SAMPLES)

    def is_token(self, token: str, use: Use) -> bool:
        """Whether this is a token for some use."""
        own = _token_hash(token).encode()
        known = [one for name, one in self._current().items() if name.partition(" ")[0] == use.kept_as]
        return sum(hmac.compare_digest(own, one.encode()) for one in known) > 0  # all are compared, in the same time

    def may_read(self, password: str) -> bool:
        """Whether this is the password for reading. It takes some time."""
        known = self._current().get(_PASSWORD, "")
        with self._one_at_a_time:
            return bool(known) and _is_password(password, known)

    def mark(self, password: str) -> bytes:
        """What stands for a password that was tested, as long as the one for reading is not changed."""
        known = self._current().get(_PASSWORD, "")
        return hmac.digest(self._key, f"{known}\n{password}".encode(), "sha256")

    def _current(self) -> dict[str, str]:
        try:
            status = (self._folder / HASHES_FILE).stat()
        except OSError:
            return {}
        changed = status.st_mtime_ns, status.st_ino
        if changed != self._changed:
            self._hashes, self._changed = _hashes(self._folder), changed
        return self._hashes


def _token_name(name: str, use: Use) -> str:
    if not name:
        return use.kept_as
    if not _NAME.fullmatch(name):
        raise Unusable(f"{name!r}: is no name of a token; letters, digits, dots, dashes and underscores are")
    return f"{use.kept_as} {name}"


def _new_secret() -> str:
    return secrets.token_urlsafe(32)


def _token_hash(token: str) -> str:
    # A token is long and random: it cannot be guessed, however fast its hash is.
    return hashlib.sha256(token.encode()).hexdigest()


def _password_hash(password: str, salt: bytes) -> str:
    digest = hashlib.scrypt(password.encode(), salt=salt, **_COST)
    return f"{base64.b64encode(salt).decode()}:{base64.b64encode(digest).decode()}"


def _is_password(password: str, known: str) -> bool:
    salt = base64.b64decode(known.partition(":")[0])
    return hmac.compare_digest(_password_hash(password, salt).encode(), known.encode())


def _change(folder: Path, name: str, value: str) -> None:
    _save(folder / HASHES_FILE, json.dumps({**_hashes(folder), name: value}, indent=2) + "\n")


def _hashes(folder: Path) -> dict[str, str]:
    path = folder / HASHES_FILE
    try:
        found = json.loads(_read(path))
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unusable(f"{path}: cannot be read; delete it, and a new token and password are made")
    return {str(name): str(value) for name, value in found.items()}


def _read(path: Path) -> str:
    """The content of a file with secrets. Unusable if others can read it."""
    try:
        with path.open(encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if sys.platform != "win32" and (
                status.st_uid != os.geteuid() or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            ):
                raise Unusable(f"{path}: others can read it; delete it, and a new one is made")
            return file.read()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None


def _save(path: Path, content: str) -> None:
    check_private(path.parent)
    with atomic_write(path) as partial:
        partial.chmod(stat.S_IRUSR | stat.S_IWUSR)
        partial.write_text(content, "utf-8")

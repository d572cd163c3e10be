"""Files with secrets, which only their owner can read."""

import base64
import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.private_folder import check_private

_COST = (1 << 14, 8, 5)  # 16 MB, and a sixth of a second
_SHARED_COST = (1 << 14, 8, 1)
_MOST_MEMORY = 256 << 20
_log = logging.getLogger(__name__)


def read(path: Path) -> str:
    """Return the content of a file. Raise FileNotFoundError if it is missing, Unusable if others can read it."""
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


def read_json(path: Path, mended: str) -> dict[str, Any]:
    """Return the JSON object in a file; an empty object if the file is missing.

    If the content is invalid, raise Unusable with the remedy `mended`.
    """
    try:
        content = json.loads(read(path))
    except FileNotFoundError:
        return {}
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unusable(f"{path}: cannot be read; {mended}")
    return {str(name): value for name, value in content.items()}


def save(path: Path, content: str) -> None:
    """Write a file that only its owner can read, replacing the old one."""
    check_private(path.parent)
    with write_atomically(path) as partial:
        partial.chmod(stat.S_IRUSR | stat.S_IWUSR)
        partial.write_text(content, "utf-8")


def save_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object as JSON to a file that only its owner can read."""
    save(path, json.dumps(content, indent=2) + "\n")


class Reread:
    """The JSON object in a file, read again when the file changes. Raise Unusable if the first reading fails.

    If a later reading fails, the last object stays in use, so that a mistake in an editor locks nobody out.
    """

    def __init__(self, path: Path, mended: str) -> None:
        self._path, self._mended = path, mended
        self._content = read_json(path, mended)
        self._changed: tuple[int, int] | None = None

    @property
    def current(self) -> Mapping[str, Any]:
        """The current object; empty without a file."""
        try:
            status = self._path.stat()
        except OSError:
            return {}
        changed = status.st_mtime_ns, status.st_ino
        if changed != self._changed:
            try:
                self._content = read_json(self._path, self._mended)
            except Unusable as error:
                _log.error("what was known before holds until this is mended: %s", error)
            self._changed = changed
        return self._content


def hash_password(password: str) -> str:
    """Return a slow hash of a user's password."""
    n, r, p = _COST
    salt = secrets.token_bytes(16)
    return f"scrypt {n} {r} {p} {_encode_text(salt)} {_encode_text(_compute_digest(password, salt, _COST))}"


def hash_shared_password(password: str) -> str:
    """Return a hash of the shared password, faster than `hash_password`, as this password is long and random."""
    salt = secrets.token_bytes(16)
    return f"{_encode_text(salt)}:{_encode_text(_compute_digest(password, salt, _SHARED_COST))}"


def is_right(password: str, stored: str) -> bool:
    """Return whether a password matches a stored hash; False if the stored text is not a hash."""
    try:
        if stored.startswith("scrypt "):
            _, n, r, p, salt, digest = stored.split(" ")
            cost = int(n), int(r), int(p)
        else:
            salt, _, digest = stored.partition(":")
            cost = _SHARED_COST
        expected = base64.b64decode(digest, validate=True)
        return bool(expected) and hmac.compare_digest(_compute_digest(password, base64.b64decode(salt), cost), expected)
    except (ValueError, MemoryError):
        return False


def _compute_digest(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    return hashlib.scrypt(password.encode(errors="surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY)


def _encode_text(value: bytes) -> str:
    return base64.b64encode(value).decode()

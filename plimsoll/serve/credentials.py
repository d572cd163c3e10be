"""The secrets of `plimsoll up`: the owner's token in a file, and the hashes of all other secrets."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Lock

from plimsoll.model.errors import Unusable
from plimsoll.serve import secret_files
from plimsoll.serve.principals import Person, Role
from plimsoll.serve.secret_files import Reread, read, read_json, save, save_json
from plimsoll.serve.users import UserFile, load_users

OWNERS_FILE = "token"
HASHES_FILE = "access.json"
NEW_FILE = "new-secrets"
_TOKEN, _PASSWORD = "token", "password"
_NAME = re.compile(r"[\w.-]{1,64}")
_HOW_TO_MEND = "delete it, and a new token and password are made"


class CredentialUse(StrEnum):
    """What a token permits: writing samples, reading, acting as operator (and reading), or changes (and reading)."""

    SAMPLES = "samples"
    READ = "read"
    OPERATE = "operate"
    CHANGE = "change"

    @property
    def kept_as(self) -> str:
        """The key of tokens for this use in the file of secrets."""
        return _TOKEN if self is CredentialUse.SAMPLES else self.value

    @property
    def role(self) -> Role | None:
        """The role of a program that has a token for this use; None if the token only permits writing samples."""
        return {
            CredentialUse.READ: Role.VIEWER,
            CredentialUse.OPERATE: Role.OPERATOR,
            CredentialUse.CHANGE: Role.ADMIN,
        }.get(self)


def load_owner_token(folder: Path) -> str:
    """Return the token with which the owner's commands reach the store; create it if missing."""
    path, token = folder / OWNERS_FILE, ""
    with suppress(FileNotFoundError):
        token = read(path).strip()
    if not token:
        token = _make_secret()
        save(path, token + "\n")
    return token


def make_missing(folder: Path) -> dict[str, str]:
    """Create the token for samples if it is missing, and the shared password if there is none and there are no users.

    Return the new secrets by name (`token`, `password`), to be shown once.
    """
    hashes = _read_hashes(folder)
    new = {} if _TOKEN in hashes else {_TOKEN: create_token(folder)}
    return new if _PASSWORD in hashes or load_users(folder) else {**new, _PASSWORD: create_password(folder)}


def keep_new(folder: Path, new: Mapping[str, str]) -> Path:
    """Write new secrets to a file that only the owner can read; return the path of the file.

    For a server without a terminal on which to show the secrets.
    """
    path = folder / NEW_FILE
    save(path, "".join(f"{name}: {secret}\n" for name, secret in new.items()))
    return path


def create_token(folder: Path, name: str = "", use: CredentialUse = CredentialUse.SAMPLES) -> str:
    """Create and return a token.

    An older token with the same name and use is no longer accepted, even by a running server.
    """
    token = _make_secret()
    _change_hash(folder, _make_token_name(name, use), _hash_token(token))
    return token


def end_token(folder: Path, name: str, use: CredentialUse = CredentialUse.SAMPLES) -> None:
    """Revoke the token with this name and use.

    If there is none, raise Unusable with a list of the tokens for this use.
    """
    hashes = _read_hashes(folder)
    if hashes.pop(_make_token_name(name, use), None) is None:
        begin = f"{use.kept_as} "
        names = [name.removeprefix(begin) for name in hashes if name.startswith(begin)]
        raise Unusable(
            f"there is no token {name} for {use}; those with a name are: {', '.join(sorted(names)) or 'none'}"
        )
    save_json(folder / HASHES_FILE, hashes)


def has_password(folder: Path) -> bool:
    """Return whether there is a shared password."""
    return _PASSWORD in _read_hashes(folder)


def end_password(folder: Path) -> None:
    """Revoke the shared password. Raise Unusable if there is none, or if nobody could log in without it."""
    hashes = _read_hashes(folder)
    if hashes.pop(_PASSWORD, None) is None:
        raise Unusable("there is no password that everybody shares")
    if not any(user.has_password for user in load_users(folder)):
        raise Unusable("nobody could log in then: add a user first, with plimsoll users add")
    save_json(folder / HASHES_FILE, hashes)


def create_password(folder: Path) -> str:
    """Create and return a shared password.

    The old shared password is no longer accepted, even by a running server.
    """
    password = secrets.token_urlsafe(15)
    _change_hash(folder, _PASSWORD, secret_files.hash_shared_password(password))
    return password


class Credentials:
    """Checks tokens and passwords; changes in the files of secrets and of users take effect at once."""

    def __init__(self, folder: Path) -> None:
        self.users = UserFile(folder)
        self._owner = load_owner_token(folder).encode()
        self._hashes = Reread(folder / HASHES_FILE, _HOW_TO_MEND)
        self._hash_lock = Lock()  # a hash uses 16 MB and one processor
        self._key = secrets.token_bytes(32)

    def is_owner(self, token: str) -> bool:
        """Return whether a token is the owner's."""
        return hmac.compare_digest(token.encode(), self._owner)

    def may_write(self, token: str) -> bool:
        """Return whether a token permits writing samples."""
        return self._find_token_name(token, CredentialUse.SAMPLES) is not None

    def program(self, token: str) -> Person | None:
        """Return the program to which a token belongs; None if the token permits neither reading nor changes."""
        person: Person | None = None
        for use in CredentialUse:
            name = self._find_token_name(token, use) if use.role else None
            if use.role and name is not None:
                person = Person("", use.role, f"token {name}".strip())
        return person

    def person(self, name: str, password: str) -> Person | None:
        """Return the user with this name and password; None if name or password is wrong.

        The check takes a fraction of a second, as long for an unknown name as for a wrong password.
        """
        users = self.users
        role = users.role(name)
        if users.any:
            with self._hash_lock:
                is_right = secret_files.is_right(password, users.hash_of(name))
            if role is not None:
                return Person(users.name(name), role, "password") if is_right else None
        return Person("", Role.ADMIN, "shared password") if self.may_read(password) else None

    def may_read(self, password: str) -> bool:
        """Return whether a password is the shared password. The check takes a fraction of a second."""
        shared = self._shared_hash
        with self._hash_lock:
            return bool(shared) and secret_files.is_right(password, shared)

    def mark(self, name: str, password: str) -> bytes:
        """Return a digest of a name and password, by which a check's result can be cached.

        The digest changes when the stored role or password of the user changes.
        """
        parts = (self._shared_hash, self.users.role(name) or "", self.users.hash_of(name), name, password)
        return hmac.digest(self._key, "\n".join(parts).encode(errors="surrogatepass"), "sha256")

    @property
    def _shared_hash(self) -> str:
        return str(self._hashes.current.get(_PASSWORD, ""))

    def _find_token_name(self, token: str, use: CredentialUse) -> str | None:
        """Return the name of a token (perhaps empty); None if the token is not valid for this use."""
        digest = _hash_token(token).encode()
        match = None
        for kept_as, stored in self._hashes.current.items():
            kind, _, name = kept_as.partition(" ")
            # All are compared, in constant time.
            if hmac.compare_digest(digest, str(stored).encode()) and kind == use.kept_as:
                match = name
        return match


def _make_token_name(name: str, use: CredentialUse) -> str:
    if not name:
        return use.kept_as
    if not _NAME.fullmatch(name):
        raise Unusable(f"{name!r}: is no name of a token; letters, digits, dots, dashes and underscores are")
    return f"{use.kept_as} {name}"


def _make_secret() -> str:
    return secrets.token_urlsafe(32)


def _hash_token(token: str) -> str:
    # A token is long and random, so a fast hash is enough.
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _change_hash(folder: Path, name: str, value: str) -> None:
    save_json(folder / HASHES_FILE, {**_read_hashes(folder), name: value})


def _read_hashes(folder: Path) -> dict[str, str]:
    return {name: str(value) for name, value in read_json(folder / HASHES_FILE, _HOW_TO_MEND).items()}

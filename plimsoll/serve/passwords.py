"""Hashes of passwords: scrypt, which needs memory as well as time, and which Python has.

The text of a hash begins with its cost, so that a higher one can come later: `scrypt 16384 8 5 SALT DIGEST`. One
without a cost is of the password that everybody shares.
"""

import base64
import hashlib
import hmac
import secrets

_COST = (1 << 14, 8, 5)  # 16 MB, and a sixth of a second
_SHARED_COST = (1 << 14, 8, 1)
_MOST_MEMORY = 256 << 20


def hashed(password: str) -> str:
    """A hash of the password of a user."""
    n, r, p = _COST
    salt = secrets.token_bytes(16)
    return f"scrypt {n} {r} {p} {_text(salt)} {_text(_digest(password, salt, _COST))}"


def shared_hash(password: str) -> str:
    """A hash of the password that everybody shares, which is long and random."""
    salt = secrets.token_bytes(16)
    return f"{_text(salt)}:{_text(_digest(password, salt, _SHARED_COST))}"


def is_right(password: str, known: str) -> bool:
    """Whether a hash is of this password. False if it is none."""
    try:
        if known.startswith("scrypt "):
            _, n, r, p, salt, digest = known.split(" ")
            cost = int(n), int(r), int(p)
        else:
            salt, _, digest = known.partition(":")
            cost = _SHARED_COST
        expected = base64.b64decode(digest, validate=True)
        return bool(expected) and hmac.compare_digest(_digest(password, base64.b64decode(salt), cost), expected)
    except (ValueError, MemoryError):
        return False


def _digest(password: str, salt: bytes, cost: tuple[int, int, int]) -> bytes:
    n, r, p = cost
    return hashlib.scrypt(password.encode(errors="surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()

"""HTTP connections that are checked before anything, such as a token, is sent; and why connections failed."""

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection


def check_connections(pools: PoolManager, check: Callable[[], None]) -> None:
    """Call `check` on each opened connection of the pools; if `check` raises OSError, nothing is sent."""

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            check()

    class Encrypted(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            check()

    class PlainPool(HTTPConnectionPool):
        ConnectionCls: ClassVar[Any] = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls: ClassVar[Any] = Encrypted

    classes: dict[str, type[HTTPConnectionPool] | type[HTTPSConnectionPool]]
    classes = {"http": PlainPool, "https": EncryptedPool}
    pools.pool_classes_by_scheme = classes


def is_loopback(url: str) -> bool:
    """Return whether the host of a URL is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_lines(response: BaseHTTPResponse) -> Iterator[bytes]:
    """Yield the lines of a response as they arrive, except blank lines. Raise HTTPError or OSError if reading fails."""
    rest = b""
    for piece in response.stream(1 << 20, decode_content=True):
        *whole, rest = (rest + piece).split(b"\n")
        yield from filter(bytes.strip, whole)
    if rest.strip():
        yield rest


def find_last_cause(error: Exception) -> str:
    """Return the innermost cause of a connection failure, in a few words."""
    inner = getattr(error, "reason", None) or find_wrapped_error(error)
    return find_last_words(str(inner)) or type(inner).__name__


def find_wrapped_error(error: Exception) -> Exception:
    """Return the error in the arguments of `error`, such as the cause of a broken connection; else `error`."""
    return next((inner for inner in reversed(error.args) if isinstance(inner, Exception)), error)


def find_last_words(causes: str) -> str:
    """Return the last cause in a message of urllib3, without the system's error number."""
    return re.sub(r"^\[Errno -?\d+\] | \(_ssl\.c:\d+\)$", "", causes.rpartition(": ")[2])

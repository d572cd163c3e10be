"""Connections that are checked before anything is sent, such as a token."""

from collections.abc import Callable
from typing import Any, ClassVar

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection


def check_connections(pools: PoolManager, check: Callable[[], None]) -> None:
    """Call `check` on each new connection of the pools. If it raises OSError, nothing is sent."""

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

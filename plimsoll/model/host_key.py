"""Hosts compare without regard to case: `SQLSRV01` and `sqlsrv01` are one."""

from typing import NewType

HostKey = NewType("HostKey", str)


def host_key(name: str) -> HostKey:
    """What a host is looked up by, from a name of it."""
    return HostKey(name.casefold())

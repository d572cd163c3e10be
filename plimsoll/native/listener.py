"""Which process listens on a port of this machine."""

import psutil


def listens(pid: int, port: int, host: str | None = None) -> bool:
    """Whether a process of this user listens on a TCP port, of one address or of any."""
    try:
        sockets = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(
        one.status == psutil.CONN_LISTEN and one.laddr.port == port and host in (None, one.laddr.ip) for one in sockets
    )

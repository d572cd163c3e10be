"""Which process listens on a port of this machine."""

import psutil


def listens(pid: int, host: str, port: int) -> bool:
    """Whether a process of this user listens on a TCP port."""
    try:
        sockets = psutil.Process(pid).net_connections("tcp4")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr == (host, port) for one in sockets)

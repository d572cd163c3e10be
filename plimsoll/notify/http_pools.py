"""Where requests of notifications go: to their address, or to the proxy that the environment names."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3


def pools(address: str) -> urllib3.PoolManager:
    """Where to send requests for an address: to it, or to the proxy that the environment or the system names."""
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.netloc):
        return urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", retries=False)
    return urllib3.PoolManager(retries=False)

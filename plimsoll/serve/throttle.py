"""Slows down those who guess passwords."""

import time
from collections import OrderedDict
from collections.abc import Callable

from plimsoll.serve.listen import ip_of

FREE = 5
PAUSE_S = 60.0
_MOST_ADDRESSES = 10_000


class Throttle:
    """After FREE wrong passwords from an address, its next ones are refused for PAUSE_S seconds after each.

    A right one in between changes nothing about that: whoever has one may be guessing another's.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_s(self, address: str) -> float:
        """How long an address has to wait; 0 if it need not."""
        count, last = self._failed.get(network_of(address), (0, 0.0))
        return max(0.0, last + PAUSE_S - self._clock()) if count >= FREE else 0.0

    def attempt(self, address: str) -> None:
        """Count an attempt before it is tested: of many at once, no more are tested than of one after another."""
        place = network_of(address)
        count, last = self._failed.pop(place, (0, 0.0))
        now = self._clock()
        self._failed[place] = (count + 1 if now - last < 10 * PAUSE_S else 1, now)
        if len(self._failed) > _MOST_ADDRESSES:
            self._failed.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Take back an attempt whose password was right."""
        place = network_of(address)
        count, last = self._failed.get(place, (0, 0.0))
        if count > 1:
            self._failed[place] = count - 1, last
        else:
            self._failed.pop(place, None)


def network_of(address: str) -> str:
    """The address; of an IPv6 one the first half, since one host may have all others."""
    ip = ip_of(address)
    return address if ip is None or ip.version == 4 else ip.exploded[:19]

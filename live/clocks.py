"""Hosts whose clock is ahead: their samples are judged only when their time has come."""

from collections.abc import Collection, Mapping
from threading import Lock

import numpy as np

from model.points import Points
from model.times import SECOND
from rules.subjects import host_of

_TOLERATED = 60 * SECOND
_REMEMBERED = 300 * SECOND


class Clocks:
    """Notes samples from the future. `tags` name the host of a series; see `rules.subjects.host_of`."""

    def __init__(self, tags: Collection[str]) -> None:
        self._tags = tags
        self._seen: dict[str, tuple[str, int, int]] = {}  # name, how far ahead, when it was seen
        self._lock = Lock()

    def written(self, points: Points, now: int) -> None:
        """Note the hosts of samples that are more than a minute from `now` (UTC ns)."""
        if not len(points) or int(points.times.max()) <= now + _TOLERATED:
            return
        future = points.times > now + _TOLERATED
        with self._lock:
            for which in np.unique(points.which[future]).tolist():
                host = host_of(points.series[which], self._tags)
                newest = int(points.times[future & (points.which == which)].max())
                self._seen[host.casefold()] = host, newest - now, now

    def ahead(self, now: int) -> Mapping[str, int]:
        """How far (ns) the clocks of hosts are ahead that sent such samples in the last five minutes."""
        with self._lock:
            self._seen = {key: one for key, one in self._seen.items() if now - one[2] <= _REMEMBERED}
            return {host: ahead for host, ahead, _ in self._seen.values()}

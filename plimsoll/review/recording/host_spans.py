"""From when to when each host of a run was recorded, and for how long some of its counters were not."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.host_key import host_key
from plimsoll.model.log import Log, Times
from plimsoll.model.series import LOAD_DRIVER, Series

_NEVER = 2**63 - 1


def host_spans(
    logs: Iterable[Log], hosts: Sequence[str], host_of: Callable[[Series], str], part: tuple[int, int]
) -> dict[str, tuple[int, int]]:
    """The first and the last sample of each host in a part of the run (UTC ns).

    Not of load drivers, which begin after the recorders of hosts and end before them.
    """
    names = {host_key(host): host for host in hosts}
    found: dict[str, tuple[int, int]] = {}
    for log in logs:
        inside = np.searchsorted(log.times, [part[0], part[1] + 1]).tolist()
        times = log.times[slice(*inside)]
        for series, column in zip(log.series, log.columns, strict=True):
            if series.measurement in LOAD_DRIVER:
                continue
            host = names[host_key(host_of(series))]
            before, after = found.get(host, (_NEVER, -_NEVER))
            if not len(times) or (before <= times[0] and after >= times[-1]):
                continue
            filled = column[slice(*inside)].is_not_null().to_numpy()
            if filled.any():
                first, last = int(times[filled.argmax()]), int(times[-1 - filled[::-1].argmax()])
                found[host] = min(before, first), max(after, last)
    return found


def recordings(
    logs: Iterable[Log], hosts: Sequence[str], host_of: Callable[[Series], str], part: tuple[int, int]
) -> dict[str, list[Times]]:
    """The times of the recordings of each host in a part of the run, without those of load drivers."""
    names = {host_key(host): host for host in hosts}
    found: dict[str, list[Times]] = {}
    for log in logs:
        first, stop = np.searchsorted(log.times, [part[0], part[1] + 1]).tolist()
        of = {host_key(host_of(one)) for one in log.series if one.measurement not in LOAD_DRIVER}
        for host in of if stop > first else ():
            found.setdefault(names[host], []).append(log.times[first:stop])
    return found


def lost(host: Times, counter: Times, pause: int) -> NDArray[np.bool_]:
    """Which steps between samples of a host lie where a counter has no value for longer than `pause` (ns).

    `host` are the times of all its samples, `counter` those of one counter; both ascend and are not empty.
    """
    at = counter.searchsorted(host[:-1], side="right")
    before = np.where(at > 0, counter[at - 1], host[0])
    after = np.append(counter, host[-1])[at]
    return after - before > pause

"""What a number of users needs: the use of each resource, the response time, and how many hosts."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from plimsoll.insights.capacity.find import Capacity, Range, ResourceCapacity
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values

_UNKNOWN = Range(float("nan"), float("nan"), float("nan"))
_FULL = 97.0  # %: with more, there is no steady response time


@dataclass(frozen=True, eq=False)
class HostsNeeded:
    """How many hosts like this one the load needs if it is spread evenly; `by` is what runs out first on one."""

    host: str
    count: int
    by: ResourceCapacity


@dataclass(frozen=True, eq=False)
class Asked:
    """What so many users need.

    Attributes:
        users: The users, with the peak factor.
        load: The operations a second they do.
        beyond: Whether that is beyond what is projected: then uses and response times are not known.
        uses: The use (%) of each resource of `Capacity.resources`, NaN where it does not go with the load; empty
            beyond what is projected.
        response: The response time (s); None if it is not known.
        hosts: For each host that cannot carry it alone, how many are needed.
    """

    users: float
    load: float
    beyond: bool
    uses: tuple[Range, ...]
    response: float | None
    hosts: tuple[HostsNeeded, ...]


def asked(found: Capacity, users: float, peak_factor: float = 1.0) -> Asked:
    """What a number of users needs.

    Raises:
        Unusable: How much users do is not known.
    """
    wanted = users * peak_factor
    if found.users is None:
        raise Unusable(
            "not known: how much users do; the run has no users of a load driver: give a profile of users, too"
        )
    load = found.users.load_of(wanted, found.projected)
    hosts = tuple(_hosts(found, load)) if np.isfinite(load) else ()
    if not np.isfinite(load) or load > found.projected:
        return Asked(wanted, load, beyond=True, uses=(), response=None, hosts=hosts)
    at = load * found.mix[None, :]
    uses = tuple(_use(one, at, found.users.spread) if one.follows else _UNKNOWN for one in found.resources)
    seconds = float(found.response.at(np.array([load]))[0]) if found.response else float("nan")
    stop = found.saturation
    possible = not any(one.value >= _FULL for one in uses) and (stop is None or load < stop.load)
    known = np.isfinite(seconds) and possible
    return Asked(wanted, load, beyond=False, uses=uses, response=seconds if known else None, hosts=hosts)


def _use(one: ResourceCapacity, at: Values, spread: float) -> Range:
    """The use at a load, which itself is only known but for `spread` (a share of it)."""
    use = Range.of(one.demand.use(at)[:, 0])
    less, more = (abs(float(one.demand.use(at * far)[0, 0]) - use.value) for far in (1 - spread, 1 + spread))
    low, high = float(np.hypot(use.value - use.low, less)), float(np.hypot(use.high - use.value, more))
    return Range(use.value, use.value - low, use.value + high)


def _hosts(found: Capacity, load: float) -> list[HostsNeeded]:
    every: dict[str, ResourceCapacity] = {}
    for one in found.resources:  # in order of the load at which they reach their limits
        if np.isfinite(one.load.value) and one.load.value > 0:
            every.setdefault(one.resource.subject.host, one)
    return [HostsNeeded(host, ceil(load / one.load.value), one) for host, one in every.items() if load > one.load.value]

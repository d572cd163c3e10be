"""What a number of users needs, and when users who become more and more are as many as a system can carry."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, log

import numpy as np

from plimsoll.insights.capacity.find import Capacity, Range, ResourceCapacity
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values

_UNKNOWN = Range(float("nan"), float("nan"), float("nan"))
_FULL = 97.0  # %: with more, there is no steady response time
_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}
_GROWTH = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<percent>%?)\s*(?:/|a|per)\s*(?P<every>day|week|month|year)")
_FURTHEST = 5 * 365.25  # days; our choice: growth that goes on for longer is no forecast


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


def asked(capacity: Capacity, users: float, peak_factor: float = 1.0) -> Asked:
    """Return what a number of users needs.

    Raises:
        Unusable: How much users do is not known.
    """
    value = users * peak_factor
    if capacity.users is None:
        raise Unusable(
            "not known: how much users do; the run has no users of a load driver: give a profile of users, too"
        )
    load = capacity.users.load_of(value, capacity.projected)
    hosts = tuple(_hosts(capacity, load)) if np.isfinite(load) else ()
    if not np.isfinite(load) or load > capacity.projected:
        return Asked(value, load, beyond=True, uses=(), response=None, hosts=hosts)
    at = load * capacity.mix[None, :]
    uses = tuple(
        _use(resource, at, capacity.users.spread) if resource.follows else _UNKNOWN for resource in capacity.resources
    )
    seconds = float(capacity.response.at(np.array([load]))[0]) if capacity.response else float("nan")
    stop = capacity.saturation
    possible = not any(use.value >= _FULL for use in uses) and (stop is None or load < stop.load)
    result = np.isfinite(seconds) and possible
    return Asked(value, load, beyond=False, uses=uses, response=seconds if result else None, hosts=hosts)


def _use(resource_capacity: ResourceCapacity, at: Values, spread: float) -> Range:
    """Return the use at a load, which itself is only known but for `spread` (a share of it)."""
    use = Range.of(resource_capacity.demand.use(at)[:, 0])
    less, value = (
        abs(float(resource_capacity.demand.use(at * far)[0, 0]) - use.value) for far in (1 - spread, 1 + spread)
    )
    low, high = float(np.hypot(use.value - use.low, less)), float(np.hypot(use.high - use.value, value))
    return Range(use.value, use.value - low, use.value + high)


def _hosts(capacity: Capacity, load: float) -> list[HostsNeeded]:
    resource_capacities: dict[str, ResourceCapacity] = {}
    for resource in capacity.resources:  # in order of the load at which they reach their limits
        if np.isfinite(resource.load.value) and resource.load.value > 0:
            resource_capacities.setdefault(resource.resource.subject.host, resource)
    return [
        HostsNeeded(host, ceil(load / resource_capacity.load.value), resource_capacity)
        for host, resource_capacity in resource_capacities.items()
        if load > resource_capacity.load.value
    ]


@dataclass(frozen=True)
class Growth:
    """How users become more: by a share of them (`percent`) or by a number, in each of so many days."""

    text: str
    amount: float
    percent: bool
    days: float

    @classmethod
    def parse(cls, typed: str) -> "Growth":
        """`3%/month` or `200/week`. Unusable if it is none."""
        match = _GROWTH.fullmatch(typed.strip())
        if match is None or not float(match["amount"]):
            raise Unusable(f'"{typed}" is no growth; write it like 3%/month or 200/week')
        return cls(typed.strip(), float(match["amount"]), bool(match["percent"]), _DAYS[match["every"]])

    def days_from(self, now: float, then: float) -> float:
        """Return how many days it takes from `now` users to `then`; negative if there are more already."""
        steps = log(then / now) / log(1 + self.amount / 100) if self.percent else (then - now) / self.amount
        return steps * self.days


@dataclass(frozen=True)
class Forecast:
    """When the first limit is reached, with the interval of that load; None where that is not known, or too far.

    `at_least`: nothing is reached up to what is projected, so it is a day before which it does not happen.
    """

    growth: Growth
    now: float
    day: date | None
    low: date | None
    high: date | None
    at_least: bool = False


def forecast(capacity: Capacity, growth: Growth, users: float, today: date) -> Forecast:
    """Return when so many users of today have become as many as the system carries.

    Raises:
        Unusable: How much users do is not known, or there are too many already.
    """
    if capacity.users is None:
        raise Unusable("not known: how much users do; without that growth has no date; give a profile of users")
    limits = capacity.reached
    first = limits[0].load if limits else None
    most = capacity.users.at(first.value if first else capacity.projected)
    if not np.isfinite(most):
        raise Unusable("not known: how many users the limit is, so growth has no date; measure a higher load")
    if users >= most:
        raise Unusable(f"no date: {users:,.0f} users are at the limit already, which is about {most:,.0f}")

    def day(then: float) -> date | None:
        days = growth.days_from(users, then) if then > 0 and np.isfinite(then) else float("inf")
        return today + timedelta(days=max(days, 0)) if days <= _FURTHEST else None

    if first is None:
        return Forecast(growth, users, day(most), None, None, at_least=True)
    low, high = capacity.users.between(first.value, first.low, first.high)
    return Forecast(growth, users, day(most), day(low), day(high))

"""What a number of users needs, and when a growing number of users reaches the limit of a system."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, log

import numpy as np

from plimsoll.insights.capacity.find import Capacity, Range, ResourceCapacity
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values

_UNKNOWN = Range(float("nan"), float("nan"), float("nan"))
_FULL = 97.0  # %: above it, response times are not steady
_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}
_GROWTH = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<percent>%?)\s*(?:/|a|per)\s*(?P<every>day|week|month|year)")
_FURTHEST = 5 * 365.25  # days; our choice: growth over a longer time cannot be forecast


@dataclass(frozen=True, eq=False)
class HostsNeeded:
    """The number of hosts like `host` that an evenly spread load needs, and the resource (`by`) that runs out first."""

    host: str
    count: int
    by: ResourceCapacity


@dataclass(frozen=True, eq=False)
class Needs:
    """The needs of a number of users.

    Attributes:
        users: The users, times the peak factor.
        load: The operations a second of these users.
        beyond: Whether `load` is above the projected loads, so that uses and response times are unknown.
        uses: The use (%) of each resource of `Capacity.resources`; NaN if the use does not depend on the load. Empty if
            `beyond`.
        response: The response time (s); None if unknown.
        hosts: The number of hosts needed, for each host that cannot carry the load alone.
    """

    users: float
    load: float
    beyond: bool
    uses: tuple[Range, ...]
    response: float | None
    hosts: tuple[HostsNeeded, ...]


def needs_of(capacity: Capacity, users: float, peak_factor: float = 1.0) -> Needs:
    """Return the needs of a number of users. Raise Unusable if it is not known how much a user does."""
    if capacity.users is None:
        raise Unusable(
            "not known: how much users do; the run has no users of a load driver: give a profile of users, too"
        )
    users *= peak_factor
    load = capacity.users.load_of(users, capacity.projected)
    if not np.isfinite(load):
        return Needs(users, load, beyond=True, uses=(), response=None, hosts=())
    first: dict[str, ResourceCapacity] = {}
    for resource in capacity.resources:  # in order of the load at which they reach their limits
        if np.isfinite(resource.load.value) and resource.load.value > 0:
            first.setdefault(resource.resource.subject.host, resource)
    counts = {host: ceil(load / resource.load.value) for host, resource in first.items()}
    hosts = tuple(HostsNeeded(host, count, first[host]) for host, count in counts.items() if count > 1)
    if load > capacity.projected:
        return Needs(users, load, beyond=True, uses=(), response=None, hosts=hosts)
    at = load * capacity.mix[None, :]
    uses = tuple(
        _use(resource, at, capacity.users.spread) if resource.follows else _UNKNOWN for resource in capacity.resources
    )
    seconds = float(capacity.response.at(np.array([load]))[0]) if capacity.response else float("nan")
    stop = capacity.saturation
    possible = not any(use.value >= _FULL for use in uses) and (stop is None or load < stop.load)
    response = seconds if np.isfinite(seconds) and possible else None
    return Needs(users, load, beyond=False, uses=uses, response=response, hosts=hosts)


def _use(resource_capacity: ResourceCapacity, at: Values, spread: float) -> Range:
    """Return a resource's use (%) at the rates of operations `at`, whose relative uncertainty is `spread`."""
    use = Range.of(resource_capacity.demand.use(at)[:, 0])
    ends = (float(resource_capacity.demand.use(at * far)[0, 0]) for far in (1 - spread, 1 + spread))
    below, above = (abs(end - use.value) for end in ends)
    low, high = float(np.hypot(use.value - use.low, below)), float(np.hypot(use.high - use.value, above))
    return Range(use.value, use.value - low, use.value + high)


@dataclass(frozen=True)
class Growth:
    """The growth of the number of users in each period of `days`: by `amount` users, or by `amount` % if `percent`."""

    text: str
    amount: float
    percent: bool
    days: float

    @classmethod
    def parse(cls, typed: str) -> "Growth":
        """Return a growth from text such as `3%/month` or `200/week`. Raise Unusable if the text is malformed."""
        match = _GROWTH.fullmatch(typed.strip())
        if match is None or not float(match["amount"]):
            raise Unusable(f'"{typed}" is no growth; write it like 3%/month or 200/week')
        return cls(typed.strip(), float(match["amount"]), bool(match["percent"]), _DAYS[match["every"]])


@dataclass(frozen=True)
class Forecast:
    """The day on which growing users reach the first limit, with its interval; unknown or very distant days are None.

    With `at_least`, no limit is reached within the projected loads, and `day` is when the users leave these loads.
    """

    growth: Growth
    now: float
    day: date | None
    low: date | None
    high: date | None
    at_least: bool = False


def forecast_growth(capacity: Capacity, growth: Growth, users: float, today: date) -> Forecast:
    """Return the day on which a growing number of users (`users` on the day `today`) reaches the first limit.

    Raises:
        Unusable: It is not known how much a user does, or there are too many users already.
    """
    if capacity.users is None:
        raise Unusable("not known: how much users do; without that growth has no date; give a profile of users")
    first = next((limit.load for limit in capacity.reached), None)
    most = capacity.users.at(first.value if first else capacity.projected)
    if not np.isfinite(most):
        raise Unusable("not known: how many users the limit is, so growth has no date; measure a higher load")
    if users >= most:
        raise Unusable(f"no date: {users:,.0f} users are at the limit already, which is about {most:,.0f}")

    def day(then: float) -> date | None:
        if then <= 0 or not np.isfinite(then):
            return None
        amount = growth.amount
        steps = log(then / users) / log(1 + amount / 100) if growth.percent else (then - users) / amount
        days = steps * growth.days
        return today + timedelta(days=max(days, 0)) if days <= _FURTHEST else None

    if first is None:
        return Forecast(growth, users, day(most), None, None, at_least=True)
    low, high = capacity.users.between(first.value, first.low, first.high)
    return Forecast(growth, users, day(most), day(low), day(high))

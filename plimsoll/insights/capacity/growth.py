"""When the users, who become more and more, are as many as a system can carry."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from math import log

import numpy as np

from plimsoll.insights.capacity.find import Capacity
from plimsoll.model.errors import Unusable

_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}
_GROWTH = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<percent>%?)\s*(?:/|a|per)\s*(?P<every>day|week|month|year)")
_FURTHEST = 5 * 365.25  # days; our choice: growth that goes on for longer is no forecast


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
        found = _GROWTH.fullmatch(typed.strip())
        if found is None or not float(found["amount"]):
            raise Unusable(f'"{typed}" is no growth; write it like 3%/month or 200/week')
        return cls(typed.strip(), float(found["amount"]), bool(found["percent"]), _DAYS[found["every"]])

    def days_from(self, now: float, then: float) -> float:
        """How many days it takes from `now` users to `then`; negative if there are more already."""
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


def forecast(found: Capacity, growth: Growth, users: float, today: date) -> Forecast:
    """When so many users of today have become as many as the system carries.

    Raises:
        Unusable: How much users do is not known, or there are too many already.
    """
    if found.users is None:
        raise Unusable("not known: how much users do; without that growth has no date; give a profile of users")
    limits = found.reached
    first = limits[0].load if limits else None
    most = found.users.at(first.value if first else found.projected)
    if not np.isfinite(most):
        raise Unusable("not known: how many users the limit is, so growth has no date; measure a higher load")
    if users >= most:
        raise Unusable(f"no date: {users:,.0f} users are at the limit already, which is about {most:,.0f}")

    def day(then: float) -> date | None:
        days = growth.days_from(users, then) if then > 0 and np.isfinite(then) else float("inf")
        return today + timedelta(days=max(days, 0)) if days <= _FURTHEST else None

    if first is None:
        return Forecast(growth, users, day(most), None, None, at_least=True)
    low, high = found.users.between(first.value, first.low, first.high)
    return Forecast(growth, users, day(most), day(low), day(high))

"""The rows of a run in levels of its load, and how many users a load is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.demand import isotonic
from plimsoll.analysis.filters import median
from plimsoll.insights.capacity.load_observations import Observed
from plimsoll.model.log import Values

_LEVELS = 12
_FEWEST = 3  # rows of a level
_WITHIN = 1.96  # standard deviations
_SAME_USERS = 1.15  # our choice: users for one operation a second may differ by less from level to level


@dataclass(frozen=True, eq=False)
class LoadLevel:
    """A level: which rows it has, their mean load (operations a second), and their mean users, if recorded."""

    rows: NDArray[np.intp]
    load: float
    users: float | None


def levels(observed: Observed) -> tuple[LoadLevel, ...]:
    """Return the levels in order of the users, where they were recorded and vary, else of the load."""
    users = observed.users
    by = users if users is not None and _varies(users) else observed.load
    highest = float(np.nanquantile(by, 0.99))
    at = np.ceil(np.clip(np.nan_to_num(by) / highest, 0, 1) * _LEVELS)
    items: list[LoadLevel] = []
    for number in range(1, _LEVELS + 1):
        rows = np.flatnonzero((at == number) & np.isfinite(by))
        if len(rows) >= _FEWEST:
            value = None if users is None else float(np.mean(users[rows]))
            items.append(LoadLevel(rows, float(observed.load[rows].mean()), value))
    return tuple(items)


def means(levels: Sequence[LoadLevel], values: Values) -> Values:
    """Return the mean of something in each level; NaN where a level has none."""
    return np.array([_mean(values[level.rows]) for level in levels])


class Users:
    """How many users a load is.

    `proportional`: whether they are in proportion to it. `spread`: by which share of them a load may be more or fewer
    (95 %).
    """

    unit: str = "users"
    proportional: bool = True
    spread: float = 0.0

    def at(self, load: float) -> float:
        """Return the users of a load; NaN where that is not known."""
        raise NotImplementedError

    def between(self, load: float, low: float, high: float) -> tuple[float, float]:
        """The interval of the users of a load, of which `low` and `high` are the interval; infinite or NaN as `at`."""
        users = self.at(load)
        less, value = (abs(self.at(end) - users) if np.isfinite(end) else end for end in (low, high))
        return users - float(np.hypot(less, self.spread * users)), users + float(np.hypot(value, self.spread * users))

    def load_of(self, users: float, most: float) -> float:
        """Return the load of so many users; infinite beyond `most`, unless they are in proportion."""
        loads = np.linspace(0, most, 1000)
        values = np.array([self.at(float(load)) for load in loads])
        isfinite = np.isfinite(values)
        if not isfinite.any() or users > float(values[isfinite].max()):
            top = self.at(most)
            return users / top * most if self.proportional and top > 0 else float("inf")
        return float(np.interp(users, np.maximum.accumulate(values[isfinite]), loads[isfinite]))


@dataclass(frozen=True, eq=False)
class ProfileUsers(Users):
    """The users of a profile: each does `each` operations a second, or thinks for `think_s` before each.

    With a time to think, response times (`response`, s, over the load) are part of the time of an operation.
    """

    each: float | None
    think_s: float
    response: Callable[[float], float]

    def at(self, load: float) -> float:
        """Return the users of a load."""
        return load / self.each if self.each else load * (self.think_s + self.response(load))


@dataclass(frozen=True, eq=False)
class MeasuredUsers(Users):
    """Users that were at work at levels of the load, and beyond them in proportion, if they were up to there.

    They wait longer then: by Little's law, for one more second of the response time (`response`, s, over the load) as
    many more are at work as requests are done in a second.
    """

    loads: Values
    users: Values
    proportional: bool
    unit: str = "users"
    response: Callable[[float], float] = lambda _: 0.0
    spread: float = 0.0

    @property
    def highest(self) -> float:
        """The most users that were at work."""
        return float(self.users[-1])

    def at(self, load: float) -> float:
        """Return the users of a load; NaN beyond what was measured where they are not in proportion to it."""
        if not np.isfinite(load):
            return float("nan")
        if load <= self.loads[-1]:
            return float(np.interp(load, np.append(0, self.loads), np.append(0, self.users)))
        if not self.proportional:
            return float("nan")
        last = float(self.loads[-1])
        return float(self.users[-1] / last * load) + load * max(0.0, self.response(load) - self.response(last))


def users_of(
    observed: Observed, items: Sequence[LoadLevel], response: Callable[[float], float] = lambda _: 0.0
) -> MeasuredUsers | None:
    """Return how many users a load is; None if they were not recorded or do not go with the load."""
    entries = sorted((level.load, level.users, len(level.rows)) for level in items if level.users and level.load > 0)
    if len(entries) < 3 or entries[-1][0] < 1.2 * entries[0][0]:
        return None
    loads, users, counts = (np.array(group, dtype=float) for group in zip(*entries, strict=True))
    if float(np.corrcoef(loads, users)[0, 1]) < 0.7:
        return None
    per_load = users / loads
    lower, upper = median(per_load[: len(loads) // 2 + 1]), float(per_load[-1])
    alike = max(lower, upper) <= _SAME_USERS * min(lower, upper)
    spread = _spread(observed, max(items, key=lambda level: level.load))
    return MeasuredUsers(loads, isotonic(users, counts), alike, observed.users_unit, response, spread)


def _spread(observed: Observed, level: LoadLevel) -> float:
    """By which share the users for one operation a second, of the highest level, may be off (95 %)."""
    users = observed.users
    assert users is not None
    values = observed.load[level.rows] / users[level.rows]
    values = values[np.isfinite(values)]
    return _WITHIN * float(values.std(ddof=1) / values.mean()) / len(values) ** 0.5


def _varies(values: Values) -> bool:
    samples = values[np.isfinite(values)]
    return len(samples) > 0 and float(np.quantile(samples, 0.95)) > 1.1 * max(float(np.quantile(samples, 0.05)), 1e-9)


def _mean(values: Values) -> float:
    samples = values[np.isfinite(values)]
    return float(samples.mean()) if len(samples) else float("nan")

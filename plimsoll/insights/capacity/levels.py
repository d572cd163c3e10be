"""Levels of the load of a run, and the number of users at a load."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.demand import fit_isotonic
from plimsoll.analysis.filters import compute_median
from plimsoll.insights.capacity.load_observations import Observed
from plimsoll.model.log import Values

_LEVELS = 12
_FEWEST = 3  # rows of a level
_WITHIN = 1.96  # standard deviations
_STAYED, _FELL, _ERRORS = 0.9, 0.85, 4  # of the users, of the throughput of the first third; standard errors
_SAME_USERS = 1.15  # our choice: users are in proportion to the load if their ratio varies by less


@dataclass(frozen=True, eq=False)
class LoadLevel:
    """A level of the load: its rows, their mean load (operations/s), and their mean users (None if not recorded)."""

    rows: NDArray[np.intp]
    load: float
    users: float | None


def find_levels(observed: Observed) -> tuple[LoadLevel, ...]:
    """Return the levels of the load, in order: of the users if these were recorded and vary, else of the operations."""
    users = observed.users
    present = users[np.isfinite(users)] if users is not None else np.empty(0)
    low, high = np.quantile(present, [0.05, 0.95]) if len(present) else (0.0, 0.0)
    by = users if users is not None and high > 1.1 * max(low, 1e-9) else observed.load
    highest = float(np.nanquantile(by, 0.99))
    at = np.ceil(np.clip(np.nan_to_num(by) / highest, 0, 1) * _LEVELS)
    groups = [np.flatnonzero((at == number) & np.isfinite(by)) for number in range(1, _LEVELS + 1)]
    return tuple(
        LoadLevel(rows, float(observed.load[rows].mean()), None if users is None else float(np.mean(users[rows])))
        for rows in groups
        if len(rows) >= _FEWEST
    )


@dataclass(frozen=True)
class LevelFall:
    """A fall of throughput from `before` to `after` (operations/s) while the number of users stayed at `users`."""

    users: float
    before: float
    after: float


def find_largest_fall(observed: Observed, levels: Sequence[LoadLevel]) -> LevelFall | None:
    """Return the largest fall of throughput while the number of users stayed the same; None without such a fall.

    Compared are the first and the last third of each time in which the users of a load driver hardly vary.
    """
    users = observed.users
    if users is None or not observed.of_driver:
        return None
    usual = float(np.nanquantile(users, 0.75))
    stay = float(np.nanquantile(users, 0.1)) >= _STAYED * usual
    groups = [np.flatnonzero(users >= _STAYED * usual)] if stay else [level.rows for level in levels]
    falls: list[LevelFall] = []
    for rows in (part for group in groups for part in np.split(group, np.flatnonzero(np.diff(group) > 1) + 1)):
        if len(rows) < 3 * _FEWEST or users[rows].min() < _STAYED * users[rows].max():
            continue
        first, _, last = np.array_split(observed.load[rows], 3)
        before, after = (float(third.mean()) for third in (first, last))
        error = float(np.hypot(*(third.std() / len(third) ** 0.5 for third in (first, last))))
        if after < _FELL * before and before - after > _ERRORS * error:
            falls.append(LevelFall(float(users[rows].mean()), before, after))
    return max(falls, key=lambda fall: fall.before - fall.after, default=None)


def average_levels(levels: Sequence[LoadLevel], values: Values) -> Values:
    """Return the mean of the values in each level; NaN if a level has none."""
    present = [values[level.rows][np.isfinite(values[level.rows])] for level in levels]
    return np.array([float(group.mean()) if len(group) else np.nan for group in present])


class Users:
    """The number of users at a load.

    `proportional` says whether the number is in proportion to the load, and `spread` is its relative error (95 %).
    """

    unit: str = "users"
    proportional: bool = True
    spread: float = 0.0

    def at(self, load: float) -> float:
        """Return the number of users at a load; NaN if unknown."""
        raise NotImplementedError

    def between(self, load: float, low: float, high: float) -> tuple[float, float]:
        """Return the interval of the users at a load with the interval `low` to `high`; NaN if users are unknown.

        An infinite end of the load's interval gives an infinite end.
        """
        users = self.at(load)
        fewer, more = (abs(self.at(end) - users) if np.isfinite(end) else end for end in (low, high))
        return users - float(np.hypot(fewer, self.spread * users)), users + float(np.hypot(more, self.spread * users))

    def load_of(self, users: float, most: float) -> float:
        """Return the load at which the number of users is `users`.

        For more users than at the load `most`, the result is infinite unless users are in proportion to the load.
        """
        loads = np.linspace(0, most, 1000)
        values = np.array([self.at(float(load)) for load in loads])
        isfinite = np.isfinite(values)
        if not isfinite.any() or users > float(values[isfinite].max()):
            top = self.at(most)
            return users / top * most if self.proportional and top > 0 else float("inf")
        return float(np.interp(users, np.maximum.accumulate(values[isfinite]), loads[isfinite]))


@dataclass(frozen=True, eq=False)
class ProfileUsers(Users):
    """The users of a profile: each does `rate` operations a second, or thinks for `think_s` before each operation.

    A user who thinks needs for each operation the think time plus the response time (`response`, s, at a load).
    """

    rate: float | None
    think_s: float
    response: Callable[[float], float]

    def at(self, load: float) -> float:
        """Return the number of users that put this load on the system."""
        return load / self.rate if self.rate else load * (self.think_s + self.response(load))


@dataclass(frozen=True, eq=False)
class MeasuredUsers(Users):
    """The number of users at a load, as measured.

    Beyond the highest level, the number rises in proportion to the load if `proportional`, else it is unknown. Longer
    response times (`response`, s, at a load) keep more users at work: by Little's law, one second more adds as many
    users as there are requests in a second.
    """

    loads: Values
    users: Values
    proportional: bool
    unit: str = "users"
    response: Callable[[float], float] = lambda _: 0.0
    spread: float = 0.0

    @property
    def highest(self) -> float:
        """The highest measured number of users."""
        return float(self.users[-1])

    def at(self, load: float) -> float:
        """Return the number of users at a load; NaN beyond the measured loads unless users grow in proportion."""
        if not np.isfinite(load):
            return float("nan")
        if load <= self.loads[-1]:
            return float(np.interp(load, np.append(0, self.loads), np.append(0, self.users)))
        if not self.proportional:
            return float("nan")
        last = float(self.loads[-1])
        return float(self.users[-1] / last * load) + load * max(0.0, self.response(load) - self.response(last))


def find_users(
    observed: Observed, levels: Sequence[LoadLevel], response: Callable[[float], float] = lambda _: 0.0
) -> MeasuredUsers | None:
    """Return the users as a function of the load; None if users were not recorded, or do not vary with the load."""
    points = sorted((level.load, level.users, len(level.rows)) for level in levels if level.users and level.load > 0)
    if len(points) < 3 or points[-1][0] < 1.2 * points[0][0]:
        return None
    loads, users, counts = (np.array(group, dtype=float) for group in zip(*points, strict=True))
    if not np.ptp(users) or float(np.corrcoef(loads, users)[0, 1]) < 0.7:
        return None
    per_load = users / loads
    lower, upper = compute_median(per_load[: len(loads) // 2 + 1]), float(per_load[-1])
    alike = max(lower, upper) <= _SAME_USERS * min(lower, upper)
    rows = max(levels, key=lambda level: level.load).rows
    assert observed.users is not None
    rates = observed.load[rows] / observed.users[rows]
    rates = rates[np.isfinite(rates)]
    spread = _WITHIN * float(rates.std(ddof=1) / rates.mean()) / len(rates) ** 0.5
    return MeasuredUsers(loads, fit_isotonic(users, counts), alike, observed.users_unit, response, spread)

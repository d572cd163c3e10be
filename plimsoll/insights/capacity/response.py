"""Response time as a function of the load: a model of queues at the resources, fitted to measured response times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.analysis.demand import compute_stretch, compute_stretch_of_users, fit_isotonic, fit_rising_times
from plimsoll.analysis.filters import compute_median
from plimsoll.insights.capacity.levels import LoadLevel, average_levels
from plimsoll.insights.capacity.load_observations import MEAN, Observed, ResponseFit
from plimsoll.insights.capacity.saturation import Saturation
from plimsoll.model.log import Values

_FULL = 0.97  # a queue nearer to its end is bounded by the users, which the formula does not know
_GOOD = 0.2  # our choice: the median deviation from what was measured, beyond which nothing is projected
_SERVERS = (1, 2, 4, 8, 16, 32, 64)  # of a limit inside the software
_REPLICATES = 60
_TABLE = 61  # loads


@dataclass(frozen=True)
class Station:
    """A queue: its utilisation (0 to 1) as a function of the load, its number of servers, and its service time (s).

    `users` gives the users at a load (up to the load `most`), if users wait for a response before the next request.
    """

    busy: Callable[[Values], Values]
    servers: int
    service_s: float
    users: Callable[[float], float] | None = None
    most: float = 0.0

    def waiting(self, loads: Values) -> Values:
        """Return how long requests wait (s) at loads, by the queueing formula."""
        if self.users is None:
            return self.service_s * compute_stretch(self.servers, self.busy(loads))
        values, waits = self._of_users
        return self.service_s * np.interp(loads, values, waits)

    @cached_property
    def _of_users(self) -> tuple[Values, Values]:
        """Loads, and the waiting time at each load (in service times), for a limited number of waiting users."""
        assert self.users is not None
        loads = np.linspace(0, self.most, _TABLE)
        busy = self.busy(loads).tolist()
        waits = [
            compute_stretch_of_users(self.servers, share, self.users(load)) if load else 0.0
            for share, load in zip(busy, loads.tolist(), strict=True)
        ]
        return loads, np.maximum.accumulate(np.array(waits))


@dataclass(frozen=True, eq=False)
class ResponseCurve:
    """A response time (s) as a function of the load.

    `stations` are groups of stations, with a weight for the waiting time of each group. `resources` are the stations
    that stand for resources. `off` is the median relative deviation of the model from the measured times.
    """

    response: ResponseFit
    loads: Values
    measured: Values
    stations: tuple[tuple[Station, ...], ...]
    weights: Values
    off: float
    resources: tuple[Station, ...]

    def at(self, loads: Values) -> Values:
        """Return the response time at loads: as measured, but never falling; beyond the measured loads, by the model.

        Beyond the measured loads, the response time is NaN if the model fits the measured times badly.
        """
        model = self.model(loads)
        inside = np.interp(loads, self.loads, self.measured)
        if self.off > _GOOD:
            beyond = np.full(len(loads), np.nan)
        else:
            beyond = model * float(self.measured[-1] / self.model(self.loads[-1:])[0])
        return np.where(loads <= self.loads[-1], inside, np.maximum(beyond, self.measured[-1]))

    def model(self, loads: Values) -> Values:
        """Return the response time at loads, computed from the queues."""
        waits = zip(self.stations, self.weights[1:], strict=True)
        return self.weights[0] + sum(
            (weight * _compute_waits(group, loads) for group, weight in waits), np.zeros(len(loads))
        )


def fit_response_curve(
    response: ResponseFit, levels: Sequence[LoadLevel], stations: Sequence[Station], limit: Saturation | None
) -> ResponseCurve | None:
    """Return the response time as a function of the load; None if it was measured at too few levels."""
    return _fit_curve(response, levels, average_levels(levels, response.times), stations, limit)


def make_mean_response(
    observed: Observed, levels: Sequence[LoadLevel], curves: Sequence[ResponseCurve]
) -> Callable[[float], float]:
    """Return a function that gives the mean response time (s) at a load: by its curve, else the lowest measured time.

    For another mix or after a change there is no curve; users wait at least for the lowest measured time.
    """
    curve = next((curve for curve in curves if curve.response.name == MEAN), None)
    recorded = next((response for response in observed.responses if response.name == MEAN), None)
    times = average_levels(levels, recorded.times) if recorded else np.empty(0)
    shortest = float(min(times[np.isfinite(times)], default=0.0))

    def at(load: float) -> float:
        projected = float(curve.at(np.array([load]))[0]) if curve else float("nan")
        return projected if np.isfinite(projected) else shortest

    return at


def find_longest_load(
    curve: ResponseCurve, levels: Sequence[LoadLevel], limit: Saturation | None, most: float
) -> tuple[float, float, float] | None:
    """Return the load up to which the response time is within its objective, and the ends of its 95 % interval.

    None without an objective; infinite if no load up to `most` is known to exceed the objective.
    """
    if curve.response.limit is None:
        return None
    rng = np.random.default_rng(0)
    reached = [_find_reach(curve, most)]
    for _ in range(_REPLICATES):
        drawn = [level.rows[rng.integers(len(level.rows), size=len(level.rows))] for level in levels]
        times = np.array([float(np.nanmean(curve.response.times[rows])) for rows in drawn])
        other = _fit_curve(curve.response, levels, times, curve.resources, limit)
        reached.append(_find_reach(other, most) if other else np.inf)
    low, high = np.quantile(reached[1:], [0.025, 0.975], method="nearest").tolist()
    return reached[0], min(low, reached[0]), max(high, reached[0])


def _find_reach(curve: ResponseCurve, most: float) -> float:
    loads = np.linspace(curve.loads[0], most, 400)
    beyond = np.flatnonzero(curve.at(loads) > (curve.response.limit or np.inf))
    return float(loads[max(int(beyond[0]) - 1, 0)]) if len(beyond) else float("inf")


def _fit_curve(
    response: ResponseFit,
    levels: Sequence[LoadLevel],
    times: Values,
    stations: Sequence[Station],
    limit: Saturation | None,
) -> ResponseCurve | None:
    """Return the response time over the load, by the best of several models; None for too few levels.

    `times` are the response times at the levels.
    """
    loads, counts = np.array([level.load for level in levels]), np.array([float(len(level.rows)) for level in levels])
    order = np.argsort(loads)
    order = order[np.isfinite(times[order]) & (times[order] > 0)]
    if len(order) < 3:
        return None
    loads, times, counts = loads[order], times[order], counts[order]
    best: ResponseCurve | None = None
    steady = fit_isotonic(times, counts)
    for chosen in _list_candidates(stations, limit):
        free = [station.busy(loads) < _FULL for group in chosen for station in group]
        used = np.all([loads >= 0, *free], axis=0)
        if used.sum() < 3:
            continue
        waits = [_compute_waits(group, loads) for group in chosen]
        weights = fit_rising_times([wait[used] for wait in waits], times[used], counts[used])
        model = weights[0] + sum((w * wait for w, wait in zip(weights[1:], waits, strict=True)), np.zeros(len(loads)))
        off = compute_median(np.abs(model[used] / times[used] - 1))
        if best is None or off < best.off:
            best = ResponseCurve(response, loads, steady, chosen, weights, off, tuple(stations))
    return best or ResponseCurve(response, loads, steady, (), np.array([float(times[0])]), 1.0, tuple(stations))


def _list_candidates(stations: Sequence[Station], limit: Saturation | None) -> list[tuple[tuple[Station, ...], ...]]:
    """Return the models to try: a station per resource; if the software limits, also a queue of 1 to 64 servers."""
    apart = tuple((station,) for station in stations)
    if limit is None or limit.by_resource:
        return [apart]
    top = limit.load
    return [(*apart, (Station(lambda loads: loads / top, servers, servers / top),)) for servers in _SERVERS]


def _compute_waits(stations: Sequence[Station], loads: Values) -> Values:
    return sum((station.waiting(loads) for station in stations), np.zeros(len(loads)))

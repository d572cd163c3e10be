"""The saturation of throughput: the point from which throughput does not rise with the offered load."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.demand import FEWEST
from plimsoll.analysis.filters import compute_median
from plimsoll.insights.capacity.levels import LoadLevel, average_levels
from plimsoll.insights.capacity.load_observations import MEAN, Observed
from plimsoll.model.log import Values

# Our choices.
_FLAT = 0.97  # of the highest throughput: what reaches it has not risen since
_MORE = 1.15  # times the users or requests in flight of the first such level: throughput had reason to rise
_LITTLE = 0.8  # of the highest throughput: below, each user is served as without others
_ALIKE = 1.5  # times the fewest connections for one operation a second that the most may be
_FEWEST = 4  # levels that show by themselves that throughput rose before
_WAITING = 0.5  # of how much longer all further users would wait, if none of them got anything done
_NEAR = 0.9  # of its limit: a resource as near as that may be what limits


@dataclass(frozen=True)
class Saturation:
    """The point from which throughput does not rise with the offered load.

    Attributes:
        load: The highest throughput (operations a second).
        users: The number of users from which throughput does not rise; None if only requests in flight show the point.
        fewer_done_by: The users at the next level beyond the highest throughput; None if throughput does not fall.
        by_resource: Whether a resource was at or near its limit at that point; else no recorded resource limits.
        sure: Whether the figures leave no other explanation.
    """

    load: float
    users: float | None
    by_resource: bool
    sure: bool = True
    fewer_done_by: float | None = None


def find_saturation(observed: Observed, levels: Sequence[LoadLevel]) -> Saturation | None:
    """Return the saturation of throughput; None if throughput still rises, or if the offered load is not recorded."""
    by_users = all(level.users is not None for level in levels)
    if by_users:
        values = np.array([level.users or 0.0 for level in levels])
    elif observed.in_flight is not None:
        values = average_levels(levels, observed.in_flight)
    else:
        return None
    if len(levels) < 2 or not np.isfinite(values).all():
        return None
    order = np.argsort(values)
    values, done = values[order], np.array([level.load for level in levels])[order]
    most = max(float(np.sort(done)[-2:].mean()), _FLAT * float(done.max()))  # the top may be of one level alone
    flat = np.flatnonzero(done >= _FLAT * most)
    first = int(flat[0])
    rest = done[first:]
    if len(rest) < 2 or values[-1] < _MORE * values[first] or float(rest[-1]) > most / _FLAT:
        return None
    if len(levels) < _FEWEST or first < 1:  # throughput seems constant from the first level on
        flat_only = [levels[int(at)] for at in order[first:]]
        if not by_users or not _wait_longer(observed, flat_only, values[first:], most):
            return None
    alone = (done < _LITTLE * done.max()) & (np.arange(len(done)) < first)  # beyond the top it may have fallen
    # Where throughput falls for sure after its top, connections obstruct each other, and one level before it is enough.
    falls = float(done[-1]) < _LITTLE * float(done.max()) or float(done[-2:].max()) < _FLAT * float(done.max())
    rising = np.arange(len(done)) <= first if falls and alone.sum() == 1 else alone
    if not observed.of_driver and not _is_proportional(values[rising], done[rising]):
        return None  # connections may grow without work, as when clients never close them
    users = compute_median(values[alone] / done[alone]) * most if by_users and alone.any() else None
    rows = np.concatenate([levels[int(at)].rows for at in order[first:]])
    near = [
        float(np.nanmean(observed.use[resource.key][rows])) >= _NEAR * resource.limit for resource in observed.resources
    ]
    if not falls or not by_users:
        return Saturation(most, users, any(near))
    top = int(done.argmax())
    return Saturation(most, _find_users_at_top(values, done, top), any(near), fewer_done_by=float(values[top + 1]))


def _find_users_at_top(users: Values, done: Values, top: int) -> float:
    """Return the users at the top of a curve of throughput, by a parabola through the top level and its neighbours.

    If throughput rises steeply up to the top level, the result is at least the users of that level.
    """
    if not top:
        return float(users[0])
    near = users[top - 1 : top + 2]
    bend, slope, _ = np.polyfit(near - users[top], done[top - 1 : top + 2], 2)
    vertex = float(np.clip(users[top] - slope / (2 * bend), near[0], near[2]))
    return max(vertex, float(users[top])) if done[top - 1] < _LITTLE * done[top] else vertex


def cut_at_top(observed: Observed, levels: Sequence[LoadLevel]) -> tuple[Observed, LoadLevel | None]:
    """Return the rows up to the highest throughput, and the last level if less was done there (overload), else None."""
    done = np.array([level.load for level in levels])
    if observed.users is None:
        return observed, None
    top = int(np.argmax(done >= _FLAT * done.max()))
    beyond = np.concatenate([np.empty(0, np.intp), *(level.rows for level in levels[top + 1 :])])
    if len(observed.load) - len(beyond) < FEWEST:
        return observed, None
    return observed.without(beyond), levels[-1] if done[-1] < _FLAT * done.max() else None


def _wait_longer(observed: Observed, levels: Sequence[LoadLevel], users: Values, done: float) -> bool:
    """Return whether response times grow with the users as if further users only waited (Little's law).

    If so, the system holds requests back, not the load driver.
    """
    mean = next((response for response in observed.responses if response.name == MEAN), None)
    if mean is None:
        return False
    times = average_levels(levels, mean.times)
    return float(times[-1] - times[0]) >= _WAITING * float(users[-1] - users[0]) / done


def _is_proportional(values: Values, done: Values) -> bool:
    """Return whether users or connections (`values`) rise with the throughput (`done`), about in proportion."""
    if len(values) < 2 or values.max() < _MORE * values.min():
        return False
    samples = values / np.maximum(done, 1e-12)
    return float(samples.max()) <= _ALIKE * float(samples.min())

"""What was measured twice and does not agree: users, throughput and response times, by Little's law."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plimsoll.insights.capacity.levels import Level, means
from plimsoll.insights.capacity.observed import MEAN, Observed

_DIFFERS = 0.25  # our choice: of what was measured


@dataclass(frozen=True)
class Contradiction:
    """Two figures that should be the same at a load: requests in flight, or users, measured and by Little's law."""

    what: Literal["in flight", "users"]
    load: float
    measured: float
    by_law: float


def contradictions(observed: Observed, levels: Sequence[Level]) -> tuple[Contradiction, ...]:
    """The level at which requests in flight, or users, differ most from throughput times response time."""
    mean = next((one for one in observed.responses if one.name == MEAN), None)
    if mean is None:
        return ()
    loads = np.array([one.load for one in levels])
    law = loads * means(levels, mean.times)
    found: list[Contradiction] = []
    if observed.in_flight is not None:
        flight = means(levels, observed.in_flight)
        with np.errstate(all="ignore"):
            off = np.where((law > 1) & (flight > 1), np.abs(np.log(flight / law)), 0.0)
        worst = int(np.nanargmax(off)) if len(off) else 0
        if len(off) and off[worst] > np.log1p(_DIFFERS):
            found.append(Contradiction("in flight", float(loads[worst]), float(flight[worst]), float(law[worst])))
    users = np.array([one.users if one.users is not None else np.nan for one in levels])
    more = np.where(np.isfinite(users) & (users > 0), law / np.maximum(users, 1e-9), 0.0)
    if observed.users_unit == "users" and len(more) and float(np.nanmax(more)) > 1 + _DIFFERS:
        worst = int(np.nanargmax(more))
        found.append(Contradiction("users", float(loads[worst]), float(users[worst]), float(law[worst])))
    return tuple(found)

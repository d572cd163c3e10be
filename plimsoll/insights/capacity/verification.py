"""Checks of the model: the use at the highest load as predicted from lower loads, and Little's law."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from plimsoll.analysis.demand import FEWEST, estimate_demand
from plimsoll.insights.capacity.levels import LoadLevel, average_levels
from plimsoll.insights.capacity.load_observations import MEAN, Observed
from plimsoll.insights.capacity.resources import Resource
from plimsoll.model.log import Values

_DIFFERS = 0.25  # our choice: of what was measured


@dataclass(frozen=True)
class Contradiction:
    """A number of requests in flight or users at a load: as measured, and by Little's law (they should be equal)."""

    quantity: Literal["in flight", "users"]
    load: float
    measured: float
    by_law: float


# Our choices.
_LOWER, _UPPER = 0.85, 0.9  # of the highest load: what is above is predicted from what is below
_POOR = 0.25  # of what was measured at the highest load; a prediction that is off by more projects nothing
_SMALL = 0.1  # of its limit; a use below it is little, however it is predicted


@dataclass(frozen=True)
class Check:
    """The use (%) at the highest load, as measured and as predicted from lower loads."""

    load: float
    measured: float
    predicted: float

    @property
    def off(self) -> float:
        """The error of the prediction, as a share of the measured use; positive if the prediction is too high."""
        return self.predicted / self.measured - 1 if self.measured > 0 else 0.0

    def poor(self, limit: float) -> bool:
        """Return whether the error is too large to project the use; a use far below `limit` (%) is never poor."""
        return abs(self.off) > _POOR and max(self.measured, self.predicted) > _SMALL * limit


def check_of(observed: Observed, resource: Resource, rates: Values) -> Check | None:
    """Return the check of a resource; None if too few rows are near the highest load, or at lower loads.

    `rates` are the operations a second, with the shape (rows, operations).
    """
    present = np.isfinite(observed.use[resource.key])
    rates, use = rates[present], observed.use[resource.key][present]
    load = rates.sum(axis=1)
    upper, lower = load >= _UPPER * observed.highest, load < _LOWER * observed.highest
    if upper.sum() < 3 or lower.sum() < FEWEST or load[lower].max() < 1.5 * max(float(load[lower].min()), 1e-9):
        return None
    predicted = estimate_demand(rates[lower], use[lower], replicates=0).use(rates[upper])[0]
    return Check(float(load[upper].mean()), float(use[upper].mean()), float(predicted.mean()))


def find_contradictions(observed: Observed, levels: Sequence[LoadLevel]) -> tuple[Contradiction, ...]:
    """Return the load at which requests in flight differ most from Little's law, and the load at which users do.

    Differences of less than a quarter, and quantities that were not recorded, are left out.
    """
    mean = next((response for response in observed.responses if response.name == MEAN), None)
    if mean is None:
        return ()
    loads = np.array([level.load for level in levels])
    law = loads * average_levels(levels, mean.times)
    differences: list[Contradiction] = []
    if observed.in_flight is not None:
        flight = average_levels(levels, observed.in_flight)
        with np.errstate(all="ignore"):
            off = np.where((law > 1) & (flight > 1), np.abs(np.log(flight / law)), 0.0)
        worst = int(np.nanargmax(off)) if len(off) else 0
        if len(off) and off[worst] > np.log1p(_DIFFERS):
            differences.append(Contradiction("in flight", float(loads[worst]), float(flight[worst]), float(law[worst])))
    users = np.array([level.users if level.users is not None else np.nan for level in levels])
    where = np.where(np.isfinite(users) & (users > 0), law / np.maximum(users, 1e-9), 0.0)
    if observed.users_unit == "users" and len(where) and float(np.nanmax(where)) > 1 + _DIFFERS:
        worst = int(np.nanargmax(where))
        differences.append(Contradiction("users", float(loads[worst]), float(users[worst]), float(law[worst])))
    return tuple(differences)

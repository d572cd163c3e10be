"""How well the use of a resource at the highest load is predicted from lower loads."""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.capacity.demand import FEWEST, demand
from plimsoll.insights.capacity.observed import Observed
from plimsoll.insights.capacity.resources import Resource
from plimsoll.model.log import Values

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
        """By which share of what was measured the prediction is off."""
        return self.predicted / self.measured - 1 if self.measured > 0 else 0.0

    def poor(self, limit: float) -> bool:
        """Whether that is too much to project anything, of a use that is not little."""
        return abs(self.off) > _POOR and max(self.measured, self.predicted) > _SMALL * limit


def check_of(seen: Observed, one: Resource, rates: Values) -> Check | None:
    """The check of a resource, by rates of operations (shape: rows, operations); None where rows are too few."""
    known = np.isfinite(seen.use[one.key])
    rates, use = rates[known], seen.use[one.key][known]
    load = rates.sum(axis=1)
    upper, lower = load >= _UPPER * seen.highest, load < _LOWER * seen.highest
    if upper.sum() < 3 or lower.sum() < FEWEST or load[lower].max() < 1.5 * max(float(load[lower].min()), 1e-9):
        return None
    predicted = demand(rates[lower], use[lower], replicates=0).use(rates[upper])[0]
    return Check(float(load[upper].mean()), float(use[upper].mean()), float(predicted.mean()))

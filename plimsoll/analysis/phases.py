"""The steady state of one load series, between its ramp-up and its ramp-down, or why it has none.

Where the load was stepped, its plateaus (plateaus.py) decide, as they do for load steps: there is a steady state only
if one of them lasts for half the run. Any other series is described as a constant level with a ramp before it, after
it, both or neither (ramp_fit.py). Then the level must be seen to be steady (steadiness.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.filters import median_filter
from plimsoll.analysis.levels.plateaus import Plateau, plateaus
from plimsoll.analysis.levels.ramp_fit import NEAR, RampFit, Side
from plimsoll.analysis.levels.ramps import Floats
from plimsoll.analysis.levels.steadiness import NotSteady, not_steady
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples

_BINS = 300
_FEWEST = 40  # samples
_SPIKE = 9.0  # usual distances from the median of the neighbours
_BURST = 4 * 1.4826  # the same for means of bins: four standard deviations of normal noise
_BURST_LASTS = 0.025  # of the run: bursts shorter than this are limited
_LONG_STEP = 0.5  # of the run
_EDGE_IS_NEAR = 0.95  # the probability that the edge of a plateau is within 2 % (tests/analysis/test_plateaus.py)


@dataclass(frozen=True)
class Boundary:
    """The sample at which a steady state begins or ends (UTC ns), and between which it does, probably (95 %).

    `confidence` is the probability that it is within 2 % of the run's length.
    """

    at: int
    low: int
    high: int
    confidence: float


@dataclass(frozen=True)
class SteadyState:
    """A steady state and its level. A boundary is None where the series begins or ends in it.

    `confidence` is the least of those of its boundaries; without a boundary, of there being none.
    """

    begin: Boundary | None
    end: Boundary | None
    level: float
    confidence: float


def steady_state(times: Times, values: Values, levels: Sequence[Plateau] | None = None) -> SteadyState | NotSteady:
    """The steady state of a load.

    Args:
        times: Ascending, UTC ns.
        values: Those that are not finite are left out.
        levels: The plateaus of the load, if they are known already.
    """
    filled = np.isfinite(values)
    times, values = times[filled], values[filled]
    if len(values) < _FEWEST:
        return NotSteady(f"{len(values)} samples are too few to tell", known=False)
    if not values.any():
        return NotSteady("there was no load", known=False)
    levels = plateaus(Samples(times, values)) if levels is None else levels
    return _among_steps(times, values, levels) if levels else _between_ramps(times, values)


def _among_steps(times: Times, values: Values, levels: Sequence[Plateau]) -> SteadyState | NotSteady:
    """The plateau that lasts for half the run, if it is steady."""
    length = int(times[-1] - times[0])
    longest = max(levels, key=lambda one: one.end - one.start)
    inside = (times >= longest.start) & (times <= longest.end)
    if longest.end - longest.start < _LONG_STEP * length or np.count_nonzero(inside) < _FEWEST:
        return NotSteady("the load changes in steps")
    found = _between_ramps(times[inside], values[inside])
    if isinstance(found, NotSteady):
        return found
    near = round(NEAR * length)

    def edge(at: int) -> Boundary | None:
        return None if at in (times[0], times[-1]) else Boundary(at, at - near, at + near, _EDGE_IS_NEAR)

    begin, end = found.begin or edge(longest.start), found.end or edge(longest.end)
    return SteadyState(
        begin, end, found.level, min((found.confidence, *(one.confidence for one in (begin, end) if one)))
    )


def _between_ramps(times: Times, values: Values) -> SteadyState | NotSteady:
    """The level of a series between a ramp before it and one after it."""
    start, length = int(times[0]), int(times[-1] - times[0])
    x, y = _binned((times - start) / length, _without_spikes(values))
    fit = RampFit(x, _without_bursts(y))

    left, right = fit.sides

    def boundary(side: Side, low: float, at: float, high: float) -> Boundary | None:
        nearest = [int(times[np.argmin(np.abs(times - (start + share * length)))]) for share in (at, low, high)]
        return Boundary(*nearest, confidence=side.confidence) if side.end else None

    return not_steady(fit) or SteadyState(
        boundary(left, left.low, left.at, left.high),
        boundary(right, 1 - right.high, 1 - right.at, 1 - right.low),
        fit.level,
        min(left.confidence, right.confidence),
    )


def _without_spikes(values: Values) -> Floats:
    """The values, with those that are far from their neighbours replaced by the median of these."""
    middle = median_filter(values, 9, "symmetric")
    away = np.abs(values - middle)
    usual = float(np.median(away[away > 0])) if away.any() else 0.0
    return np.where(away > _SPIKE * usual, middle, values)


def _binned(x: Floats, y: Values) -> tuple[Floats, Floats]:
    """The mean time and value of at most 300 equal parts of the run; parts without samples are left out."""
    bins = len(x) // -(-len(x) // _BINS)
    at = np.minimum((x * bins).astype(np.intp), bins - 1)
    count = np.bincount(at, minlength=bins)
    there = count > 0
    means = [np.bincount(at, weights=one, minlength=bins)[there] / count[there] for one in (x, y)]
    return means[0], means[1]


def _without_bursts(values: Floats) -> Floats:
    """The values, with short bursts limited. What is monotonic at the start or end is kept, so short ramps are."""
    middle = median_filter(values, 2 * max(1, round(_BURST_LASTS * len(values))) + 1, "edge")
    away = values - middle
    most = _BURST * float(np.median(np.abs(away)))
    return middle + np.clip(away, -most, most)

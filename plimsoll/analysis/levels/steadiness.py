"""Whether the level that was fitted to a series is a steady state, and if not, why.

Limits are our choice. Errors are for AR(1) noise: a change counts where it is larger than both what a steady state may
have and what the noise explains.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.filters import moving_mean
from plimsoll.analysis.levels.ramp_fit import RampFit
from plimsoll.analysis.levels.ramps import PLATEAUS, Flags, Floats, whitened

_SHORTEST = 0.1  # of the run
_FEWEST = 8  # bins
_TOLERANCE = 0.1  # of the level: what may change in a steady state
_PER_RUN = 0.2  # of the level: the same in as much time as the run has
_LARGEST_ERROR = 0.25  # of the level: the standard error of a change that may be called none
_WIDEST = 0.25  # of the run: the interval of a boundary
_UNSURE = 0.6  # of the steady state: the same
_Z_TREND, _Z_PART = 2.7, 3.3  # how improbable a change is that the noise does not explain
_PARTS = (30, 12, 8, 5, 3)  # in which the mean of a part is compared with the level
# In which the means of all parts are; and what chi-squared, with one degree of freedom fewer, exceeds with a chance of
# 0.0005: scipy.special, which has it, takes longer to import than most reviews take.
BLOCKS = {12: 33.13661500416826, 8: 26.017767709014763, 5: 19.99735499524761}
_GROWTH, _LATER_GROWTH = 5.5, 1.35  # of the variance of differences over more steps: such noise is a drift
_Z_LINGERS = 1.5
_MISFIT = (0.07, 0.2)  # of the level: what a ramp may differ from its shape before a short and a long steady state
_LONG_STEADY = 0.4  # of the run
_STEP_LASTS = 0.75  # of the steady state: another level that lasts for longer is a load step


@dataclass(frozen=True)
class NotSteady:
    """Why a series has no steady state. `known` is False where that cannot be told."""

    why: str
    known: bool = True


def not_steady(fit: RampFit) -> NotSteady | None:
    """Why the level of a series is no steady state; None if it is one."""
    left, right = fit.sides
    begin, end = max(left.at, left.end), 1 - max(right.at, right.end)
    inside = (fit.x >= begin) & (fit.x <= end)
    if fit.level <= 0 or end - begin < _SHORTEST or np.count_nonzero(inside) < _FEWEST:
        return NotSteady("the load has no level that lasts between a rise and a fall")
    residual = fit.y - fit.model
    if (left.end or right.end) and fit.score(residual, fit.parameters) > _ramps_alone(fit):
        return NotSteady("the load climbs or falls throughout")
    if PLATEAUS[left.shape] * left.end > _STEP_LASTS * (end - begin) and left.height > -_STEP_LASTS * fit.level:
        return NotSteady("the load has more than one level")
    widest = min(_WIDEST, _UNSURE * (end - begin))
    if any(side.high - side.low > widest for side in fit.sides):
        return NotSteady("the load varies too much to tell where it becomes steady", known=False)
    tolerance = min(_TOLERANCE, _PER_RUN * (end - begin)) * fit.level
    result = _trend(fit, inside, residual[inside], tolerance) or _parts(fit, residual[inside], tolerance)
    if result or inside.all():
        return result
    width = max(4, len(fit.x) // 20)
    away = float(np.abs(moving_mean(residual, width))[~inside].max())
    unlike_ramps = away > _MISFIT[end - begin >= _LONG_STEADY] * fit.level + _Z_PART * fit.noise.error_of_mean(width)
    return NotSteady("the load rises and falls irregularly") if unlike_ramps else None


def _trend(fit: RampFit, inside: Flags, rest: Floats, tolerance: float) -> NotSteady | None:
    """Return whether the level climbs or falls, or is higher or lower in its middle than at its ends."""
    noise, x = fit.noise, fit.x[inside]
    u = (x - x[0]) / (x[-1] - x[0]) - 0.5
    rows = whitened(np.array([np.ones(len(u)), u, (u * u - 1 / 12) / 4]), noise.phi)
    covariance = np.linalg.inv(rows @ rows.T)
    changes = covariance @ (rows @ whitened(rest, noise.phi))
    errors = np.sqrt(np.diag(covariance) * (1 - noise.phi**2)) * noise.deviation
    if errors[1] > _LARGEST_ERROR * fit.level:
        return NotSteady("the load varies too much to tell whether it is steady", known=False)
    sure = np.abs(changes[1:]) > tolerance + _Z_TREND * errors[1:]
    if sure[0]:
        verb = "climbs" if changes[1] > 0 else "falls"
        return NotSteady(f"the load still {verb} by {abs(changes[1]) / fit.level:.0%} where it is most even")
    return NotSteady("the load rises and falls where it is most even") if sure[1] else None


def _parts(fit: RampFit, rest: Floats, tolerance: float) -> NotSteady | None:
    """Return whether some part of the level is away from it, or all parts are on the whole."""
    noise, rows = fit.noise, len(rest)
    widths = {max(4, rows // parts) for parts in _PARTS}
    away = {width: float(np.abs(np.convolve(rest, np.full(width, 1 / width), mode="valid")).max()) for width in widths}
    if any(value > tolerance + _Z_PART * noise.error_of_mean(width) for width, value in away.items()):
        return NotSteady(
            "the load goes up and down by more than a tenth"
            if tolerance >= _TOLERANCE * fit.level
            else "the load goes up and down"
        )
    for blocks, exceeded in ((blocks, exceeded) for blocks, exceeded in BLOCKS.items() if rows >= 4 * blocks):
        means = np.array([block.mean() for block in np.array_split(rest, blocks)])
        by_chance = exceeded * noise.error_of_mean(rows // blocks) ** 2
        if float(means @ means) > by_chance + blocks * (tolerance / 2) ** 2:
            return NotSteady("the load goes up and down")
    drifts = noise.growth > _GROWTH and away[max(4, rows // 12)] > tolerance / 2
    lingers = noise.later_growth > _LATER_GROWTH and any(
        value > tolerance / 2 + _Z_LINGERS * noise.error_of_mean(width) for width, value in away.items()
    )
    return NotSteady("the load drifts") if drifts or lingers else None


def _ramps_alone(fit: RampFit) -> float:
    """Return the least BIC of a line, and of a rise and a fall with no level between them."""
    value = np.inf
    white_y = whitened(fit.y, fit.noise.phi)
    for top in (0.0, *np.linspace(0.1, 0.9, 25)):
        sides = [np.maximum(0, fit.x - top)] + ([np.maximum(0, top - fit.x)] if top else [])
        rows = np.array([np.ones(len(fit.x)), *sides])
        white = whitened(rows, fit.noise.phi)
        solve = np.linalg.solve(white @ white.T, white @ white_y)
        if not top or max(solve[1:]) <= 0:
            value = min(value, fit.score(fit.y - solve @ rows, 3 if top else 1))
    return value

"""Whether values climb or fall beside what else moves them: what fills at first, the load, the time of day.

Means of equal parts of the time are described by a line and one of these; whether the line climbs is told as for values
that nothing else moves, with the error that its slope has beside the rest (Frisch and Waugh, "Partial time regressions
as compared with individual trends", Econometrica 1, 1933).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from plimsoll.analysis.trend import FLOOR, FLOOR_FOLLOWS, SURE, Line, Trend, error_of, is_doubtful, trend
from plimsoll.model.log import Values

_DAY_S = 86_400.0
_PARTS, _PARTS_OF_DAY, _MOST_PARTS = 24, 8, 240
_FEWEST_PARTS = 16
_FEWEST_DAYS = 2.0
_FILLS_IN = (0.03, 0.05, 0.08, 0.12, 0.16)  # of the time: later it cannot be told from a line that bends
_BETTER = (
    10.0  # information criterion (Schwarz, 1978) than that of the line alone: very strong (Kass and Raftery, 1995)
)
_WHITE = 0.6  # the highest correlation of neighbouring residuals: beyond, the description leaves something out


def trend_beside(seconds: Values, values: Values, load: Values | None = None, least: float = 0.0) -> Trend | None:
    """The trend of finite values at ascending times; None if there are too few to tell.

    Args:
        seconds: The times.
        values: The values.
        load: The load at these times; None if it is not known.
        least: The change that matters: where the line alone changes by less than half of it, nothing else is tried.
    """
    alone = trend(seconds, values)
    if alone is None or alone.direction or abs(alone.end - alone.start) < least / 2:
        return alone
    days = float(seconds[-1] - seconds[0]) / _DAY_S
    count = min(_MOST_PARTS, max(_PARTS, round(_PARTS_OF_DAY * days)))
    edges = np.linspace(seconds[0], seconds[-1], count + 1)[:-1]
    parts = np.unique(np.concatenate((np.searchsorted(seconds, edges), [len(seconds)])))
    if len(parts) < _FEWEST_PARTS + 1:
        return alone
    lengths = np.diff(parts)
    times, means = (np.add.reduceat(one, parts[:-1]) / lengths for one in (seconds, values))
    loads = None if load is None else np.add.reduceat(load, parts[:-1]) / lengths
    plain = _information(means, _fitted(np.stack((np.ones_like(times), times), axis=1), means), 2)
    others = list(_others(times, loads))
    informations = [_information(means, _fitted(_basis(times, one), means), one.shape[1] + 2) for one in others]
    best = others[int(np.argmin(informations))]
    if min(informations) > plain - _BETTER:
        return alone
    found = _line(times, means, best)
    sign = 1 if found.slope > 0 else -1
    if abs(found.slope) <= found.reach(SURE):
        return alone
    moved = (best - best.mean(axis=0)) @ _coefficients(_basis(times, best), means)[2:]
    rest = means - moved - found.offset - found.slope * (times - times.mean())
    fills = any(best is one for one in others[: len(_FILLS_IN)])
    if _neighbours(rest) > _WHITE or (fills and sign * (moved[-1] - moved[0]) < 0):
        return alone
    floors = np.array([np.quantile(sign * values[a:b], FLOOR) for a, b in pairwise(parts)])
    floor = _line(times, floors, best)
    if not floor.climbs(SURE) or floor.slope < FLOOR_FOLLOWS * sign * found.slope:
        return alone
    if is_doubtful(times, sign * (means - moved), sign * found.slope):
        return alone
    found = replace(found, offset=found.offset - found.slope * float(times.mean()))
    start, end = (found.offset + found.slope * float(at) for at in (seconds[0], seconds[-1]))
    return Trend(found, start, end, sign)


def _others(times: Values, loads: Values | None) -> Iterator[Values]:
    """What else may move values, as columns over the parts."""
    since, span = times - times[0], float(times[-1] - times[0])
    for share in _FILLS_IN:
        yield np.exp(-since / (share * span))[:, None]
    turns = [2 * np.pi * since / _DAY_S * one for one in (1, 2)]
    day = np.stack([wave(one) for one in turns for wave in (np.sin, np.cos)], axis=1)
    if span >= _FEWEST_DAYS * _DAY_S:
        yield day
    if loads is not None and np.ptp(loads):
        yield loads[:, None]
        if span >= _FEWEST_DAYS * _DAY_S:
            yield np.column_stack((loads, day))


def _basis(times: Values, others: Values) -> Values:
    return np.column_stack((np.ones_like(times), times, others))


def _coefficients(basis: Values, means: Values) -> Values:
    scale = np.abs(basis).max(axis=0)
    return np.linalg.lstsq(basis / scale, means, rcond=None)[0] / scale


def _fitted(basis: Values, means: Values) -> Values:
    return basis @ _coefficients(basis, means)


def _information(means: Values, fitted: Values, parameters: int) -> float:
    count = len(means)
    squares = max(float(((means - fitted) ** 2).sum()), 1e-12 * float((means**2).sum()) + 1e-300)
    return count * float(np.log(squares / count)) + float(np.log(count)) * parameters


def _line(times: Values, means: Values, others: Values) -> Line:
    """The line beside others; its offset is the mean."""
    basis = _basis(times - times.mean(), others - others.mean(axis=0))
    found = _coefficients(basis, means)
    beside = basis[:, [0, *range(2, basis.shape[1])]]
    own = basis[:, 1] - _fitted(beside, basis[:, 1])
    return Line(float(found[1]), *error_of(own, means - basis @ found, basis.shape[1]), float(found[0]))


def _neighbours(rest: Values) -> float:
    squares = float((rest * rest).sum())
    return float((rest[1:] * rest[:-1]).sum()) / squares if squares else 0.0

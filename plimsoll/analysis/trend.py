"""Trends: whether values climb or fall throughout a recording, and how fast.

The slope is that of least squares through the means of equal parts of the time. Its interval uses the effective number
of samples: the residuals' autocorrelation from one part to the next, corrected for the bias of short series, says how
many samples are independent (Santer et al., "Statistical significance of trends and trend differences in layer-average
atmospheric temperature time series", Journal of Geophysical Research 105, 2000).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.distributions import compute_student_quantile
from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.significance import count_effective_samples
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

_DAY_S = 86_400.0
_PARTS_BESIDE, _PARTS_OF_DAY, _MOST_PARTS = 24, 8, 240
_FEWEST_PARTS_BESIDE = 16
_FEWEST_DAYS = 2.0
_FILLS_IN = (0.03, 0.05, 0.08, 0.12, 0.16)  # of the time: later it cannot be told from a line that bends
# Information criterion (Schwarz, 1978) than that of the line alone: very strong (Kass and Raftery, 1995).
_BETTER = 10.0
_WHITE = 0.6  # the highest correlation of neighbouring residuals: beyond, the description leaves something out
_PARTS = 24
_FEWEST_PARTS = 12
_FEWEST_SAMPLES = 48
_CONFIDENCE = 0.95  # of the interval
SURE = 0.995  # that the slope is not zero, before a trend is called one
# No interval of these confidences is shorter than this many standard errors to each side, that of the normal
# distribution: most series are known to have no trend without Student's t, which is slow to import.
_LEAST_REACH = {_CONFIDENCE: 1.9599, SURE: 2.8070}
_LEAST_FREEDOM = 1.5  # degrees, where residuals depend on each other so much that none are left
FLOOR = 0.1  # the share of samples below the floor of a part
FLOOR_FOLLOWS = 0.4  # the least ratio of the floor's slope to that of the means
_JUMP = 0.35  # of the whole change within two parts: a step
_NORMAL = 1.4826  # the standard deviation of normal values, in median absolute deviations
_OUTLYING = 5.0  # standard deviations
_STILL_AT_END = 0.4  # the least ratio of the slope at the end to the mean slope, else it levels off
_CURVED = 2.5  # standard errors of the curvature


@dataclass(frozen=True)
class Line:
    """A straight line: its slope per second with standard error and degrees of freedom, and its value at time 0."""

    slope: float
    error: float
    freedom: float
    offset: float

    def reach(self, confidence: float) -> float:
        """Return half the length of the confidence interval of the slope."""
        return compute_student_quantile(self.freedom, (1 + confidence) / 2) * self.error

    def climbs(self, confidence: float) -> bool:
        """Return whether the whole confidence interval of the slope is above 0."""
        return self.slope > _LEAST_REACH.get(confidence, 0.0) * self.error and self.slope - self.reach(confidence) > 0


@dataclass(frozen=True)
class Trend:
    """A straight line through values, and the line's values at the start and the end.

    `direction` is 1 if values climb throughout and -1 if they fall throughout; 0 if that is uncertain, or if values
    turn back, jump, or level off.
    """

    line: Line
    start: float
    end: float
    direction: int

    @property
    def slope(self) -> float:
        """The change of the value per second."""
        return self.line.slope

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the slope."""
        reach = self.line.reach(_CONFIDENCE)
        return self.slope - reach, self.slope + reach

    @property
    def may_be_level(self) -> bool:
        """Whether the interval of the slope contains 0."""
        low, high = (0, 0) if abs(self.slope) <= _LEAST_REACH[_CONFIDENCE] * self.line.error else self.interval
        return low * high <= 0


def find_trend(seconds: Values, values: Values, sure: float = SURE) -> Trend | None:
    """Return the trend of finite values at ascending times (s); None if there are too few values to tell.

    The values climb or fall only if the slope differs from zero with at least the confidence `sure`.
    """
    return find_row_trends(seconds, [values], sure)[0]


def find_row_trends(seconds: Values, rows: Sequence[Values], sure: float = SURE) -> list[Trend | None]:
    """Return the trend of each row of values, for rows that were all sampled at the same times (s)."""
    parts = _split_parts(seconds, _PARTS) if len(seconds) >= _FEWEST_SAMPLES else np.empty(0, dtype=np.intp)
    if len(parts) < _FEWEST_PARTS + 1:
        return [None] * len(rows)
    counts, ends = np.diff(parts), (float(seconds[0]), float(seconds[-1]))
    times, *means = (np.add.reduceat(values, parts[:-1]) / counts for values in (seconds, *rows))
    results: list[Trend | None] = []
    for line, row, values in zip(_fit_lines(times, np.stack(means)), means, rows, strict=True):
        start, end = (line.offset + line.slope * at for at in ends)
        results.append(Trend(line, start, end, _find_direction(times, row, values, parts, line, sure)))
    return results


def _split_parts(seconds: Values, count: int) -> NDArray[np.intp]:
    """Return the first row of each of `count` parts of equal duration, and the number of rows; without empty parts."""
    edges = np.linspace(seconds[0], seconds[-1], count + 1)[:-1]
    return np.unique(np.concatenate((np.searchsorted(seconds, edges), [len(seconds)])))


def _fit_lines(times: Values, means: Values) -> list[Line]:
    """Return the least-squares line through each row of means."""
    middle = times - times.mean()
    slopes = (middle * means).sum(axis=1) / (middle * middle).sum()
    offsets = means.mean(axis=1) - slopes * times.mean()
    residuals = means - offsets[:, np.newaxis] - slopes[:, np.newaxis] * times
    columns = (slopes, *_compute_errors(middle, residuals, 2), offsets)
    return [Line(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _compute_errors(middle: Values, residuals: Values, fitted: int) -> tuple[Values, Values]:
    """Return the standard error of a coefficient and its degrees of freedom, for each row of residuals.

    The error and the degrees of freedom are by the effective number of samples. `middle` are the times less their mean,
    and `fitted` is the number of fitted coefficients.
    """
    count = residuals.shape[1]
    squares = (residuals * residuals).sum(axis=1)
    exact = squares == 0
    neighbours = (residuals[:, 1:] * residuals[:, :-1]).sum(axis=1) / np.where(exact, 1.0, squares)
    neighbours = np.clip(neighbours + (1 + 4 * neighbours) / count, 0.0, 0.99)
    freedom = np.maximum(_LEAST_FREEDOM, count_effective_samples(count, neighbours) - fitted)
    return np.sqrt(squares / freedom / (middle * middle).sum()), np.where(exact, count - fitted, freedom)


def _find_direction(
    times: Values, means: Values, values: Values, parts: NDArray[np.intp], line: Line, sure: float
) -> int:
    """Return 1 if values climb throughout, -1 if they fall throughout, else 0; `line` is the line through the means."""
    sign = 1 if line.slope > 0 else -1
    rising, climb = sign * means, replace(line, slope=abs(line.slope))
    if not climb.climbs(sure):
        return 0
    # A falling series is negated, so that it climbs.
    floors = np.array([np.quantile(sign * values[a:b], FLOOR) for a, b in pairwise(parts)])
    (floor,) = _fit_lines(times, floors[np.newaxis])
    if not floor.climbs(sure) or floor.slope < FLOOR_FOLLOWS * climb.slope:
        return 0
    return 0 if is_doubtful(times, rising, climb.slope) else sign


def is_doubtful(times: Values, rising: Values, slope: float) -> bool:
    """Return whether a climb may be over, as the means jump or level off."""
    change = slope * float(times[-1] - times[0])
    return _has_jumps(rising, change) or _is_step(times, rising) or _is_levelling_off(times, rising)


def _has_jumps(means: Values, change: float) -> bool:
    """Return whether much of the change happens between neighbouring parts, by more than the noise between parts."""
    steps = means[2:] - means[:-2]
    usual = compute_median(steps)
    scatter = _NORMAL * compute_median(np.abs(steps - usual))
    most = float(steps.max())
    return most > _JUMP * change and most - usual > _OUTLYING * scatter


def _is_step(times: Values, means: Values) -> bool:
    """Return whether one step explains the means better than a line."""
    count = len(means)
    rows = np.arange(1, count)
    sums = np.cumsum(means)[:-1]
    between = rows * (count - rows) * (sums / rows - (means.sum() - sums) / (count - rows)) ** 2 / count
    middle = times - times.mean()
    return float(between.max()) >= float((middle * means).sum() ** 2 / (middle * middle).sum())


def _is_levelling_off(times: Values, means: Values) -> bool:
    """Return whether a climb has slowed down so much in the end that it may be over."""
    unit = (times - times[0]) / (times[-1] - times[0])
    basis = np.stack((np.ones_like(unit), unit, unit * unit), axis=1)
    (_, slope, curve), *_ = np.linalg.lstsq(basis, means, rcond=None)
    bend = unit * unit - np.polyval(np.polyfit(unit, unit * unit, 1), unit)
    residuals = means - basis @ np.linalg.lstsq(basis, means, rcond=None)[0]
    (error,), _ = _compute_errors(bend, residuals[np.newaxis], 3)
    return curve < -_CURVED * error and slope + 2 * curve < _STILL_AT_END * (slope + curve)


def correct_trends(
    trends: Sequence[Trend | None],
    seconds: Values,
    rows: Sequence[Values],
    smallest_changes: Sequence[float],
    load: Values | None = None,
) -> list[Trend | None]:
    """Return the trends of rows corrected for other influences; those with a direction, or without need, unchanged.

    Args:
        trends: The trend of each row without a correction.
        seconds: The times of all rows (s), ascending.
        rows: The values; finite.
        smallest_changes: For each row, the smallest change that matters. Other influences are tried only if the line
            without a correction changes by at least half of it.
        load: The load at these times; None if the load is not known.
    """
    corrected = list(trends)
    tried = [
        at
        for at, (alone, smallest) in enumerate(zip(trends, smallest_changes, strict=True))
        if alone and not alone.direction and abs(alone.end - alone.start) >= smallest / 2
    ]
    if not tried:
        return corrected
    days = float(seconds[-1] - seconds[0]) / _DAY_S
    parts = _split_parts(seconds, min(_MOST_PARTS, max(_PARTS_BESIDE, round(_PARTS_OF_DAY * days))))
    if len(parts) < _FEWEST_PARTS_BESIDE + 1:
        return corrected
    lengths = np.diff(parts)
    times, *means = (np.add.reduceat(values, parts[:-1]) / lengths for values in (seconds, *(rows[at] for at in tried)))
    alternatives = list(_list_influences(times, None if load is None else np.add.reduceat(load, parts[:-1]) / lengths))
    stacked = np.stack(means, axis=1)
    plain = _compute_information(stacked, np.column_stack((np.ones_like(times), times)))
    informations = np.stack([_compute_information(stacked, _build_basis(times, other)) for other in alternatives])
    is_better = informations.min(axis=0) <= plain - _BETTER
    for at, row, best, better in zip(tried, means, informations.argmin(axis=0).tolist(), is_better, strict=True):
        if better and (line := _fit_beside(times, row, alternatives[best], rows[at], parts, best < len(_FILLS_IN))):
            start, end = (line.offset + line.slope * float(edge) for edge in (seconds[0], seconds[-1]))
            corrected[at] = Trend(line, start, end, 1 if line.slope > 0 else -1)
    return corrected


def _fit_beside(
    times: Values, means: Values, influence: Values, values: Values, parts: NDArray[np.intp], fills: bool
) -> Line | None:
    """Return the line of a trend beside an influence; None if it is none, or if the influence does not explain enough.

    `times`, `means` and `influence` are of the parts of `values`; `fills` tells that the influence is a cache.
    """
    line_beside = _fit_line_beside(times, means, influence)
    sign = 1 if line_beside.slope > 0 else -1
    if abs(line_beside.slope) <= line_beside.reach(SURE):
        return None
    effect = (influence - influence.mean(axis=0)) @ _fit_coefficients(_build_basis(times, influence), means)[2:]
    rest = means - effect - line_beside.offset - line_beside.slope * (times - times.mean())
    squares = float((rest * rest).sum())
    neighbours = float((rest[1:] * rest[:-1]).sum()) / squares if squares else 0.0
    if neighbours > _WHITE or (fills and sign * (effect[-1] - effect[0]) < 0):
        return None
    floors = np.array([np.quantile(sign * values[a:b], FLOOR) for a, b in pairwise(parts)])
    floor = _fit_line_beside(times, floors, influence)
    if not floor.climbs(SURE) or floor.slope < FLOOR_FOLLOWS * sign * line_beside.slope:
        return None
    if is_doubtful(times, sign * (means - effect), sign * line_beside.slope):
        return None
    return replace(line_beside, offset=line_beside.offset - line_beside.slope * float(times.mean()))


def _list_influences(times: Values, loads: Values | None) -> Iterator[Values]:
    """Yield sets of other influences that the values may have, as columns with a row for each part."""
    since, span = times - times[0], float(times[-1] - times[0])
    for share in _FILLS_IN:
        yield np.exp(-since / (share * span))[:, None]
    turns = [2 * np.pi * since / _DAY_S * item for item in (1, 2)]
    day = np.stack([wave(turn) for turn in turns for wave in (np.sin, np.cos)], axis=1)
    if span >= _FEWEST_DAYS * _DAY_S:
        yield day
    if loads is not None and np.ptp(loads):
        yield loads[:, None]
        if span >= _FEWEST_DAYS * _DAY_S:
            yield np.column_stack((loads, day))


def _build_basis(times: Values, values: Values) -> Values:
    return np.column_stack((np.ones_like(times), times, values))


def _fit_coefficients(basis: Values, means: Values) -> Values:
    scale = np.abs(basis).max(axis=0)
    return (np.linalg.lstsq(basis / scale, means, rcond=None)[0].T / scale).T


def _compute_information(means: Values, basis: Values) -> Values:
    """Return the Bayesian information criterion of a fit of each column of means by the columns of a basis."""
    count, parameters = basis.shape
    rest = means - basis @ _fit_coefficients(basis, means)
    squares = np.maximum((rest**2).sum(axis=0), 1e-12 * (means**2).sum(axis=0) + 1e-300)
    return count * np.log(squares / count) + np.log(count) * parameters


def _fit_line_beside(times: Values, means: Values, values: Values) -> Line:
    """Return the line fitted together with other influences (`values`); `offset` is the value at the mean time."""
    basis = _build_basis(times - times.mean(), values - values.mean(axis=0))
    coefficients = _fit_coefficients(basis, means)
    influences = basis[:, [0, *range(2, basis.shape[1])]]
    time_residuals = basis[:, 1] - influences @ _fit_coefficients(influences, basis[:, 1])
    (error,), (freedom,) = _compute_errors(time_residuals, (means - basis @ coefficients)[np.newaxis], basis.shape[1])
    return Line(float(coefficients[1]), float(error), float(freedom), float(coefficients[0]))

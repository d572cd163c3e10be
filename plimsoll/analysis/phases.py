"""The steady state of a load series, between a ramp-up and a ramp-down, or the reason why there is none.

If the load was stepped, its plateaus (plateaus.py) decide: there is a steady state only if one plateau lasts for half
the run. Any other series is fitted as a constant level with optional ramps before and after it (ramp_fit.py). If that
fails, only the longest time with a load is fitted: one of several tests, a test that was cut off, or a test with a
pause. In all cases the level must be steady: a change counts only if it is larger than what we allow in a steady state,
and larger than what AR(1) noise explains.
"""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.episodes import Episode, count_cycles, find_longest_episode, separate_tests
from plimsoll.analysis.filters import compute_median, filter_median, smooth_mean
from plimsoll.analysis.levels.plateaus import Plateau, find_plateaus
from plimsoll.analysis.levels.ramp_fit import NEAR, PLATEAUS, Flags, Floats, RampFit, Side, whiten
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples

_SHORTEST = 0.1  # of the run
_FEWEST_BINS = 8  # bins
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
_GROWTH, _LATER_GROWTH = 5.5, 1.45  # of the variance of differences over more steps: such noise is a drift
_SETTLED = 1.2  # the later growth of few samples of noise that does not drift: they return to their level
_Z_LINGERS = 1.5
_MISFIT = (0.07, 0.2)  # of the level: what a ramp may differ from its shape before a short and a long steady state
_LONG_STEADY = 0.4  # of the run
_STEP_LASTS = 0.75  # of the steady state: another level that lasts for longer is a load step


@dataclass(frozen=True)
class NotSteady:
    """The reason (`why`) why a series has no steady state.

    `is_certain` is False if the data cannot tell. If the series has several tests, `tests` are their starts and ends
    (UTC ns).
    """

    why: str
    is_certain: bool = True
    tests: tuple[tuple[int, int], ...] = ()


_BINS = 300
_FEWEST = 40  # samples
_SPIKE = 9.0  # usual distances from the median of the neighbours
_BURST = 4 * 1.4826  # the same for means of bins: four standard deviations of normal noise
_BURST_LASTS = 0.025  # of the run: bursts shorter than this are limited
_LONG_STEP = 0.5  # of the run
_LEAST_CONFIDENCE = 0.6  # our choice: a boundary that may well be elsewhere is not told
_OF_EPISODE = 0.9  # at most: rules are judged by the whole run, as other tests or a crash are in it
_OF_OVERSHOOT = 0.9  # the same
_HIGHER, _HIGH = 1.15, 0.8  # times the level, and the quantile of what was before that shows it
_EDGE_IS_NEAR = 0.95  # the probability that the edge of a plateau is within 2 % (tests/analysis/test_plateaus.py)


@dataclass(frozen=True)
class Boundary:
    """The time (UTC ns) of the sample at which a steady state begins or ends, with its 95 % interval.

    `confidence` is the probability that the boundary is within 2 % of the run's length.
    """

    at: int
    low: int
    high: int
    confidence: float


@dataclass(frozen=True)
class SteadyState:
    """A steady state and its level; a boundary is None where the series begins or ends in the steady state.

    `confidence` is the lower confidence of the two boundaries; for a missing boundary, the confidence that there is no
    ramp. If there are several tests, `tests` are their starts and ends (UTC ns), and the steady state is that of the
    longest test.
    """

    begin: Boundary | None
    end: Boundary | None
    level: float
    confidence: float
    tests: tuple[tuple[int, int], ...] = ()


def find_steady_state(times: Times, values: Values, levels: Sequence[Plateau] | None = None) -> SteadyState | NotSteady:
    """Return the steady state of a load, or the reason why there is none.

    Args:
        times: Times of the samples (UTC ns), ascending.
        values: The load; values that are not finite are left out.
        levels: The plateaus of the load, if the caller has computed them.
    """
    filled = np.isfinite(values)
    times, values = times[filled], values[filled]
    if len(values) < _FEWEST:
        return NotSteady(f"{len(values)} samples are too few to tell", is_certain=False)
    if not values.any():
        return NotSteady("there was no load", is_certain=False)
    if count := count_cycles(values):
        return NotSteady(f"the load comes and goes, {count:,} times")
    if len(tests := separate_tests(values)) > 1:
        return find_in_longest_test(times, values, tests)
    levels = find_plateaus(Samples(times, values)) if levels is None else levels
    if levels and not _are_one_level(levels):
        return _find_among_steps(times, values, levels)
    between_ramps = _find_between_ramps(times, values)
    if isinstance(between_ramps, NotSteady):
        between_ramps = _find_in_episode(times, values) or between_ramps
    if isinstance(between_ramps, SteadyState) and between_ramps.confidence < _LEAST_CONFIDENCE:
        return NotSteady("where the load becomes steady, or ends to be, cannot be told closely", is_certain=False)
    return between_ramps


def _are_one_level(levels: Sequence[Plateau]) -> bool:
    """Return whether plateaus differ by no more than a steady state may vary: then the steps between are noise."""
    heights = [plateau.level for plateau in levels]
    return len(heights) > 2 and max(heights) - min(heights) <= _TOLERANCE * (max(heights) + min(heights))


def find_in_longest_test(times: Times, values: Values, tests: Sequence[tuple[int, int]]) -> SteadyState | NotSteady:
    """Return the steady state of the longest of several tests, or the reason why that test has no steady state.

    `tests` are ranges of rows, end excluded.
    """
    spans = tuple((int(times[begin]), int(times[end - 1])) for begin, end in tests)
    at = max(range(len(tests)), key=lambda at: spans[at][1] - spans[at][0])
    state = find_steady_state(times[slice(*tests[at])], values[slice(*tests[at])])
    if isinstance(state, NotSteady):
        return NotSteady(f"{state.why} in the longest of {len(tests)} tests", state.is_certain, spans)
    near = round(NEAR * int(times[-1] - times[0]))
    begin, end = (
        None if edge in (times[0], times[-1]) else Boundary(edge, edge - near, edge + near, _EDGE_IS_NEAR)
        for edge in spans[at]
    )
    confidence = min(state.confidence, _OF_EPISODE)
    return SteadyState(state.begin or begin, state.end or end, state.level, confidence, spans)


def _find_among_steps(times: Times, values: Values, levels: Sequence[Plateau]) -> SteadyState | NotSteady:
    """Return the plateau that lasts for half the run, if it is steady; else the reason why there is no steady state."""
    length = int(times[-1] - times[0])
    longest = max(levels, key=lambda plateau: plateau.end - plateau.start)
    inside = (times >= longest.start) & (times <= longest.end)
    if longest.end - longest.start < _LONG_STEP * length or np.count_nonzero(inside) < _FEWEST:
        return NotSteady("the load changes in steps")
    between_ramps = _find_between_ramps(times[inside], values[inside])
    if isinstance(between_ramps, NotSteady):
        return between_ramps
    near = round(NEAR * length)
    # The edge is less sure where the load first rose above the level, then fell back to it.
    before, level = values[times < longest.start], between_ramps.level
    fell_back = len(before) > 0 and before[0] < level < _HIGHER * level < float(np.quantile(before, _HIGH))
    sure = _OF_OVERSHOOT if fell_back else _EDGE_IS_NEAR

    def edge(at: int) -> Boundary | None:
        return None if at in (times[0], times[-1]) else Boundary(at, at - near, at + near, sure)

    begin, end = between_ramps.begin or edge(longest.start), between_ramps.end or edge(longest.end)
    return SteadyState(
        begin,
        end,
        between_ramps.level,
        min((between_ramps.confidence, *(boundary.confidence for boundary in (begin, end) if boundary))),
    )


def _find_in_episode(times: Times, values: Values) -> SteadyState | None:
    """Return the steady state of the longest time with a load, such as one of several tests; None if there is none."""
    part = find_longest_episode(times, values)
    if part is None or np.count_nonzero(part.inside) < _FEWEST:
        return None
    between_ramps = _find_between_ramps(_close_pauses(times, part), values[part.inside])
    if isinstance(between_ramps, NotSteady):
        return None
    samples, near = times[part.inside], round(NEAR * int(times[-1] - times[0]))

    def convert_boundary(boundary: Boundary | None, edge: int, is_edge_of_run: bool) -> Boundary | None:
        if boundary is None:
            return None if is_edge_of_run else Boundary(edge, edge - near, edge + near, _EDGE_IS_NEAR)
        at, low, high = (
            int(samples[np.searchsorted(_close_pauses(times, part), value)])
            for value in (boundary.at, boundary.low, boundary.high)
        )
        return Boundary(at, low, high, boundary.confidence)

    begin = convert_boundary(between_ramps.begin, int(times[part.first]), part.first == 0)
    end = convert_boundary(between_ramps.end, int(times[part.last - 1]), part.last == len(times))
    return SteadyState(begin, end, between_ramps.level, min(between_ramps.confidence, _OF_EPISODE))


def _close_pauses(times: Times, part: Episode) -> Times:
    """Return the times of an episode without its pauses, as if the load had continued at once."""
    values = times[part.inside]
    step = int(compute_median(np.diff(values)))
    pauses = np.diff(values, prepend=values[0] - step) - step
    return values - np.cumsum(np.where(pauses > step, pauses, 0))


def _find_between_ramps(times: Times, values: Values) -> SteadyState | NotSteady:
    """Return the steady state between a ramp before and a ramp after, or the reason why there is none."""
    start, length = int(times[0]), int(times[-1] - times[0])
    x, y = _average_bins((times - start) / length, _replace_outliers(values))
    fit = RampFit(x, _limit_bursts(y))

    left, right = fit.sides

    def boundary(side: Side, low: float, at: float, high: float) -> Boundary | None:
        nearest = [int(times[np.argmin(np.abs(times - (start + share * length)))]) for share in (at, low, high)]
        return Boundary(*nearest, confidence=side.confidence) if side.end else None

    return find_unsteadiness(fit) or SteadyState(
        boundary(left, left.low, left.at, left.high),
        boundary(right, 1 - right.high, 1 - right.at, 1 - right.low),
        fit.level,
        min(left.confidence, right.confidence),
    )


def _replace_outliers(values: Values) -> Floats:
    """Return the values with outliers replaced by the median of their neighbours."""
    middle = filter_median(values, 9, "symmetric")
    away = np.abs(values - middle)
    usual = compute_median(away[away > 0]) if away.any() else 0.0
    return np.where(away > _SPIKE * usual, middle, values)


def _average_bins(x: Floats, y: Values) -> tuple[Floats, Floats]:
    """Return the mean time and mean value in up to 300 equal parts of the run; parts without samples are left out."""
    bins = len(x) // -(-len(x) // _BINS)
    at = np.minimum((x * bins).astype(np.intp), bins - 1)
    count = np.bincount(at, minlength=bins)
    values = count > 0
    means = [np.bincount(at, weights=floats, minlength=bins)[values] / count[values] for floats in (x, y)]
    return means[0], means[1]


def _limit_bursts(values: Floats) -> Floats:
    """Return the values with short bursts limited; short ramps at the ends of the series are kept."""
    middle = filter_median(values, 2 * max(1, round(_BURST_LASTS * len(values))) + 1, "edge")
    away = values - middle
    most = _BURST * compute_median(np.abs(away))
    return middle + np.clip(away, -most, most)


def find_unsteadiness(fit: RampFit) -> NotSteady | None:
    """Return the reason why the level of a series is not a steady state; None if the level is steady."""
    left, right = fit.sides
    begin, end = max(left.at, left.end), 1 - max(right.at, right.end)
    inside = (fit.x >= begin) & (fit.x <= end)
    if fit.level <= 0 or end - begin < _SHORTEST or np.count_nonzero(inside) < _FEWEST_BINS:
        return NotSteady("the load does not keep one level for long enough")
    residual = fit.y - fit.model
    if (left.end or right.end) and fit.score(residual, fit.parameters) > _fit_ramps_alone(fit):
        return NotSteady("the load climbs or falls for more of the time than it keeps a level")
    if PLATEAUS[left.shape] * left.end > _STEP_LASTS * (end - begin) and left.height > -_STEP_LASTS * fit.level:
        return NotSteady("the load has more than one level")
    widest = min(_WIDEST, _UNSURE * (end - begin))
    if any(side.high - side.low > widest for side in fit.sides):
        return NotSteady("the load varies too much to tell where it becomes steady", is_certain=False)
    tolerance = min(_TOLERANCE, _PER_RUN * (end - begin)) * fit.level
    result = _find_trend(fit, inside, residual[inside], tolerance) or _find_deviating_part(
        fit, residual[inside], tolerance
    )
    if result or inside.all():
        return result
    width = max(4, len(fit.x) // 20)
    away = float(np.abs(smooth_mean(residual, width))[~inside].max())
    unlike_ramps = away > _MISFIT[end - begin >= _LONG_STEADY] * fit.level + _Z_PART * fit.noise.error_of_mean(width)
    return NotSteady("the load rises and falls irregularly") if unlike_ramps else None


def _find_trend(fit: RampFit, inside: Flags, rest: Floats, tolerance: float) -> NotSteady | None:
    """Return the reason if the level climbs, falls, or differs between the middle and the ends; else None.

    `rest` are the residuals `inside` the level, and `tolerance` is the change that a steady state may have.
    """
    noise, x = fit.noise, fit.x[inside]
    u = (x - x[0]) / (x[-1] - x[0]) - 0.5
    rows = whiten(np.array([np.ones(len(u)), u, (u * u - 1 / 12) / 4]), noise.phi)
    covariance = np.linalg.inv(rows @ rows.T)
    changes = covariance @ (rows @ whiten(rest, noise.phi))
    errors = np.sqrt(np.diag(covariance) * (1 - noise.phi**2)) * noise.deviation
    if errors[1] > _LARGEST_ERROR * fit.level:
        return NotSteady("the load varies too much to tell whether it is steady", is_certain=False)
    sure = np.abs(changes[1:]) > tolerance + _Z_TREND * errors[1:]
    if sure[0]:
        verb = "climbs" if changes[1] > 0 else "falls"
        return NotSteady(f"the load still {verb} by {abs(changes[1]) / fit.level:.0%} in its steadiest part")
    return NotSteady("the load rises and falls even in its steadiest part") if sure[1] else None


def _find_deviating_part(fit: RampFit, rest: Floats, tolerance: float) -> NotSteady | None:
    """Return the reason if a part of the level, or several parts together, deviate from the level; else None.

    `rest` are the residuals inside the level, and `tolerance` is the deviation that a steady state may have.
    """
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
    grows_on = noise.growth > _GROWTH and noise.later_growth > _SETTLED
    drifts = grows_on and away[max(4, rows // 12)] > tolerance / 2
    lingers = noise.later_growth > _LATER_GROWTH and any(
        value > tolerance / 2 + _Z_LINGERS * noise.error_of_mean(width) for width, value in away.items()
    )
    return NotSteady("the load drifts") if drifts or lingers else None


def _fit_ramps_alone(fit: RampFit) -> float:
    """Return the lowest BIC of descriptions without a level: a straight line, or a rise followed by a fall."""
    value = np.inf
    white_y = whiten(fit.y, fit.noise.phi)
    for top in (0.0, *np.linspace(0.1, 0.9, 25)):
        sides = [np.maximum(0, fit.x - top)] + ([np.maximum(0, top - fit.x)] if top else [])
        rows = np.array([np.ones(len(fit.x)), *sides])
        white = whiten(rows, fit.noise.phi)
        solve = np.linalg.solve(white @ white.T, white @ white_y)
        if not top or max(solve[1:]) <= 0:
            value = min(value, fit.score(fit.y - solve @ rows, 3 if top else 1))
    return value

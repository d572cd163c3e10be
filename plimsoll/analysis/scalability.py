"""The growth of throughput with the load, by the universal scalability law.

The law is N. J. Gunther's (Guerrilla Capacity Planning, 2007): X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).
sigma is the share of the work that must queue (contention), kappa the cost of keeping each pair consistent (coherency).
"""

import numpy as np

from plimsoll.analysis.demand import fit_isotonic
from plimsoll.analysis.distributions import compute_f_tail
from plimsoll.analysis.filters import compute_median
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

# Our choices.
_GAIN = 0.5  # after the knee, load gains less than half as much throughput
_FLAT = 1.35  # times the latency under low load
_GROWN = 2.0  # times: latency that grew less has no knee
_LOW = 0.5  # of the highest rate
_FEWEST_RATES, _FLAT_RATES = 4, 3
_HIGHEST = 97  # percentile that stands for the highest rate, so that one sample out of line does not


@dataclass(frozen=True)
class Knee:
    """The load at which throughput bends, and the throughput there."""

    load: float
    value: float


@dataclass(frozen=True)
class LatencyKnee:
    """The rate up to which latency stays about as low as `flat`, and the highest measured rate with its latency."""

    flat: float
    rate: float
    highest: float
    at_highest: float


FEWEST = 6  # loads: the law has three parameters
_CHANCE = 0.01  # of an F test: that a straight line fits as badly although it is true
_BENT = 0.05  # our choice: how far the highest throughput must fall behind that of a straight line
_MISFIT = 0.005  # of the throughput: no law describes a system better, however well its throughput is known
_SURELY = 3  # standard errors below what was measured
_DRAWS = 4000


@dataclass(frozen=True)
class CurveEstimate:
    """A fitted value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Law:
    """The universal scalability law, fitted to throughput over load.

    `peak` is the load with the highest throughput (`maximum`); both are None if the peak is not within the measured
    loads. `aic` and `aic_line` are Akaike's criteria of the law and of a straight line; the lower criterion is better.
    """

    rate: CurveEstimate
    contention: CurveEstimate
    coherency: CurveEstimate
    peak: CurveEstimate | None
    maximum: CurveEstimate | None
    r_squared: float
    aic: float
    aic_line: float

    def __call__(self, load: Values) -> Values:
        """Return the throughput at these loads, by the law."""
        return _compute_law(np.array([self.rate.value, self.contention.value, self.coherency.value]), load)


@dataclass(frozen=True)
class Refused:
    """The reason why the scalability law is not fitted."""

    why: str


def fit_scalability(load: Values, throughput: Values, errors: Values) -> Law | Refused:
    """Return the fitted scalability law, or why it is not fitted: throughput must bend away from a straight line.

    Args:
        load: The number of parallel connections or users.
        throughput: The work done in a second at each load.
        errors: The standard error of each throughput.
    """
    different = len(np.unique(load))
    if different < FEWEST:
        return Refused(f"the law needs {FEWEST} different loads, and there are {different}")
    weights = 1 / np.hypot(errors, _MISFIT * throughput)
    weights /= weights.mean()

    def rest(parameters: Values) -> Values:
        return weights * (_compute_law(parameters, load) - throughput)

    start = _start(load, throughput)
    values = np.array([start[0] * 1e-3, 1e-3 / load.max(), 1e-3 / load.max() ** 2])
    from scipy.optimize import least_squares  # noqa: PLC0415  slow, and needed only here

    fit = least_squares(rest, start, bounds=([0, 0, 0], [np.inf, 1, np.inf]), x_scale=np.maximum(start, values))
    line = float((weights**2 * load * throughput).sum() / (weights**2 * load**2).sum())
    straight = weights * (line * load - throughput)
    count, floor = len(load), 1e-12 * float((throughput**2).sum())
    squares = float((fit.fun**2).sum()) + floor
    line_squares = float((straight**2).sum()) + floor
    aic, aic_line = compute_akaike(squares, count, 3), compute_akaike(line_squares, count, 1)
    chance = compute_f_tail(2, count - 3, (line_squares / squares - 1) * (count - 3) / 2)
    fallen_behind = 1 - float(_compute_law(fit.x, load).max() / (fit.x[0] * load[np.argmax(_compute_law(fit.x, load))]))
    if chance > _CHANCE or fallen_behind < _BENT:
        return Refused("throughput grows in proportion to the load as far as it was measured")
    draws = _draw_parameters(fit.x, fit.jac, squares / (count - 3), count - 3)
    rate, contention, coherency = (_estimate(value, draws[:, at]) for at, value in enumerate(fit.x))
    total = float(((weights * (throughput - np.average(throughput, weights=weights**2))) ** 2).sum())
    peak = maximum = None
    if coherency.low > 0:
        tops = np.sqrt(np.maximum(1 - draws[:, 1], 0) / np.maximum(draws[:, 2], 1e-12))
        top = float(np.sqrt((1 - fit.x[1]) / fit.x[2]))
        peak, maximum = (
            _estimate(top, tops),
            _estimate(float(_compute_law(fit.x, np.array(top))), _compute_law(draws.T, tops)),
        )
    surely = throughput - _SURELY * np.hypot(errors, _MISFIT * throughput)
    if maximum and maximum.value < float(surely.max()):
        return Refused("no such law has the highest throughput that was measured")
    if peak and not load.min() < peak.value < load.max():
        peak = maximum = None
    return Law(rate, contention, coherency, peak, maximum, 1 - squares / total, aic, aic_line)


def _compute_law(parameters: Values, load: Values) -> Values:
    rate, contention, coherency = parameters
    return rate * load / (1 + contention * (load - 1) + coherency * load * (load - 1))


def _start(load: Values, throughput: Values) -> Values:
    """Return start values of the parameters for the fit, by linear least squares: N / X is a polynomial of N."""
    ratio = load / np.maximum(throughput, 1e-12)
    terms = np.column_stack([np.ones_like(load), load - 1, load * (load - 1)])
    weights = 1 / ratio
    a, b, c = np.linalg.lstsq(terms * weights[:, None], ratio * weights, rcond=None)[0]
    a = a if a > 0 else float(ratio.min())
    return np.array([1 / a, float(np.clip(b / a, 1e-9, 0.999)), max(c / a, 1e-12)])


def _draw_parameters(best: Values, jacobian: Values, spread: float, freedom: int) -> Values:
    """Return random parameters around `best` (multivariate Student's t), without impossible values."""
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * spread
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal(np.zeros(3), covariance, _DRAWS, method="svd")
    wide = best + normal / np.sqrt(rng.chisquare(freedom, _DRAWS) / freedom)[:, None]
    return np.clip(wide, [1e-12, 0, 0], [np.inf, 1, np.inf])


def _estimate(value: float, draws: Values) -> CurveEstimate:
    low, high = np.percentile(draws, [2.5, 97.5])
    return CurveEstimate(float(value), float(low), float(high))


def compute_akaike(squares: float, count: int, parameters: int) -> float:
    """Return Akaike's criterion of a fit from its sum of squared residuals; lower is better."""
    return count * float(np.log(squares / count)) + 2 * (parameters + 1)


def find_throughput_knee(load: Values, throughput: Values) -> Knee | None:
    """Return the load from which throughput hardly grows: the corner of two lines that fit better than one line.

    None unless the second line is less than half as steep as the first.
    """
    order = np.argsort(load)
    x, y = load[order], throughput[order]
    if len(np.unique(x)) < FEWEST:
        return None
    corners = np.linspace(x[1], x[-2], 60)
    fits = [_fit_hinge(x, y, corner) for corner in corners]
    at = int(np.argmin([fit[0] for fit in fits]))
    squares, before, after, level = fits[at]
    straight = float(((np.polyval(np.polyfit(x, y, 1), x) - y) ** 2).sum())
    floor = 1e-12 * float((y**2).sum())
    better = compute_akaike(straight + floor, len(x), 2) - compute_akaike(squares + floor, len(x), 4)
    bent = before > 0 and after < _GAIN * before
    return Knee(float(corners[at]), level) if bent and better > 0 else None


def _fit_hinge(x: Values, y: Values, corner: float) -> tuple[float, float, float, float]:
    """Return the squared residuals of two lines that meet at x = `corner`, both slopes, and the value at the corner."""
    terms = np.column_stack([np.ones_like(x), x - corner, np.maximum(x - corner, 0)])
    fit = np.linalg.lstsq(terms, y, rcond=None)[0]
    return float(((terms @ fit - y) ** 2).sum()), float(fit[1]), float(fit[1] + fit[2]), float(fit[0])


def find_latency_knee(rate: Values, latency: Values) -> LatencyKnee | None:
    """Return the highest rate at which latency is still as low as under low load.

    None if latency does not grow, or if there are too few rates. The values may be means of load steps, or samples at
    any rates: a curve that never falls is fitted to the values (isotonic regression; Barlow and others, "Statistical
    Inference under Order Restrictions", 1972).
    """
    filled = np.isfinite(rate) & np.isfinite(latency) & (rate > 0) & (latency > 0)
    x, at, count = np.unique(rate[filled], return_inverse=True, return_counts=True)
    if len(x) < _FEWEST_RATES:
        return None
    y = fit_isotonic(np.bincount(at, weights=latency[filled]) / count, count.astype(float))
    highest = float(np.percentile(x.repeat(count), _HIGHEST, method="nearest"))
    low = x <= _LOW * highest
    if not low.any():
        return None
    flat, at_highest = compute_median(y[low].repeat(count[low])), float(y[np.searchsorted(x, highest)])
    is_flat = y <= _FLAT * flat
    if at_highest < _GROWN * flat or np.count_nonzero(is_flat) < _FLAT_RATES:
        return None
    return LatencyKnee(flat, float(x[is_flat][-1]), highest, at_highest)

"""Statistical distributions without scipy, whose import takes longer than most commands."""

import math
from functools import cache
from statistics import NormalDist

_EXACT = 4e-16  # relatively: a smaller change is rounding
_LAST_STEP = 1e-8  # relatively: the error after a step of Newton's is about its square
_MANY = 20.0  # from where on the series of the gamma function's ratio is exact
_NEARLY_NORMAL = 5e6  # degrees of freedom from which on one term beyond the normal distribution says as much


def compute_normal_probability(value: float) -> float:
    """Return the probability that a standard normal value is below `value`."""
    return 0.5 * math.erfc(-value / math.sqrt(2))


def compute_student_probability(freedom: float, value: float) -> float:
    """Return the probability that Student's t with `freedom` degrees is below `value`.

    By Abramowitz and Stegun, 26.5.27, 26.7.1 and 26.7.8.
    """
    if math.isinf(freedom) or math.isinf(value):
        return compute_normal_probability(value)
    ratio = value * value / freedom
    if freedom > _NEARLY_NORMAL:
        return compute_normal_probability(value * (1 - 1 / (4 * freedom)) / math.sqrt(1 + ratio / 2))
    # Use the tail of the incomplete beta function whose fraction converges fast.
    if value * value > 3 * freedom / (freedom + 2):
        beyond = 0.5 * _compute_incomplete_beta(freedom / 2, 0.5, -math.log1p(ratio), -math.log1p(1 / ratio))
    else:
        beyond = 0.5
        if ratio:
            beyond -= 0.5 * _compute_incomplete_beta(0.5, freedom / 2, -math.log1p(1 / ratio), -math.log1p(ratio))
    return beyond if value < 0 else 1 - beyond


@cache
def compute_student_quantile(freedom: float, share: float) -> float:
    """Return the value below which Student's t lies with the probability `share` (above 0 and below 1)."""
    lower = min(share, 1 - share)
    normal_value = NormalDist().inv_cdf(lower)
    # Abramowitz and Stegun, 26.7.5; then Newton steps, which converge from one side.
    square = normal_value * normal_value
    value = normal_value * (1 + (square + 1) / (4 * freedom) + ((5 * square + 16) * square + 3) / (96 * freedom**2))
    step = 0.0 if freedom > _NEARLY_NORMAL else value
    scale = 0.0 if not step else math.exp(-_log_beta_of_half(freedom / 2)) / math.sqrt(freedom)
    while abs(step) > _LAST_STEP * abs(value):
        density = scale * math.exp(-(freedom + 1) / 2 * math.log1p(value * value / freedom))
        step = (compute_student_probability(freedom, value) - lower) / density
        value -= step
    return value if share < 0.5 else -value


def compute_f_tail(first: float, second: float, value: float) -> float:
    """Return the probability that F with `first` and `second` degrees of freedom is above `value`."""
    from scipy import special  # noqa: PLC0415  slow, and needed only by a fit that needs scipy anyway

    return float(special.fdtrc(first, second, value))


def _compute_incomplete_beta(a: float, b: float, log_x: float, log_rest: float) -> float:
    """Return the regularised incomplete beta function of x, from log x and log (1 - x); `a` or `b` must be 1/2.

    The continued fraction of the function (Abramowitz and Stegun, 26.5.8) is summed as Lentz does ("Generating Bessel
    functions in Mie scattering calculations using continued fractions", 1976).
    """
    x, both = math.exp(log_x), a + b
    term, step, at = 1.0, 0.0, 0
    total = last = 1 / (1 - both * x / (a + 1))
    while abs(step - 1) > _EXACT:  # most of the time of a comparison's statistics, hence two parts without a loop
        at += 1
        place = a + 2 * at
        part = at * (b - at) * x / ((place - 1) * place)
        last = 1 / (1 + part * last)
        term = 1 + part / term
        total *= term * last
        part = -(a + at) * (both + at) * x / (place * (place + 1))
        last = 1 / (1 + part * last)
        term = 1 + part / term
        step = term * last
        total *= step
    return math.exp(a * log_x + b * log_rest - _log_beta_of_half(b if a == 0.5 else a)) * total / a


def _log_beta_of_half(a: float) -> float:
    """Return the logarithm of the beta function of `a` and 1/2."""
    if a < _MANY:
        return math.lgamma(a) + math.log(math.pi) / 2 - math.lgamma(a + 0.5)
    # The ratio of gamma functions, whose logarithms are too large to be subtracted.
    series = 1 / (8 * a) - 1 / (192 * a**3) + 1 / (640 * a**5) - 17 / (14336 * a**7)
    return (math.log(math.pi) - math.log(a)) / 2 + series

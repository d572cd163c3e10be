"""The response of the work done to a growing load: whether the work still grows with the load."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

Mask = NDArray[np.bool_]
_HIGHEST = 97  # percentile that stands for the maximum, so that one value out of line does not
_FEWEST = 5
_FEWEST_LOW = 3
_LEVELLED_OFF = 0.3  # of the time at the highest level
_TOP, _MIDDLE = 0.9, (0.55, 0.82)  # of the highest load: where the response is measured
_LEAST_STEP = 1.15  # times more load, below which nothing can be told
_SIGMAS = 1.64  # of a one-sided 95 % interval
_EFFECTIVE = 0.5  # of the values: neighbours are alike


@dataclass(frozen=True)
class Response:
    """The growth of the work with the load, from a middle load to the highest load.

    `elasticity` is the relative growth of the work divided by that of the load: 1 if the work keeps up, 0 if it stays
    flat, below 0 if it falls. `error` is 1.64 times its standard error. `middle` and `top` are pairs of load and work.
    """

    elasticity: float
    error: float
    middle: tuple[float, float]
    top: tuple[float, float]


def select_top(load: Values, share: float) -> Mask:
    """Return the rows whose load is at least this share of the highest load; if these are too few, the highest rows."""
    filled = np.isfinite(load)
    if not filled.any():
        return filled
    mask = filled & (load >= share * find_highest(load))
    if mask.sum() < min(_FEWEST, filled.sum()):
        order = np.argsort(np.where(filled, load, -np.inf))
        mask[order[-min(_FEWEST, int(filled.sum())) :]] = True
    return mask


def select_middle(load: Values) -> Mask:
    """Return the rows with a middle load: well below the highest, and not low."""
    low, high = _MIDDLE
    most = find_highest(load)
    return np.isfinite(load) & (load >= low * most) & (load <= high * most)


def find_highest(values: Values) -> float:
    """Return the highest value without outliers: a high percentile; NaN without values."""
    return float(np.nanpercentile(values, _HIGHEST)) if np.isfinite(values).any() else float("nan")


def is_varied(values: Values, factor: float) -> bool:
    """Return whether the highest value is at least `factor` times a few other values, even if most are low."""
    filled = values[np.isfinite(values) & (values > 0)]
    return len(filled) >= _FEWEST and int((filled * factor <= find_highest(filled)).sum()) >= _FEWEST_LOW


def compute_response(load: Values, work: Values) -> Response | None:
    """Return the response of the work near the highest load; None if it is rarely there or varies too little."""
    most = find_highest(load)
    filled = np.isfinite(load) & np.isfinite(work) & (load > 0) & (work > 0)
    lower = filled & select_middle(load)
    upper = filled & (load >= _TOP * most)
    if not lower.any() or upper.sum() < 2 or lower.sum() + upper.sum() < _FEWEST:
        return None
    loads = [compute_median(load[part]) for part in (lower, upper)]
    works = [compute_median(work[part]) for part in (lower, upper)]
    if loads[1] < _LEAST_STEP * loads[0]:
        return None
    step = np.log(loads[1] / loads[0])
    spread = max(float(np.std(np.log(work[upper]))), 0.005)
    error = spread * float(np.sqrt(1 / (_EFFECTIVE * lower.sum()) + 1 / (_EFFECTIVE * upper.sum())))
    elasticity = float(np.log(works[1] / works[0]) / step)
    return Response(elasticity, _SIGMAS * error / float(step), (loads[0], works[0]), (loads[1], works[1]))


def is_rising_to_its_end(work: Values, factor: float) -> bool:
    """Return whether the work was still growing when it was highest, so that it had not levelled off."""
    filled = np.flatnonzero(np.isfinite(work))
    if len(filled) < 3 * _FEWEST:
        return False
    level = work[filled]
    if (level >= _TOP * find_highest(level)).mean() > _LEVELLED_OFF:
        return False
    last = int(np.flatnonzero(level >= _TOP * find_highest(level))[-1]) + 1
    part = max(last // 12, 2)
    if last < 3 * part:
        return False
    before = int(0.7 * last)
    return bool(
        compute_median(level[last - part : last]) >= factor * compute_median(level[max(before - part, 0) : before])
    )

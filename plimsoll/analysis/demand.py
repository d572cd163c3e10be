"""Demands of operations: how much of a resource each operation uses, from the utilisation law as a regression.

The use of a resource is its use without load plus, for each operation, its rate times its demand (Denning and Buzen,
"The Operational Analysis of Queueing Network Models", 1978). Demands and the use without load are never negative
(scipy.optimize.nnls). Intervals come from the dependent wild bootstrap (Shao, 2010): the residuals in a block of
neighbouring rows are multiplied by the same random number. So intervals stay wide enough for autocorrelated residuals
and for lines that do not fit.

Real demands are not quite constant: caches miss, threads switch. So the use may bend with the load. The bend is
estimated and expected to be small (a ridge with a deviation of `_BEND`); its uncertainty widens the intervals beyond
the measured load.
"""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.distributions import compute_student_quantile
from plimsoll.analysis.significance import choose_block_lengths, compute_autocovariances, compute_correlation_time
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values

_MOST_BUSY = 0.999  # beyond, the formula has no steady state
_MOST_WAITING = 600  # requests: more than any response time that is asked for has
_HALVINGS = 40
MOST = 30.0  # Belsley, Kuh and Welsch, "Regression Diagnostics" (1980): from 30 on, collinearity does harm
REPLICATES = 200
FEWEST = 12  # rows
_BEND = 0.2  # our choice: of the use at the highest load; half of it lies within what straight lines are off by
_LEAST_BEND, _MOST_BEND = -0.4, 1.0  # beyond these, use would fall with the load somewhere up to 1.5 times the highest
_NORMAL = 1.959964  # the quantile of a normal distribution for 95 %


@dataclass(frozen=True)
class Demand:
    """The use of a resource as a function of the rates of operations.

    The first row of `idle`, `per_operation` and `bend` is the estimate; the other rows are bootstrap replicates.

    Attributes:
        idle: The use without any load.
        per_operation: The use added by one operation a second under little load; shape (rows, operations).
        bend: The bend of the use, as a share of the use at the highest load.
        linear: The demands of the operations in a straight-line fit, by which the bend is measured.
        highest: The use above `idle` at the highest measured load, on the straight line.
        spread: The standard deviation of the residuals.
    """

    idle: Values
    per_operation: Values
    bend: Values
    linear: Values
    highest: float
    spread: float

    def use(self, rates: Values) -> Values:
        """Return the use at rates (shape points, operations): the estimate, then the replicates (rows, points)."""
        line = rates @ self.linear
        bent = line * (line / self.highest - 1) if self.highest > 0 else np.zeros_like(line)
        return self.idle[:, None] + self.per_operation @ rates.T + self.bend[:, None] * bent[None, :]

    def scaled(self, idle: float, value: float) -> "Demand":
        """Return the demand with the idle use multiplied by `idle`, and the use by operations multiplied by `value`."""
        figures = (self.linear * value, self.highest * value, self.spread * value)
        return Demand(self.idle * idle, self.per_operation * value, self.bend, *figures)


def estimate_demand(rates: Values, use: Values, seed: int = 0, replicates: int = REPLICATES) -> Demand:
    """Estimate the demands of operations on a resource.

    Args:
        rates: Operations a second; shape (rows in order of time, operations); at least `FEWEST` rows, without NaN.
        use: The use of the resource in each row.
        seed: The seed of the bootstrap, so that results can be repeated.
        replicates: The number of bootstrap replicates; with 0 only the estimate is made.
    """
    from scipy.optimize import nnls  # noqa: PLC0415  slow, and needed only here

    rows, operations = rates.shape
    scale = np.where(rates.max(axis=0) > 0, rates.max(axis=0), 1.0)
    straight = np.column_stack([np.ones(rows), rates / scale])
    linear = nnls(straight, use)[0][1:] / scale
    line = rates @ linear
    highest = float(np.quantile(line, 0.98))
    bent = line * (line / highest - 1) if highest > 0 else np.zeros(rows)
    # The bend may have either sign; nnls has none, so it gets two columns.
    design = np.column_stack([straight, bent, -bent])
    first = nnls(design, use)[0]
    rest = use - design @ first
    length, blocks = _choose_blocks(rest)
    freedom = max(blocks - operations - 2, 1.0)
    spread = float(np.sqrt((rest**2).sum() / max(rows - operations - 2, 1)))
    # Autocorrelated rows count as fewer independent rows, so that they do not outweigh the ridge.
    result = max(spread, 1e-9 * float(np.abs(use).max() or 1.0)) * np.sqrt(
        compute_correlation_time(compute_autocovariances(rest))
    )
    ridge = np.zeros(operations + 3)
    ridge[-2:] = result / _BEND, -result / _BEND
    stacked = np.vstack([design, ridge])
    q, r = np.linalg.qr(stacked)
    rng = np.random.default_rng(seed)
    widened = np.sqrt(blocks / freedom) * compute_student_quantile(freedom, 0.975) / _NORMAL
    empty = np.empty((replicates + 1, operations + 2))
    for at in range(replicates + 1):
        target = np.zeros(rows + 1)
        if not at:
            target[:-1] = use
        else:
            fitted = design[:, : operations + 1] @ (empty[0, : operations + 1] * np.append(1, scale))
            fitted = fitted + empty[0, -1] * bent
            signs = np.repeat(rng.standard_normal(int(np.ceil(rows / length)) + 1), length)
            shift = int(rng.integers(length))
            target[:-1] = fitted + (use - fitted) * signs[shift : shift + rows] * widened
            target[-1] = result * rng.standard_normal()
        empty[at] = _fit_demands(r, q.T @ target, stacked, target, scale)
    return Demand(empty[:, 0], empty[:, 1:-1], empty[:, -1], linear, highest, spread)


def _fit_demands(r: Values, projected: Values, stacked: Values, target: Values, scale: Values) -> Values:
    """Return the idle use, the demands and the bend that fit best by least squares; the bend is kept within limits."""
    from scipy.optimize import nnls  # noqa: PLC0415

    result = nnls(r, projected)[0]
    bend = float(result[-2] - result[-1])
    within = float(np.clip(bend, _LEAST_BEND, _MOST_BEND))
    if within != bend:
        result = np.append(nnls(stacked[:, :-2], target - within * stacked[:, -2])[0], [0.0, 0.0])
    return np.append(result[:-2] / np.append(1, scale), within)


def _choose_blocks(rest: Values) -> tuple[int, float]:
    """Return how many residuals are in a block of the bootstrap, and the number of blocks."""
    rows = len(rest)
    if float(np.ptp(rest)) <= 0:
        return 1, float(rows)
    (best,) = choose_block_lengths(rest[np.newaxis], compute_autocovariances(rest[np.newaxis]))
    length = int(np.clip(np.ceil(best), 2, max(2, rows // 6)))
    return length, rows / length


def compute_condition_number(rates: Values) -> float:
    """Return the condition number of the rates and a constant column, all of which are scaled to length 1."""
    columns = np.column_stack([np.ones(len(rates)), rates])
    lengths = np.sqrt((columns**2).sum(axis=0))
    values = np.linalg.svd(columns / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def group_separable(rates: Values) -> tuple[tuple[int, ...], ...]:
    """Return groups of operations (by index) whose demands can be told apart; similar operations share a group.

    Args:
        rates: Operations a second; shape (rows, operations).
    """
    groups: list[tuple[int, ...]] = [(index,) for index in range(rates.shape[1])]
    while len(groups) > 1:
        merged = sum_groups(rates, tuple(groups))
        if compute_condition_number(merged) < MOST:
            break
        with np.errstate(all="ignore"):
            alike: Values = np.nan_to_num(np.asarray(np.corrcoef(merged.T)), nan=1.0)
        alike[np.tril_indices(len(groups))] = -2
        value, other = sorted(int(at) for at in np.unravel_index(int(alike.argmax()), alike.shape))
        groups[value] += groups.pop(other)
    return tuple(groups)


def sum_groups(rates: Values, groups: tuple[tuple[int, ...], ...]) -> Values:
    """Return the summed rates of each group of operations; shape (rows, groups)."""
    return np.column_stack([rates[:, list(group)].sum(axis=1) for group in groups])


def compute_erlang_c(servers: int, busy: Values) -> Values:
    """Return the probability that a request waits for one of `servers`, which are busy for a share of the time.

    The share `busy` must be below 1.

    Erlang (1917), by the recursion of his B formula, which does not overflow.
    """
    offered = servers * busy
    blocked = np.ones_like(offered)
    for index in range(1, servers + 1):
        blocked = offered * blocked / (index + offered * blocked)
    return blocked / (1 - busy * (1 - blocked))


def compute_stretch(servers: int, busy: Values) -> Values:
    """Return the waiting time of a request as a multiple of its service time, for Poisson arrivals (M/M/c).

    `busy` is the utilisation of `servers`, from 0 to 1; from _MOST_BUSY on the multiple no longer grows.
    """
    within = np.clip(busy, 0.0, _MOST_BUSY)
    return compute_erlang_c(servers, within) / (servers * (1 - within))


def compute_stretch_of_users(servers: int, busy: float, users: float) -> float:
    """Return the waiting time as a multiple of the service time, for a fixed number of users (M/M/c//N).

    Users send a request only after the last response, so queues stay shorter than by `compute_stretch`, much shorter
    near the capacity of the servers (Allen, "Probability, Statistics, and Queueing Theory", 1978).
    """
    whole = max(round(users), 1)
    busy = min(busy, _MOST_BUSY * min(1.0, whole / servers))
    if busy <= 0:
        return 0.0
    waiting = np.arange(min(whole, _MOST_WAITING + servers))
    ratios = np.log(whole - waiting) - np.log(np.minimum(waiting + 1, servers))
    shapes = np.append(0.0, np.cumsum(ratios))
    states = np.arange(len(shapes))
    served = np.minimum(states, servers)
    low, high = np.log(busy * servers / whole) - 1.0, np.log(servers) + 3.0
    chances = shapes
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        logs = shapes + middle * states
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        low, high = (middle, high) if float(served @ chances) < busy * servers else (low, middle)
    return float(states @ chances) / float(served @ chances) - 1


def fit_rising_times(stretches: Sequence[Values], times: Values, weights: Values) -> Values:
    """Return the response time without waiting, and the weights of the waiting times, that best fit the measured times.

    Relative deviations are minimised, so that slow levels do not outweigh fast levels. All results are at least 0, so
    the fitted time never falls as the load grows.

    Returns:
        The time without waiting, then a weight for each of `stretches`, in the unit of the times.
    """
    from scipy.optimize import nnls  # noqa: PLC0415  slow, and needed only here

    by = np.sqrt(weights) / np.maximum(times, 1e-12)
    rows = np.column_stack([np.ones(len(times)), *stretches])
    return nnls(rows * by[:, None], times * by)[0]


def fit_isotonic(values: Values, weights: Values) -> Values:
    """Return the non-decreasing values nearest to `values` (pool adjacent violators: Ayer and others, 1955).

    The order of pooling (Busing, "Monotone Regression", 2022) and the rounding are those of
    scipy.optimize.isotonic_regression, which is slow to import.
    """
    items = list(zip(values.tolist(), weights.tolist(), strict=True))
    pools: list[tuple[float, float, int]] = []  # level, weight, how many values
    at = 0
    while at < len(items):
        level, weight = items[at]
        start, at = at, at + 1
        if pools and pools[-1][0] >= level:
            before, heavier, count = pools.pop()
            start -= count
            total, weight = heavier * before + weight * level, heavier + weight
            level = total / weight
            while at < len(items) and level >= items[at][0]:
                total, weight, at = total + items[at][1] * items[at][0], weight + items[at][1], at + 1
                level = total / weight
            while pools and pools[-1][0] >= level:
                before, heavier, count = pools.pop()
                total, weight, start = total + heavier * before, weight + heavier, start - count
                level = total / weight
        pools.append((level, weight, at - start))
    return np.repeat([level for level, _, _ in pools], [count for _, _, count in pools])

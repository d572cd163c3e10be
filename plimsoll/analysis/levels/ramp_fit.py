"""The level of a series and the ramps before and after it.

A series is described as `level + height * shape(u)`: `u` is the time since the start of the run as a share of the ramp,
and the shape goes from 1 to 0; at 0 the steady state begins. A ramp-down is a ramp-up read backwards. Noise is
autocorrelated, so the fit is by generalised least squares for AR(1) noise (Prais and Winsten, 1954).
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.significance import count_effective_in_window
from plimsoll.model.lazy_dataclass import dataclass

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
_POINTS = 200  # points of each shape
# The share of a ramp before the load begins to change.
_STARTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
# The share of a ramp before the load, having risen too high, begins to fall back, and by how much it is too high: a few
# that tell whether it does, and more that tell when it is back.
_PEAKS, _MORE_PEAKS = (0.4, 0.6, 0.8), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_EXCESSES, _MORE_EXCESSES = (0.12, 0.25, 0.5, 0.9), (0.12, 0.2, 0.3, 0.4, 0.5, 0.65, 0.9)
# Likewise for a load that falls back ever more slowly.
_SETTLES, _MORE_SETTLES = (0.3, 0.5, 0.7), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_SETTLING_EXCESSES, _MORE_SETTLING_EXCESSES = (0.25, 0.5, 0.9), (0.2, 0.3, 0.4, 0.5, 0.65, 0.9)
_STAYS = (0.3, 0.6)  # likewise for a load that stays too high, then falls back at once


def _list_shapes() -> tuple[Floats, Floats, Floats, int]:
    """Return the shapes of ramps, their extra parameters, their unchanged shares, and the number of standard shapes.

    The unchanged share is the share of the ramp before the load begins to change. The standard shapes are first, and
    are tried for every load. A shape that is not a straight line counts for more parameters than it has, so it must fit
    clearly better.
    """
    u = np.linspace(0, 1, _POINTS + 1)
    items: list[tuple[Floats, float, float]] = []
    for start in _STARTS:
        v = np.clip((u - start) / (1 - start), 0, 1)
        items.append((1 - v, 1.5 if start else 0.0, start))
    items.append((np.where(u < 1, 1.0, 0.0), 0.0, 1.0))
    for start in _STARTS[:8:2]:
        v = np.clip((u - start) / (1 - start), 0, 1)
        value = 3.0 if start else 1.5
        items.append((1 - v * v * (3 - 2 * v), value - 0.5, start))
        items.append(((np.exp(-4 * v) - np.exp(-4.0)) / (1 - np.exp(-4.0)), value, start))
    items.append(((1 - u) ** 2, 1.5, 0.0))
    items += [(_compute_falling_shape(u, peak, over), 3.0, 0.0) for peak in _PEAKS for over in _EXCESSES]
    for over in _SETTLING_EXCESSES:
        items += [(_compute_settling_shape(u, peak, over), 3.0, 0.0) for peak in _SETTLES]
        items += [(np.interp(u, (0, peak, 1 - 1 / _POINTS, 1), (1, -over, -over, 0)), 3.0, 0.0) for peak in _STAYS]
    usual = len(items)
    items += [(_compute_falling_shape(u, peak, over), 3.0, 0.0) for peak in _MORE_PEAKS for over in _MORE_EXCESSES]
    items += [
        (_compute_settling_shape(u, peak, over), 3.0, 0.0) for peak in _MORE_SETTLES for over in _MORE_SETTLING_EXCESSES
    ]
    shapes, parameters, plateaus = zip(*items, strict=True)
    return np.array(shapes), np.array(parameters), np.array(plateaus), usual


def _compute_falling_shape(u: Floats, peak: float, over: float) -> Floats:
    return np.interp(u, (0, peak, 1), (1, -over, 0))


def _compute_settling_shape(u: Floats, peak: float, over: float) -> Floats:
    v = np.clip((u - peak) / (1 - peak), 0, 1)
    back = -over * (np.exp(-4 * v) - np.exp(-4.0)) / (1 - np.exp(-4.0))
    return np.where(u < peak, 1 - (1 + over) * u / peak, back)


SHAPES, PARAMETERS, PLATEAUS, _USUAL = _list_shapes()
OVERSHOOTS = SHAPES.min(axis=1) < 0  # which of them rise too high, and fall back
ALL_SHAPES = np.arange(_USUAL)
WITH_OVERSHOOTS = np.arange(len(SHAPES))  # where one of them is known to fit: they take twice as long to try
SIMPLE_SHAPES = np.array([0, 4, 8, 11])


@dataclass(frozen=True, eq=False)
class Ramps:
    """Candidates for a ramp; the first candidate is no ramp at all.

    Each array has a row for each candidate: the index of its shape, its end, how long the load does not change at first
    (`plateau`), its number of parameters, and three sums over the candidate's whitened values: of squares (`square`),
    of products with the whitened series (`data`), and of products with a whitened constant (`sum`).
    """

    shape: Places
    end: Floats
    plateau: Floats
    parameters: Floats
    square: Floats
    data: Floats
    sum: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats, phi: float, shapes: Places, ends: Floats) -> "Ramps":
        """Return a candidate for each shape and each end, for the series `y` at `x`, ascending shares of the run."""
        rows = SHAPES[shapes].take(_locate_ends(x, ends), axis=1).reshape(-1, len(x))
        none = np.zeros(1)
        return cls(
            np.concatenate([none.astype(np.intp), np.repeat(shapes, len(ends))]),
            np.concatenate([none, np.tile(ends, len(shapes))]),
            np.concatenate([none, np.outer(PLATEAUS[shapes], ends).ravel()]),
            np.concatenate([none, np.repeat(PARAMETERS[shapes] + 2, len(ends))]),
            np.concatenate([none, _sum_squares(rows, phi)]) + 1e-9,
            np.concatenate([none, rows @ _whiten_twice(y, phi)]),
            np.concatenate([none, rows @ _whiten_twice(np.ones(len(x)), phi)]),
        )


_STEPS = (1, 2, 8, 16)
_OUTLIER = 12.0  # medians of the squared differences: larger ones count as this
_LONGEST_WINDOW = 0.02  # of the series: what is correlated for longer is a change of the level and no noise
_AT_LEAST = 6.0  # samples


@dataclass(frozen=True)
class Noise:
    """AR(1) noise: its standard deviation, and the coefficient `phi`.

    `growth` is the factor by which the variance of differences grows from one step to eight: 8 in a random walk, 3 in
    AR(1) noise of coefficient 0.7. `later_growth` is the factor from eight steps to sixteen: 2 in a random walk, 1.06
    in AR(1) noise of coefficient 0.7.
    """

    deviation: float = 0.0
    phi: float = 0.5
    growth: float = 1.0
    later_growth: float = 1.0

    @classmethod
    def of(cls, series: Floats) -> "Noise":
        """Return the noise of a series, from the variances of its differences over one and several steps."""
        squares = [(series[step:] - series[:-step]) ** 2 for step in _STEPS]
        value, two, eight, later = (
            float(np.minimum(s, _OUTLIER * compute_median(s) + 1e-300).mean()) if len(s) else np.nan for s in squares
        )
        if not value or not eight:
            return cls(phi=0.0)
        most = np.exp(-1 / max(_LONGEST_WINDOW * len(series), _AT_LEAST))
        phi = float(np.clip(two / value - 1, 0.0, most))
        return cls(float(np.sqrt(value / (2 * (1 - phi)))), phi, eight / value, later / eight)

    def error_of_mean(self, samples: int) -> float:
        """Return the standard error of the mean of `samples` consecutive samples."""
        return self.deviation / float(np.sqrt(count_effective_in_window(samples, self.phi)))


NEAR = 0.02  # of the run: how close a boundary should be to the true one
_COARSE = np.concatenate([np.arange(0.01, 0.05, 0.008), np.arange(0.05, 0.91, 0.035)])
_FINE = 48
_LONGEST = 0.93  # of the run
_GAP = 0.02  # of the run: at least so much is between two ramps
_HIGHER = 2.0  # a load before the steady state is at most so many times higher above it than it is itself
_LOWEST = 0.1  # of the level: a smaller ramp is none
_BUSY = 0.75  # of the level: a load that differs by less for longer than the level lasts is at another level
_OF_OVERSHOOT = 0.4  # of the evidence for an end, as a load may fall back from a peak in more ways than are tried
_MOST_OF_OVERSHOOT = 0.9  # the confidence in such an end: rules are judged by the whole run
_TURNS = 4  # in which the ramp of one side is chosen anew


@dataclass(frozen=True)
class Side:
    """The ramp on one side of the level; without a ramp, `end` is 0. All times are shares of the run.

    `end` is the end of the best candidate. `at` is the median of the posterior of the end, `low` to `high` is the 95 %
    interval, and `confidence` the probability that the end is within 2 % of the run around `at`.
    """

    shape: int = 0
    end: float = 0.0
    height: float = 0.0
    at: float = 0.0
    low: float = 0.0
    high: float = 0.0
    confidence: float = 1.0


class RampFit:
    """The fit of a level with ramps to the series `y` at `x`, ascending shares of the run.

    The fit with the lowest BIC is chosen (Schwarz, 1978).
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x, self.y = x, y
        self.level = compute_median(y)
        self.sides = (Side(), Side())
        self.noise = Noise()
        candidates = self._list_candidates(SIMPLE_SHAPES, (_COARSE, _COARSE))
        self._take(candidates, candidates.best_pair())
        for _ in range(2):
            candidates = self._list_candidates(ALL_SHAPES, (_COARSE, _COARSE))
            self._take(candidates, candidates.improved(self.sides))
        left, right = self.sides
        overshoots = any(bool(side.end) and bool(OVERSHOOTS[side.shape]) for side in self.sides)
        shapes = WITH_OVERSHOOTS if overshoots else ALL_SHAPES
        candidates = self._list_candidates(shapes, (_list_ends(left), _list_ends(right)))
        self._take(candidates, candidates.improved(self.sides))

    @property
    def model(self) -> Floats:
        """The values of the series as fitted."""
        left, right = self.sides
        rise = left.height * compute_ramp(self.x, left.shape, left.end)
        return self.level + rise + right.height * compute_ramp(1 - self.x, right.shape, right.end)

    @property
    def parameters(self) -> float:
        """The number of parameters of both ramps."""
        return sum(2 + float(PARAMETERS[side.shape]) for side in self.sides if side.end)

    def score(self, residual: Floats, parameters: float) -> float:
        """Return the BIC of a description with these residuals and this number of parameters."""
        white = whiten(residual, self.noise.phi)
        value = 1e-9 * float(self.y @ self.y) + 1e-300
        return len(white) * float(np.log(max(white @ white, value))) + float(np.log(len(white))) * parameters

    def _list_candidates(self, shapes: Places, ends: tuple[Floats, Floats]) -> "_Candidates":
        x, y, phi = self.x, self.y, self.noise.phi
        white, floats = whiten(y, phi), whiten(np.ones(len(x)), phi)
        backwards = Ramps.of((1 - x)[::-1], y[::-1], phi, shapes, ends[1])
        sides = (Ramps.of(x, y, phi, shapes, ends[0]), backwards)
        return _Candidates(float(white @ white), float(white @ floats), float(floats @ floats), len(x), sides)

    def _take(self, candidates: "_Candidates", chosen: "tuple[int, int]") -> None:
        self.level = candidates.level(chosen)
        self.sides = (candidates.side(0, *chosen), candidates.side(1, chosen[1], chosen[0]))
        self.noise = Noise.of(self.y - self.model)


def _list_ends(side: Side) -> Floats:
    """Return finely spaced ends to try around the end of a ramp; without a ramp, the coarse ends.

    The fine ends reach past the next two coarse ends, as the coarse search may confuse steep and gentle ramps.
    """
    if not side.end:
        return _COARSE
    step = 0.08 if side.end > 0.08 else 0.02
    return np.linspace(max(0.004, side.low - step), min(_LONGEST, side.high + step), _FINE)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The candidates for the ramps on both sides, and the sums over the whitened series by which pairs are scored."""

    squares: float
    sum: float
    weight: float
    samples: int
    sides: tuple[Ramps, Ramps]

    def best_pair(self) -> tuple[int, int]:
        """Return the indices of the best pair of candidates, one of each side."""
        scores, _, _ = self._score_candidates(0, np.arange(len(self.sides[1].end))[:, None])
        other, intp = np.unravel_index(int(np.argmin(scores)), scores.shape)
        return int(intp), int(other)

    def improved(self, sides: tuple[Side, Side]) -> tuple[int, int]:
        """Return the indices of a good pair: the best candidate of each side in turn, starting near `sides`."""
        chosen = [self.nearest(side, sides[side]) for side in (0, 1)]
        for turn in range(_TURNS):
            side = turn % 2
            scores, _, _ = self._score_candidates(side, np.array(chosen[1 - side]))
            chosen[side] = int(np.argmin(scores))
        return chosen[0], chosen[1]

    def nearest(self, side: int, near: Side) -> int:
        """Return the index of the candidate on a side whose ramp is nearest to the ramp `near`."""
        ramps = self.sides[side]
        if not near.end:
            return 0
        away = np.abs(ramps.end - near.end) + 10.0 * (ramps.shape != near.shape)
        away[0] = np.inf
        return int(np.argmin(away))

    def level(self, chosen: tuple[int, int]) -> float:
        """Return the fitted level between a chosen pair of ramps."""
        return float(self._score_candidates(0, np.array(chosen[1]))[1][chosen[0]])

    def side(self, side: int, value: int, other: int) -> Side:
        """Return candidate `value` of a side, with the posterior of its end if the other side has candidate `other`.

        All shapes, and no ramp at all, have the same prior.
        """
        ramps = self.sides[side]
        scores, _, heights = self._score_candidates(side, np.array(other))
        overshoots = bool(value) and bool(OVERSHOOTS[ramps.shape[value]])
        counts = _OF_OVERSHOOT if overshoots else 1.0
        weights = np.exp(-counts * (scores - scores[value]) / 2)
        weights[1:] /= len(np.unique(ramps.shape))
        if not value:
            return Side(confidence=float(weights[ramps.end <= NEAR].sum() / weights.sum()))
        weights[0] = 0
        order = np.argsort(ramps.end)
        share = np.cumsum(weights[order]) / weights.sum()
        low, at, high = (float(ramps.end[order][np.searchsorted(share, q)]) for q in (0.025, 0.5, 0.975))
        near = float(weights[np.abs(ramps.end - at) <= NEAR].sum() / weights.sum())
        near = min(near, _MOST_OF_OVERSHOOT) if overshoots else near
        return Side(int(ramps.shape[value]), float(ramps.end[value]), float(heights[value]), at, low, high, near)

    def _score_candidates(self, side: int, other: Places) -> tuple[Floats, Floats, Floats]:
        """Return BIC (infinite if impossible), level and height of a side's candidates, beside candidate `other`."""
        a, b = self.sides[side], self.sides[1 - side]
        b_square, b_data, b_sum = b.square[other], b.data[other], b.sum[other]
        total = self.sum - b_data * b_sum / b_square - a.data * a.sum / a.square
        weight = self.weight - b_sum**2 / b_square - a.sum**2 / a.square
        level = total / np.maximum(weight, 1e-9)
        rest = self.squares - b_data**2 / b_square - a.data**2 / a.square - level * total
        result = _Height(a.end, a.plateau, (a.data - level * a.sum) / a.square)
        height = _Height(b.end[other], b.plateau[other], (b_data - level * b_sum) / b_square)
        steady = 1 - result.end - height.end
        before, after = (result, height) if side == 0 else (height, result)
        wrong = before.impossible(level, steady, _HIGHER) | after.impossible(level, steady, 0.0) | (steady < _GAP)
        fit = self.samples * np.log(np.maximum(rest, 1e-9 * self.squares + 1e-300))
        score = fit + np.log(self.samples) * (a.parameters + b.parameters[other])
        return np.where(wrong, np.inf, score), level, result.height


@dataclass(frozen=True, eq=False)
class _Height:
    """The heights of candidates above the level, the ends of ramps, and how long the load does not change at first."""

    end: Floats
    plateau: Floats
    height: Floats

    def impossible(self, level: Floats, steady: Floats, highest: float) -> Flags:
        """Return which candidates are too small, too high, or at another level for longer than `steady` lasts."""
        height = self.height
        another = (self.plateau > steady) & (height > -_BUSY * level)
        return (self.end > 0) & ((np.abs(height) < _LOWEST * level) | (height > highest * level) | another)


def whiten(rows: Floats, phi: float) -> Floats:
    """Return the rows filtered so that AR(1) noise with the coefficient `phi` becomes white noise."""
    white = rows.copy()
    white[..., 1:] -= phi * rows[..., :-1]
    white[..., 0] *= np.sqrt(1 - phi * phi)
    return white


def _whiten_twice(values: Floats, phi: float) -> Floats:
    """Return a vector whose product with a row equals the product of the row and `values` when both are whitened."""
    white = whiten(values, phi)
    copy = white.copy()
    copy[0] *= np.sqrt(1 - phi * phi)
    copy[:-1] -= phi * white[1:]
    return copy


def _sum_squares(rows: Floats, phi: float) -> Floats:
    """Return the sum of squares of each row, as if the row was whitened first."""
    squares = np.einsum("ij,ij->i", rows, rows)
    neighbours = np.einsum("ij,ij->i", rows[:, 1:], rows[:, :-1])
    ends = rows[:, 0] ** 2 + rows[:, -1] ** 2
    return (1 + phi * phi) * squares - phi * phi * ends - 2 * phi * neighbours


def compute_ramp(x: Floats, shape: int, end: float) -> Floats:
    """Return the values of a ramp, which go from 1 to 0; all 0 if the ramp has no length."""
    return SHAPES[shape, _locate_ends(x, np.array([end]))[0]] if end else np.zeros(len(x))


def _locate_ends(x: Floats, ends: Floats) -> Places:
    return np.minimum(x * (_POINTS / ends[:, None]), _POINTS).astype(np.intp)

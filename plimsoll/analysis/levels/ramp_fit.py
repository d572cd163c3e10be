"""The level of a series and the ramps before and after it."""

from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.filters import median
from plimsoll.analysis.levels.ramps import (
    ALL_SHAPES,
    OVERSHOOTS,
    PARAMETERS,
    SIMPLE_SHAPES,
    WITH_OVERSHOOTS,
    Flags,
    Floats,
    Places,
    Ramps,
    ramp,
    whitened,
)
from plimsoll.analysis.significance import effective_in_window

_STEPS = (1, 2, 8, 16)
_OUTLIER = 12.0  # medians of the squared differences: larger ones count as this
_LONGEST_WINDOW = 0.02  # of the series: what is correlated for longer is a change of the level and no noise
_AT_LEAST = 6.0  # samples


@dataclass(frozen=True)
class Noise:
    """AR(1) noise: its standard deviation and coefficient.

    `growth` is by how much the variance of differences grows from one step to eight: by 8 in a random walk, by 3 in
    AR(1) noise of coefficient 0.7. `later_growth` is the same from eight steps to sixteen: 2 and 1.06.
    """

    deviation: float = 0.0
    phi: float = 0.5
    growth: float = 1.0
    later_growth: float = 1.0

    @classmethod
    def of(cls, series: Floats) -> "Noise":
        """Return the noise of a series, from the variance of its differences over one step and over more."""
        squares = [(series[step:] - series[:-step]) ** 2 for step in _STEPS]
        value, two, eight, later = (
            float(np.minimum(s, _OUTLIER * median(s) + 1e-300).mean()) if len(s) else np.nan for s in squares
        )
        if not value or not eight:
            return cls(phi=0.0)
        most = np.exp(-1 / max(_LONGEST_WINDOW * len(series), _AT_LEAST))
        phi = float(np.clip(two / value - 1, 0.0, most))
        return cls(float(np.sqrt(value / (2 * (1 - phi)))), phi, eight / value, later / eight)

    def error_of_mean(self, samples: int) -> float:
        """Return the standard error of the mean of so many samples in a row."""
        return self.deviation / float(np.sqrt(effective_in_window(samples, self.phi)))


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
    """The ramp on one side of the level; without one, `end` is 0.

    `end` is that of the best candidate. `at` is the median of the posterior, `low` and `high` hold 95 % of it, and
    `confidence` is how much of it is within 2 % of the run's length of `at`. All are shares of the run.
    """

    shape: int = 0
    end: float = 0.0
    height: float = 0.0
    at: float = 0.0
    low: float = 0.0
    high: float = 0.0
    confidence: float = 1.0


class RampFit:
    """A series `y` at the ascending shares `x` of the run, as a level with ramps.

    The best description is that of least BIC (Schwarz, 1978).
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x, self.y = x, y
        self.level = median(y)
        self.sides = (Side(), Side())
        self.noise = Noise()
        candidates = self._candidates(SIMPLE_SHAPES, (_COARSE, _COARSE))
        self._take(candidates, candidates.best_pair())
        self._see_noise()
        for _ in range(2):
            self._improve(self._candidates(ALL_SHAPES, (_COARSE, _COARSE)))
        left, right = self.sides
        overshoots = any(bool(side.end) and bool(OVERSHOOTS[side.shape]) for side in self.sides)
        shapes = WITH_OVERSHOOTS if overshoots else ALL_SHAPES
        self._improve(self._candidates(shapes, (_around(left), _around(right))))

    @property
    def model(self) -> Floats:
        """The level with its ramps."""
        left, right = self.sides
        rise = left.height * ramp(self.x, left.shape, left.end)
        return self.level + rise + right.height * ramp(1 - self.x, right.shape, right.end)

    @property
    def parameters(self) -> float:
        """How many parameters the ramps have."""
        return sum(2 + float(PARAMETERS[side.shape]) for side in self.sides if side.end)

    def score(self, residual: Floats, parameters: float) -> float:
        """Return the BIC of a description with this residual."""
        white = whitened(residual, self.noise.phi)
        value = 1e-9 * float(self.y @ self.y) + 1e-300
        return len(white) * float(np.log(max(white @ white, value))) + float(np.log(len(white))) * parameters

    def _see_noise(self) -> None:
        self.noise = Noise.of(self.y - self.model)

    def _candidates(self, shapes: Places, ends: tuple[Floats, Floats]) -> "_Candidates":
        x, y, phi = self.x, self.y, self.noise.phi
        white, floats = whitened(y, phi), whitened(np.ones(len(x)), phi)
        backwards = Ramps.of((1 - x)[::-1], y[::-1], phi, shapes, ends[1])
        sides = (Ramps.of(x, y, phi, shapes, ends[0]), backwards)
        return _Candidates(float(white @ white), float(white @ floats), float(floats @ floats), len(x), sides)

    def _improve(self, candidates: "_Candidates") -> None:
        self._take(candidates, candidates.improved([candidates.nearest(side, self.sides[side]) for side in (0, 1)]))
        self._see_noise()

    def _take(self, candidates: "_Candidates", chosen: "tuple[int, int]") -> None:
        self.level = candidates.level(chosen)
        self.sides = (candidates.side(0, *chosen), candidates.side(1, chosen[1], chosen[0]))


def _around(side: Side) -> Floats:
    """Close ends around where a ramp may end; all if there is no ramp.

    Among the coarse ends a steep ramp may be missed, and a gentle one stand for it: so they reach beyond the next two.
    """
    if not side.end:
        return _COARSE
    step = 0.08 if side.end > 0.08 else 0.02
    return np.linspace(max(0.004, side.low - step), min(_LONGEST, side.high + step), _FINE)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Candidates for the ramps of both sides, with sums over the whitened series."""

    squares: float
    sum: float
    weight: float
    samples: int
    sides: tuple[Ramps, Ramps]

    def best_pair(self) -> tuple[int, int]:
        """Return the best of all pairs."""
        scores, _, _ = self._scored(0, np.arange(len(self.sides[1].end))[:, None])
        other, intp = np.unravel_index(int(np.argmin(scores)), scores.shape)
        return int(intp), int(other)

    def improved(self, chosen: list[int]) -> tuple[int, int]:
        """Return the best of one side beside that of the other, in turns."""
        for turn in range(_TURNS):
            side = turn % 2
            scores, _, _ = self._scored(side, np.array(chosen[1 - side]))
            chosen[side] = int(np.argmin(scores))
        return chosen[0], chosen[1]

    def nearest(self, side: int, result: Side) -> int:
        """Return the candidate nearest to a ramp."""
        ramps = self.sides[side]
        if not result.end:
            return 0
        away = np.abs(ramps.end - result.end) + 10.0 * (ramps.shape != result.shape)
        away[0] = np.inf
        return int(np.argmin(away))

    def level(self, chosen: tuple[int, int]) -> float:
        """Return the level beside two ramps."""
        return float(self._scored(0, np.array(chosen[1]))[1][chosen[0]])

    def side(self, side: int, value: int, other: int) -> Side:
        """One ramp, with the posterior of its end beside the other ramp. Every shape, and none, is as likely before."""
        ramps = self.sides[side]
        scores, _, heights = self._scored(side, np.array(other))
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

    def _scored(self, side: int, other: Places) -> tuple[Floats, Floats, Floats]:
        """BIC, level and height of all candidates of one side beside some of the other; impossible ones have no BIC."""
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
    """The heights of candidates above the level, where they end and how long they do not change at first."""

    end: Floats
    plateau: Floats
    height: Floats

    def impossible(self, level: Floats, steady: Floats, highest: float) -> Flags:
        """Return which are too low to count, above `highest` levels, or at another level for longer than `steady`."""
        height = self.height
        another = (self.plateau > steady) & (height > -_BUSY * level)
        return (self.end > 0) & ((np.abs(height) < _LOWEST * level) | (height > highest * level) | another)

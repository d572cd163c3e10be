"""The plateaus of a stepped load.

A series is a step test if it holds at least three levels, each long compared with the change to the next. Noise may be
autocorrelated: a random walk, which pieces of a constant describe well, is then not taken for steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import median_filter

from analysis.pieces import Partitions, Piece
from model.log import Values
from model.samples import Samples

_CELLS = 250  # a longer series is averaged to this many values
_FEWEST = 12  # samples
_LEVELS = 3
_MOST = 40
_SHORTEST = 0.012  # plateau, of the run
_PASSING = 0.3  # of the length of its neighbours: a shorter piece between their levels is part of a ramp
_PENALTY, _SLOPE_PENALTY = 3.0, 3.0
_DRIFT = 0.5  # of a typical step, on a plateau
_FLOOR = 0.005  # of the range: what is smaller is no step, and stairs of that height are a ramp
_IDLE = 0.01  # of the highest level
_SHARE = 0.6  # of the loaded time on plateaus
_POWERS = (0.0, 0.5, 1.0)  # of the level, that the noise may grow with
_CORRELATIONS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Plateau:
    """A time (UTC ns, both ends included) in which a series kept its level."""

    start: int
    end: int
    level: float


def plateaus(samples: Samples) -> tuple[Plateau, ...]:
    """The plateaus of a step test; empty if the series is none."""
    times, values = samples.present.times, samples.present.values
    if len(values) < _FEWEST or np.ptp(values) == 0:
        return ()
    cells = _cells(_without_spikes(values))
    found = _described(cells.means)
    flat = _levels(found)
    if not _is_step_test(flat, found):
        return ()
    spans = [(cells.edges[one.first], cells.edges[one.last] - 1) for one in flat]
    return tuple(
        Plateau(int(times[first]), int(times[last]), float(values[first : last + 1].mean()))
        for first, last in _refined(values, spans, cells.size)
    )


@dataclass(frozen=True)
class _Cells:
    """Means of consecutive samples: cell i has the samples from edges[i] up to edges[i + 1]."""

    means: Values
    edges: list[int]
    size: int


def _cells(values: Values) -> _Cells:
    size = max(1, len(values) // _CELLS)
    count = len(values) // size
    edges = np.round(np.linspace(0, len(values), count + 1)).astype(int)
    return _Cells(np.add.reduceat(values, edges[:-1]) / np.diff(edges), edges.tolist(), size)


def _without_spikes(values: Values) -> Values:
    """The values, with single ones far from their neighbours replaced by the neighbours' median."""
    around = median_filter(values, 5, mode="nearest")
    off = np.abs(values - around)
    usual = max(1.4826 * float(np.median(off)), 0.01 * float(np.median(np.abs(values))))
    return np.where(off > 6 * usual, around, values)


@dataclass(frozen=True)
class _Described:
    """A series in pieces, with the deviation of its noise at each value and its autocorrelation."""

    values: Values
    pieces: list[Piece]
    deviation: Values
    correlation: float

    @property
    def long_run(self) -> Values:
        """The variance at each value, times what autocorrelation makes a mean the worse known by."""
        return self.deviation**2 * (1 + self.correlation) / (1 - self.correlation)

    def continues(self, one: Piece, other: Piece, distance: int, step: float) -> bool:
        """Whether a piece has the level of the one before it and follows it closely."""
        return other.first - one.last < distance and self.same(one, other, step)

    def same(self, one: Piece, other: Piece, step: float = 0.0) -> bool:
        """Whether two pieces have the same level: as far as noise lets one know, or compared with a typical step."""
        variance = sum(float(self.long_run[part.first : part.last].mean()) / part.length for part in (one, other))
        apart, error = abs(one.level - other.level), np.sqrt(variance)
        is_short = min(one.length, other.length) < _PASSING * max(one.length, other.length)
        return bool(apart < 3 * error or (apart < 8 * error and apart < (0.3 if is_short else 0.1) * step))


def _described(values: Values) -> _Described:
    """The pieces and the noise around them, for that autocorrelation under which they are most likely."""
    level = median_filter(values, 9, mode="nearest")
    change = np.diff(values)
    shape = _shape(change - np.median(change), (level[1:] + level[:-1]) / 2, level)
    scaled = change / shape[1:]
    spread = 1.4826 * float(np.median(np.abs(scaled - np.median(scaled))))
    partitions = Partitions(values, 1 / shape**2)
    floor = (_FLOOR * float(np.ptp(values))) ** 2
    found = [_fitted(partitions, values, shape, max(spread**2 / 2, floor), one) for one in _CORRELATIONS]
    return min(found, key=_information)


def _floored(deviation: Values, values: Values) -> Values:
    return np.maximum(deviation, _FLOOR * float(np.ptp(values)))


def _shape(change: Values, at: Values, level: Values) -> Values:
    """How the noise grows with the level, by the likelihood of the changes (Laplace's distribution)."""
    top = float(np.max(np.abs(level))) or 1.0
    size, of, at = np.abs(change), np.maximum(np.abs(level) / top, 0.02), np.maximum(np.abs(at) / top, 0.02)

    def cost(power: float) -> float:
        return len(size) * np.log(max(float((size / at**power).mean()), 1e-12 * top)) + power * float(np.log(at).sum())

    return of ** min(_POWERS, key=cost)


def _fitted(partitions: Partitions, values: Values, shape: Values, variance: float, assumed: float) -> _Described:
    """The pieces if noise has the assumed autocorrelation, and the noise around them."""
    effective = max(len(values) * (1 - assumed) / (1 + assumed), 10.0)
    cost = float(np.log(effective)) * variance * (1 + assumed) / (1 - assumed) ** 2
    found = partitions.best(_PENALTY * cost, _SLOPE_PENALTY * cost)
    rest = values - np.concatenate([one.line() for one in found])
    scaled = rest / shape
    inside = np.ones(len(values), dtype=bool)
    inside[[one.first for one in found]] = False
    parameters = sum(1 if one.is_flat else 2 for one in found)
    square = float((scaled**2).sum()) / max(len(values) - parameters, 3)
    product = float((scaled[1:] * scaled[:-1])[inside[1:]].sum()) / max(int(inside.sum()), 1)
    correlation = product / square if square else 0.0
    correlation += (1 + 4 * max(correlation, 0)) * len(found) / len(values)  # Kendall's bias of short pieces
    correlation = float(np.clip(correlation, 0, 0.95))
    return _Described(values, found, _floored(shape * np.sqrt(square), values), correlation)


def _levels(series: _Described) -> list[Piece]:
    """The flat pieces: with those joined that have the same level, and without idle time and passing ones."""
    height = _typical_step(series.pieces)
    flat: list[Piece] = []
    for one in series.pieces:
        if one.is_flat or abs(one.ends - one.begins) < _DRIFT * height:
            flat.append(Piece(one.first, one.last, one.level, one.level))
    shortest = max(2, round(_SHORTEST * len(series.values)))
    flat = [one for one in flat if one.length >= shortest]
    while (at := _passing(flat)) is not None:
        del flat[at]
    joined: list[Piece] = []
    for one in flat:
        joined.append(one)
        while len(joined) > 1 and series.continues(joined[-2], joined[-1], shortest, height):
            joined[-2:] = [_joined(*joined[-2:])]
    top = max((one.level for one in joined), default=0.0)
    return [one for one in joined if one.level > _IDLE * top]


def _joined(one: Piece, other: Piece) -> Piece:
    level = (one.level * one.length + other.level * other.length) / (one.length + other.length)
    return Piece(one.first, other.last, level, level)


def _passing(flat: Sequence[Piece]) -> int | None:
    """The place of a piece that is part of the way from the one before it to the next, if there is one."""
    for at in range(1, len(flat) - 1):
        before, one, after = flat[at - 1 : at + 2]
        between = min(before.level, after.level) < one.level < max(before.level, after.level)
        if between and one.length < _PASSING * min(before.length, after.length):
            return at
    return None


def _typical_step(found: Sequence[Piece]) -> float:
    levels = [one.level for one in found if one.is_flat]
    return float(np.median(np.abs(np.diff(levels)))) if len(levels) > 1 else 0.0


def _is_step_test(flat: Sequence[Piece], series: _Described) -> bool:
    if not _LEVELS <= len(flat) <= _MOST:
        return False
    loaded = flat[-1].last - flat[0].first
    held = sum(one.length for one in flat)
    return (
        _distinct(flat, series) >= _LEVELS
        and held >= _SHARE * loaded
        and loaded >= 0.5 * len(series.values)
        and all(after.first - one.last <= 0.35 * (one.length + after.length) for one, after in pairwise(flat))
        and _slope(flat, series) < 0.5
        and _beats_a_walk(series)
    )


def _distinct(flat: Sequence[Piece], series: _Described) -> int:
    """How many different levels there are."""
    ordered = sorted(flat, key=lambda one: one.level)
    last, count = ordered[0], 1
    for one in ordered[1:]:
        if not series.same(last, one) and one.level - last.level > 0.03 * ordered[-1].level:
            last, count = one, count + 1
    return count


def _slope(flat: Sequence[Piece], series: _Described) -> float:
    """How much of the change from level to level is inside of the pieces: 0 for stairs, 1 for a ramp or a wave."""
    levels = np.array([one.level for one in flat])
    jumps = np.diff(levels)
    expected = (np.concatenate((jumps[:1], jumps)) + np.concatenate((jumps, jumps[-1:]))) / 2
    drift = np.array([_drift(series.values[one.first : one.last]) for one in flat])
    return float((drift * expected).sum() / (expected**2).sum())


def _drift(values: Values) -> float:
    """By how much values change from the first to the last, as a line has it."""
    return float(np.polyfit(np.arange(len(values)), values, 1)[0]) * len(values) if len(values) > 2 else 0.0


def _information(series: _Described) -> float:
    """The Bayesian information criterion of the pieces with autoregressive noise."""
    values, deviation = series.values, series.deviation
    shape = deviation / deviation.mean()
    rest = (values - np.concatenate([one.line() for one in series.pieces])) / shape
    error = rest.copy()
    error[1:] -= series.correlation * rest[:-1]
    firsts = [one.first for one in series.pieces]
    error[firsts] = rest[firsts]
    found = series.pieces
    parameters = sum(2 if one.is_flat else 3 for one in found)
    for before, one, after in zip(found, found[1:], found[2:], strict=False):
        if before.is_flat and after.is_flat and not one.is_flat:
            parameters -= 2  # the ramp between two levels begins and ends with them
    return _criterion(error, values, parameters)


def _beats_a_walk(series: _Described) -> bool:
    """Whether the pieces describe the series better than an autoregressive process around one mean."""
    values, deviation = series.values, series.deviation
    whole = values - values.mean()
    slope = float((whole[1:] * whole[:-1]).sum() / (whole[:-1] ** 2).sum())
    walk = (whole[1:] - min(slope, 1.0) * whole[:-1]) / (deviation[1:] / deviation.mean())
    return _information(series) < _criterion(walk, values, 3)


def _criterion(error: Values, values: Values, parameters: int) -> float:
    floor = (_FLOOR * float(np.ptp(values))) ** 2
    return len(values) * np.log(float((error**2).mean()) + floor) + parameters * np.log(len(values))


def _refined(values: Values, spans: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The spans (of samples, both ends included) with the edges between neighbours put where they fit best."""
    found = [list(one) for one in spans]
    for one, other in pairwise(found):
        if other[0] - one[1] > 1:
            continue
        low, high = max(one[0] + 1, one[1] - 2 * size), min(other[1], other[0] + 2 * size)
        part = values[low:high]
        above, below = float(values[one[0] : low].mean()), float(values[high : other[1] + 1].mean())
        gain = np.concatenate(([0.0], np.cumsum((part - above) ** 2 - (part - below) ** 2)))
        edge = low + int(np.argmin(gain))
        one[1], other[0] = edge - 1, edge
    return [(one[0], one[1]) for one in found]

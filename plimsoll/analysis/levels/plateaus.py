"""The plateaus of a stepped load.

A series is a step test if it has at least three levels, each long compared with the change to the next, and if plateaus
describe the series better than a slope, a wave or a random walk. A pause, in which the load is nearly off, ends a
plateau even if the next plateau has the same level.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median, filter_median
from plimsoll.analysis.levels.segments import Described, Piece, describe_series
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples

_RAMP = 6.0  # chi-squared: by how much a ramp must fit better than a step
_MOST_STEP = 120  # values on either side that are looked at
_CELLS = 400  # a longer series is averaged to this many values
_FEWEST = 12  # samples
_LEVELS, _MOST = 3, 40  # different levels, and plateaus
# These are our choices.
_SHORTEST = 0.012  # plateau, of the run
_PASSING = 0.3  # of the length of its neighbours: a shorter piece between their levels is part of a ramp
_DRIFT = 0.5  # of a typical step, on a plateau
_SMALL = 0.2  # of the steps before and after: what is smaller is no step unless noise is far smaller
_PAUSE = 0.25  # of the levels around it
_IDLE, _IDLE_NEAR = 0.02, 0.1  # of the highest level and of the next one, before the first plateau or after the last
_SHARE = 0.65  # of the loaded time on plateaus
_APART = 0.03  # of the range of levels, between different ones
_WORSE = 20.0  # information criterion than that of any pieces: ramps are sharper in it than they may be
_WAY = 0.5  # of the length of the plateaus around it
_SLOPE = 0.5  # of the change from level to level that is inside of plateaus


@dataclass(frozen=True)
class Plateau:
    """A range of time (UTC ns, both ends included) in which a series kept its level."""

    start: int
    end: int
    level: float


def find_plateaus(samples: Samples) -> tuple[Plateau, ...]:
    """Return the plateaus of a step test; empty if the series is not a step test."""
    times, values = samples.present.times, samples.present.values
    if len(values) < _FEWEST or np.ptp(values) == 0:
        return ()
    size = max(1, len(values) // _CELLS)
    edges = np.round(np.linspace(0, len(values), len(values) // size + 1)).astype(int)
    series = describe_series(np.add.reduceat(_remove_spikes(values), edges[:-1]) / np.diff(edges))
    stairs_list = (_find_stairs(series, pieces) for pieces in (series.pieces, series.flat_pieces))
    tests = [stairs for stairs in stairs_list if stairs.is_step_test]
    if not tests:
        return ()
    stairs = min(tests, key=lambda stairs: stairs.information)
    spans = [(int(edges[piece.first]), int(edges[piece.last])) for piece in stairs.all]
    if size > 1:
        spans = _convert_to_samples(values, spans, size)
    return tuple(
        Plateau(int(times[first]), int(times[last - 1]), float(values[first:last].mean()))
        for (first, last), piece in zip(spans, stairs.all, strict=True)
        if piece in stairs.levels
    )


@dataclass(frozen=True)
class _Stairs:
    """The plateaus (`levels`) among the pieces of a series, and the pauses between the plateaus."""

    series: Described
    pieces: Sequence[Piece]
    levels: list[Piece]
    pauses: list[Piece]

    @cached_property
    def all(self) -> list[Piece]:
        """The plateaus and pauses in order."""
        return sorted((*self.levels, *self.pauses), key=lambda piece: piece.first)

    @cached_property
    def information(self) -> float:
        """The Bayesian information criterion of plateaus with ramps between them; infinite without plateaus."""
        if not self.levels:
            return np.inf
        pieces = self.all
        line = np.concatenate([piece.line() for piece in self.series.pieces])
        for piece in pieces:
            inner = slice(piece.first + (piece != pieces[0]), piece.last - (piece != pieces[-1]))
            line[inner] = piece.level
        ramps = sum(other.first - piece.last > 1 for piece, other in pairwise(pieces))
        outside = sum(piece.last <= pieces[0].first or piece.first >= pieces[-1].last for piece in self.pieces)
        return self.series.information(line, 3 * (len(pieces) + outside) + ramps)

    @cached_property
    def is_step_test(self) -> bool:
        """Whether the plateaus show that the series is a step test."""
        levels, series = self.levels, self.series
        if not _LEVELS <= len(levels) <= _MOST or _count_levels(levels, series) < _LEVELS:
            return False
        loaded = levels[-1].last - levels[0].first - sum(pause.length for pause in self.pauses)
        ways = [
            (other.first - piece.last) / (piece.length + other.length)
            for piece, other in pairwise(self.all)
            if piece in levels and other in levels
        ]
        return (
            sum(level.length for level in levels) >= _SHARE * loaded
            and max(ways, default=0.0) <= _WAY / 2
            and _compute_slope_share(levels, series) < _SLOPE
            and self.information < series.information_of_walk
            and self.information < series.lowest_information + _WORSE
        )


def _find_stairs(series: Described, pieces: Sequence[Piece]) -> _Stairs:
    """Return the plateaus among the pieces of a series, without ramps; neighbours of the same level are joined."""
    levels, low = _split_levels(series, pieces)
    while True:
        stairs = _Stairs(series, pieces, levels, list(_list_pauses(levels, low)))
        trimmed = dict(zip(stairs.all, _trim_edges(stairs.all, series), strict=True))
        levels = _join_levels([trimmed[level] for level in levels], low, series)
        if len(levels) == len(stairs.levels):
            return _Stairs(series, pieces, levels, [trimmed[pause] for pause in stairs.pauses])


def _remove_spikes(values: Values) -> Values:
    """Return the values with spikes of one or two samples replaced by the median around them."""
    around = filter_median(values, 5, "edge")
    off = np.abs(values - around)
    usual = max(1.4826 * compute_median(off), 0.01 * compute_median(np.abs(values)))
    return np.where(off > 6 * usual, around, values)


def _split_levels(series: Described, pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces that are plateaus, and the pieces with hardly any load between plateaus."""
    shortest = max(2, round(_SHORTEST * len(series.values)))
    flat = [piece for piece in pieces if piece.is_flat and piece.length >= shortest]
    height = compute_median(np.abs(np.diff([piece.level for piece in flat]))) if len(flat) > 1 else 0.0
    long = [
        Piece(piece.first, piece.last, piece.level, piece.level)
        for piece in pieces
        if piece.length >= shortest and (piece.is_flat or abs(piece.ends - piece.begins) < _DRIFT * height)
    ]
    low: list[Piece] = []
    for piece in pieces:  # far below the plateaus before and after it
        before = [other.level for other in long if other.last <= piece.first and other.level > piece.level]
        after = [other.level for other in long if other.first >= piece.last and other.level > piece.level]
        if piece.is_flat and before and after and piece.level < _PAUSE * min(before[-1], after[0]):
            low.append(piece)
    without_idle = _trim_idle([piece for piece in long if piece not in low])
    while (at := _find_passing_piece(without_idle)) is not None:
        del without_idle[at]
    return without_idle, low


def _join_levels(levels: Sequence[Piece], low: Sequence[Piece], series: Described) -> list[Piece]:
    """Return the plateaus, with close neighbours of the same level joined unless a pause (`low`) lies between."""
    joined = list(levels)
    while True:
        pairs = [at for at in range(len(joined) - 1) if _is_continued(series, joined, at, low)]
        if not pairs:
            return joined
        at = min(pairs, key=lambda at: abs(joined[at].level - joined[at + 1].level))
        piece, other = joined[at : at + 2]
        level = (piece.level * piece.length + other.level * other.length) / (piece.length + other.length)
        joined[at : at + 2] = [Piece(piece.first, other.last, level, level)]


def _list_pauses(levels: Sequence[Piece], low: Sequence[Piece]) -> Iterator[Piece]:
    """Yield a pause for each pair of plateaus with low pieces between, from the first to the last low piece."""
    for piece, other in pairwise(levels):
        between = [part for part in low if piece.last <= part.first and part.last <= other.first]
        if between:
            level = min(part.level for part in between)
            yield Piece(between[0].first, between[-1].last, level, level)


def _trim_idle(levels: list[Piece]) -> list[Piece]:
    """Return the plateaus without idle time before and after the test."""
    top = max((level.level for level in levels), default=0.0)

    def is_idle(piece: Piece, other: Piece) -> bool:
        return piece.level < _IDLE * top and piece.level < _IDLE_NEAR * other.level

    while len(levels) > 1 and is_idle(levels[0], levels[1]):
        levels = levels[1:]
    while len(levels) > 1 and is_idle(levels[-1], levels[-2]):
        levels = levels[:-1]
    return levels


def _find_passing_piece(pieces: Sequence[Piece]) -> int | None:
    """Return the index of a piece that is too short, compared with its neighbours, to be a plateau; None without one.

    Such a piece is a part of a ramp between its neighbours, or a short disturbance.
    """
    for at in range(1, len(pieces) - 1):
        piece = pieces[at]
        befores, afters = pieces[max(at - 2, 0) : at][::-1], pieces[at + 1 : at + 3]
        before = next((other for other in befores if other.length > 2 * piece.length), befores[0])
        after = next((other for other in afters if other.length > 2 * piece.length), afters[0])
        between = min(before.level, after.level) < piece.level < max(before.level, after.level)
        if piece.length < (_PASSING if between else _PASSING / 2) * min(before.length, after.length):
            return at
    return None


def _is_continued(series: Described, levels: Sequence[Piece], at: int, low: Sequence[Piece]) -> bool:
    """Return whether plateau `at` and the next are close, at the same level, and without a pause between."""
    piece, other = levels[at : at + 2]
    is_broken = any(piece.last <= part.first and part.last <= other.first for part in low)
    is_close = other.first - piece.last <= max(_PASSING * min(piece.length, other.length), 2)
    around = levels[max(at - 1, 0) : at + 3]
    steps = [abs(after.level - before.level) for before, after in pairwise(around) if before is not piece]
    return not is_broken and is_close and _is_same_level(series, piece, other, max(steps, default=0.0))


def _is_same_level(series: Described, piece: Piece, other: Piece, height: float = 0.0) -> bool:
    """Return whether two pieces have the same level, within the noise or a small share of a step of this height."""
    apart, error = abs(piece.level - other.level), series.error(piece, other)
    return apart < 3 * error or (apart < 8 * error and apart < _SMALL * height)


def _count_levels(levels: Sequence[Piece], series: Described) -> int:
    """Return the number of levels that differ by more than the noise, and by more than a share of their range."""
    ordered = sorted(levels, key=lambda piece: piece.level)
    value = _APART * (ordered[-1].level - ordered[0].level)
    return 1 + sum(
        other.level - piece.level > value and not _is_same_level(series, piece, other)
        for piece, other in pairwise(ordered)
    )


def _compute_slope_share(levels: Sequence[Piece], series: Described) -> float:
    """Return the share of the change between plateaus that happens within them: 0 for stairs, 1 for a ramp or wave."""
    jumps = np.diff([level.level for level in levels])
    expected = (np.concatenate((jumps[:1], jumps)) + np.concatenate((jumps, jumps[-1:]))) / 2
    inside = [series.values[level.first : level.last] for level in levels]
    slopes = [float(np.polyfit(np.arange(len(part)), part, 1)[0]) if len(part) > 2 else 0.0 for part in inside]
    drift = np.array([slope * len(part) for slope, part in zip(slopes, inside, strict=True)])
    return float((drift * expected).sum() / (expected**2).sum())


def _trim_edges(pieces: Sequence[Piece], series: Described) -> list[Piece]:
    """Return the pieces cut at both ends, so that no piece contains a part of a ramp to its neighbours."""
    firsts, lasts = [piece.first for piece in pieces], [piece.last for piece in pieces]
    for at, (piece, other) in enumerate(pairwise(pieces)):
        noise = float(series.variance[piece.first : other.last].mean())
        lasts[at], firsts[at + 1] = find_transition(
            series.values, (firsts[at], piece.last), (other.first, other.last), noise
        )
    firsts = [min(first, piece.last - 1) for first, piece in zip(firsts, pieces, strict=True)]
    spans = [(first, max(last, first + 1)) for first, last in zip(firsts, lasts, strict=True)]
    means = [float(series.values[first:end].mean()) for first, end in spans]
    return [Piece(*span, mean, mean) for span, mean in zip(spans, means, strict=True)]


def _convert_to_samples(values: Values, spans: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return the spans of samples; the edge at a sharp step is moved by up to `size` samples to fit best."""
    items = [list(span) for span in spans]
    for group, other in pairwise(items):
        if other[0] - group[1] > 2 * size:
            continue
        low, high = max(group[0] + 1, group[1] - size), min(other[1] - 1, other[0] + size)
        before, after = float(values[group[0] : low].mean()), float(values[high : other[1]].mean())
        group[1] = other[0] = low + find_step(values[low:high], before, after)
    return [(item[0], item[1]) for item in items]


def find_transition(values: Values, before: tuple[int, int], after: tuple[int, int], noise: float) -> tuple[int, int]:
    """Return where the level before ends (exclusive), and where the level after starts.

    Args:
        values: The series.
        before: The range of indices (end exclusive) that are surely on the level before.
        after: The range of indices (end exclusive) that are surely on the level after.
        noise: The long-run variance of the noise.
    """
    before, after = (before[0], max(before[1], before[0] + 1)), (min(after[0], after[1] - 1), after[1])
    low, high = values[slice(*before)].mean(), values[slice(*after)].mean()
    first = max((before[0] + before[1]) // 2, before[1] - _MOST_STEP)
    part = values[first : min((after[0] + after[1] + 1) // 2, after[0] + _MOST_STEP)]
    count = len(part)
    ends, begins = np.triu_indices(count + 1)
    slope = (high - low) / (begins - ends + 1)
    start = low + slope * (1 - ends)

    def sums(values: Values) -> tuple[Values, Values]:
        total = np.concatenate(([0.0], np.cumsum(values)))
        return total[ends], total[begins]

    at = np.arange(count, dtype=float)
    (_, xb), (xa, _) = sums(part), sums(part)
    left, _ = sums((part - low) ** 2)
    right = np.append(np.cumsum(((part - high) ** 2)[::-1])[::-1], 0.0)[begins]
    squares_a, squares_b = sums(part**2)
    weighted_a, weighted_b = sums(at * part)
    ones, linear, square = begins - ends, *(b - a for a, b in (sums(at), sums(at**2)))
    on_ramp = start**2 * ones + 2 * start * slope * linear + slope**2 * square
    middle = squares_b - squares_a - 2 * (start * (xb - xa) + slope * (weighted_b - weighted_a)) + on_ramp
    cost: NDArray[np.float64] = left + middle + right + _RAMP * noise * (begins - ends > 1)
    best = int(np.argmin(cost))
    return first + int(ends[best]), first + int(begins[best])


def find_step(values: Values, low: float, high: float) -> int:
    """Return the index of the first value on the level `high`, if the values step from the level `low` to `high`."""
    gain = np.concatenate(([0.0], np.cumsum((values - low) ** 2 - (values - high) ** 2)))
    return int(np.argmin(gain))

"""Shapes that a load takes before its steady state, and how well each fits a series.

A series is described as `level + height * shape(u)`: `u` is the time since the start of the run as a share of the
ramp, and the shape goes from 1 to 0, where the steady state begins. A ramp-down is a ramp-up read backwards. Noise is
autocorrelated, so the fit is by generalised least squares for AR(1) noise (Prais and Winsten, 1954).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]

_STEPS = 200  # points of each shape
_STARTS = (
    0.0,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    0.95,
)  # the share of a ramp before the load begins to change
# The share of a ramp before the load, having risen too high, begins to fall back, and by how much it is too high: a few
# that tell whether it does, and more that tell when it is back.
_PEAKS, _MORE_PEAKS = (0.4, 0.6, 0.8), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_EXCESSES, _MORE_EXCESSES = (0.12, 0.25, 0.5, 0.9), (0.12, 0.2, 0.3, 0.4, 0.5, 0.65, 0.9)
# The same of a load that falls back ever more slowly.
_SETTLES, _MORE_SETTLES = (0.3, 0.5, 0.7), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_SETTLING_EXCESSES, _MORE_SETTLING_EXCESSES = (0.25, 0.5, 0.9), (0.2, 0.3, 0.4, 0.5, 0.65, 0.9)
_STAYS = (0.3, 0.6)  # the same of a load that stays too high, and falls back at once


def _shapes() -> tuple[Floats, Floats, Floats, int]:
    """Return the shapes, the parameters of each besides end and height, and the share of each before the load changes.

    Last, how many of them are tried of every load.

    A shape other than a line from start to end counts for more parameters than it has: it has to fit clearly better.
    """
    u = np.linspace(0, 1, _STEPS + 1)
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
    items += [(_falling(u, peak, over), 3.0, 0.0) for peak in _PEAKS for over in _EXCESSES]
    for over in _SETTLING_EXCESSES:
        items += [(_settling(u, peak, over), 3.0, 0.0) for peak in _SETTLES]
        items += [(np.interp(u, (0, peak, 1 - 1 / _STEPS, 1), (1, -over, -over, 0)), 3.0, 0.0) for peak in _STAYS]
    usual = len(items)
    items += [(_falling(u, peak, over), 3.0, 0.0) for peak in _MORE_PEAKS for over in _MORE_EXCESSES]
    items += [(_settling(u, peak, over), 3.0, 0.0) for peak in _MORE_SETTLES for over in _MORE_SETTLING_EXCESSES]
    shapes, parameters, plateaus = zip(*items, strict=True)
    return np.array(shapes), np.array(parameters), np.array(plateaus), usual


def _falling(u: Floats, peak: float, over: float) -> Floats:
    return np.interp(u, (0, peak, 1), (1, -over, 0))


def _settling(u: Floats, peak: float, over: float) -> Floats:
    v = np.clip((u - peak) / (1 - peak), 0, 1)
    back = -over * (np.exp(-4 * v) - np.exp(-4.0)) / (1 - np.exp(-4.0))
    return np.where(u < peak, 1 - (1 + over) * u / peak, back)


SHAPES, PARAMETERS, PLATEAUS, _USUAL = _shapes()
OVERSHOOTS = SHAPES.min(axis=1) < 0  # which of them rise too high, and fall back
ALL_SHAPES = np.arange(_USUAL)
WITH_OVERSHOOTS = np.arange(len(SHAPES))  # where one of them is known to fit: they take twice as long to try
SIMPLE_SHAPES = np.array([0, 4, 8, 11])


def whitened(rows: Floats, phi: float) -> Floats:
    """Return the rows, with AR(1) noise of this coefficient turned into white noise."""
    white = rows.copy()
    white[..., 1:] -= phi * rows[..., :-1]
    white[..., 0] *= np.sqrt(1 - phi * phi)
    return white


# There are a million values of candidates: what is asked of them whitened is computed without whitening each of them.


def _for_products(values: Floats, phi: float) -> Floats:
    """Return what gives with a row the product that both have when they are whitened."""
    white = whitened(values, phi)
    copy = white.copy()
    copy[0] *= np.sqrt(1 - phi * phi)
    copy[:-1] -= phi * white[1:]
    return copy


def _squares(rows: Floats, phi: float) -> Floats:
    """Return the sum of the squares of each row when it is whitened."""
    squares = np.einsum("ij,ij->i", rows, rows)
    neighbours = np.einsum("ij,ij->i", rows[:, 1:], rows[:, :-1])
    ends = rows[:, 0] ** 2 + rows[:, -1] ** 2
    return (1 + phi * phi) * squares - phi * phi * ends - 2 * phi * neighbours


def ramp(x: Floats, shape: int, end: float) -> Floats:
    """Return the values of one ramp: from 1 to 0; all 0 if it has no length."""
    return SHAPES[shape, _places(x, np.array([end]))[0]] if end else np.zeros(len(x))


def _places(x: Floats, ends: Floats) -> Places:
    return np.minimum(x * (_STEPS / ends[:, None]), _STEPS).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Ramps:
    """Candidates for a ramp; the first is no ramp at all.

    Each array has a row for each: its shape, its end, how long the load does not change at first, how many parameters
    it has, and after whitening `square`, the sum of its squares, `data`, that of its products with the series, and
    `sum`, that with a constant.
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
        """Each of the shapes with each of the ends, for the series `y` at the ascending shares `x` of the run."""
        rows = SHAPES[shapes].take(_places(x, ends), axis=1).reshape(-1, len(x))
        none = np.zeros(1)
        return cls(
            np.concatenate([none.astype(np.intp), np.repeat(shapes, len(ends))]),
            np.concatenate([none, np.tile(ends, len(shapes))]),
            np.concatenate([none, np.outer(PLATEAUS[shapes], ends).ravel()]),
            np.concatenate([none, np.repeat(PARAMETERS[shapes] + 2, len(ends))]),
            np.concatenate([none, _squares(rows, phi)]) + 1e-9,
            np.concatenate([none, rows @ _for_products(y, phi)]),
            np.concatenate([none, rows @ _for_products(np.ones(len(x)), phi)]),
        )

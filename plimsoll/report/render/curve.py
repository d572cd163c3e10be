"""The geometry of a curve as SVG."""

from collections.abc import Iterable

import numpy as np

from plimsoll.model.document import Curve, Point
from plimsoll.model.value_text import number, quantity

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 46, 16, 40
_TICKS = 5


class Drawing:
    """A curve in the units of its drawing: points as (x, y, text), lines as the points of a polyline."""

    width, height, left, top = _WIDTH, _HEIGHT, _LEFT, _TOP
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def __init__(self, curve: Curve) -> None:
        self._x_end, self._y_end = curve.x_end, curve.y_end
        self.x_axis = [(self._x(at), number(at)) for at in _ticks(curve.x_end)]
        self.y_axis = [(self._y(at), quantity(at, curve.y_unit)) for at in _ticks(curve.y_end)]
        self.points = self._marks(curve.points)
        self.marks = self._marks(curve.marks)
        self.shares = [(self._x(share.x), self._y(share.y / 100 * curve.y_end), share.text) for share in curve.shares]
        self.fit, self.beyond = self._line(curve.fit), self._line(curve.beyond)
        edge = [(x, high) for x, _, high in curve.band] + [(x, low) for x, low, _ in reversed(curve.band)]
        self.band = self._line((x, min(max(y, 0.0), curve.y_end)) for x, y in edge)
        self.limit = self._y(curve.limit[0]) if curve.limit else None

    def _marks(self, points: Iterable[Point]) -> list[tuple[float, float, str]]:
        return [(self._x(point.x), self._y(point.y), point.text) for point in points]

    def _line(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self._x(x)},{self._y(y)}" for x, y in points if np.isfinite(y))

    def _x(self, value: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / self._x_end, 1)

    def _y(self, value: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * value / self._y_end, 1)


def _ticks(end: float) -> list[float]:
    """About five values up to `end`, at steps of 1, 2, 2.5 or 5 times a power of ten."""
    value = end / _TICKS
    power = 10 ** np.floor(np.log10(value))
    step = next(float(factor * power) for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * 0.999)
    return [at * step for at in range(int(end / step * 1.000001) + 1)]

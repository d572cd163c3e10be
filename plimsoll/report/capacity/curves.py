"""The curves of a capacity report: use and response time over the load, in the units of an SVG drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.insights.capacity.find import Capacity, ResourceCapacity
from plimsoll.insights.capacity.levels import means
from plimsoll.insights.capacity.response import ResponseCurve
from plimsoll.insights.capacity.words import resource_text, rounded
from plimsoll.model.log import Values
from plimsoll.model.value_text import number, percent, quantity

WIDTH, HEIGHT = 640, 250
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 40
_POINTS = 60


@dataclass(frozen=True)
class Mark:
    """A point or label, in the units of the drawing."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Curve:
    """One drawing: measured points, the fitted line, dashed beyond the measured load, its 95 % band, and the limit.

    Lines and bands are the points of SVG; empty where there are none.
    """

    title: str
    label: str
    points: tuple[Mark, ...]
    line: str
    beyond: str
    band: str
    limit: Mark | None
    reached: Mark | None
    x_axis: tuple[Mark, ...]
    y_axis: tuple[Mark, ...]
    x_title: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def use_curve(found: Capacity, one: ResourceCapacity) -> Curve:
    """The use of a resource over the load, for the measured or asked mix."""
    most = found.projected
    loads = np.linspace(0, most, _POINTS)
    uses = one.demand.use(loads[:, None] * found.mix[None, :])
    low, high = np.quantile(uses[1:], [0.025, 0.975], axis=0)
    top = 100.0
    drawn = np.where((uses[0] <= top) & one.follows, uses[0], np.nan)  # more than all of it cannot be used
    as_measured = found.asked_mix.as_measured and not found.changed
    measured = means(found.levels, found.observed.use[one.resource.key]) if as_measured else np.empty(0)
    name = resource_text(one.resource)
    name = name[:1].upper() + name[1:]
    at = one.load.value
    text = f"{name} over {found.observed.title}/s: {number(float(one.use.value))} % at {number(found.highest)}/s"
    reached = Mark(_x(at, most), _y(one.resource.limit, top), f"{rounded(at)} /s") if np.isfinite(at) else None
    return Curve(
        name,
        f"{text}; limit {percent(one.resource.limit / 100)}.",
        _points([level.load for level in found.levels], measured, most, top, "%"),
        *_lines(loads, drawn, found.highest, most, top),
        _band(loads[low <= top], low[low <= top], high[low <= top], most, top) if one.follows else "",
        Mark(0, _y(one.resource.limit, top), f"limit {percent(one.resource.limit / 100)}"),
        reached,
        *_axes(most, top, "%"),
        f"{found.observed.title}, /s",
    )


def response_curve(found: Capacity, curve: ResponseCurve) -> Curve:
    """A response time over the load; beyond what was measured as queues project it, where they do."""
    most = found.projected
    loads = np.linspace(curve.loads[0], most, _POINTS)
    times = curve.at(loads)
    limit = curve.response.limit
    scale = 1.5 * max(float(curve.measured[-1]), limit or 0.0)
    seen = np.where(times <= scale, times, np.nan)
    title = curve.response.signal.title
    high = quantity(float(curve.measured[-1]), "s")
    levels = means(found.levels, curve.response.times)
    return Curve(
        title,
        f"{title} over {found.observed.title}/s: {high} at {number(float(curve.loads[-1]))}/s.",
        _points([level.load for level in found.levels], levels, most, scale, "s"),
        *_lines(loads, seen, float(curve.loads[-1]), most, scale),
        "",
        Mark(0, _y(limit, scale), f"objective {quantity(limit, 's')}") if limit else None,
        None,
        *_axes(most, scale, "s"),
        f"{found.observed.title}, /s",
    )


def _points(loads: Sequence[float], values: Values, most: float, top: float, unit: str) -> tuple[Mark, ...]:
    return tuple(
        Mark(_x(load, most), _y(value, top), f"{number(load)} /s: {quantity(value, unit)}")
        for load, value in zip(loads, values.tolist(), strict=False)
        if np.isfinite(value) and load <= most and value <= top
    )


def _lines(loads: Values, values: Values, highest: float, most: float, top: float) -> tuple[str, str]:
    """The line up to the highest measured load, and beyond it."""
    inside = loads <= highest
    last = int(np.flatnonzero(inside)[-1]) if inside.any() else 0
    return _line(loads[: last + 1], values[: last + 1], most, top), _line(loads[last:], values[last:], most, top)


def _line(loads: Values, values: Values, most: float, top: float) -> str:
    every = zip(loads.tolist(), values.tolist(), strict=True)
    return " ".join(f"{_x(load, most)},{_y(value, top)}" for load, value in every if np.isfinite(value))


def _band(loads: Values, low: Values, high: Values, most: float, top: float) -> str:
    within = np.minimum(high, top)
    back = _line(loads[::-1], np.clip(low, 0, top)[::-1], most, top)
    return f"{_line(loads, np.maximum(within, 0), most, top)} {back}"


def _axes(most: float, top: float, unit: str) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    step = _step(most / 5)
    x_axis = tuple(Mark(_x(at * step, most), 0, number(at * step)) for at in range(int(most / step) + 1))
    y_axis = tuple(Mark(0, _y(top * at / 4, top), quantity(top * at / 4, unit)) for at in range(5))
    return x_axis, y_axis


def _step(least: float) -> float:
    """The next distance that ticks may have: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10 ** np.floor(np.log10(least))
    return next(float(one * power) for one in (1, 2, 2.5, 5, 10) if one * power >= least)


def _x(load: float, most: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * load / most, 1)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top, 1)

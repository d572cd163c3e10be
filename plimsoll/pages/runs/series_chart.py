"""A signal over a series of runs as a small drawing: a dot for each run, the levels, and where they change."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plimsoll.comparison.trend import Change, Course, RunMeans
from plimsoll.model.log import Values
from plimsoll.model.value_text import quantity
from plimsoll.rules.schema.signal import Signal

WIDTH, HEIGHT = 320, 84  # of the drawing
_EDGE = 6  # of the drawing, that stays free
_LEAST_RANGE = 4.0  # times the tolerance: what does not matter must not look large
_USUAL_TOLERANCE = 0.05  # of the level, where there is no treatment: the load


@dataclass(frozen=True)
class Dot:
    """A run: its place, and its name and value in words."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A change: the place between the runs before and after it."""

    x: float
    is_worse: bool


@dataclass(frozen=True)
class SeriesChart:
    """What is drawn: `steps` are the levels, each from `x1` to `x2` at `y`; `low` and `high` the values in words."""

    title: str
    label: str
    dots: tuple[Dot, ...]
    steps: tuple[tuple[float, float, float], ...]
    marks: tuple[Mark, ...]
    changes: tuple[Change, ...]
    low: str
    high: str

    @classmethod
    def of_course(cls, one: Course, runs: Sequence[RunMeans]) -> "SeriesChart":
        """A signal that was looked at."""
        title = f"{one.signal.title} of {one.subject}"
        tolerated = one.treatment.tolerated(float(one.values.mean()))
        return _drawn(title, one.signal.unit, one.values, tolerated, one.changes, runs)

    @classmethod
    def of_load(cls, signal: Signal, values: Sequence[float], runs: Sequence[RunMeans]) -> "SeriesChart":
        """The load, which is not judged."""
        array = np.array(values)
        return _drawn(f"Load: {signal.title}", signal.unit, array, _USUAL_TOLERANCE * float(array.mean()), (), runs)

    @property
    def line(self) -> str:
        """The path through the dots."""
        return "M" + "L".join(f"{one.x} {one.y}" for one in self.dots)


def _drawn(
    title: str, unit: str, values: Values, tolerated: float, changes: tuple[Change, ...], runs: Sequence[RunMeans]
) -> SeriesChart:
    low, high = float(values.min()), float(values.max())
    span = max(high - low, _LEAST_RANGE * tolerated) or 1.0
    bottom = (low + high - span) / 2
    step = (WIDTH - 2 * _EDGE) / max(1, len(values) - 1)

    def x(at: float) -> float:
        return round(_EDGE + step * at, 1)

    def y(value: float) -> float:
        return round(HEIGHT - _EDGE - (value - bottom) / span * (HEIGHT - 2 * _EDGE), 1)

    dots = [
        Dot(x(at), y(value), f"{run.name}: {quantity(value, unit)}") for at, (run, value) in _numbered(runs, values)
    ]
    firsts = [one.point.first for one in changes]
    edges = [0, *firsts, len(values)]
    last = len(values) - 1
    steps = [
        (x(max(0, start - 0.5)), x(min(end - 0.5, last)), y(float(values[start:end].mean())))
        for start, end in pairwise(edges)
    ]
    marks = tuple(Mark(x(one.point.first - 0.5), one.is_worse) for one in changes)
    between = quantity(low, unit), quantity(high, unit)
    label = f"{title} over {len(values)} runs, between {between[0]} and {between[1]}"
    return SeriesChart(title, label, tuple(dots), tuple(steps) if changes else (), marks, changes, *between)


def _numbered(runs: Sequence[RunMeans], values: Values) -> list[tuple[int, tuple[RunMeans, float]]]:
    return list(enumerate(zip(runs, values.tolist(), strict=True)))

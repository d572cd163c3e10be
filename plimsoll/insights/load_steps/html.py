"""The section about load steps: the table, the load over time, and throughput and processor time over the load."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.scalability import Law
from plimsoll.charts.chart import Chart, Charts, Line, Span
from plimsoll.insights.insight import Section
from plimsoll.insights.load_steps.find import LoadSteps
from plimsoll.insights.load_steps.table import Table, table
from plimsoll.insights.load_steps.words import sentences
from plimsoll.model.times import Zone
from plimsoll.model.value_text import quantity
from plimsoll.review.review import Review

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 46, 16, 40
_CURVE = 80  # points


@dataclass(frozen=True)
class Mark:
    """A point or a label of the curve, in the units of the drawing."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Curve:
    """Throughput and processor time over the load, to draw as SVG."""

    label: str
    points: tuple[Mark, ...]
    cpu: tuple[Mark, ...]
    law: str
    peak: Mark | None
    knee: Mark | None
    x_axis: tuple[Mark, ...]
    y_axis: tuple[Mark, ...]
    x_title: str
    y_title: str
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


@dataclass(frozen=True)
class LoadStepsSection:
    """What the section shows; `curve` is None if throughput was not recorded apart from the load."""

    sentences: tuple[str, ...]
    table: Table
    chart: Chart | None
    curve: Curve | None


def section(
    review: Review,
    steps: LoadSteps | None,
    charts: Charts | None,
    zone: Zone,
) -> Section | None:
    """The section; None if the load was not stepped."""
    if steps is None:
        return None
    chart = (
        charts.add(
            [Line(steps.load.signal.title, "samples", steps.load.samples)],
            steps.load.signal.unit,
            f"Chart: {steps.load.signal.title}, with its {len(steps.steps)} load steps shaded.",
            spans=[Span(one.start, one.end) for one in steps.steps],
        )
        if charts
        else None
    )
    return Section(LoadStepsSection(sentences(steps), table(steps, zone), chart, _curve(steps)))


def _curve(steps: LoadSteps) -> Curve | None:
    measured = steps.measured
    if not steps.answers_load or steps.throughput is None or len(measured) < 2:
        return None
    loads = np.array([one.load for one in measured])
    rates = np.array([one.throughput or 0.0 for one in measured])
    right, top = _round(float(loads.max())), _round(float(rates.max()) * 1.04)

    def x(load: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * load / right, 1)

    def y(share: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * share, 1)

    unit, load_unit = steps.throughput.signal.unit, steps.load.signal.unit
    law, peak = "", None
    if isinstance(steps.law, Law):
        at = np.linspace(0, right, _CURVE)
        law = " ".join(f"{x(float(one))},{y(float(rate) / top)}" for one, rate in zip(at, steps.law(at), strict=True))
        if steps.law.peak and steps.law.maximum:
            peak = Mark(x(steps.law.peak.value), y(steps.law.maximum.value / top), "maximum by the law")
    knee = Mark(x(steps.knee.load), y(steps.knee.value / top), "knee") if steps.knee else None
    every = zip(loads, rates, strict=True)
    values = ", ".join(f"{quantity(one, load_unit)} {quantity(rate, unit)}" for one, rate in every)
    names = f"{steps.throughput.signal.title} over {steps.load.signal.title}"
    return Curve(
        label=f"{names}: {values}.",
        points=tuple(
            Mark(
                x(one.load),
                y((one.throughput or 0) / top),
                f"Step {one.number}: {quantity(one.load, load_unit)}, {quantity(one.throughput or 0, unit)}",
            )
            for one in measured
        ),
        cpu=tuple(
            Mark(x(one.load), y(one.cpu / 100), f"Step {one.number}: processors {quantity(one.cpu, '%')}")
            for one in measured
            if one.cpu is not None and one.cpu <= 100
        ),
        law=law,
        peak=peak,
        knee=knee,
        x_axis=tuple(Mark(x(at), 0, quantity(at, "")) for at in _ticks(right)),
        y_axis=tuple(Mark(0, y(at / top), quantity(at, unit)) for at in _ticks(top)),
        x_title=f"{steps.load.signal.title}",
        y_title=steps.throughput.signal.title,
    )


def _round(value: float) -> float:
    """The next value that a scale may end at: 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten."""
    power = 10 ** np.floor(np.log10(value)) if value > 0 else 1.0
    return next(float(one * power) for one in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if one * power >= value)


def _ticks(end: float) -> Sequence[float]:
    return [end * at / 5 for at in range(6)]

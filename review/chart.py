"""The geometry of a chart: what is drawn where. The template writes it out as SVG, escaped.

Lines are thinned to the least and the greatest sample of each step, so extremes survive, and a
line is broken wherever samples are missing. All charts of a report share the run's time axis.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.log import Times, Values
from model.numbers import number
from model.run import Phase
from model.samples import Samples
from model.sampling import pauses
from model.times import Zone
from review.axes import Scale, Tick, ValueAxis, time_ticks, value_axis

WIDTH, HEIGHT = 4000, 1000  # the drawing's own units; the page stretches them over the room there is
STEPS = 600
_LABEL_WIDTH, _LABEL_HEIGHT = 0.25, 0.11  # of the plot, about what a threshold's label covers
Indexes: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class Span:
    """A time span in units of the drawing's width."""

    left: int
    width: int

    @property
    def percent(self) -> str:
        """The span as CSS."""
        return f"left:{self.left / WIDTH:.3%};width:{self.width / WIDTH:.3%}"


@dataclass(frozen=True)
class Mark:
    """A phase or breach along the top."""

    span: Span
    text: str


@dataclass(frozen=True)
class LimitLine:
    """The threshold as a line, and on which side of it its label covers the fewest samples."""

    y: int
    text: str
    side: str


@dataclass(frozen=True)
class Line:
    """One line to draw: `kind` is `samples`, `judged` or `other` and decides how it looks."""

    label: str
    kind: str
    samples: Samples


@dataclass(frozen=True)
class Drawn:
    """A line as it is drawn: the SVG path, and how many of its samples that shows."""

    label: str
    kind: str
    path: str
    samples: int
    missing: int
    gaps: int
    steps: int | None

    @property
    def how(self) -> str:
        """`1,800 samples, drawn as minimum and maximum of each of 600 steps; 12 missing, 3 gaps`."""
        drawn = f"drawn as minimum and maximum of each of {number(self.steps)} steps" if self.steps else "each drawn"
        missing = f"{number(self.missing)} missing" if self.missing else "none missing"
        gaps = f", {number(self.gaps)} gap{'s' if self.gaps > 1 else ''}" if self.gaps else ""
        return f"{number(self.samples)} sample{'s' if self.samples != 1 else ''}, {drawn}; {missing}{gaps}"


@dataclass(frozen=True)
class Chart:
    """Everything the template needs to draw one chart, and `data` for what the pointer shows."""

    label: str
    lines: tuple[Drawn, ...]
    axis: ValueAxis
    times: tuple[Tick, ...]
    phases: tuple[Mark, ...]
    breaches: tuple[Mark, ...]
    limit: LimitLine | None
    severity: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """What all charts of a report share: the run's span and phases, and the ticks of its clock."""

    start: int
    end: int
    phases: tuple[Mark, ...]
    ticks: tuple[Tick, ...]

    @classmethod
    def of(cls, start: int, end: int, phases: Sequence[Phase], zone: Zone) -> "Frame":
        """The frame of a run from `start` to `end` (UTC ns) on a zone's clock."""
        bare = cls(start, max(end, start + 1), (), ())
        inside = [phase for phase in phases if phase.end >= start and phase.start <= end]
        marks = tuple(Mark(bare.span(phase.start, phase.end), phase.name) for phase in inside)
        return cls(bare.start, bare.end, marks, time_ticks(bare.start, bare.end, zone))

    def x(self, times: Times) -> NDArray[np.int64]:
        """Where instants lie, in units of the drawing's width."""
        return np.rint((times - self.start) * (WIDTH / (self.end - self.start))).astype(np.int64)

    def span(self, start: int, end: int) -> Span:
        """A time span, cut to the frame."""
        left, right = self.x(np.clip(np.array([start, end]), self.start, self.end)).tolist()
        return Span(left, right - left)


def draw(
    frame: Frame,
    lines: Sequence[Line],
    unit: str,
    *,
    label: str,
    limit: tuple[float, str] | None = None,
    breaches: Iterable[tuple[int, int, str]] = (),
    severity: str = "info",
    steps: int = STEPS,
    marks: int = 5,
) -> Chart:
    """Draw lines of one unit over one axis.

    Args:
        frame: The run's time axis.
        lines: At most eight, in the order they are drawn.
        unit: The signal's unit.
        label: What the chart shows, for those who cannot see it.
        limit: The threshold and its label.
        breaches: Start, end (UTC ns) and a description of each.
        severity: How breaches are coloured.
        steps: How many steps a line is thinned to; with fewer samples than twice that each is drawn.
        marks: About how many ticks the value axis has.
    """
    levels = [level for line in lines for level in _extent(line.samples)] + ([limit[0]] if limit else [])
    axis = value_axis(min(levels, default=0.0), max(levels, default=1.0), unit, marks)
    traces = [_Trace.of(line.samples, frame, steps) for line in lines]
    spans = [Mark(frame.span(start, end), text) for start, end, text in breaches]
    return Chart(
        label=label,
        lines=tuple(_drawn(line, trace, frame, axis) for line, trace in zip(lines, traces, strict=True)),
        axis=axis,
        times=frame.ticks,
        phases=frame.phases,
        breaches=tuple(spans),
        limit=_limit_line(*limit, axis, frame, traces) if limit else None,
        severity=severity,
        data={
            "unit": axis.scale.unit,
            "lines": [
                _values(line, trace, frame, axis.scale, steps) for line, trace in zip(lines, traces, strict=True)
            ],
        },
    )


@dataclass(frozen=True, eq=False)
class _Trace:
    """A line's samples that are there; `chosen` are drawn, with the pen lifted where `pen` changes."""

    times: Times
    values: Values
    chosen: Indexes
    pen: Indexes
    missing: int
    gaps: int
    steps: int | None

    @classmethod
    def of(cls, samples: Samples, frame: Frame, steps: int) -> "_Trace":
        rows = np.flatnonzero(np.isfinite(samples.values))
        times, values = samples.times[rows], samples.values[rows]
        torn = (np.diff(rows) > 1) | pauses(samples.times)[rows[:-1]]
        missing, gaps = len(samples.times) - len(rows), int(np.count_nonzero(torn))
        if len(rows) <= 2 * steps:
            pen = np.concatenate(([0], np.cumsum(torn)))
            return cls(times, values, np.arange(len(rows)), pen, missing, gaps, None)
        step = (times - frame.start) * steps // (frame.end - frame.start + 1)
        turned = np.diff(step) != 0
        if gaps > steps:
            torn &= turned  # gaps narrower than a step cannot be seen; what lies within it becomes one stroke
        pen = np.concatenate(([0], np.cumsum(torn)))
        return cls(times, values, _extremes(values, turned | torn), pen, missing, gaps, steps)


def _extremes(values: Values, turned: NDArray[np.bool_]) -> Indexes:
    """The places of the least and the greatest value of each group; a group ends where `turned` is true."""
    group = np.concatenate(([0], np.cumsum(turned)))
    order = np.lexsort((values, group))
    first = np.concatenate(([0], np.flatnonzero(turned) + 1))
    last = np.concatenate((first[1:] - 1, [len(values) - 1]))
    return np.unique(np.concatenate((order[first], order[last])))


def _extent(samples: Samples) -> tuple[float, ...]:
    values = samples.values[np.isfinite(samples.values)]
    return (float(values.min()), float(values.max())) if len(values) else ()


def _drawn(line: Line, trace: _Trace, frame: Frame, axis: ValueAxis) -> Drawn:
    xs = frame.x(trace.times[trace.chosen])
    ys = _height(trace.values[trace.chosen], axis)
    path = _path(xs.tolist(), ys.tolist(), trace.pen[trace.chosen].tolist()) if len(xs) else ""
    return Drawn(line.label, line.kind, path, len(trace.times), trace.missing, trace.gaps, trace.steps)


def _height(values: Values, axis: ValueAxis) -> NDArray[np.int64]:
    return np.rint((1 - (values - axis.low) / (axis.high - axis.low)) * HEIGHT).astype(np.int64)


def _path(xs: Sequence[int], ys: Sequence[int], pens: Sequence[int]) -> str:
    """An SVG path with one M for each stretch; a stretch of one sample is a dot."""
    parts: list[str] = []
    alone = False
    for at, (x, y, pen) in enumerate(zip(xs, ys, pens, strict=True)):
        if at == 0 or pen != pens[at - 1]:
            parts.append(f"{'h0' if alone else ''}M{x} {y}")
            alone = True
        else:
            dx, dy = x - xs[at - 1], y - ys[at - 1]
            parts.append(f"{'l' if alone else '' if dx < 0 else ' '}{dx}{'' if dy < 0 else ' '}{dy}")
            alone = False
    return "".join(parts) + ("h0" if alone else "")


def _limit_line(level: float, text: str, axis: ValueAxis, frame: Frame, traces: Sequence[_Trace]) -> LimitLine:
    at = axis.place(level)
    x = np.concatenate([(trace.times - frame.start) / (frame.end - frame.start) for trace in traces] or [np.empty(0)])
    y = np.concatenate([(trace.values - axis.low) / (axis.high - axis.low) for trace in traces] or [np.empty(0)]) - at

    def covered(side: str) -> int:
        across = x > 1 - _LABEL_WIDTH if side.endswith("right") else x < _LABEL_WIDTH
        along = (y > 0) & (y < _LABEL_HEIGHT) if side.startswith("above") else (y < 0) & (y > -_LABEL_HEIGHT)
        return int(np.count_nonzero(across & along))

    room = [side for side, fits in (("above", at + _LABEL_HEIGHT <= 1), ("below", at >= _LABEL_HEIGHT)) if fits]
    sides = [f"{vertical} {horizontal}" for vertical in room or ["above"] for horizontal in ("right", "left")]
    return LimitLine(round((1 - at) * HEIGHT), text, min(sides, key=covered))


def _values(line: Line, trace: _Trace, frame: Frame, scale: Scale, steps: int) -> dict[str, Any]:
    """What the pointer shows: the least and greatest value of each step, null where there is none."""
    count = max(1, min(steps, round((frame.end - frame.start) / (line.samples.interval or 1)) + 1))
    step = (trace.times - frame.start) * count // (frame.end - frame.start + 1)
    inside = (step >= 0) & (step < count)
    step, values = step[inside], trace.values[inside]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, step, values)
    np.maximum.at(high, step, values)
    least = [_short(value * scale.factor) for value in low.tolist()]
    most = [_short(value * scale.factor) for value in high.tolist()]
    return {"label": line.label, "low": least} if least == most else {"label": line.label, "low": least, "high": most}


def _short(value: float) -> float | int | None:
    """A number with as few digits as its reading needs."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.4g}") if abs(value) < 1000 else round(value)
    return int(short) if short == int(short) else short

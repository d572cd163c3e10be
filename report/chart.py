"""The charts of a report: what each shows, and their samples within the room there is. report.js draws them.

All share the run's time axis. The first charts are the most interesting ones: where the samples of all would make
the file too large, those of later charts are thinned to the least and the greatest of each step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from model.log import Times
from model.run import Phase
from model.samples import Samples
from model.times import Zone
from model.value_text import MULTIPLES
from report.plate import FINENESS, MILLISECOND, Axis, Plate
from report.scale import scale_for

MOST_LINES = 8
_ROOM = 4_500_000  # letters of all samples together: what keeps a report below 8 MB
_MOST_SPANS = 1000  # of one chart
_CLOCK_STEPS = 400  # how finely changes of the zone's offset are looked for


@dataclass(frozen=True)
class Line:
    """One line to draw: `kind` is `samples`, `judged` or `other` and decides how it looks.

    `said` stands in the caption instead of how many samples there are.
    """

    label: str
    kind: str
    samples: Samples
    said: str = ""


@dataclass(frozen=True)
class Span:
    """A time that is shaded (UTC ns)."""

    start: int
    end: int


@dataclass(frozen=True)
class Limit:
    """A threshold, drawn as a labelled line."""

    level: float
    text: str


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart: `number` is its place in the page's data, `label` what it shows in words."""

    number: int
    label: str
    lines: tuple[Line, ...]
    plates: tuple[Plate, ...]
    severity: str

    @property
    def captions(self) -> list[tuple[str, str]]:
        """How each line was drawn, by the kind of the line; lines without a caption of their own are one."""
        told = [
            (line.kind, line.said or plate.how)
            for line, plate in zip(self.lines, self.plates, strict=True)
            if line.kind != "other" or line.said
        ]
        others = [plate for line, plate in zip(self.lines, self.plates, strict=True) if line.kind == "other"]
        if others and not any(line.said for line in self.lines if line.kind == "other"):
            told.append(("other", _together(others)))
        return told


class Album:
    """Every chart of a report, in the order of interest. `start` and `end` are those of the run (UTC ns)."""

    def __init__(self, start: int, end: int, phases: Sequence[Phase], zone: Zone, room: int = _ROOM) -> None:
        self._start, self._end = start, max(end, start + MILLISECOND)
        self._phases = phases
        self._zone = zone
        self._room = room
        self._axes: dict[bytes, Axis] = {}
        self._seen: dict[int, tuple[Times, Axis]] = {}
        self._plates: dict[tuple[int, bytes], Plate] = {}
        self._charts: list[dict[str, Any]] = []
        self._drawn: list[Chart] = []

    def add(
        self,
        lines: Sequence[Line],
        unit: str,
        label: str,
        *,
        limits: Sequence[Limit] = (),
        spans: Iterable[Span] = (),
        severity: str = "info",
        marks: int = 5,
    ) -> Chart:
        """A chart of at most eight lines of one unit; the first is the one that matters, and is drawn on top.

        Args:
            lines: The lines, all in `unit`.
            unit: The signal's unit.
            label: What the chart shows, for those who cannot see it.
            limits: The thresholds; the value axis holds all of them.
            spans: The times that are shaded.
            severity: How they are coloured.
            marks: About how many ticks the value axis has.
        """
        lines = tuple(lines[:MOST_LINES])
        plates = tuple(self._plate(line.samples, unit) for line in lines)
        highest = [float(np.nanmax(np.abs(plate.values))) for plate in plates if plate.samples]
        scale = scale_for(max([*highest, *(abs(limit.level) for limit in limits)], default=0.0), unit)
        self._charts.append({
            "unit": scale.unit,
            "factor": scale.factor,
            "binary": unit == "bytes" and unit in MULTIPLES,
            "marks": marks,
            "limits": [[limit.level, limit.text] for limit in limits],
            "spans": [[self._ms(one.start), self._ms(one.end)] for one in self._apart(list(spans))],
            "severity": severity,
        })  # fmt: skip
        chart = Chart(len(self._charts) - 1, label, lines, plates, severity)
        self._drawn.append(chart)
        return chart

    def settle(self) -> None:
        """Decide how finely each line is kept: all coarsely, then the first ones as finely as there is room."""
        plates = list(self._plates.values())
        coarse = FINENESS[-1]
        left = self._room
        for plate in plates:
            plate.steps = coarse if plate.room(coarse) < plate.room(None) else None
            left -= plate.room(plate.steps)
        paid: set[int] = set()
        for plate in plates:
            given = left + plate.room(plate.steps)
            for steps in FINENESS:
                axis = _axis_room(plate.axis) if steps is None and id(plate.axis) not in paid else 0
                if plate.room(steps) + axis <= given:
                    plate.steps = steps
                    left = given - plate.room(steps) - axis
                    paid |= {id(plate.axis)} if steps is None else set()
                    break

    def data(self) -> dict[str, Any]:
        """Everything the page needs to draw the charts."""
        span = self._ms(self._end)
        whole = [plate for plate in self._plates.values() if plate.steps is None]
        axes = list({id(plate.axis): plate.axis for plate in whole}.values())
        numbers = {id(axis): at for at, axis in enumerate(axes)}
        places = {id(plate): at for at, plate in enumerate(self._plates.values())}
        for content, chart in zip(self._charts, self._drawn, strict=True):
            content["lines"] = [
                [places[id(plate)], line.label, line.kind]
                for line, plate in zip(chart.lines, chart.plates, strict=True)
            ]
        return {
            "start": self._start // MILLISECOND,
            "span": span,
            "clock": _offsets(self._zone, self._start, self._end),
            "phases": [[one.name, self._ms(one.start), self._ms(one.end)] for one in self._phases],
            "axes": [axis.coded() for axis in axes],
            "plates": [plate.coded(numbers.get(id(plate.axis), 0), span) for plate in self._plates.values()],
            "charts": self._charts,
        }

    def _ms(self, instant: int) -> int:
        return (instant - self._start) // MILLISECOND

    def _plate(self, samples: Samples, unit: str) -> Plate:
        plate = Plate.of(samples, self._axis(samples.times), unit)
        return self._plates.setdefault(plate.key, plate)

    def _axis(self, times: Times) -> Axis:
        if id(times) not in self._seen:
            content = np.ascontiguousarray(times).tobytes()
            axis = self._axes.get(content)
            if axis is None:
                axis = self._axes[content] = Axis(times, self._start)
            self._seen[id(times)] = times, axis
        return self._seen[id(times)][1]

    def _apart(self, spans: list[Span]) -> list[Span]:
        """Of very many those that the eye cannot tell apart are one."""
        if len(spans) <= _MOST_SPANS:
            return spans
        distance = (self._end - self._start) // _MOST_SPANS
        merged: list[Span] = []
        for one in sorted(spans, key=lambda one: one.start):
            if merged and one.start - merged[-1].end <= distance:
                merged[-1] = Span(merged[-1].start, max(one.end, merged[-1].end))
            else:
                merged.append(one)
        return merged


def _together(plates: Sequence[Plate]) -> str:
    """How several lines were drawn: `6 more, 1,801 samples each, none missing`."""
    how = list(dict.fromkeys(plate.how for plate in plates))
    each = how[0].replace("samples", "samples each", 1) if len(how) == 1 and len(plates) > 1 else "; ".join(how[:3])
    return f"{len(plates)} more, {each}{', …' if len(how) > 3 else ''}"


def _axis_room(axis: Axis) -> int:
    return round(len(axis.ms) * 4 * 4 / 3)


def _offsets(zone: Zone, start: int, end: int) -> list[tuple[int, int]]:
    """From when (ms) the zone's clock was how far (min) ahead of UTC, for each change within the run."""

    def ahead(at: int) -> int:
        return (zone.local(at).utcoffset() or timedelta()) // timedelta(minutes=1)

    found = [(start // MILLISECOND, ahead(start))]
    before = start
    for step in range(1, _CLOCK_STEPS + 1):
        at = start + (end - start) * step // _CLOCK_STEPS
        if ahead(at) != found[-1][1]:
            low, high = before, at
            while high - low > MILLISECOND:
                middle = (low + high) // 2
                low, high = (middle, high) if ahead(middle) == found[-1][1] else (low, middle)
            found.append((high // MILLISECOND, ahead(at)))
        before = at
    return found

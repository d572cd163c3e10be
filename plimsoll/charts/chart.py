"""The charts of a report: what each shows, and their samples within the size a report may have. report.js draws them.

All share the run's time axis. The first charts are the most interesting ones: where the samples of all charts would
make the file too large, later ones are reduced to the minimum and maximum of each step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np

from plimsoll.charts.line_samples import MILLISECOND, RESOLUTIONS, LineSamples, TimeAxis
from plimsoll.charts.scale import scale_for
from plimsoll.model.chart_lines import Limit, Line, Span
from plimsoll.model.log import Times
from plimsoll.model.run import Phase
from plimsoll.model.times import Zone
from plimsoll.model.value_text import MULTIPLES

MOST_LINES = 8
_MOST_CHARACTERS = 4_500_000  # of all samples together: keeps a report below 8 MB
_MOST_SPANS = 1000  # of one chart
_CLOCK_STEPS = 400  # instants at which the zone's offset is compared to find its changes


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart: `number` is its index in the page's data, `label` what it shows in words."""

    number: int
    label: str
    lines: tuple[Line, ...]
    samples: tuple[LineSamples, ...]
    severity: str

    @property
    def captions(self) -> list[tuple[str, str]]:
        """A caption for each line, after the kind of the line; other lines without their own caption share one."""
        pairs = list(zip(self.lines, self.samples, strict=True))
        captions = [
            (line.kind, line.caption or samples.caption)
            for line, samples in pairs
            if line.kind != "other" or line.caption
        ]
        others = [samples for line, samples in pairs if line.kind == "other"]
        if others and not any(line.caption for line in self.lines if line.kind == "other"):
            captions.append(("other", _shared_caption(others)))
        return captions


class Charts:
    """Every chart of a report, the most interesting first. `start` and `end` are those of the run (UTC ns).

    `unsure` are times in which a phase begins or ends, where that is not known exactly.
    """

    def __init__(
        self,
        start: int,
        end: int,
        phases: Sequence[Phase],
        zone: Zone,
        most_characters: int = _MOST_CHARACTERS,
        unsure: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._start, self._end = start, max(end, start + MILLISECOND)
        self._phases = phases
        self._unsure = unsure
        self._zone = zone
        self._most_characters = most_characters
        self._axes: dict[tuple[bytes, bool], TimeAxis] = {}
        self._known_times: dict[int, tuple[Times, TimeAxis]] = {}
        self._samples: dict[tuple[int, bytes], LineSamples] = {}
        self._encoded: list[dict[str, Any]] = []
        self._charts: list[Chart] = []

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
        """A chart of at most eight lines of one unit; the first matters most and is drawn on top.

        Args:
            lines: The lines, all in `unit`.
            unit: The signal's unit.
            label: What the chart shows, for those who cannot see it.
            limits: The thresholds; the value axis includes all of them.
            spans: The times that are shaded.
            severity: The colour of the shaded times.
            marks: About how many ticks the value axis has.
        """
        lines = tuple(lines[:MOST_LINES])
        samples = tuple(self._line_samples(line, unit) for line in lines)
        highest = [float(np.nanmax(np.abs(one.values))) for one in samples if one.count]
        scale = scale_for(max([*highest, *(abs(limit.level) for limit in limits)], default=0.0), unit)
        self._encoded.append({
            "unit": scale.unit,
            "factor": scale.factor,
            "binary": unit == "bytes" and unit in MULTIPLES,
            "marks": marks,
            "limits": [[limit.level, limit.text, limit.severity] for limit in limits],
            "spans": [[self._ms(one.start), self._ms(one.end), *one.own] for one in self._merged(list(spans))],
            "severity": severity,
            "strong": [at for at, line in enumerate(lines) if line.strong],
        })  # fmt: skip
        chart = Chart(len(self._charts), label, lines, samples, severity)
        self._charts.append(chart)
        return chart

    def choose_resolutions(self) -> None:
        """Reduce all lines to the coarsest resolution, then give the first ones the finest that still fits."""
        every = list(self._samples.values())
        coarsest = RESOLUTIONS[-1]
        left = self._most_characters
        for one in every:
            one.steps = coarsest if one.size(coarsest) < one.size(None) else None
            left -= one.size(one.steps)
        stored_axes: set[int] = set()
        for one in every:
            available = left + one.size(one.steps)
            for steps in RESOLUTIONS:
                axis = one.axis.size if steps is None and id(one.axis) not in stored_axes else 0
                if one.size(steps) + axis <= available:
                    one.steps = steps
                    left = available - one.size(steps) - axis
                    stored_axes |= {id(one.axis)} if steps is None else set()
                    break

    def data(self) -> dict[str, Any]:
        """Everything the page needs to draw the charts."""
        span = self._ms(self._end)
        complete = [one for one in self._samples.values() if one.steps is None]
        axes = list({id(one.axis): one.axis for one in complete}.values())
        axis_numbers = {id(axis): at for at, axis in enumerate(axes)}
        numbers = {id(one): at for at, one in enumerate(self._samples.values())}
        for encoded, chart in zip(self._encoded, self._charts, strict=True):
            encoded["lines"] = [
                [numbers[id(samples)], line.label, line.kind]
                for line, samples in zip(chart.lines, chart.samples, strict=True)
            ]
        return {
            "start": self._start // MILLISECOND,
            "span": span,
            "clock": _offsets(self._zone, self._start, self._end),
            "phases": [[one.name, self._ms(one.start), self._ms(one.end)] for one in self._phases],
            "unsure": [[self._ms(low), self._ms(high)] for low, high in self._unsure],
            "axes": [axis.encoded() for axis in axes],
            "samples": [one.encoded(axis_numbers.get(id(one.axis), 0), span) for one in self._samples.values()],
            "charts": self._encoded,
        }

    def _ms(self, instant: int) -> int:
        return (instant - self._start) // MILLISECOND

    def _line_samples(self, line: Line, unit: str) -> LineSamples:
        samples = LineSamples.of(line.samples, self._axis(line.samples.times, line.marked), unit)
        return self._samples.setdefault(samples.key, samples)

    def _axis(self, times: Times, marked: bool) -> TimeAxis:
        if id(times) not in self._known_times:
            content = (np.ascontiguousarray(times).tobytes(), marked)
            axis = self._axes.get(content)
            if axis is None:
                axis = self._axes[content] = TimeAxis(times, self._start, marked=marked)
            self._known_times[id(times)] = times, axis
        return self._known_times[id(times)][1]

    def _merged(self, spans: list[Span]) -> list[Span]:
        """The spans; where there are very many, those too close together to be seen apart are merged."""
        if len(spans) <= _MOST_SPANS:
            return spans
        distance = (self._end - self._start) // _MOST_SPANS
        merged: list[Span] = []
        for one in sorted(spans, key=lambda one: one.start):
            if merged and one.start - merged[-1].end <= distance:
                merged[-1] = replace(merged[-1], end=max(one.end, merged[-1].end))
            else:
                merged.append(one)
        return merged


def _shared_caption(several: Sequence[LineSamples]) -> str:
    """One caption for several lines: `6 more, 1,801 samples each, none missing`."""
    captions = list(dict.fromkeys(one.caption for one in several))
    if len(captions) == 1 and len(several) > 1:
        text = captions[0].replace("samples", "samples each", 1)
    else:
        text = "; ".join(captions[:3])
    return f"{len(several)} more, {text}{', …' if len(captions) > 3 else ''}"


def _offsets(zone: Zone, start: int, end: int) -> list[tuple[int, int]]:
    """The zone's offset from UTC (min) at the start and at each change within the run, after its time (ms)."""

    def offset(at: int) -> int:
        return (zone.local(at).utcoffset() or timedelta()) // timedelta(minutes=1)

    found = [(start // MILLISECOND, offset(start))]
    before = start
    for step in range(1, _CLOCK_STEPS + 1):
        at = start + (end - start) * step // _CLOCK_STEPS
        if offset(at) != found[-1][1]:
            low, high = before, at
            while high - low > MILLISECOND:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == found[-1][1] else (low, middle)
            found.append((high // MILLISECOND, offset(at)))
        before = at
    return found

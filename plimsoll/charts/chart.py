"""The charts of a page, with samples reduced so that the page stays small. report.js draws the charts.

All charts share the run's time axis. The most interesting charts come first: if the samples of all would make the page
too large, lines of later charts are reduced to the minimum and maximum of each time step.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.document import ChartLimit, ChartSeries, Span
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values, find_pauses
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import Zone
from plimsoll.model.value_text import MULTIPLES, number


@dataclass(frozen=True, slots=True)
class Scale:
    """The factor that converts values to a multiple of their unit, and the name of that multiple, such as `GB`."""

    factor: float
    unit: str


MILLISECOND = 1_000_000
# The steps a line is reduced to, finest first: None keeps every sample.
RESOLUTIONS: tuple[int | None, ...] = (None, 600, 120)
_BASE64 = 4 / 3  # characters for each byte
_EXACT = 2**24  # 32-bit floats hold whole numbers up to this exactly


class TimeAxis:
    """The times of a recording, in ms since the start of the run, shared by the lines of the recording.

    `ms` has an additional time in each pause of the recording, at which each line is NaN and so ends. If `marked`, the
    recording already has a row of NaN in each pause, and no time is added.
    """

    def __init__(self, times: Times, start: int, *, marked: bool = False) -> None:
        self._paused = np.flatnonzero([] if marked else find_pauses(times)) + 1
        before, after = times[self._paused - 1], times[self._paused]
        filled = np.insert(times, self._paused, before + (after - before) // 2)
        self.ms: Times = (filled - start) // MILLISECOND

    def values(self, recorded: Values) -> Values:
        """Return recorded values with NaN in each pause and for each missing sample."""
        recorded = np.where(np.isfinite(recorded), recorded, np.nan)
        return np.insert(recorded, self._paused, np.nan) if len(self._paused) else recorded

    @property
    def size(self) -> int:
        """The number of characters that the times take in the page; only lines that are not reduced need the times."""
        return round(len(self.ms) * 4 * _BASE64)

    def encoded(self) -> dict[str, Any]:
        """Return the times as JSON for the page, as start, interval and count if they are regular."""
        steps = np.diff(self.ms)
        if len(steps) and (steps == steps[0]).all():
            return {"from": int(self.ms[0]), "every": int(steps[0]), "rows": len(self.ms)}
        return _encode_times(self.ms)


@dataclass(eq=False)
class LineSamples:
    """The values of one line on its time axis.

    `steps` is the number of time steps to which the line is reduced; None keeps every sample. A line is `wide` if its
    values need 64-bit floats.
    """

    axis: TimeAxis
    values: Values
    count: int
    missing: int
    gaps: int
    wide: bool
    steps: int | None = None

    @classmethod
    def of(cls, samples: Samples, axis: TimeAxis, unit: str) -> "LineSamples":
        """Return the line of these samples, whose values are in `unit`."""
        values = axis.values(samples.values)
        rows = np.flatnonzero(np.isfinite(values))
        largest = float(np.abs(values[rows]).max(initial=0))
        wide = largest > 1e30 or (largest >= _EXACT and unit not in MULTIPLES)
        gaps = int(np.count_nonzero(np.diff(rows) > 1))
        return cls(axis, values, len(rows), len(samples.times) - len(rows), gaps, wide)

    @property
    def key(self) -> tuple[int, bytes]:
        """A key that is equal for lines with equal times and values, which the page stores only once."""
        return id(self.axis), hashlib.blake2b(self.values.tobytes(), digest_size=16).digest()

    @property
    def caption(self) -> str:
        """The caption of the line: `1,800 samples, 12 missing, 3 gaps`, and the resolution if it is reduced."""
        kept = (
            f", kept as minimum and maximum of each of {number(self.steps)} steps so that this file stays small"
            if self.steps
            else ""
        )
        missing = f"{number(self.missing)} missing" if self.missing else "none missing"
        gaps = f", {number(self.gaps)} gap{'s' if self.gaps > 1 else ''}" if self.gaps else ""
        return f"{number(self.count)} sample{'s' if self.count != 1 else ''}{kept}, {missing}{gaps}"

    def size(self, steps: int | None) -> int:
        """Return the most characters that the line's values, reduced to `steps`, take in the page, without the axis."""
        if steps is None:
            return round(len(self.values) * (8 if self.wide else 4) * _BASE64)
        points = 2 * steps + min(self.gaps, 2 * steps)
        return round(points * (12 if self.wide else 8) * _BASE64)

    def encoded(self, axis: int, span: int) -> dict[str, Any]:
        """Return the line's values as JSON for the page.

        `axis` is the index of its time axis in the page's data, `span` the length of the run (ms).
        """
        if self.steps is not None:
            times, values = _reduce_samples(self.axis.ms, self.values, self.steps, span)
            return _encode_times(times) | self._encode_values(values)
        first = float(self.values[0]) if len(self.values) else 0.0
        if (self.values == first).all():
            return {"axis": axis, "all": first}
        return {"axis": axis} | self._encode_values(self.values)

    def _encode_values(self, values: Values) -> dict[str, Any]:
        with np.errstate(over="ignore", under="ignore"):
            return {"wide": _encode_base64(values, "<f8")} if self.wide else {"values": _encode_base64(values, "<f4")}


MOST_LINES = 8
_MOST_CHARACTERS = 4_500_000  # of all samples together: keeps a report below 8 MB
_MOST_SPANS = 1000  # of one chart
_CLOCK_STEPS = 400  # instants at which the zone's offset is compared to find its changes


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart, with the `number` by which the page's data lists it.

    `label` describes the chart to readers who cannot see it.
    """

    number: int
    label: str
    lines: tuple[ChartSeries, ...]
    samples: tuple[LineSamples, ...]
    severity: str

    @property
    def captions(self) -> list[tuple[str, str]]:
        """Pairs of a line's kind and its caption; lines of kind `other` share one caption if none has its own."""
        pairs = list(zip(self.lines, self.samples, strict=True))
        captions = [
            (line.kind, line.caption or samples.caption)
            for line, samples in pairs
            if line.kind != "other" or line.caption
        ]
        samples_list = [samples for line, samples in pairs if line.kind == "other"]
        if samples_list and not any(line.caption for line in self.lines if line.kind == "other"):
            captions.append(("other", _format_shared_caption(samples_list)))
        return captions


class Charts:
    """All charts of a page, the most interesting first, over the time from `start` to `end` of the run (UTC ns).

    `unsure` are the ranges of time within which a phase begins or ends.
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
        lines: Sequence[ChartSeries],
        unit: str,
        label: str,
        *,
        limits: Sequence[ChartLimit] = (),
        spans: Iterable[Span] = (),
        severity: str = "info",
        marks: int = 5,
    ) -> Chart:
        """Add a chart of at most eight lines that have the same unit. The first line is drawn on top.

        `label` describes the chart to readers who cannot see it. The value axis includes all `limits`, and has about
        `marks` ticks. `spans` of time are shaded in the colour of `severity`.
        """
        lines = tuple(lines[:MOST_LINES])
        new = [LineSamples.of(line.samples, self._build_axis(line.samples.times, line.marked), unit) for line in lines]
        samples = tuple(self._samples.setdefault(line_samples.key, line_samples) for line_samples in new)
        highest = [float(np.nanmax(np.abs(sample.values))) for sample in samples if sample.count]
        scale = scale_for(max([*highest, *(abs(limit.level) for limit in limits)], default=0.0), unit)
        self._encoded.append({
            "unit": scale.unit,
            "factor": scale.factor,
            "binary": unit == "bytes" and unit in MULTIPLES,
            "marks": marks,
            "limits": [[limit.level, limit.text, limit.severity] for limit in limits],
            "spans": [
                [self._convert_to_ms(span.start), self._convert_to_ms(span.end), *span.severity_list]
                for span in self._merge_spans(list(spans))
            ],
            "severity": severity,
            "strong": [at for at, line in enumerate(lines) if line.strong],
        })  # fmt: skip
        chart = Chart(len(self._charts), label, lines, samples, severity)
        self._charts.append(chart)
        return chart

    def choose_resolutions(self) -> None:
        """Choose the resolution of all lines so that the page is not too large.

        All lines get the coarsest resolution; then each line, in order, gets the finest resolution that fits.
        """
        line_samples_list = list(self._samples.values())
        coarsest = RESOLUTIONS[-1]
        left = self._most_characters
        for line_samples in line_samples_list:
            line_samples.steps = coarsest if line_samples.size(coarsest) < line_samples.size(None) else None
            left -= line_samples.size(line_samples.steps)
        stored_axes: set[int] = set()
        for line_samples in line_samples_list:
            available = left + line_samples.size(line_samples.steps)
            for steps in RESOLUTIONS:
                axis = line_samples.axis.size if steps is None and id(line_samples.axis) not in stored_axes else 0
                if line_samples.size(steps) + axis <= available:
                    line_samples.steps = steps
                    left = available - line_samples.size(steps) - axis
                    stored_axes |= {id(line_samples.axis)} if steps is None else set()
                    break

    def data(self) -> dict[str, Any]:
        """Return everything that the page needs to draw the charts, as JSON."""
        span = self._convert_to_ms(self._end)
        complete = [sample for sample in self._samples.values() if sample.steps is None]
        axes = list({id(line_samples.axis): line_samples.axis for line_samples in complete}.values())
        axis_numbers = {id(axis): at for at, axis in enumerate(axes)}
        numbers = {id(sample): at for at, sample in enumerate(self._samples.values())}
        for encoded, chart in zip(self._encoded, self._charts, strict=True):
            encoded["lines"] = [
                [numbers[id(samples)], line.label, line.kind]
                for line, samples in zip(chart.lines, chart.samples, strict=True)
            ]
        return {
            "start": self._start // MILLISECOND,
            "span": span,
            "clock": _list_offsets(self._zone, self._start, self._end),
            "phases": [
                [phase.name, self._convert_to_ms(phase.start), self._convert_to_ms(phase.end)] for phase in self._phases
            ],
            "unsure": [[self._convert_to_ms(low), self._convert_to_ms(high)] for low, high in self._unsure],
            "axes": [axis.encoded() for axis in axes],
            "samples": [
                sample.encoded(axis_numbers.get(id(sample.axis), 0), span) for sample in self._samples.values()
            ],
            "charts": self._encoded,
        }

    def _convert_to_ms(self, instant: int) -> int:
        return (instant - self._start) // MILLISECOND

    def _build_axis(self, times: Times, marked: bool) -> TimeAxis:
        if id(times) not in self._known_times:
            content = (np.ascontiguousarray(times).tobytes(), marked)
            axis = self._axes.get(content)
            if axis is None:
                axis = self._axes[content] = TimeAxis(times, self._start, marked=marked)
            self._known_times[id(times)] = times, axis
        return self._known_times[id(times)][1]

    def _merge_spans(self, spans: list[Span]) -> list[Span]:
        """Return the spans; if they are very many, merge spans with gaps too narrow to see."""
        if len(spans) <= _MOST_SPANS:
            return spans
        distance = (self._end - self._start) // _MOST_SPANS
        merged: list[Span] = []
        for span in sorted(spans, key=lambda span: span.start):
            if merged and span.start - merged[-1].end <= distance:
                merged[-1] = replace(merged[-1], end=max(span.end, merged[-1].end))
            else:
                merged.append(span)
        return merged


def _format_shared_caption(several: Sequence[LineSamples]) -> str:
    """Return the caption that several lines share: `6 more, 1,801 samples each, none missing`."""
    captions = list(dict.fromkeys(line_samples.caption for line_samples in several))
    if len(captions) == 1 and len(several) > 1:
        text = captions[0].replace("samples", "samples each", 1)
    else:
        text = "; ".join(captions[:3])
    return f"{len(several)} more, {text}{', …' if len(captions) > 3 else ''}"


def _list_offsets(zone: Zone, start: int, end: int) -> list[tuple[int, int]]:
    """Return pairs of time (ms) and the zone's offset from UTC (min), at the start and at each change of the offset."""

    def offset(at: int) -> int:
        return (zone.local(at).utcoffset() or timedelta()) // timedelta(minutes=1)

    changes = [(start // MILLISECOND, offset(start))]
    before = start
    for step in range(1, _CLOCK_STEPS + 1):
        at = start + (end - start) * step // _CLOCK_STEPS
        if offset(at) != changes[-1][1]:
            low, high = before, at
            while high - low > MILLISECOND:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == changes[-1][1] else (low, middle)
            changes.append((high // MILLISECOND, offset(at)))
        before = at
    return changes


def _reduce_samples(ms: Times, values: Values, steps: int, span: int) -> tuple[Times, Values]:
    """Return the times and values of the minimum and maximum in each time step, with a NaN value in each gap."""
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        return ms[:0], values[:0]
    ms, values = ms[rows], values[rows]
    step_ends = np.diff(ms * steps // (span + 1)) != 0
    gap_follows = np.diff(rows) > 1
    if np.count_nonzero(gap_follows) > steps:
        gap_follows &= step_ends  # gaps within a step are too narrow to see
    group_ends = step_ends | gap_follows
    group = np.concatenate(([0], np.cumsum(group_ends)))
    order = np.lexsort((values, group))
    first = np.concatenate(([0], np.flatnonzero(group_ends) + 1))
    last = np.concatenate((first[1:] - 1, [len(values) - 1]))
    chosen = np.unique(np.concatenate((order[first], order[last])))
    part = np.concatenate(([0], np.cumsum(gap_follows)))[chosen]
    after_gap = np.flatnonzero(np.diff(part)) + 1
    times = ms[chosen]
    between = (times[after_gap - 1] + times[after_gap]) // 2
    return np.insert(times, after_gap, between), np.insert(values[chosen], after_gap, np.nan)


def _encode_times(ms: Times) -> dict[str, Any]:
    small = not len(ms) or (int(ms.min()) >= 0 and int(ms.max()) < 2**32)
    return {"ms": _encode_base64(ms, "<u4")} if small else {"wide_ms": _encode_base64(ms, "<f8")}


def _encode_base64(values: NDArray[Any], kind: str) -> str:
    return b64encode(values.astype(kind).tobytes()).decode()


def scale_for(largest: float, unit: str) -> Scale:
    """Return the scale to a multiple of a unit in which numbers up to `largest` are short."""
    for size, name in MULTIPLES.get(unit, ()):
        if largest >= size:
            return Scale(1 / size, name)
    if unit == "s" and 0 < largest < 1:
        return Scale(1000, "ms")
    return Scale(1, unit)

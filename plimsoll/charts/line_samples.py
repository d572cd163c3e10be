"""The samples of one line as the page stores them: all, or to save space the minimum and maximum of each step."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import pauses
from plimsoll.model.value_text import MULTIPLES, number

MILLISECOND = 1_000_000
# The steps a line is reduced to, finest first: None keeps every sample.
RESOLUTIONS: tuple[int | None, ...] = (None, 600, 120)
_BASE64 = 4 / 3  # characters for each byte
_EXACT = 2**24  # 32-bit floats hold whole numbers up to this exactly


class TimeAxis:
    """The times of a recording, in ms since the start of the run; its lines share them.

    Each pause of the recording gets a row without a value, so that no line is drawn across it; if pauses are `marked`,
    each has its row.
    """

    def __init__(self, times: Times, start: int, *, marked: bool = False) -> None:
        self._paused = np.flatnonzero([] if marked else pauses(times)) + 1
        before, after = times[self._paused - 1], times[self._paused]
        filled = np.insert(times, self._paused, before + (after - before) // 2)
        self.ms: Times = (filled - start) // MILLISECOND

    def values(self, recorded: Values) -> Values:
        """Recorded values with NaN in each pause and for each missing sample."""
        recorded = np.where(np.isfinite(recorded), recorded, np.nan)
        return np.insert(recorded, self._paused, np.nan) if len(self._paused) else recorded

    @property
    def size(self) -> int:
        """How many characters the times take in the page where every sample is kept."""
        return round(len(self.ms) * 4 * _BASE64)

    def encoded(self) -> dict[str, Any]:
        """For the page: start, interval and number of rows where they are regular, else every time."""
        steps = np.diff(self.ms)
        if len(steps) and (steps == steps[0]).all():
            return {"from": int(self.ms[0]), "every": int(steps[0]), "rows": len(self.ms)}
        return _encoded_times(self.ms)


@dataclass(eq=False)
class LineSamples:
    """The values of one line. `steps` is its resolution; None keeps every sample.

    `wide` lines need 64-bit floats.
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
        """The line of these samples, whose values are in `unit`."""
        values = axis.values(samples.values)
        rows = np.flatnonzero(np.isfinite(values))
        largest = float(np.abs(values[rows]).max(initial=0))
        wide = largest > 1e30 or (largest >= _EXACT and unit not in MULTIPLES)
        gaps = int(np.count_nonzero(np.diff(rows) > 1))
        return cls(axis, values, len(rows), len(samples.times) - len(rows), gaps, wide)

    @property
    def key(self) -> tuple[int, bytes]:
        """Equal for lines with the same times and values."""
        return id(self.axis), hashlib.blake2b(self.values.tobytes(), digest_size=16).digest()

    @property
    def caption(self) -> str:
        """`1,800 samples, 12 missing, 3 gaps`, and the resolution where it is reduced."""
        kept = (
            f", kept as minimum and maximum of each of {number(self.steps)} steps so that this file stays small"
            if self.steps
            else ""
        )
        missing = f"{number(self.missing)} missing" if self.missing else "none missing"
        gaps = f", {number(self.gaps)} gap{'s' if self.gaps > 1 else ''}" if self.gaps else ""
        return f"{number(self.count)} sample{'s' if self.count != 1 else ''}{kept}, {missing}{gaps}"

    def size(self, steps: int | None) -> int:
        """How many characters it takes at most at a resolution, without its axis."""
        if steps is None:
            return round(len(self.values) * (8 if self.wide else 4) * _BASE64)
        points = 2 * steps + min(self.gaps, 2 * steps)
        return round(points * (12 if self.wide else 8) * _BASE64)

    def encoded(self, axis: int, span: int) -> dict[str, Any]:
        """For the page; `axis` is the number of its axis there, `span` the length of the run in ms."""
        if self.steps is not None:
            times, values = _reduced(self.axis.ms, self.values, self.steps, span)
            return _encoded_times(times) | self._encoded_values(values)
        first = float(self.values[0]) if len(self.values) else 0.0
        if (self.values == first).all():
            return {"axis": axis, "all": first}
        return {"axis": axis} | self._encoded_values(self.values)

    def _encoded_values(self, values: Values) -> dict[str, Any]:
        with np.errstate(over="ignore", under="ignore"):
            return {"wide": _base64(values, "<f8")} if self.wide else {"values": _base64(values, "<f4")}


def _reduced(ms: Times, values: Values, steps: int, span: int) -> tuple[Times, Values]:
    """The minimum and maximum of each step, at their times; a row without a value marks each gap."""
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        return ms[:0], values[:0]
    ms, values = ms[rows], values[rows]
    step_ends = np.diff(ms * steps // (span + 1)) != 0
    gap_follows = np.diff(rows) > 1
    if np.count_nonzero(gap_follows) > steps:
        gap_follows &= step_ends  # gaps within a step are too narrow to see
    chosen = _extremes(values, step_ends | gap_follows)
    part = np.concatenate(([0], np.cumsum(gap_follows)))[chosen]
    after_gap = np.flatnonzero(np.diff(part)) + 1
    times = ms[chosen]
    between = (times[after_gap - 1] + times[after_gap]) // 2
    return np.insert(times, after_gap, between), np.insert(values[chosen], after_gap, np.nan)


def _extremes(values: Values, group_ends: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The indices of the minimum and maximum of each group; a group ends where `group_ends` is true."""
    group = np.concatenate(([0], np.cumsum(group_ends)))
    order = np.lexsort((values, group))
    first = np.concatenate(([0], np.flatnonzero(group_ends) + 1))
    last = np.concatenate((first[1:] - 1, [len(values) - 1]))
    return np.unique(np.concatenate((order[first], order[last])))


def _encoded_times(ms: Times) -> dict[str, Any]:
    small = not len(ms) or (int(ms.min()) >= 0 and int(ms.max()) < 2**32)
    return {"ms": _base64(ms, "<u4")} if small else {"wide_ms": _base64(ms, "<f8")}


def _base64(values: NDArray[Any], kind: str) -> str:
    return b64encode(values.astype(kind).tobytes()).decode()

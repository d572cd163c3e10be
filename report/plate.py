"""The samples of one line as a report holds them: all of them, or the extremes of each step where room is short."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.log import Times, Values
from model.samples import Samples
from model.sampling import pauses
from model.value_text import MULTIPLES, number

MILLISECOND = 1_000_000
# How finely a line is kept, the best first: None is every sample.
FINENESS: tuple[int | None, ...] = (None, 600, 120)
_LETTERS_PER_BYTE = 4 / 3
_EXACT = 2**24  # whole numbers up to here fit 32 bits


class Axis:
    """The times of a recording, in ms since the start of the run, shared by its lines.

    A row without a value stands in every pause, so that no line is drawn across it.
    """

    def __init__(self, times: Times, start: int) -> None:
        self._paused = np.flatnonzero(pauses(times)) + 1
        before, after = times[self._paused - 1], times[self._paused]
        filled = np.insert(times, self._paused, before + (after - before) // 2)
        self.ms: Times = (filled - start) // MILLISECOND

    def spread(self, values: Values) -> Values:
        """Values at the recording's own times as values at those of the axis; NaN is no sample."""
        values = np.where(np.isfinite(values), values, np.nan)
        return np.insert(values, self._paused, np.nan) if len(self._paused) else values

    def coded(self) -> dict[str, Any]:
        """For the page: the times, or only how they are made where they are regular."""
        steps = np.diff(self.ms)
        if len(steps) and (steps == steps[0]).all():
            return {"from": int(self.ms[0]), "every": int(steps[0]), "rows": len(self.ms)}
        return _times(self.ms)


@dataclass(eq=False)
class Plate:
    """One line's values on an axis. `steps` says how finely it is kept."""

    axis: Axis
    values: Values
    samples: int
    missing: int
    gaps: int
    wide: bool
    steps: int | None = None

    @classmethod
    def of(cls, samples: Samples, axis: Axis, unit: str) -> "Plate":
        """A line whose values are of a unit."""
        values = axis.spread(samples.values)
        rows = np.flatnonzero(np.isfinite(values))
        largest = float(np.abs(values[rows]).max(initial=0))
        wide = largest > 1e30 or (largest >= _EXACT and unit not in MULTIPLES)
        gaps = int(np.count_nonzero(np.diff(rows) > 1))
        return cls(axis, values, len(rows), len(samples.times) - len(rows), gaps, wide)

    @property
    def key(self) -> tuple[int, bytes]:
        """Equal for lines that show the same."""
        return id(self.axis), hashlib.blake2b(self.values.tobytes(), digest_size=16).digest()

    @property
    def how(self) -> str:
        """`1,800 samples, 12 missing, 3 gaps`, and how they are kept where not every one is."""
        kept = (
            f", kept as minimum and maximum of each of {number(self.steps)} steps so that this file stays small"
            if self.steps
            else ""
        )
        missing = f"{number(self.missing)} missing" if self.missing else "none missing"
        gaps = f", {number(self.gaps)} gap{'s' if self.gaps > 1 else ''}" if self.gaps else ""
        return f"{number(self.samples)} sample{'s' if self.samples != 1 else ''}{kept}, {missing}{gaps}"

    def room(self, steps: int | None) -> int:
        """How many letters it takes at most, its axis aside."""
        if steps is None:
            return round(len(self.values) * (8 if self.wide else 4) * _LETTERS_PER_BYTE)
        points = 2 * steps + min(self.gaps, 2 * steps)
        return round(points * (12 if self.wide else 8) * _LETTERS_PER_BYTE)

    def coded(self, axis: int, span: int) -> dict[str, Any]:
        """For the page; `axis` is the number of its axis, `span` the length of the run in ms."""
        if self.steps is not None:
            times, values = _thinned(self.axis.ms, self.values, self.steps, span)
            return _times(times) | self._numbers(values)
        first = float(self.values[0]) if len(self.values) else 0.0
        if (self.values == first).all():
            return {"axis": axis, "all": first}
        return {"axis": axis} | self._numbers(self.values)

    def _numbers(self, values: Values) -> dict[str, Any]:
        with np.errstate(over="ignore", under="ignore"):
            return {"wide": _letters(values, "<f8")} if self.wide else {"values": _letters(values, "<f4")}


def _thinned(ms: Times, values: Values, steps: int, span: int) -> tuple[Times, Values]:
    """The least and the greatest value of each step, at their times; a row without a value stands in each gap."""
    rows = np.flatnonzero(np.isfinite(values))
    if not len(rows):
        return ms[:0], values[:0]
    ms, values = ms[rows], values[rows]
    turned = np.diff(ms * steps // (span + 1)) != 0
    torn = np.diff(rows) > 1
    if np.count_nonzero(torn) > steps:
        torn &= turned  # gaps narrower than a step cannot be seen; what lies within it becomes one stroke
    chosen = _extremes(values, turned | torn)
    pen = np.concatenate(([0], np.cumsum(torn)))[chosen]
    lifted = np.flatnonzero(np.diff(pen)) + 1
    times = ms[chosen]
    between = (times[lifted - 1] + times[lifted]) // 2
    return np.insert(times, lifted, between), np.insert(values[chosen], lifted, np.nan)


def _extremes(values: Values, turned: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The places of the least and the greatest value of each group; a group ends where `turned` is true."""
    group = np.concatenate(([0], np.cumsum(turned)))
    order = np.lexsort((values, group))
    first = np.concatenate(([0], np.flatnonzero(turned) + 1))
    last = np.concatenate((first[1:] - 1, [len(values) - 1]))
    return np.unique(np.concatenate((order[first], order[last])))


def _times(ms: Times) -> dict[str, Any]:
    small = not len(ms) or (int(ms.min()) >= 0 and int(ms.max()) < 2**32)
    return {"ms": _letters(ms, "<u4")} if small else {"wide_ms": _letters(ms, "<f8")}


def _letters(values: NDArray[Any], kind: str) -> str:
    return b64encode(values.astype(kind).tobytes()).decode()

"""Sparklines: the values of the last hour as one SVG path, with room for the limit."""

from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from model.log import Times, Values
from model.times import SECOND
from rules.healthy import Worse

_MINUTE = 60 * SECOND
WIDTH, HEIGHT = 60, 24  # of the drawing; a minute is 1 wide


@dataclass(frozen=True, slots=True)
class Sparkline:
    """An SVG path in a drawing of WIDTH by HEIGHT, and where in it the limit is, counted from the top."""

    path: str
    limit: int | None


class Recent:
    """The values of the last hour: of each minute the worst one, so that no short crossing is lost."""

    def __init__(self, worse: Worse) -> None:
        self._worst = np.fmin if worse == "lower" else np.fmax
        self._values = np.full(WIDTH, np.nan)
        self._newest = 0  # the minute of the last value, since 1970

    def add(self, times: Times, values: Values) -> None:
        """Add values at some times (UTC ns, ascending); NaN is no value."""
        minutes = times // _MINUTE
        passed = min(int(minutes[-1]) - self._newest, WIDTH)
        if passed > 0:
            self._values = np.concatenate([self._values[passed:], np.full(passed, np.nan)])
            self._newest = int(minutes[-1])
        places = minutes - (self._newest - WIDTH + 1)
        inside = places >= 0
        self._worst.at(self._values, places[inside], values[inside])

    def drawn(self, until: int, limit: float | None) -> Sparkline | None:
        """The sparkline of the hour that ends at `until` (UTC ns); None without any value."""
        gone = max(0, until // _MINUTE - self._newest)
        values = self._values[gone:]
        known = ~np.isnan(values)
        if not known.any():
            return None
        shown = np.append(values[known], 0.0 if limit is None else [0.0, limit])
        low, high = shown.min(), shown.max()
        rise = (HEIGHT - 3) / (high - low) if high > low else 0.0
        heights = np.rint(HEIGHT - 1.5 - (np.append(values, np.nan if limit is None else limit) - low) * rise).tolist()
        return Sparkline(_path(heights[:-1]), None if limit is None else int(heights[-1]))


def _path(heights: list[float]) -> str:
    """A line through the heights, one apart from the other; nothing is drawn where there is none (NaN)."""
    parts: list[str] = []
    before = nan
    for at, height in enumerate(heights):
        if not isnan(height):
            # A stroke of no length is a dot where there is no second value.
            parts.append(f"M{at} {int(height)}l0 0" if isnan(before) else f"1 {int(height - before)}")
        before = height
    return " ".join(parts)

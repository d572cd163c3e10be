"""Sparklines: the values of the last hour as one SVG path, with room for the limit."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.healthy import Worse

_MINUTE = 60 * SECOND
_FURTHEST = 1e200  # values beyond are drawn there: their differences would be no numbers
WIDTH, HEIGHT = 60, 24  # of the drawing; a minute is 1 wide
_STEPS = {rise: f" 1 {rise}" for rise in range(-HEIGHT, HEIGHT + 1)}


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
        self._reach(int(times[-1]) // _MINUTE)
        places = times // _MINUTE - (self._newest - WIDTH + 1)
        inside = places >= 0
        self._worst.at(self._values, places[inside], values[inside])

    def add_newest(self, time: int, value: float) -> None:
        """Add the newest value, which is much faster than `add`."""
        self._reach(time // _MINUTE)
        self._values[-1] = self._worst(self._values[-1], value)

    def _reach(self, minute: int) -> None:
        passed = min(minute - self._newest, WIDTH)
        if passed > 0:
            self._values = np.concatenate([self._values[passed:], np.full(passed, np.nan)])
            self._newest = minute

    def drawn(self, until: int, limit: float | None) -> Sparkline | None:
        """The sparkline of the hour that ends at `until` (UTC ns); None without any value."""
        values = self._values[max(0, until // _MINUTE - self._newest) :]
        (places,) = np.nonzero(~np.isnan(values))
        if not len(places):
            return None
        values = np.clip(values, -_FURTHEST, _FURTHEST)
        limit = None if limit is None else min(max(limit, -_FURTHEST), _FURTHEST)
        bounds = (0.0, 0.0 if limit is None else limit)
        low = min(*bounds, float(np.fmin.reduce(values)))
        high = max(*bounds, float(np.fmax.reduce(values)))
        span = high - low if high > low else 1.0

        def height(value: NDArray[np.float64] | float) -> NDArray[np.float64] | float:
            # From the lowest value: beside a very large one, the difference to 0 would be lost in rounding.
            return HEIGHT - 1.5 - (value - low) / span * (HEIGHT - 3)

        heights = np.rint(height(values[places])).astype(int)
        return Sparkline(_path(places, heights), None if limit is None else round(float(height(limit))))


def _path(places: NDArray[np.intp], heights: NDArray[np.int_]) -> str:
    """A line through the heights, which are drawn only at some places; places that follow each other are joined."""
    ends = np.nonzero(np.diff(places) > 1)[0] + 1
    lines: list[str] = []
    for first, last in pairwise([0, *ends.tolist(), len(places)]):
        steps = [_STEPS[step] for step in np.diff(heights[first:last]).tolist()]
        # A stroke of no length is a dot where there is no second value.
        lines.append(f"M{places[first]} {heights[first]}l0 0{''.join(steps)}")
    return "".join(lines)

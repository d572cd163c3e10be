"""Sparklines: the values of the last hour as an SVG path, scaled so that the limit is visible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.alerting.rule_targets import Key
from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Worse

_MINUTE = 60 * SECOND
_FURTHEST = 1e200  # larger values are drawn as this one: their differences would be no numbers
WIDTH, HEIGHT = 60, 24  # of the drawing; a minute is 1 wide
_STEPS = {rise: f" 1 {rise}" for rise in range(-HEIGHT, HEIGHT + 1)}


@dataclass(frozen=True, slots=True)
class Sparkline:
    """An SVG path in a box of WIDTH by HEIGHT, and the limit's distance from the box's top (None: no limit drawn)."""

    path: str
    limit: int | None


class LastHour:
    """The values of the last hour by key; of each minute, the worst value is stored, so that no crossing is lost.

    The values are a matrix with a row per key and a column per minute, to which an evaluation adds a value per row.
    """

    def __init__(self) -> None:
        self._rows: dict[Key, int] = {}
        self._values = np.empty((0, WIDTH))  # multiplied by a sign, so that the highest is the worst
        self._signs = np.empty(0)
        self._newest = np.empty(0, np.int64)
        self._minute = 0  # the minute of the last column, since 1970

    def keep(self, worse: Mapping[Key, Worse]) -> None:
        """Drop all keys but these. `worse` is the direction in which each key's values become unhealthy."""
        was = np.array([self._rows.get(key, -1) for key in worse], np.int64)
        signs = np.array([-1.0 if worse == "lower" else 1.0 for worse in worse.values()])
        values, newest, samples = np.full((len(was), WIDTH), np.nan), np.zeros(len(was), np.int64), was >= 0
        values[samples] = self._values[was[samples]] * (self._signs[was[samples]] * signs[samples])[:, None]
        newest[samples] = self._newest[was[samples]]
        self._rows = {key: row for row, key in enumerate(worse)}
        self._values, self._signs, self._newest = values, signs, newest

    def __contains__(self, key: Key) -> bool:
        """Return whether values of a key are stored."""
        return key in self._rows

    def add_newest(self, time: int, values: Values) -> None:
        """Add a value of each key at a time (UTC ns), in the order of the keys in `keep`; NaN means no value."""
        self._shift_to(time // _MINUTE)
        self._values[:, -1] = np.fmax(self._values[:, -1], values * self._signs)
        self._newest[~np.isnan(values)] = time

    def add(self, key: Key, times: Times, values: Values) -> None:
        """Add values of a key at times (UTC ns, ascending); NaN means no value."""
        row, has_value = self._rows[key], ~np.isnan(values)
        self._shift_to(int(times[-1]) // _MINUTE)
        places = times // _MINUTE - (self._minute - WIDTH + 1)
        inside = places >= 0
        np.fmax.at(self._values[row], places[inside], values[inside] * self._signs[row])
        if has_value.any():
            self._newest[row] = max(int(self._newest[row]), int(times[has_value][-1]))

    def _shift_to(self, minute: int) -> None:
        passed = min(minute - self._minute, WIDTH)
        if passed > 0:
            self._values = np.roll(self._values, -passed, axis=1)
            self._values[:, -passed:] = np.nan
            self._minute = minute

    def newest(self, key: Key) -> int | None:
        """Return the time of the last value of a key (UTC ns); None if no value is known."""
        row = self._rows.get(key)
        return None if row is None else int(self._newest[row]) or None

    def drawn(self, keys: Sequence[tuple[Key, float | None]], until: int) -> list[Sparkline | None]:
        """Return a sparkline of the hour before `until` (UTC ns) per pair of key and limit; None without values."""
        places = [at for at, (key, _) in enumerate(keys) if key in self._rows]
        rows = np.array([self._rows[keys[at][0]] for at in places], np.intp)
        limits = np.array([keys[at][1] for at in places], np.float64)  # NaN without one
        values = self._values[rows, max(0, until // _MINUTE - self._minute) :]
        has_value = ~np.isnan(values)
        values = np.clip(np.where(has_value, values, 0.0) * self._signs[rows, None], -_FURTHEST, _FURTHEST)
        limits = np.clip(limits, -_FURTHEST, _FURTHEST)
        # The scale always includes 0, so zeros in place of missing values do not widen it.
        low = np.fmin(np.minimum(values.min(axis=1, initial=0.0), 0.0), limits)
        high = np.fmax(np.maximum(values.max(axis=1, initial=0.0), 0.0), limits)
        span = np.where(high > low, high - low, 1.0)

        def heights(values: NDArray[np.float64]) -> NDArray[np.float64]:
            # Measured from the lowest value, as the difference to 0 may be lost in rounding.
            return np.rint(HEIGHT - 1.5 - (values - low) / span * (HEIGHT - 3))

        paths = _draw_paths(heights(values.T).T.astype(int), has_value)
        lines: list[Sparkline | None] = [None] * len(keys)
        for at, path, limit in zip(places, paths, heights(limits).tolist(), strict=True):
            if path:
                lines[at] = Sparkline(path, None if keys[at][1] is None else int(limit))
        return lines


def _draw_paths(heights: NDArray[np.int_], has_value: NDArray[np.bool_]) -> list[str]:
    """Return the SVG path of each row: a line through the minutes with values, broken at minutes without a value."""
    paths, rises = [""] * len(heights), np.diff(heights, axis=1).tolist()
    edges = np.diff(np.pad(has_value, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    begins, ends = np.argwhere(edges == 1).tolist(), np.argwhere(edges == -1).tolist()
    for (row, begin), (_, end) in zip(begins, ends, strict=True):
        # A single value is drawn as a dot: a stroke of no length.
        steps = map(_STEPS.__getitem__, rises[row][begin : end - 1])
        paths[row] += f"M{begin} {heights[row, begin]}l0 0{''.join(steps)}"
    return paths

"""Samples that VictoriaMetrics reduced to one value for each bucket of time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.store.m4 import Drawn, bucket_width, joined_corners

_MS = 1_000_000
_COUNT = "count_over_time"
# The first, the lowest, the highest and the last sample of each bucket: their values, and then their times (s).
_CHOSEN = ("first", "min", "max", "last")
CORNERS = (*(f"{one}_over_time" for one in _CHOSEN), *(f"t{one}_over_time" for one in _CHOSEN), _COUNT)


class Grid(NamedTuple):
    """Buckets: the begin of the first (UTC ns), their width (ns), a multiple of 1 ms, and how many."""

    start: int
    width: int
    number: int

    @property
    def asked(self) -> tuple[int, int, int]:
        """The first and the last evaluation and the step (ms): the last millisecond of each bucket."""
        first, step = (self.start + self.width) // _MS - 1, self.width // _MS
        return first, first + (self.number - 1) * step, step

    def bucket(self, seconds: Values) -> Times:
        """The begin of the buckets of evaluations."""
        return np.rint(seconds * 1000).astype(np.int64) * _MS + _MS - self.width


def of_drawing(start: int, end: int, buckets: int) -> Grid:
    """Buckets of whole milliseconds for drawing a range: at most so many."""
    first = -(-start // _MS) * _MS
    width = -(-bucket_width(start, end, buckets) // _MS) * _MS
    return Grid(first, width, -(-(end + 1 - first) // width))


def times_and_values(rows: Sequence[Sequence[Any]], grid: Grid) -> tuple[Times, Values]:
    """The begins of the buckets, and their values."""
    pairs = np.array(rows, np.float64).reshape(-1, 2)
    return grid.bucket(pairs[:, 0]), pairs[:, 1]


def drawn(found: Mapping[str, tuple[Times, Values]], start: int, end: int) -> Drawn:
    """The samples that draw the line, of what the functions `CORNERS` gave."""
    if len(found) < len(CORNERS):
        nothing = np.empty(0)
        return Drawn(Samples(nothing.astype(np.int64), nothing), 0)
    values = np.column_stack([found[f"{one}_over_time"][1] for one in _CHOSEN])
    seconds = np.column_stack([found[f"t{one}_over_time"][1] for one in _CHOSEN])
    times = np.rint(seconds * 1000).astype(np.int64) * _MS
    return Drawn(joined_corners(times, values).between(start, end), int(found[_COUNT][1].sum()))

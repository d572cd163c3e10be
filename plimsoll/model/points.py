"""Points: samples of many series at a few times, as live agents send them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.series import Series


@dataclass(frozen=True, eq=False)
class Points:
    """A batch of samples, in any order.

    Sample i belongs to `series[which[i]]`, at `times[i]` (UTC ns), with the finite value `values[i]`. If a series has
    two samples at one time, the last sample is used. Writers of many batches should reuse Series objects, which stores
    recognise quickly.
    """

    series: Sequence[Series]
    which: NDArray[np.int32]
    times: Times
    values: Values

    def __post_init__(self) -> None:
        if not len(self.which) == len(self.times) == len(self.values):
            raise ValueError("which, times and values differ in length")

    @property
    def last_of_each(self) -> "Points":
        """The samples sorted by series and time; of several samples of a series at one time, only the last."""
        order = np.lexsort((self.times, self.which))
        which, times = self.which[order], self.times[order]
        last = np.ones(len(order), dtype=bool)
        last[:-1] = (which[1:] != which[:-1]) | (times[1:] != times[:-1])
        return Points(self.series, which[last], times[last], self.values[order][last])

    def __len__(self) -> int:
        return len(self.times)


def join_points(parts: Sequence[Points]) -> Points:
    """Return the points of several batches in order; a Series object in several batches is listed once."""
    if len(parts) == 1:
        return parts[0]
    series: dict[int, Series] = {id(series): series for part in parts for series in part.series}
    place = {which: at for at, which in enumerate(series)}
    which = [
        np.array([place[id(series)] for series in part.series], np.int32)[part.which] if len(part) else part.which
        for part in parts
    ]
    return Points(
        list(series.values()),
        np.concatenate(which),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
    )

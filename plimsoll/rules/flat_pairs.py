"""Values of several series side by side: one after the other in flat arrays, so that all are computed at once.

What is computed is what `fields` and `weighted` compute of one series.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.fields import Pairs, apply_operation, transformed
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.weighted import weighed_mean
from plimsoll.rules.window import reduce_spans

_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class FlatPairs:
    """The pairs of several rows: by row, and in each by time. `row` is the row of each pair."""

    pairs: Pairs
    row: NDArray[np.intp]

    @classmethod
    def of(cls, recorded: Sequence[Samples], transform: Transform | None = None, *, rate: bool) -> "FlatPairs":
        """The samples of each row, or their rates as those of growing counts."""
        values = np.concatenate([one.values for one in recorded])
        row = np.repeat(np.arange(len(recorded)), [len(one.values) for one in recorded])
        times = np.concatenate([one.times for one in recorded])
        filled = np.isfinite(values)
        if not filled.all():
            times, values, row = times[filled], values[filled], row[filled]
        if transform:
            values = transformed(values, transform)
        if not rate:
            return cls(Pairs(times, times, values), row)
        rise = np.diff(values)
        kept = (rise >= 0) & (row[1:] == row[:-1])
        seconds = np.diff(times)[kept] / SECOND
        return cls(Pairs(times[:-1][kept], times[1:][kept], rise[kept] / seconds), row[1:][kept])

    def chosen(self, which: NDArray[np.bool_]) -> "FlatPairs":
        """Some of the pairs."""
        pairs = self.pairs
        return FlatPairs(Pairs(pairs.earlier[which], pairs.later[which], pairs.values[which]), self.row[which])


def combined_flat(operation: Operation, parts: Sequence[FlatPairs], transform: Transform) -> FlatPairs | None:
    """Several fields under an operation; None if they do not have pairs at the same times in the same rows."""
    first, *others = parts
    if not all(
        np.array_equal(first.pairs.later, one.pairs.later) and np.array_equal(first.row, one.row) for one in others
    ):
        return None
    values = apply_operation(operation, [one.pairs.values for one in parts])
    earlier = np.minimum.reduce([one.pairs.earlier for one in parts])
    known = np.isfinite(values)
    values = transformed(values, transform)
    return FlatPairs(Pairs(earlier, first.pairs.later, values), first.row).chosen(known)


def requests(each: FlatPairs, rate: FlatPairs | None, rows: int) -> Values | None:
    """The requests per second of each pair, as `of_requests`; None if the times lie too far apart for this."""
    values, later = each.pairs.values, each.pairs.later
    alone = np.where(values == 0, 0.0, 1.0)  # no request where a time is exactly 0, and all others count alike
    if rate is None or not len(rate.row) or not len(later):
        return alone
    start = int(min(later.min(), rate.pairs.later.min()))
    room = int(max(later.max(), rate.pairs.later.max())) - start + 1  # of a row
    if room * rows >= _LARGEST:
        return None
    known, wanted = rate.row * room + (rate.pairs.later - start), each.row * room + (later - start)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = known[at] == wanted
    without = np.bincount(each.row[found], minlength=rows) == 0  # rows
    return np.where(without[each.row], alone, np.where(found, rate.pairs.values[at], np.nan))


@dataclass(frozen=True, eq=False)
class FlatWindows:
    """The windows that end at each evaluation, of so many rows."""

    rows: int
    at: Times
    window: int

    def reduced(self, flat: FlatPairs, how: Reduce, per_second: Values | None = None) -> Values | None:
        """One value for each row and evaluation, NaN for no data; a mean is weighted by the requests `per_second`.

        None if the times lie too far apart for this.
        """
        bounds, pairs = self._bounds(flat), flat.pairs
        if bounds is None:
            return None
        if per_second is not None and how == "mean":
            found = weighed_mean(pairs, per_second, bounds, self.window)
        else:
            found = reduce_spans(pairs.later, pairs.values, *bounds, self.window, how)
        return found.reshape(self.rows, len(self.at))

    def _bounds(self, flat: FlatPairs) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
        """The first pair in each window of each row, and the one after the last."""
        earlier, later = flat.pairs.earlier, flat.pairs.later
        if not len(later):
            none = np.zeros(self.rows * len(self.at), dtype=np.intp)
            return none, none
        start = int(earlier.min())
        room = int(later.max()) - start + 3  # of a row, with a place before its first pair and one behind its last
        if room * self.rows >= _LARGEST:
            return None
        base = np.arange(self.rows)[:, np.newaxis] * room + 1
        begin = (base + np.clip(self.at - self.window - start, 0, room - 2)).ravel()
        end = (base + np.clip(self.at - start, -1, room - 3)).ravel()
        place = flat.row * room + 1
        first = np.searchsorted(place + (earlier - start), begin, side="left")
        return first, np.maximum(first, np.searchsorted(place + (later - start), end, side="right"))

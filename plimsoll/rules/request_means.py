"""Values of samples that need several fields, or are weighted by requests: of several series at once, in flat arrays.

The mean of a time per request is that of the requests of a window, not of its intervals, which counts an idle interval
as 0 and one slow request of a night as a slow hour.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.window import Pairs, apply_operation, reduce_spans, transformed

OCCUPIED = 0.5  # requests outstanding on average from which few requests are slow ones, and no idleness; ours


@dataclass(frozen=True, eq=False)
class FlatPairs:
    """The pairs of several rows: by row, and in each by time. `row` is the row of each pair."""

    pairs: Pairs
    row: NDArray[np.intp]

    @classmethod
    def of_samples(cls, recorded: Sequence[Samples], transform: Transform | None = None, *, rate: bool) -> "FlatPairs":
        """Return the samples of each row, or their rates as those of growing counts."""
        values = np.concatenate([samples.values for samples in recorded])
        row = np.repeat(np.arange(len(recorded)), [len(samples.values) for samples in recorded])
        times = np.concatenate([samples.times for samples in recorded])
        present = np.isfinite(values)
        if not present.all():
            times, values, row = times[present], values[present], row[present]
        if transform:
            values = transformed(values, transform)
        if not rate:
            return cls(Pairs(times, times, values), row)
        rise = np.diff(values)
        kept = (rise >= 0) & (row[1:] == row[:-1])
        seconds = np.diff(times)[kept] / SECOND
        return cls(Pairs(times[:-1][kept], times[1:][kept], rise[kept] / seconds), row[1:][kept])

    @classmethod
    def of_rows(cls, rows: Sequence[Pairs]) -> "FlatPairs":
        """Return the pairs of each row."""
        columns = [(pairs.earlier, pairs.later, pairs.values) for pairs in rows]
        earlier, later, values = (np.concatenate(column) for column in zip(*columns, strict=True))
        return cls(Pairs(earlier, later, values), np.repeat(np.arange(len(rows)), [len(pairs.later) for pairs in rows]))

    def where(self, mask: NDArray[np.bool_]) -> "FlatPairs":
        """Return some of the pairs."""
        pairs = self.pairs
        return FlatPairs(Pairs(pairs.earlier[mask], pairs.later[mask], pairs.values[mask]), self.row[mask])


def combine_fields(operation: Operation, fields: Sequence[FlatPairs], transform: Transform) -> FlatPairs | None:
    """Return several fields under an operation; None if they do not have pairs at the same times in the same rows."""
    first, *rest = fields
    if not all(
        np.array_equal(first.pairs.later, other.pairs.later) and np.array_equal(first.row, other.row) for other in rest
    ):
        return None
    values = apply_operation(operation, [field.pairs.values for field in fields])
    earlier = np.minimum.reduce([field.pairs.earlier for field in fields])
    finite = np.isfinite(values)
    return FlatPairs(Pairs(earlier, first.pairs.later, transformed(values, transform)), first.row).where(finite)


def requests_per_second(times: FlatPairs, rate: FlatPairs | None, rows: int) -> Values:
    """Return the requests per second in the interval of each time per request; NaN where the rate has no sample.

    Of a row without a rate, or whose rate has no sample at any of the times, an interval of exactly 0 had no requests
    and all others count alike.
    """
    values, later = times.pairs.values, times.pairs.later
    alike = np.where(values == 0, 0.0, 1.0)
    if rate is None or not len(rate.row) or not len(later):
        return alike
    start = int(min(later.min(), rate.pairs.later.min()))
    room = int(max(later.max(), rate.pairs.later.max())) - start + 1  # of a row
    recorded, places = rate.row * room + (rate.pairs.later - start), times.row * room + (later - start)
    at = np.minimum(np.searchsorted(recorded, places), len(recorded) - 1)
    shared = recorded[at] == places
    without = np.bincount(times.row[shared], minlength=rows) == 0  # rows
    return np.where(without[times.row], alike, np.where(shared, rate.pairs.values[at], np.nan))


def reduce_pairs(
    flat: FlatPairs, rows: int, at: Times, window: int, reduce: Reduce, per_second: Values | None = None
) -> Values:
    """Return one value for each row and evaluation e, from the pairs with both samples in `e - window` to `e`.

    NaN is no data. Pairs are not weighted by their length, as with InfluxQL's non_negative_derivative in a subquery;
    a mean is weighted by the requests `per_second`, if given.
    """
    first, last = _bounds(flat, rows, at, window)
    later, values = flat.pairs.later, flat.pairs.values
    if per_second is None or reduce != "mean":
        return reduce_spans(later, values, first, last, window, reduce).reshape(rows, len(at))
    total = reduce_spans(later, values * per_second, first, last, window, "sum")
    weights = reduce_spans(later, per_second, first, last, window, "sum")
    # Rounding must not move a mean outside its samples.
    low, high = (reduce_spans(later, values, first, last, window, end) for end in ("min", "max"))
    return np.clip(total / weights, low, high).reshape(rows, len(at))


def is_idle(values: Values, rates: Values, minimum_rate: float | Values) -> NDArray[np.bool_]:
    """Return which windows have no requests, or fewer per second than `minimum_rate` and these not slow.

    By Little's law the rate times the time (`values`, in seconds) is how many requests are outstanding: a disk that
    takes seconds for each request does few of them.
    """
    return (rates <= 0) | ((rates < minimum_rate) & ~(rates * values >= OCCUPIED))


def _bounds(flat: FlatPairs, rows: int, at: Times, window: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first pair in each window of each row, and the one after the last."""
    earlier, later = flat.pairs.earlier, flat.pairs.later
    if not len(later):
        none = np.zeros(rows * len(at), dtype=np.intp)
        return none, none
    start = int(earlier.min())
    room = int(later.max()) - start + 3  # of a row, with a place before its first pair and one behind its last
    base = np.arange(rows)[:, np.newaxis] * room + 1
    begin = (base + np.clip(at - window - start, 0, room - 2)).ravel()
    end = (base + np.clip(at - start, -1, room - 3)).ravel()
    place = flat.row * room + 1
    first = np.searchsorted(place + (earlier - start), begin, side="left")
    return first, np.maximum(first, np.searchsorted(place + (later - start), end, side="right"))

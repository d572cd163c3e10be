"""Reduces the samples in a window, which ends at an evaluation, to one value; for several series at once.

The mean of a time per request is taken over the requests in a window, not over its intervals. Otherwise an idle
interval would count as 0, and one slow request at night as a slow hour.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Across, Operation, Reduce
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.states import EVALUATION_INTERVAL

Arrays: TypeAlias = tuple[Sequence[Times], Sequence[Values]]  # of several series: the times and the values of each
OCCUPIED = 0.5  # from this many outstanding requests on average, few requests mean slow ones, not idleness; our choice


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values computed from pairs of neighbouring samples, with the times of both samples, each in ascending order."""

    earlier: Times
    later: Times
    values: Values


@dataclass(frozen=True, eq=False)
class FlatPairs:
    """The pairs of several rows (series), in order of row and then of time. `row` is the row of each pair."""

    pairs: Pairs
    row: NDArray[np.intp]

    @classmethod
    def of_samples(cls, recorded: Sequence[Samples], transform: Transform | None = None, *, rate: bool) -> "FlatPairs":
        """Return each row's samples or, with `rate`, their increases per second; a decrease (reset) gives no pair."""
        return cls.of_arrays(Apart(recorded).arrays(), transform, rate=rate)

    @classmethod
    def of_arrays(cls, arrays: "Arrays", transform: Transform | None = None, *, rate: bool) -> "FlatPairs":
        """Return the pairs of rows whose times and values are given; see `of_samples`."""
        times, values = np.concatenate(arrays[0]), np.concatenate(arrays[1])
        row = np.repeat(np.arange(len(arrays[0])), list(map(len, arrays[0])))
        if transform:
            values = transform_values(values, transform)
        present = np.isfinite(values)
        if not present.all():
            times, values, row = times[present], values[present], row[present]
        if not rate:
            return cls(Pairs(times, times, values), row)
        rise = np.diff(values)
        kept = (rise >= 0) & (row[1:] == row[:-1])
        seconds = np.diff(times)[kept] / SECOND
        return cls(Pairs(times[:-1][kept], times[1:][kept], rise[kept] / seconds), row[1:][kept])

    @classmethod
    def of_rows(cls, rows: Sequence[Pairs]) -> "FlatPairs":
        """Join the pairs of several rows."""
        columns = [(pairs.earlier, pairs.later, pairs.values) for pairs in rows]
        earlier, later, values = (np.concatenate(column) for column in zip(*columns, strict=True))
        return cls(Pairs(earlier, later, values), np.repeat(np.arange(len(rows)), [len(pairs.later) for pairs in rows]))

    def where(self, mask: NDArray[np.bool_]) -> "FlatPairs":
        """Return the pairs for which the mask is true."""
        pairs = self.pairs
        if mask.all():
            return self
        return FlatPairs(Pairs(pairs.earlier[mask], pairs.later[mask], pairs.values[mask]), self.row[mask])


OPERATORS: Mapping[Operation, str] = {"sum": "+", "difference": "-", "ratio": "/", "product": "*"}
_MOST_CACHED = 1_000_000  # cached bounds of arrays of times; cached samples of windows of one length
_NEVER = np.iinfo(np.int64).min
_NO_TIMES = np.empty(0, dtype=np.int64)
_EPSILON = np.finfo(np.float64)


class Breaks(NamedTuple):
    """The breaks in a series, seen at some evaluations: times between the expiry of a sample and the next sample.

    `inside` marks the evaluations in a break, and the first evaluation after each break, so that no break between two
    evaluations is missed. `since` is the first sample (UTC ns) after the last break before each evaluation.
    """

    inside: NDArray[np.bool_]
    since: Times


def find_breaks(times: Times, valid_until: Times, at: Times) -> Breaks:
    """Return the breaks at the evaluations `at`: where a sample expires (`valid_until`) before the next sample."""
    if not len(times):
        return Breaks(np.zeros(len(at), dtype=bool), np.full(len(at), _NEVER))
    newest = times.searchsorted(at, side="right")
    resumed = times[1:][times[1:] > valid_until[:-1]]
    over = resumed.searchsorted(at, side="right")
    ended = over > resumed.searchsorted(at - EVALUATION_INTERVAL, side="right")
    begins = np.append(resumed, _NEVER)[over - 1]
    return Breaks(ended | ((newest > 0) & (at > valid_until[newest - 1])), np.where(over > 0, begins, _NEVER))


class WindowBounds:
    """The indices of the samples in the window of each evaluation, computed once for each array of sample times."""

    def __init__(self, at: Times, window: int) -> None:
        self.at = at
        self.window = window
        self._breaks: dict[tuple[int, bool], tuple[Times, Breaks]] = {}
        self._unbroken: dict[object, tuple[Times, Breaks, NDArray[np.intp], NDArray[np.intp]]] = {}
        self._rows_by_times: dict[int, tuple[Times, NDArray[np.intp], NDArray[np.intp]]] = {}

    def __call__(self, times: Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return, for each window, the index of its first sample and the index after its last sample."""
        cached = self._rows_by_times.get(id(times))
        if cached is None:
            if len(self._rows_by_times) * len(self.at) > _MOST_CACHED:
                self._rows_by_times.clear()
            first = np.searchsorted(times, self.at - self.window, side="left")
            cached = self._rows_by_times[id(times)] = times, first, np.searchsorted(times, self.at, side="right")
        return cached[1], cached[2]

    def unbroken(self, samples: Samples, *, anew: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices as a call does, but no samples in a break and, with `anew`, none before the last break."""
        breaks = self.breaks(samples)
        key = id(samples.times), id(breaks), anew
        if key not in self._unbroken:
            first, last = self(samples.times)
            if anew:
                first = np.maximum(first, samples.times.searchsorted(breaks.since))
            if len(self._unbroken) * len(self.at) > _MOST_CACHED:
                self._unbroken.clear()
            last = np.where(breaks.inside, first, np.maximum(first, last))
            self._unbroken[key] = samples.times, breaks, first, last
        return self._unbroken[key][2:]

    def breaks(self, samples: Samples) -> Breaks:
        """Return the breaks in these samples, seen at the evaluations."""
        sampled = samples.sampled
        until, begins = sampled.valid_until, not len(sampled.values) or bool(np.isfinite(sampled.values[0]))
        key = id(until), begins
        if key not in self._breaks:
            breaks = find_breaks(sampled.times, until, self.at)
            if not begins:
                begun = self.at - EVALUATION_INTERVAL >= sampled.times[min(1, len(sampled.times) - 1)]
                breaks = Breaks(breaks.inside & begun, breaks.since)
            self._breaks[key] = until, breaks
        return self._breaks[key][1]


class Cut(NamedTuple):
    """The samples of several series that lie in any window, joined to one array; NaN for a missing sample.

    `times` returns their times. `first` and `last` are the indices of each window (a row for each series, a column for
    each evaluation), `ends` the index after each series.
    """

    values: Values
    times: Callable[[], Times]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    ends: NDArray[np.intp]


class Together(Protocol):
    """An interface to several series that are reduced at once."""

    def arrays(self) -> Arrays:
        """Return the times and the values of each series."""
        ...

    def breaks(self, bounds: WindowBounds) -> Breaks:
        """Return the breaks in the series, seen at the evaluations, a row for each series."""
        ...

    def cut(self, bounds: WindowBounds, *, anew: bool) -> Cut:
        """Return the samples that lie in the windows; with `anew`, a window has no samples before its last break."""
        ...


class Apart:
    """Series whose samples are in separate arrays."""

    def __init__(self, recorded: Sequence[Samples]) -> None:
        self._recorded = recorded

    def arrays(self) -> Arrays:
        """Return the times and the values of each series."""
        return [samples.times for samples in self._recorded], [samples.values for samples in self._recorded]

    def breaks(self, bounds: WindowBounds) -> Breaks:
        """Return the breaks in the series, seen at the evaluations, a row for each series."""
        rows = [bounds.breaks(samples) for samples in self._recorded]
        return Breaks(np.stack([row.inside for row in rows]), np.stack([row.since for row in rows]))

    def cut(self, bounds: WindowBounds, *, anew: bool) -> Cut:
        """Return the samples that lie in the windows; with `anew`, a window has no samples before its last break."""
        recorded, shape = self._recorded, (len(self._recorded), len(bounds.at))
        spans = [bounds.unbroken(samples, anew=anew) for samples in recorded]
        cuts = [slice(int(first[0]), int(last.max())) for first, last in spans]
        ends = np.cumsum([cut.stop - cut.start for cut in cuts])
        shift = (np.concatenate(([0], ends[:-1])) - np.array([cut.start for cut in cuts], dtype=np.int64))[
            :, np.newaxis
        ]
        first, last = spans[0]
        if any(span[0] is not first or span[1] is not last for span in spans):
            first, last = (np.concatenate(parts).reshape(shape) for parts in zip(*spans, strict=True))
        return Cut(
            np.concatenate([samples.values[cut] for samples, cut in zip(recorded, cuts, strict=True)]),
            lambda: np.concatenate([samples.times[cut] for samples, cut in zip(recorded, cuts, strict=True)]),
            first + shift,
            last + shift,
            ends,
        )


def reduce_rows(
    recorded: Together, bounds: WindowBounds, reduce: Reduce, change: Callable[[Values], Values], *, rate: bool = False
) -> Values:
    """Return one value per series and evaluation e, from the samples with `e - window <= time <= e`; NaN for no data.

    Values are first passed through `change`. With `rate`, the values are growing counters, and their rate is reduced.
    """
    # Growing counts tell what happened in a break, too.
    cut = recorded.cut(bounds, anew=not rate and reduce != "increase")
    values, first, last, ends = change(cut.values), cut.first.ravel(), cut.last.ravel(), cut.ends
    times = cut.times() if rate or reduce == "increase" else _NO_TIMES
    filled = np.isfinite(values)
    if not filled.all():
        before = np.concatenate(([0], np.cumsum(filled)))  # the number of present samples before each
        first, last, ends = before[first], before[last], before[ends]
        values, times = values[filled], times[filled] if len(times) else times
    if rate and len(values):
        rise = np.diff(values)
        kept = rise >= 0
        across = ends[:-1] - 1  # from the last sample of a series to the first of the next
        kept[across[(across >= 0) & (across < len(kept))]] = False
        pairs = np.concatenate(([0], np.cumsum(kept)))
        first, last = pairs[np.minimum(first, len(rise))], pairs[np.maximum(first, last - 1).clip(0, len(rise))]
        last = np.maximum(first, last)
        values, times = rise[kept] / (np.diff(times)[kept] / SECOND), times[1:][kept]
    return reduce_spans(times, values, first, last, bounds.window, reduce).reshape(cut.first.shape)


def reduce_spans(
    times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int, reduce: Reduce
) -> Values:
    """Return `values[first:last]` reduced to one value, for each pair of `first` and `last`; NaN for an empty span."""
    if not len(values):
        return np.full(len(first), np.nan)
    empty = np.flatnonzero(last <= first)
    if len(empty):  # a window with one sample, whose value is replaced
        first, last = first.copy(), last.copy()
        first[empty], last[empty] = 0, 1
    result = _REDUCERS[reduce](times, values, first, last, window)
    if len(empty):
        result[empty] = np.nan
    return result


def _reduce_spans(ufunc: np.ufunc, values: Values, first: NDArray[np.intp], last: NDArray[np.intp]) -> Values:
    """Return `ufunc.reduce(values[first:last])` for each span; spans must not be empty."""
    bounds = np.column_stack((first, last)).ravel()
    return ufunc.reduceat(np.append(values, values[-1]), bounds)[::2]


def _compute_mean(times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int) -> Values:
    """Return the mean of each window; rounding cannot move it outside the range of the samples."""
    count, start = last - first, values[first]
    mean = _reduce_spans(np.add, values, first, last) / count
    # Rounding must not move a mean outside its samples: a constant 80 is 80, not 79.99999999999999. It can only where
    # all samples of the window differ by no more than rounding does.
    rounding = 4.0 * _EPSILON.eps * float(count.max(initial=0)) ** 2
    distance = np.abs(mean - start)
    odd = np.flatnonzero(~((distance > rounding * np.abs(start) + _EPSILON.tiny) & (distance < np.inf)))
    odd = odd[mean[odd] != start[odd]]
    if len(odd):
        first, last = first[odd], last[odd]
        lowest, highest = _reduce_spans(np.minimum, values, first, last), _reduce_spans(np.maximum, values, first, last)
        mean[odd] = np.clip(mean[odd], lowest, highest)
    return mean


def _compute_median(
    times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int
) -> Values:
    count, result = last - first, np.empty(len(first))
    for length in np.unique(count).tolist():
        rows = np.flatnonzero(count == length)
        for chunk in np.array_split(rows, -(-len(rows) * length // _MOST_CACHED)):
            result[chunk] = np.median(values[first[chunk, np.newaxis] + np.arange(length)], axis=1)
    return result


_REDUCERS = {
    "mean": _compute_mean,
    "min": lambda times, values, first, last, window: _reduce_spans(np.minimum, values, first, last),
    "max": lambda times, values, first, last, window: _reduce_spans(np.maximum, values, first, last),
    "last": lambda times, values, first, last, window: values[last - 1],
    "sum": lambda times, values, first, last, window: _reduce_spans(np.add, values, first, last),
    "count": lambda times, values, first, last, window: (last - first).astype(np.float64),
    "median": _compute_median,
    # No data unless the first and the last sample are at least half a window apart.
    "increase": lambda times, values, first, last, window: np.where(
        2 * (times[last - 1] - times[first]) >= window, values[last - 1] - values[first], np.nan
    ),
}


def combine_field_samples(
    operation: Operation, fields: Sequence[Samples], transform: Transform, *, rate: bool = False
) -> Pairs:
    """Return several fields (with `rate`, their rates) combined by an operation, at the times that all fields share."""
    parts = [FlatPairs.of_samples([samples], rate=rate).pairs for samples in fields]
    later = _find_shared_times([part.later for part in parts])
    at = [(slice(None) if len(later) == len(part.later) else np.searchsorted(part.later, later)) for part in parts]
    earlier = np.minimum.reduce([part.earlier[rows] for part, rows in zip(parts, at, strict=True)])
    values = apply_operation(operation, [part.values[rows] for part, rows in zip(parts, at, strict=True)])
    finite = np.isfinite(values)
    return Pairs(earlier[finite], later[finite], transform_values(values[finite], transform))


def transform_values(values: Values, transform: Transform) -> Values:
    """Return values scaled and shifted to the signal's unit, and limited to `most`; NaN for what stands for unknown."""
    scale, offset = transform.scale, transform.offset
    if transform.unknown:
        values = np.where(np.isin(values, transform.unknown), np.nan, values)
    moved = values if scale == 1 and offset == 0 else scale * values + offset
    if transform.most is None:
        return moved
    return np.where(np.isfinite(moved), np.minimum(moved, transform.most), np.nan)  # infinity is no maximum


def apply_operation(operation: Operation, values: Sequence[Values]) -> Values:
    """Combine arrays by an operation. A divisor of 0 or less gives NaN: no valid divisor is negative."""
    match operation:
        case "sum":
            return np.sum(values, axis=0)
        case "difference":
            return values[0] - values[1]
        case "product":
            return np.sum(values[:-1], axis=0) * values[-1]
        case "ratio":
            return np.divide(values[0], values[1], out=np.full(np.shape(values[0]), np.nan), where=values[1] > 0)


def total_values(values: Sequence[Values], across: Across = "sum") -> Values:
    """Return, per element, the sum, mean, maximum or minimum of the arrays not NaN there; NaN if all are NaN."""
    stacked = np.stack(values)
    present = ~np.isnan(stacked)
    match across:
        case "sum":
            totals = np.nansum(stacked, axis=0)
        case "mean":
            totals = np.nansum(stacked, axis=0) / np.maximum(present.sum(axis=0), 1)
        case "max":
            totals = np.where(present, stacked, -np.inf).max(axis=0)
        case "min":
            totals = np.where(present, stacked, np.inf).min(axis=0)
    return np.where(present.any(axis=0), totals, np.nan)


def combine_operands(
    operation: Operation, values: Sequence[Values], weights: Sequence[float] | Sequence[Values] = ()
) -> Values:
    """Return the value of a derived signal: its operands, each times its weight, combined by the operation."""
    weighed = [weight * value for weight, value in zip(weights, values, strict=True)] if weights else values
    return apply_operation(operation, weighed)


def _find_shared_times(times: Sequence[Times]) -> Times:
    """Return the times that all arrays contain."""
    shared = times[0]
    for other in times[1:]:
        if not np.array_equal(shared, other):
            shared = np.intersect1d(shared, other, assume_unique=True)
    return shared


def combine_fields(operation: Operation, fields: Sequence[FlatPairs], transform: Transform) -> FlatPairs | None:
    """Return several fields combined by an operation; None if their pairs differ in times or rows."""
    first, *rest = fields
    if not all(
        np.array_equal(first.pairs.later, other.pairs.later) and np.array_equal(first.row, other.row) for other in rest
    ):
        return None
    values = apply_operation(operation, [field.pairs.values for field in fields])
    earlier = np.minimum.reduce([field.pairs.earlier for field in fields])
    finite = np.isfinite(values)
    return FlatPairs(Pairs(earlier, first.pairs.later, transform_values(values, transform)), first.row).where(finite)


def find_requests_per_second(times: FlatPairs, rate: FlatPairs | None, rows: int) -> Values:
    """Return the requests per second in the interval of each time per request; NaN where the rate has no sample.

    For a row without a rate, or without a sample of its rate at any of these times: 0 where the time per request is
    exactly 0 (no requests), else 1, so that all other intervals count equally.
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
    flat: FlatPairs, at: Times, begin: Times, window: int, reduce: Reduce, per_second: Values | None = None
) -> Values:
    """Return one value for each row and evaluation e of `at`, from the pairs with both samples in `begin` to `e`.

    `begin` are the starts of the windows, a row for each source and a column for each evaluation. NaN is no data. Pairs
    are not weighted by their length, as in InfluxQL's non_negative_derivative in a subquery; a mean is weighted by the
    requests `per_second`, if given.
    """
    first, last = _find_bounds(flat, at, begin)
    later, values = flat.pairs.later, flat.pairs.values
    if per_second is None or reduce != "mean" or (per_second == 1).all():
        return reduce_spans(later, values, first, last, window, reduce).reshape(begin.shape)
    total = reduce_spans(later, values * per_second, first, last, window, "sum")
    weights = reduce_spans(later, per_second, first, last, window, "sum")
    # Rounding must not move a mean outside its samples.
    low, high = (reduce_spans(later, values, first, last, window, end) for end in ("min", "max"))
    return np.clip(total / weights, low, high).reshape(begin.shape)


def is_idle(values: Values, rates: Values, minimum_rate: float | Values) -> NDArray[np.bool_]:
    """Return a mask of the windows without requests, or with fewer per second than `minimum_rate` if none was slow.

    By Little's law the rate times the time (`values`, in seconds) is the number of outstanding requests: a disk that
    needs seconds for each request completes few requests.
    """
    return (rates <= 0) | ((rates < minimum_rate) & ~(rates * values >= OCCUPIED))


def _find_bounds(flat: FlatPairs, at: Times, begin: Times) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for each window of each row, the index of the first pair and the index after the last pair."""
    earlier, later = flat.pairs.earlier, flat.pairs.later
    if not len(later):
        none = np.zeros(begin.size, dtype=np.intp)
        return none, none
    start = int(earlier.min())
    room = int(later.max()) - start + 3  # of a row, with a place before its first pair and one after its last
    base = np.arange(len(begin))[:, np.newaxis] * room + 1
    earliest = (base + np.clip(begin - start, 0, room - 2)).ravel()
    end = (base + np.clip(at - start, -1, room - 3)).ravel()
    place = flat.row * room + 1
    first = np.searchsorted(place + (earlier - start), earliest, side="left")
    return first, np.maximum(first, np.searchsorted(place + (later - start), end, side="right"))

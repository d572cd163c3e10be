"""Reduces the samples of a window that ends at an evaluation to one value."""

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.rules.fields import Pairs
from plimsoll.rules.schema.field_types import Reduce


def reduce(samples: Samples, at: Times, window: int, how: Reduce) -> Values:
    """One value per evaluation e, from the samples with `e - window <= time <= e`; NaN for no data.

    `samples` hold finite values only.
    """
    first = np.searchsorted(samples.times, at - window, side="left")
    last = np.searchsorted(samples.times, at, side="right")
    return _reduce_spans(samples.times, samples.values, first, last, window, how)


def reduce_pairs(pairs: Pairs, at: Times, window: int, how: Reduce) -> Values:
    """The same for values of pairs; a pair counts if both its samples are inside the window.

    Pairs are not weighted by their length, as with InfluxQL's non_negative_derivative in a subquery.
    """
    first = np.searchsorted(pairs.earlier, at - window, side="left")
    last = np.searchsorted(pairs.later, at, side="right")
    return _reduce_spans(pairs.later, pairs.values, first, np.maximum(first, last), window, how)


def _reduce_spans(
    times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int, how: Reduce
) -> Values:
    """Reduce `values[first:last]` for every evaluation."""
    counts = last - first
    filled = counts > 0
    first, last = first[filled], last[filled]
    result = np.full(len(filled), np.nan)
    if len(first):
        result[filled] = _REDUCERS[how](times, values, first, last, window)
    return result


def _spans(ufunc: np.ufunc, values: Values, first: NDArray[np.intp], last: NDArray[np.intp]) -> Values:
    """`ufunc.reduce(values[first:last])` for each span; spans must not be empty."""
    bounds = np.column_stack((first, last)).ravel()
    return ufunc.reduceat(np.append(values, values[-1]), bounds)[::2]


def _mean(times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int) -> Values:
    # Rounding must not move a mean outside its samples: a constant 80 is 80, not 79.99999999999999.
    mean = _spans(np.add, values, first, last) / (last - first)
    return np.clip(mean, _spans(np.minimum, values, first, last), _spans(np.maximum, values, first, last))


def _median(times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int) -> Values:
    return np.array([np.median(values[a:b]) for a, b in zip(first.tolist(), last.tolist(), strict=True)])


def _increase(times: Times, values: Values, first: NDArray[np.intp], last: NDArray[np.intp], window: int) -> Values:
    """Last minus first; no data unless they are at least half a window apart."""
    apart = 2 * (times[last - 1] - times[first]) >= window
    return np.where(apart, values[last - 1] - values[first], np.nan)


_REDUCERS = {
    "mean": _mean,
    "min": lambda times, values, first, last, window: _spans(np.minimum, values, first, last),
    "max": lambda times, values, first, last, window: _spans(np.maximum, values, first, last),
    "last": lambda times, values, first, last, window: values[last - 1],
    "sum": lambda times, values, first, last, window: _spans(np.add, values, first, last),
    "count": lambda times, values, first, last, window: (last - first).astype(np.float64),
    "median": _median,
    "increase": _increase,
}

"""Arithmetic on fields, sample by sample: rates of counters, and sums, differences and ratios of several fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Across, Operation
from plimsoll.rules.schema.signal import Transform

OPERATORS: Mapping[Operation, str] = {"sum": "+", "difference": "-", "ratio": "/", "product": "*"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values computed from pairs of neighbouring samples, with the times of both. Both times ascend."""

    earlier: Times
    later: Times
    values: Values


def rates(samples: Samples) -> Pairs:
    """The increase per second between neighbouring samples of a counter. A decrease is a reset, and gives no pair.

    `samples` hold finite values only.
    """
    rise = np.diff(samples.values)
    kept = rise >= 0
    seconds = np.diff(samples.times) / SECOND
    return Pairs(samples.times[:-1][kept], samples.times[1:][kept], rise[kept] / seconds[kept])


def combined_rates(operation: Operation, counts: Sequence[Samples]) -> Pairs:
    """The rates of several counters under an operation, at times where all of them have a rate."""
    parts = [rates(one.present) for one in counts]
    later = _shared([part.later for part in parts])
    at = [_rows(part.later, later) for part in parts]
    earlier = np.minimum.reduce([part.earlier[rows] for part, rows in zip(parts, at, strict=True)])
    values = apply_operation(operation, [part.values[rows] for part, rows in zip(parts, at, strict=True)])
    known = np.isfinite(values)
    return Pairs(earlier[known], later[known], values[known])


def combined_samples(operation: Operation, fields: Sequence[Samples]) -> Samples:
    """Several fields under an operation, at times where all of them have a sample."""
    parts = [one.present for one in fields]
    times = _shared([part.times for part in parts])
    values = apply_operation(operation, [part.values[_rows(part.times, times)] for part in parts])
    return Samples(times, values).present


def transformed(values: Values, transform: Transform) -> Values:
    """Values scaled and shifted to the unit of the signal."""
    scale, offset = transform.scale, transform.offset
    moved = values if scale == 1 and offset == 0 else scale * values + offset
    return moved if transform.most is None else np.minimum(moved, transform.most)


def apply_operation(operation: Operation, values: Sequence[Values]) -> Values:
    """The result of an operation. A divisor of 0 or less gives NaN: no divisor of a signal can be negative."""
    match operation:
        case "sum":
            return np.sum(values, axis=0)
        case "difference":
            return values[0] - values[1]
        case "product":
            return np.sum(values[:-1], axis=0) * values[-1]
        case "ratio":
            return np.divide(values[0], values[1], out=np.full(np.shape(values[0]), np.nan), where=values[1] > 0)


def total(values: Sequence[Values], how: Across = "sum") -> Values:
    """The sum, mean, maximum or minimum of the values that are present; NaN where all are missing."""
    stacked = np.stack(values)
    present = ~np.isnan(stacked)
    match how:
        case "sum":
            found = np.nansum(stacked, axis=0)
        case "mean":
            found = np.nansum(stacked, axis=0) / np.maximum(present.sum(axis=0), 1)
        case "max":
            found = np.where(present, stacked, -np.inf).max(axis=0)
        case "min":
            found = np.where(present, stacked, np.inf).min(axis=0)
    return np.where(present.any(axis=0), found, np.nan)


def combined(
    operation: Operation, values: Sequence[Values], weights: Sequence[float] | Sequence[Values] = ()
) -> Values:
    """The value of a derived signal: its operands, each times its weight, under the operation."""
    weighed = [weight * one for weight, one in zip(weights, values, strict=True)] if weights else values
    return apply_operation(operation, weighed)


def _rows(times: Times, some: Times) -> NDArray[np.int_] | slice:
    """The rows of some of the times."""
    return slice(None) if len(some) == len(times) else np.searchsorted(times, some)


def _shared(times: Sequence[Times]) -> Times:
    """The times that occur in all arrays."""
    shared = times[0]
    for other in times[1:]:
        if not np.array_equal(shared, other):
            shared = np.intersect1d(shared, other, assume_unique=True)
    return shared

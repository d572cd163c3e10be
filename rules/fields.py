"""Fields of one measurement as one value, sample by sample: sums, differences and ratios, of growing counts as well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.log import Times, Values
from model.samples import Samples
from model.times import SECOND
from rules.field_types import Operation
from rules.signal_schema import Transform

OPERATORS: Mapping[Operation, str] = {"sum": "+", "difference": "-", "ratio": "/"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """What neighbouring samples give together: the times of both, and the value. Both times ascend."""

    earlier: Times
    later: Times
    values: Values


def rates(samples: Samples) -> Pairs:
    """What a growing count gains per second between neighbours. Where it falls it was reset: that gives nothing.

    `samples` hold finite values only.
    """
    rise = np.diff(samples.values)
    kept = rise >= 0
    seconds = np.diff(samples.times) / SECOND
    return Pairs(samples.times[:-1][kept], samples.times[1:][kept], rise[kept] / seconds[kept])


def combined_rates(operation: Operation, counts: Sequence[Samples]) -> Pairs:
    """The growth of several counts as one value, wherever all of them have grown to the same time."""
    parts = [rates(one.present) for one in counts]
    later = _shared([part.later for part in parts])
    at = [np.searchsorted(part.later, later) for part in parts]
    earlier = np.minimum.reduce([part.earlier[rows] for part, rows in zip(parts, at, strict=True)])
    values = apply_operation(operation, [part.values[rows] for part, rows in zip(parts, at, strict=True)])
    known = np.isfinite(values)
    return Pairs(earlier[known], later[known], values[known])


def combined_samples(operation: Operation, fields: Sequence[Samples]) -> Samples:
    """Several fields as one value, wherever all of them have a sample at the same time."""
    parts = [one.present for one in fields]
    times = _shared([part.times for part in parts])
    values = apply_operation(operation, [part.values[np.searchsorted(part.times, times)] for part in parts])
    return Samples(times, values).present


def transformed(values: Values, transform: Transform) -> Values:
    """Values as the signal has them."""
    scale, offset = transform.scale, transform.offset
    return values if scale == 1 and offset == 0 else scale * values + offset


def apply_operation(operation: Operation, values: Sequence[Values]) -> Values:
    """Values as one; a divisor that is 0 or less is no data: nothing that is divided by can be negative."""
    match operation:
        case "sum":
            return np.sum(values, axis=0)
        case "difference":
            return values[0] - values[1]
        case "ratio":
            return np.divide(values[0], values[1], out=np.full(len(values[0]), np.nan), where=values[1] > 0)


def _shared(times: Sequence[Times]) -> Times:
    """The times that all have."""
    shared = times[0]
    for other in times[1:]:
        shared = np.intersect1d(shared, other, assume_unique=True)
    return shared

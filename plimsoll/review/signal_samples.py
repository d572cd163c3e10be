"""The samples of a signal: recorded values in the signal's unit, at the times they were recorded."""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.request_means import FlatPairs, requests_per_second
from plimsoll.rules.resolved_sources import (
    ResolvedDerivation,
    ResolvedFact,
    ResolvedFields,
    ResolvedRequestTime,
    ResolvedSeries,
    ResolvedSource,
    ResolvedTotal,
)
from plimsoll.rules.signal_values import combined, total
from plimsoll.rules.window import combined_rates, combined_samples, transformed


def signal_samples(
    origin: ResolvedSource, samples_of: Callable[[Series], Samples], *, where_shared: bool = False
) -> Samples | None:
    """Return the samples of a signal; None if it is computed from series that were not sampled at the same times.

    `where_shared`: such a signal is computed at the times that all its parts have, if there are any.
    """
    match origin:
        case ResolvedSeries(series, rate, transform):
            samples = samples_of(series)
            values = transformed(samples.values, transform)
            if values is not samples.values:
                samples = Samples(samples.times, values, timed_as=samples)
            return _rates(samples.present) if rate else samples
        case ResolvedFields(operation, fields, rate, transform):
            parts = [samples_of(series) for series in fields]
            pairs = combined_rates(operation, parts) if rate else None
            samples = Samples(pairs.later, pairs.values) if pairs else combined_samples(operation, parts)
            return Samples(samples.times, transformed(samples.values, transform))
        case ResolvedRequestTime(value, rate):
            return _of_requests(signal_samples(value, samples_of), signal_samples(rate, samples_of) if rate else None)
        case ResolvedDerivation(operation, operands, weights):
            together = _together(operands, samples_of, where_shared)
            return Samples(together[0].times, combined(operation, _values(together), weights)) if together else None
        case ResolvedTotal(parts, across):
            together = _together(parts, samples_of, where_shared)
            return Samples(together[0].times, total(_values(together), across)) if together else None
        case ResolvedFact():
            return None


def _together(
    parts: Sequence[ResolvedSource], samples_of: Callable[[Series], Samples], where_shared: bool
) -> list[Samples]:
    """Return the samples of each part at the same times; empty if they were not sampled so."""
    samples_list = (signal_samples(part, samples_of, where_shared=where_shared) for part in parts)
    items = [samples for samples in samples_list if samples is not None]
    if len(items) < len(parts):
        return []
    if all(np.array_equal(items[0].times, samples.times) for samples in items[1:]):
        return items
    shared = reduce(np.intersect1d, [samples.times for samples in items])
    return (
        [Samples(shared, samples.values[np.searchsorted(samples.times, shared)]) for samples in items]
        if where_shared
        else []
    )


def _values(parts: Sequence[Samples]) -> list[Values]:
    return [part.values for part in parts]


def _of_requests(samples: Samples | None, rate: Samples | None) -> Samples | None:
    """Times per request: NaN in intervals without requests."""
    if samples is None:
        return None
    flat = FlatPairs.of_samples([samples], rate=False)
    rates = FlatPairs.of_samples([rate], rate=False) if rate else None
    busy = flat.where(requests_per_second(flat, rates, 1) > 0).pairs
    values = np.full(len(samples.times), np.nan)
    values[np.searchsorted(samples.times, busy.later)] = busy.values
    return Samples(samples.times, values)


def _rates(counts: Samples) -> Samples:
    """Return the increase per second of a growing count between neighbouring samples; NaN after a reset."""
    rise = np.diff(counts.values)
    return Samples(counts.times[1:], np.where(rise >= 0, rise / (np.diff(counts.times) / SECOND), np.nan))

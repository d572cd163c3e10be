"""The values of a condition for several subjects at once: one row for each origin, one column for each evaluation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import Stretch, within
from plimsoll.model.series import Series
from plimsoll.rules.fields import Pairs, apply_operation, combined_rates, combined_samples, rates, transformed
from plimsoll.rules.origins import (
    DerivedOrigin,
    FactOrigin,
    FieldsOrigin,
    Origin,
    RecordedOrigin,
    SeriesOrigin,
    TotalOrigin,
    WeightedOrigin,
    series_of,
)
from plimsoll.rules.schema.field_types import Across, Fact, Operation, Reduce
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.subjects import Subject
from plimsoll.rules.weighted import reduce_requests
from plimsoll.rules.window import Bounds, reduce, reduce_pairs, reduce_rows

Facts = Callable[[Subject, Fact], float]
Windows = tuple[int, list[tuple[Stretch, int]]]


@dataclass(frozen=True)
class SignalValues:
    """Computes the values of origins from samples and host facts."""

    samples: Callable[[Series], Samples]
    fact: Facts

    def windows(self, condition: Condition, origin: Origin) -> Windows:
        """The window, at least twice the sampling interval: for the log, and for parts with another interval."""
        if isinstance(origin, SeriesOrigin):
            samples = self.samples(origin.series)
            if not samples.other_intervals:
                return max(condition.over, 2 * (samples.interval or 0)), []
        sampled = [self.samples(series) for series in series_of(origin)]
        parts = sorted(
            (part for samples in sampled for part in samples.other_intervals), key=lambda part: part.interval
        )
        window = max(condition.over, 2 * max((samples.interval or 0 for samples in sampled), default=0))
        return window, [(part, max(condition.over, 2 * part.interval)) for part in parts]

    def rows(self, condition: Condition, origins: Sequence[Origin], at: Times) -> Values:
        """One value for each origin and evaluation; NaN for no data.

        Parts of a recording that were sampled at another interval are reduced apart, with their own window.
        """
        values = np.full((len(origins), len(at)), np.nan)
        alike: dict[int, list[int]] = {}
        for row, origin in enumerate(origins):
            window, others = self.windows(condition, origin)
            if others:
                values[row] = self._in_parts(condition, origin, at, (window, others))
            else:
                alike.setdefault(window, []).append(row)
        for window, rows in alike.items():
            values[rows] = self._values([origins[row] for row in rows], at, window, condition.reduce)
        return values

    def _in_parts(self, condition: Condition, origin: Origin, at: Times, windows: Windows) -> Values:
        window, others = windows
        values = np.full(len(at), np.nan)

        def take(window: int, chosen: Callable[[Times], NDArray[np.bool_]]) -> None:
            part = replace(self, samples=lambda series: self.samples(series).chosen(chosen))
            values[chosen(at)] = part._values([origin], at[chosen(at)], window, condition.reduce)[0]

        take(window, lambda times: ~within(times, (part.span for part, _ in others)))
        for used in sorted({its_window for _, its_window in others}):
            spans = [part.span for part, its_window in others if its_window == used]
            take(used, partial(within, spans=spans))
        return values

    def _values(self, origins: Sequence[Origin], at: Times, window: int, how: Reduce) -> Values:
        """One row for each origin; those that are a series each are reduced together."""
        values = np.empty((len(origins), len(at)))
        bounds = Bounds(at, window)
        for rate in (False, True):
            rows = [row for row, one in enumerate(origins) if isinstance(one, SeriesOrigin) and one.rate == rate]
            if rows:
                recorded = [self._transformed(origins[row]) for row in rows]
                values[rows] = reduce_rows(recorded, bounds, how, rate=rate)
        derived: dict[tuple[Operation, int], list[int]] = {}
        for row, origin in enumerate(origins):
            if isinstance(origin, DerivedOrigin):
                derived.setdefault((origin.operation, len(origin.operands)), []).append(row)
            elif not isinstance(origin, SeriesOrigin):
                values[row] = self._value(origin, at, window, how)
        for rows in derived.values():
            values[rows] = self._derived([origins[row] for row in rows], at, window, how)
        return values

    def _derived(self, origins: Sequence[Origin], at: Times, window: int, how: Reduce) -> Values:
        """One row for each of several origins that are derived by one operation from as many operands."""
        alike = [one for one in origins if isinstance(one, DerivedOrigin)]
        weights = np.array([one.weights or (1.0,) * len(one.operands) for one in alike])
        operands = zip(*(one.operands for one in alike), strict=True)
        values = [self._values(one, at, window, how) for one in operands]
        weighed = (weights != 1).any()
        return combined(alike[0].operation, values, [*weights.T[:, :, np.newaxis]] if weighed else ())

    def _transformed(self, origin: Origin) -> Samples:
        assert isinstance(origin, SeriesOrigin)
        samples = self.samples(origin.series)
        if origin.transform.most is not None:
            samples = samples.present  # a value that is infinite is no data, and not the most
        values = transformed(samples.values, origin.transform)
        return samples if values is samples.values else Samples(samples.times, values)

    def _value(self, origin: Origin, at: Times, window: int, how: Reduce) -> Values:
        match origin:
            case SeriesOrigin():
                return self._values([origin], at, window, how)[0]
            case FieldsOrigin(operation, fields, rate, transform):
                parts = [self.samples(series) for series in fields]
                if rate:
                    pairs = combined_rates(operation, parts)
                    pairs = Pairs(pairs.earlier, pairs.later, transformed(pairs.values, transform))
                    return reduce_pairs(pairs, at, window, how)
                samples = combined_samples(operation, parts)
                return reduce(Samples(samples.times, transformed(samples.values, transform)), at, window, how)
            case WeightedOrigin(value, rate):
                return reduce_requests(self._pairs(value), self._pairs(rate) if rate else None, at, window, how)
            case DerivedOrigin():
                return self._derived([origin], at, window, how)[0]
            case TotalOrigin(parts, across):
                return total([*self._values(parts, at, window, how)], across)
            case FactOrigin(subject, fact):
                return np.full(len(at), float(self.fact(subject, fact)))

    def _pairs(self, origin: RecordedOrigin) -> Pairs:
        """The recorded values, each with the times of the samples that it needs."""
        match origin:
            case SeriesOrigin(series, rate, transform):
                samples = self.samples(series).present
                if rate:
                    return rates(Samples(samples.times, transformed(samples.values, transform)))
                pairs = Pairs(samples.times, samples.times, samples.values)
            case FieldsOrigin(operation, fields, rate, transform):
                parts = [self.samples(one) for one in fields]
                samples = None if rate else combined_samples(operation, parts)
                pairs = (
                    Pairs(samples.times, samples.times, samples.values) if samples else combined_rates(operation, parts)
                )
        return Pairs(pairs.earlier, pairs.later, transformed(pairs.values, transform))


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

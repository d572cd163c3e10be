"""The values of a condition for several subjects at once: one row for each origin, one column for each evaluation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import Stretch, within
from plimsoll.model.series import Series
from plimsoll.rules.fields import Pairs, apply_operation, combined_rates, combined_samples, rates, transformed
from plimsoll.rules.flat_pairs import FlatPairs, FlatWindows, combined_flat, requests
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

_MOST_SAMPLES = 4_000_000  # that are computed at once; more need memory and are no faster

Recorded: TypeAlias = RecordedOrigin | WeightedOrigin
Facts = Callable[[Subject, Fact], float]
Windows = tuple[int, list[tuple[Stretch, int]]]


@dataclass(frozen=True)
class SignalValues:
    """Computes the values of origins from samples and host facts."""

    samples: Callable[[Series], Samples]
    fact: Facts
    # With the origin, so that no other gets its identity.
    _known: dict[int, tuple[Origin, int, list[Stretch]]] = field(
        init=False, default_factory=dict[int, tuple[Origin, int, list[Stretch]]]
    )
    _bounds: dict[tuple[int, int], Bounds] = field(init=False, default_factory=dict[tuple[int, int], Bounds])

    def windows(self, condition: Condition, origin: Origin) -> Windows:
        """The window, at least twice the sampling interval: for the log, and for parts with another interval."""
        longest, parts = self._intervals(origin)
        window = max(condition.over, 2 * longest)
        return window, [(part, max(condition.over, 2 * part.interval)) for part in parts] if parts else []

    def _intervals(self, origin: Origin) -> tuple[int, list[Stretch]]:
        """The longest sampling interval (ns) of what an origin reads, and the parts that have another one."""
        known = self._known.get(id(origin))
        if known is None:
            longest, parts = 0, list[Stretch]()
            for series in series_of(origin):
                samples = self.samples(series)
                longest = max(longest, samples.declared or samples.interval or 0)
                parts += () if samples.declared else samples.other_intervals
            parts.sort(key=lambda part: part.interval)
            known = self._known[id(origin)] = origin, longest, parts
        return known[1:]

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
        bounds = self._bounds_of(at, window)
        for rate in (False, True):
            rows = [row for row, one in enumerate(origins) if isinstance(one, SeriesOrigin) and one.rate == rate]
            if rows:
                recorded = [self._transformed(origins[row]) for row in rows]
                values[rows] = reduce_rows(recorded, bounds, how, rate=rate)
        derived: dict[tuple[Operation, int], list[int]] = {}
        by_form: dict[object, list[tuple[int, Recorded]]] = {}
        for row, origin in enumerate(origins):
            if isinstance(origin, DerivedOrigin):
                derived.setdefault((origin.operation, len(origin.operands)), []).append(row)
            elif isinstance(origin, WeightedOrigin | FieldsOrigin):
                by_form.setdefault(_form(origin), []).append((row, origin))
            elif not isinstance(origin, SeriesOrigin):
                values[row] = self._value(origin, at, window, how)
        for alike in by_form.values():
            values[[row for row, _ in alike]] = self._recorded([one for _, one in alike], at, window, how)
        for rows in derived.values():
            values[rows] = self._derived([origins[row] for row in rows], at, window, how)
        return values

    def _bounds_of(self, at: Times, window: int) -> Bounds:
        """The bounds of the windows at these evaluations: those of the last evaluations are kept."""
        found = self._bounds.get((id(at), window))
        if found is None:
            if any(one.at is not at for one in self._bounds.values()):
                self._bounds.clear()
            found = self._bounds[id(at), window] = Bounds(at, window)
        return found

    def _recorded(self, origins: Sequence[Recorded], at: Times, window: int, how: Reduce) -> Values:
        """One row for each of several origins of one form, at once where that can be."""
        found = self._at_once(origins, FlatWindows(len(origins), at, window), how) if len(origins) > 1 else None
        return np.stack([self._value(one, at, window, how) for one in origins]) if found is None else found

    def _at_once(self, origins: Sequence[Recorded], windows: FlatWindows, how: Reduce) -> Values | None:
        if sum(len(self.samples(one).times) for origin in origins for one in series_of(origin)) > _MOST_SAMPLES:
            return None
        each = self._flat([one.value if isinstance(one, WeightedOrigin) else one for one in origins])
        weighted = [one.rate for one in origins if isinstance(one, WeightedOrigin)]
        if each is None or not weighted:
            return windows.reduced(each, how) if each else None
        rates = [one for one in weighted if one]
        rate = self._flat(rates) if rates else None
        per_second = None if rates and rate is None else requests(each, rate, windows.rows)
        if per_second is None:
            return None
        busy = each.chosen(per_second > 0)
        return windows.reduced(busy, how, per_second[per_second > 0])

    def _flat(self, origins: Sequence[RecordedOrigin]) -> FlatPairs | None:
        """The pairs of several origins of one form; None if fields of one were not sampled at the same times."""
        match origins[0]:
            case SeriesOrigin(_, rate, transform):
                return FlatPairs.of(
                    [self.samples(series) for one in origins for series in series_of(one)], transform, rate=rate
                )
            case FieldsOrigin(operation, _, rate, transform):
                fields = zip(*(series_of(one) for one in origins), strict=True)
                parts = [FlatPairs.of([self.samples(one) for one in alike], rate=rate) for alike in fields]
                return combined_flat(operation, parts, transform)

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


def _form(origin: Recorded | None) -> tuple[object, ...]:
    """What origins have in common that are computed at once."""
    match origin:
        case SeriesOrigin():
            return origin.rate, id(origin.transform)
        case FieldsOrigin():
            return origin.operation, len(origin.fields), origin.rate, id(origin.transform)
        case WeightedOrigin():
            return _form(origin.value), _form(origin.rate)
        case None:
            return ()


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

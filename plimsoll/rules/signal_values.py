"""The values of a condition for several subjects at once: one row for each origin, one column for each evaluation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import Stretch, within
from plimsoll.model.series import Series
from plimsoll.rules.fields import Pairs, combined, combined_rates, combined_samples, rates, total, transformed
from plimsoll.rules.flat_pairs import FlatPairs, FlatWindows, combined_flat, requests
from plimsoll.rules.kept_values import KeptValues
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
from plimsoll.rules.schema.field_types import Fact, Operation, Reduce
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.subjects import Subject
from plimsoll.rules.weighted import reduce_requests
from plimsoll.rules.window import Apart, Bounds, Together, reduce, reduce_pairs, reduce_rows

_MOST_SAMPLES = 4_000_000  # that are computed at once; more need memory and are no faster

Recorded: TypeAlias = RecordedOrigin | WeightedOrigin
Facts = Callable[[Subject, Fact], float]
Windows = tuple[int, list[tuple[Stretch, int]]]


class _Recorded(NamedTuple):
    """Rows that are a series each, and are transformed alike."""

    rows: list[int]
    series: Together
    transform: Transform
    rate: bool


class _Derived(NamedTuple):
    """Rows that are derived by one operation from as many operands."""

    rows: list[int]
    operation: Operation
    operands: "list[_Alike]"
    weights: Sequence[Values]


class _Alike(NamedTuple):
    """So many origins, by how they are computed."""

    number: int
    recorded: list[_Recorded]
    derived: list[_Derived]
    by_form: list[tuple[list[int], list[Recorded]]]
    others: list[tuple[int, Origin]]


class Layout(NamedTuple):
    """The origins of a condition, by window, and those in parts. It holds as long as the sampling intervals do."""

    origins: Sequence[Origin]
    how: Reduce
    over: int
    by_window: list[tuple[int, list[int], _Alike]]
    in_parts: list[tuple[int, Origin, Windows]]


@dataclass(frozen=True)
class SignalValues:
    """Computes the values of origins from samples and host facts. `together` gives several series at once, if set."""

    samples: Callable[[Series], Samples]
    fact: Facts
    together: Callable[[Sequence[Series]], Together] | None = None
    # With the origin, so that no other gets its identity.
    _known: dict[int, tuple[Origin, int, list[Stretch]]] = field(
        init=False, default_factory=dict[int, tuple[Origin, int, list[Stretch]]]
    )
    _bounds: dict[tuple[int, int], Bounds] = field(init=False, default_factory=dict[tuple[int, int], Bounds])
    _kept: KeptValues = field(init=False, default_factory=KeptValues)

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
        return self.of(self.layout(condition, origins), at)

    def layout(self, condition: Condition, origins: Sequence[Origin]) -> Layout:
        """How some origins are computed together."""
        in_parts: list[tuple[int, Origin, Windows]] = []
        by_window: dict[int, list[int]] = {}
        for row, origin in enumerate(origins):
            window, others = self.windows(condition, origin)
            if others:
                in_parts.append((row, origin, (window, others)))
            else:
                by_window.setdefault(window, []).append(row)
        alike = [(window, rows, self._alike([origins[row] for row in rows])) for window, rows in by_window.items()]
        return Layout(origins, condition.reduce, condition.over, alike, in_parts)

    def of(self, layout: Layout, at: Times) -> Values:
        """One value for each origin of a layout and evaluation, not to be changed; NaN for no data."""
        if not len(at):
            return np.empty((len(layout.origins), 0))
        asked = at, layout.origins, layout.how, layout.over
        values = self._kept.get(*asked)
        if values is None:
            values = self._computed(layout, at)
            self._kept.keep(*asked, values)
        return values

    def _computed(self, layout: Layout, at: Times) -> Values:
        values = np.full((len(layout.origins), len(at)), np.nan)
        for row, origin, windows in layout.in_parts:
            values[row] = self._in_parts(layout.how, origin, at, windows)
        for window, rows, alike in layout.by_window:
            values[rows] = self._values(alike, at, window, layout.how)
        return values

    def _in_parts(self, how: Reduce, origin: Origin, at: Times, windows: Windows) -> Values:
        window, others = windows
        values = np.full(len(at), np.nan)

        def take(window: int, chosen: Callable[[Times], NDArray[np.bool_]]) -> None:
            part = replace(self, samples=lambda series: self.samples(series).chosen(chosen), together=None)
            some = at[chosen(at)]
            values[chosen(at)] = part._values(part._alike([origin]), some, window, how)[0] if len(some) else ()

        take(window, lambda times: ~within(times, (part.span for part, _ in others)))
        for used in sorted({its_window for _, its_window in others}):
            spans = [part.span for part, its_window in others if its_window == used]
            take(used, partial(within, spans=spans))
        return values

    def _alike(self, origins: Sequence[Origin]) -> _Alike:
        """How origins are computed; those that are a series each are reduced together."""
        recorded: dict[object, list[tuple[int, SeriesOrigin]]] = {}
        derived: dict[tuple[Operation, int], list[tuple[int, DerivedOrigin]]] = {}
        by_form: dict[object, list[tuple[int, Recorded]]] = {}
        others: list[tuple[int, Origin]] = []
        for row, origin in enumerate(origins):
            match origin:
                case SeriesOrigin():
                    recorded.setdefault(_form(origin), []).append((row, origin))
                case DerivedOrigin(operation, operands):
                    derived.setdefault((operation, len(operands)), []).append((row, origin))
                case WeightedOrigin() | FieldsOrigin():
                    by_form.setdefault(_form(origin), []).append((row, origin))
                case _:
                    others.append((row, origin))
        return _Alike(
            len(origins),
            [self._recorded_alike(some) for some in recorded.values()],
            [self._derived_alike(some) for some in derived.values()],
            [([row for row, _ in some], [one for _, one in some]) for some in by_form.values()],
            others,
        )

    def _recorded_alike(self, some: Sequence[tuple[int, SeriesOrigin]]) -> _Recorded:
        series = [one.series for _, one in some]
        together = self.together(series) if self.together else Apart([self.samples(one) for one in series])
        return _Recorded([row for row, _ in some], together, some[0][1].transform, some[0][1].rate)

    def _derived_alike(self, some: Sequence[tuple[int, DerivedOrigin]]) -> _Derived:
        weights = np.array([one.weights or (1.0,) * len(one.operands) for _, one in some])
        operands = [self._alike(one) for one in zip(*(one.operands for _, one in some), strict=True)]
        weighed = [*weights.T[:, :, np.newaxis]] if (weights != 1).any() else ()
        return _Derived([row for row, _ in some], some[0][1].operation, operands, weighed)

    def _values(self, alike: _Alike, at: Times, window: int, how: Reduce) -> Values:
        """One row for each origin."""
        values = np.empty((alike.number, len(at)))
        bounds = self._bounds_of(at, window)
        for rows, series, transform, rate in alike.recorded:
            values[rows] = reduce_rows(series, bounds, how, partial(_changed, transform), rate=rate)
        for row, origin in alike.others:
            values[row] = self._value(origin, at, window, how)
        for rows, origins in alike.by_form:
            values[rows] = self._recorded(origins, at, window, how)
        for rows, operation, operands, weights in alike.derived:
            parts = [self._values(one, at, window, how) for one in operands]
            values[rows] = combined(operation, parts, weights)
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

    def _value(self, origin: Origin, at: Times, window: int, how: Reduce) -> Values:
        match origin:
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
            case TotalOrigin(parts, across):
                return total([*self._values(self._alike(parts), at, window, how)], across)
            case FactOrigin(subject, fact):
                return np.full(len(at), float(self.fact(subject, fact)))
            case SeriesOrigin() | DerivedOrigin():
                return self._values(self._alike([origin]), at, window, how)[0]

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


def _changed(transform: Transform, values: Values) -> Values:
    if transform.most is not None:
        values = np.where(np.isfinite(values), values, np.nan)  # what is infinite is no data, and not the most
    return transformed(values, transform)


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

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
from plimsoll.rules.request_means import FlatPairs, combine_fields, reduce_pairs, requests_per_second
from plimsoll.rules.schema.field_types import Fact, Operation, Reduce
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.subjects import Subject
from plimsoll.rules.window import (
    Apart,
    Bounds,
    Pairs,
    Together,
    combined,
    combined_rates,
    combined_samples,
    reduce_rows,
    total,
    transformed,
)

_MOST_SAMPLES = 4_000_000  # that are computed at once; more need memory and are no faster
_MOST_CACHED = 4_000_000  # values of conditions, for other rules with the same condition
_LARGEST = 2**62  # of a number in an array, with room for sums

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


class _ConditionCache:
    """The values of the last conditions, by what they are of: evaluations, origins, and how these are reduced.

    Times and origins are known by their identity, and are kept so that no others get it.
    """

    def __init__(self) -> None:
        self._cache: dict[object, tuple[Times, Sequence[Origin], Values]] = {}
        self._size = 0
        self._end = 0

    def get(self, at: Times, origins: Sequence[Origin], reduce: Reduce, over: int) -> Values | None:
        """The values, if they are kept."""
        entry = self._cache.get((id(at), reduce, over, *map(id, origins)))
        return entry[2] if entry else None

    def keep(self, at: Times, origins: Sequence[Origin], reduce: Reduce, over: int, values: Values) -> None:
        """Keep values, which nobody may change from now on."""
        values.setflags(write=False)
        # Live, time moves on, and what lies before it is not asked for again.
        if self._size + values.size > _MOST_CACHED or at[0] > self._end:
            self._cache.clear()
            self._size = 0
        self._cache[id(at), reduce, over, *map(id, origins)] = at, origins, values
        self._size += values.size
        self._end = max(self._end, int(at[-1]))


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
    _cache: _ConditionCache = field(init=False, default_factory=_ConditionCache)

    def windows(self, condition: Condition, origin: Origin) -> Windows:
        """The window, at least twice the sampling interval: for the log, and for parts with another interval."""
        longest, parts = self._intervals(origin)
        window = max(condition.over, 2 * longest)
        return window, [(part, max(condition.over, 2 * part.interval)) for part in parts] if parts else []

    def _intervals(self, origin: Origin) -> tuple[int, list[Stretch]]:
        """The longest sampling interval (ns) of what an origin reads, and the parts that have another one."""
        entry = self._known.get(id(origin))
        if entry is None:
            longest, parts = 0, list[Stretch]()
            for series in series_of(origin):
                samples = self.samples(series)
                longest = max(longest, samples.declared or samples.interval or 0)
                parts += () if samples.declared else samples.other_intervals
            parts.sort(key=lambda part: part.interval)
            entry = self._known[id(origin)] = origin, longest, parts
        return entry[1:]

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
            window, stretches = self.windows(condition, origin)
            if stretches:
                in_parts.append((row, origin, (window, stretches)))
            else:
                by_window.setdefault(window, []).append(row)
        alike = [(window, rows, self._alike([origins[row] for row in rows])) for window, rows in by_window.items()]
        return Layout(origins, condition.reduce, condition.over, alike, in_parts)

    def of(self, layout: Layout, at: Times) -> Values:
        """One value for each origin of a layout and evaluation, not to be changed; NaN for no data."""
        if not len(at):
            return np.empty((len(layout.origins), 0))
        key = at, layout.origins, layout.how, layout.over
        values = self._cache.get(*key)
        if values is None:
            values = self._computed(layout, at)
            self._cache.keep(*key, values)
        return values

    def _computed(self, layout: Layout, at: Times) -> Values:
        values = np.full((len(layout.origins), len(at)), np.nan)
        for row, origin, windows in layout.in_parts:
            values[row] = self._in_parts(layout.how, origin, at, windows)
        for window, rows, alike in layout.by_window:
            values[rows] = self._values(alike, at, window, layout.how)
        return values

    def _in_parts(self, reduce: Reduce, origin: Origin, at: Times, windows: Windows) -> Values:
        window, stretches = windows
        values = np.full(len(at), np.nan)

        def take(window: int, chosen: Callable[[Times], NDArray[np.bool_]]) -> None:
            part = replace(self, samples=lambda series: self.samples(series).chosen(chosen), together=None)
            evaluations = at[chosen(at)]
            values[chosen(at)] = (
                part._values(part._alike([origin]), evaluations, window, reduce)[0] if len(evaluations) else ()
            )

        take(window, lambda times: ~within(times, (part.span for part, _ in stretches)))
        for used in sorted({length for _, length in stretches}):
            spans = [part.span for part, length in stretches if length == used]
            take(used, partial(within, spans=spans))
        return values

    def _alike(self, origins: Sequence[Origin]) -> _Alike:
        """How origins are computed; those that are a series each are reduced together."""
        recorded: dict[object, list[tuple[int, SeriesOrigin]]] = {}
        derived: dict[tuple[Operation, int], list[tuple[int, DerivedOrigin]]] = {}
        by_form: dict[object, list[tuple[int, Recorded]]] = {}
        others_: list[tuple[int, Origin]] = []
        for row, origin in enumerate(origins):
            match origin:
                case SeriesOrigin():
                    recorded.setdefault(_form(origin), []).append((row, origin))
                case DerivedOrigin(operation, operands):
                    derived.setdefault((operation, len(operands)), []).append((row, origin))
                case WeightedOrigin() | FieldsOrigin():
                    by_form.setdefault(_form(origin), []).append((row, origin))
                case _:
                    others_.append((row, origin))
        return _Alike(
            len(origins),
            [self._recorded_alike(rows) for rows in recorded.values()],
            [self._derived_alike(rows) for rows in derived.values()],
            [([row for row, _ in rows], [recorded for _, recorded in rows]) for rows in by_form.values()],
            others_,
        )

    def _recorded_alike(self, rows: Sequence[tuple[int, SeriesOrigin]]) -> _Recorded:
        series = [series_origin.series for _, series_origin in rows]
        together = self.together(series) if self.together else Apart([self.samples(series) for series in series])
        return _Recorded([row for row, _ in rows], together, rows[0][1].transform, rows[0][1].rate)

    def _derived_alike(self, rows: Sequence[tuple[int, DerivedOrigin]]) -> _Derived:
        weights = np.array([derived.weights or (1.0,) * len(derived.operands) for _, derived in rows])
        operands = [self._alike(group) for group in zip(*(derived.operands for _, derived in rows), strict=True)]
        weighed = [*weights.T[:, :, np.newaxis]] if (weights != 1).any() else ()
        return _Derived([row for row, _ in rows], rows[0][1].operation, operands, weighed)

    def _values(self, alike: _Alike, at: Times, window: int, reduce: Reduce) -> Values:
        """One row for each origin."""
        values = np.empty((alike.number, len(at)))
        bounds = self._bounds_of(at, window)
        for rows, series, transform, rate in alike.recorded:
            values[rows] = reduce_rows(series, bounds, reduce, partial(_changed, transform), rate=rate)
        for row, origin in alike.others:
            values[row] = self._value(origin, at, window, reduce)
        for rows, origins in alike.by_form:
            values[rows] = self._recorded(origins, at, window, reduce)
        for rows, operation, operands, weights in alike.derived:
            parts = [self._values(operand, at, window, reduce) for operand in operands]
            values[rows] = combined(operation, parts, weights)
        return values

    def _bounds_of(self, at: Times, window: int) -> Bounds:
        """The bounds of the windows at these evaluations: those of the last evaluations are kept."""
        cached = self._bounds.get((id(at), window))
        if cached is None:
            if any(bounds.at is not at for bounds in self._bounds.values()):
                self._bounds.clear()
            cached = self._bounds[id(at), window] = Bounds(at, window)
        return cached

    def _recorded(self, origins: Sequence[Recorded], at: Times, window: int, reduce: Reduce) -> Values:
        """One row for each of several origins of one form, all at once unless these are too many samples."""
        recorded = [self.samples(series) for origin in origins for series in series_of(origin)]
        if len(origins) > 1 and not _fit_together(recorded, len(origins)):
            return np.concatenate([self._recorded([origin], at, window, reduce) for origin in origins])
        times = self._flat([origin.value if isinstance(origin, WeightedOrigin) else origin for origin in origins])
        weighted = [origin.rate for origin in origins if isinstance(origin, WeightedOrigin)]
        if not weighted:
            return reduce_pairs(times, len(origins), at, window, reduce)
        rates = [rate for rate in weighted if rate]
        per_second = requests_per_second(times, self._flat(rates) if rates else None, len(origins))
        busy = per_second > 0
        return reduce_pairs(times.where(busy), len(origins), at, window, reduce, per_second[busy])

    def _flat(self, origins: Sequence[RecordedOrigin]) -> FlatPairs:
        """The pairs of several origins of one form."""
        match origins[0]:
            case SeriesOrigin(_, rate, transform):
                recorded = [self.samples(series) for origin in origins for series in series_of(origin)]
                return FlatPairs.of_samples(recorded, transform, rate=rate)
            case FieldsOrigin(operation, _, rate, transform):
                rows = [[self.samples(series) for series in series_of(origin)] for origin in origins]
                fields = [FlatPairs.of_samples(column, rate=rate) for column in zip(*rows, strict=True)]
                together = combine_fields(operation, fields, transform)
                # Fields that were not sampled at the same times.
                return together or FlatPairs.of_rows([_combined(operation, row, rate, transform) for row in rows])

    def _value(self, origin: Origin, at: Times, window: int, reduce: Reduce) -> Values:
        match origin:
            case TotalOrigin(parts, across):
                return total([*self._values(self._alike(parts), at, window, reduce)], across)
            case FactOrigin(subject, fact):
                return np.full(len(at), float(self.fact(subject, fact)))
            case _:
                return self._values(self._alike([origin]), at, window, reduce)[0]


def _fit_together(recorded: Sequence[Samples], rows: int) -> bool:
    """Whether samples are few enough to be computed at once, and not too far apart for the places of all rows."""
    if sum(len(samples.times) for samples in recorded) > _MOST_SAMPLES:
        return False
    filled = [samples.times for samples in recorded if len(samples.times)]
    span = max(int(times[-1]) for times in filled) - min(int(times[0]) for times in filled) if filled else 0
    return (span + 3) * rows < _LARGEST


def _combined(operation: Operation, fields: Sequence[Samples], rate: bool, transform: Transform) -> Pairs:
    if rate:
        pairs = combined_rates(operation, fields)
        return Pairs(pairs.earlier, pairs.later, transformed(pairs.values, transform))
    samples = combined_samples(operation, fields)
    return Pairs(samples.times, samples.times, transformed(samples.values, transform))


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

"""The values of a condition for several subjects at once: one row for each source, one column for each evaluation."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Stretch, Times, Values, mark_within
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.rules.schema.field_types import Fact, Operation, Reduce
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.signal_finder import (
    ResolvedDerivation,
    ResolvedFact,
    ResolvedFields,
    ResolvedRecording,
    ResolvedRequestTime,
    ResolvedSeries,
    ResolvedSource,
    ResolvedTotal,
    list_read_series,
)
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.subjects import Subject
from plimsoll.rules.window import (
    Apart,
    Arrays,
    FlatPairs,
    Pairs,
    Together,
    WindowBounds,
    combine_field_samples,
    combine_fields,
    combine_operands,
    find_requests_per_second,
    reduce_pairs,
    reduce_rows,
    total_values,
    transform_values,
)

_MOST_SAMPLES = 4_000_000  # that are computed at once; more need memory and are no faster
_MOST_CACHED = 4_000_000  # values of conditions, for other rules with the same condition
_MOST_JOINED = 20_000  # values of one reduction that are computed at once; more need memory and are no faster
_LARGEST = 2**62  # of a number in an array, with room for sums
Recorded: TypeAlias = ResolvedRecording | ResolvedRequestTime
Facts = Callable[[Subject, Fact], float]
Windows = tuple[int, list[tuple[Stretch, int]]]


class _Alike(NamedTuple):
    """Sources grouped by how they are computed; each group has the rows (indices) of its sources.

    Attributes:
        number: The number of sources in all groups.
        recorded: Groups of single series, with the same transform and use of rates.
        derived: Groups of sources derived by one operation, with their operands and weights.
        by_form: Groups of fields or times per request of one form (see `_find_form`), with the series that they read.
        single: Sources that are computed alone.
    """

    number: int
    recorded: list[tuple[list[int], Together, Transform, bool]]
    derived: list[tuple[list[int], Operation, "list[_Alike]", Sequence[Values]]]
    by_form: list[tuple[list[int], "_Formed"]]
    single: list[tuple[int, ResolvedSource]]


class _Columns(NamedTuple):
    """Sources of one form (see `_find_form`): the first source, and for each field the series of all sources."""

    form: ResolvedRecording
    fields: list[Together]

    def arrays(self) -> list[Arrays]:
        """Return, for each field, the times and values of all sources."""
        return [field.arrays() for field in self.fields]


class _Formed(NamedTuple):
    """Sources of one form (`_find_form`) with the series of their values, and of their request rates if recorded."""

    sources: Sequence[Recorded]
    values: _Columns
    rates: _Columns | None


class Layout(NamedTuple):
    """A plan to compute a condition: sources by window, and sources whose sampling interval changes (`in_parts`).

    Valid until a sampling interval changes.
    """

    sources: Sequence[ResolvedSource]
    reduce: Reduce
    over: int
    by_window: list[tuple[int, list[int], _Alike]]
    in_parts: list[tuple[int, ResolvedSource, Windows]]

    def of_step(self) -> "Layout":
        """Return this layout with windows that contain only the samples since the previous evaluation."""
        step = EVALUATION_INTERVAL - 1
        in_parts = [
            (row, source, (step, [(part, step) for part, _ in parts])) for row, source, (_, parts) in self.in_parts
        ]
        by_window = [(step, rows, alike) for _, rows, alike in self.by_window]
        return self._replace(over=step, by_window=by_window, in_parts=in_parts)


JoinedLayouts: TypeAlias = tuple[Layout, Sequence[Layout]]  # the layout of all sources of some, and these


class _ConditionCache:
    """A cache of condition values, by evaluation times, sources and reduction.

    Times and sources are compared by identity, so the cache keeps these objects as long as the values.
    """

    def __init__(self) -> None:
        self._cache: dict[object, tuple[Times, Sequence[ResolvedSource], Values]] = {}
        self._size = 0
        self._end = 0

    def values(self, layout: Layout, at: Times, compute: Callable[[Layout, Times], Values]) -> Values:
        """Return the values of a layout at `at`, computed unless they are cached; callers must not change the array."""
        key = (id(at), layout.reduce, layout.over, *map(id, layout.sources))
        if key in self._cache:
            return self._cache[key][2]
        values = compute(layout, at)
        values.setflags(write=False)
        # Live, values of earlier times are not needed again.
        if self._size + values.size > _MOST_CACHED or at[0] > self._end:
            self._cache.clear()
            self._size = 0
        self._cache[key] = at, layout.sources, values
        self._size += values.size
        self._end = max(self._end, int(at[-1]))
        return values


@dataclass(frozen=True)
class SignalValues:
    """Computes the values of sources from samples and host facts. `together`, if set, reads several series at once."""

    samples: Callable[[Series], Samples]
    fact: Facts
    together: Callable[[Sequence[Series]], Together] | None = None
    # The source is kept, so that no other object gets its id.
    _intervals_by_source: dict[int, tuple[ResolvedSource, int, list[Stretch]]] = field(
        init=False, default_factory=dict[int, tuple[ResolvedSource, int, list[Stretch]]]
    )
    _bounds: dict[int, WindowBounds] = field(init=False, default_factory=dict[int, WindowBounds])  # of the last times
    _cache: _ConditionCache = field(init=False, default_factory=_ConditionCache)

    def windows(self, condition: "Condition | Layout", source: ResolvedSource) -> Windows:
        """Return a source's window (ns, at least two intervals), and windows of stretches with another interval."""
        longest, parts = self._find_intervals(source)
        window = max(condition.over, 2 * longest)
        return window, [(part, max(condition.over, 2 * part.interval)) for part in parts] if parts else []

    def _find_intervals(self, source: ResolvedSource) -> tuple[int, list[Stretch]]:
        """Return the longest sampling interval (ns) of a source's series, and the stretches with another interval."""
        entry = self._intervals_by_source.get(id(source))
        if entry is None:
            longest, parts = 0, list[Stretch]()
            for series in list_read_series(source):
                samples = self.samples(series)
                longest = max(longest, samples.declared or samples.interval or 0)
                parts += () if samples.declared else samples.other_intervals
            parts.sort(key=lambda part: part.interval)
            entry = self._intervals_by_source[id(source)] = source, longest, parts
        return entry[1:]

    def pairs(self, source: ResolvedRecording) -> Pairs:
        """Return the samples (or pairs of neighbouring samples) whose values are reduced, of one source."""
        return _flatten(source, self._read_columns([source]).arrays()).pairs

    def rows(self, condition: Condition, sources: Sequence[ResolvedSource], at: Times) -> Values:
        """Return a condition's reduced values: a row for each source, a column for each evaluation; NaN for no data.

        Stretches of a recording with another sampling interval are reduced separately, with their own window.
        """
        return self.of(self.layout(condition, sources), at)

    def layout(self, condition: "Condition | Layout", sources: Sequence[ResolvedSource]) -> Layout:
        """Return the plan to compute a condition, or the reduction of another plan, for these sources."""
        in_parts: list[tuple[int, ResolvedSource, Windows]] = []
        by_window: dict[int, list[int]] = {}
        for row, source in enumerate(sources):
            window, stretches = self.windows(condition, source)
            if stretches:
                in_parts.append((row, source, (window, stretches)))
            else:
                by_window.setdefault(window, []).append(row)
        alike = [
            (window, rows, self._group_alike([sources[row] for row in rows])) for window, rows in by_window.items()
        ]
        return Layout(sources, condition.reduce, condition.over, alike, in_parts)

    def of(self, layout: Layout, at: Times) -> Values:
        """Return a layout's values: a row for each source, a column for each evaluation; NaN: no data. Read-only."""
        if not len(at):
            return np.empty((len(layout.sources), 0))
        return self._cache.values(layout, at, self._compute_values)

    def join_layouts(self, layouts: Iterable[Layout], evaluations: int) -> list[JoinedLayouts]:
        """Return layouts with the same reduction and length of window joined, so that each is computed at once."""
        joined: list[JoinedLayouts] = []
        different = {(*map(id, layout.sources), layout.reduce, layout.over): layout for layout in layouts}
        for alike in group_pairs(((layout.reduce, layout.over), layout) for layout in different.values()).values():
            most = max(1, _MOST_JOINED // evaluations)
            numbers = np.cumsum([len(layout.sources) for layout in alike]) // most
            for parts in group_pairs(zip(numbers.tolist(), alike, strict=True)).values():
                joined.append((self.layout(parts[0], [source for part in parts for source in part.sources]), parts))
        return joined

    def compute_joined(self, joined: Iterable[JoinedLayouts], at: Times) -> None:
        """Compute the values of joined layouts at the times `at`, which `of` returns then."""
        for whole, parts in joined:
            ends = np.cumsum([len(part.sources) for part in parts])[:-1]
            for part, rows in zip(parts, np.split(self._compute_values(whole, at), ends), strict=True):
                self._cache.values(part, at, lambda *_, rows=rows: rows)

    def _compute_values(self, layout: Layout, at: Times) -> Values:
        values = np.full((len(layout.sources), len(at)), np.nan)
        for row, source, windows in layout.in_parts:
            values[row] = self._compute_in_parts(layout.reduce, source, at, windows)
        for window, rows, alike in layout.by_window:
            values[rows] = self._compute_alike(alike, at, window, layout.reduce)
        return values

    def _compute_in_parts(self, reduce: Reduce, source: ResolvedSource, at: Times, windows: Windows) -> Values:
        """Return the values of a source whose sampling interval changes, each stretch reduced with its own window."""
        window, stretches = windows
        values = np.full(len(at), np.nan)

        def take(window: int, chosen: Callable[[Times], NDArray[np.bool_]]) -> None:
            part = replace(self, samples=lambda series: self.samples(series).chosen(chosen), together=None)
            evaluations = at[chosen(at)]
            values[chosen(at)] = (
                part._compute_alike(part._group_alike([source]), evaluations, window, reduce)[0]
                if len(evaluations)
                else ()
            )

        take(window, lambda times: ~mark_within(times, (part.span for part, _ in stretches)))
        for used in sorted({length for _, length in stretches}):
            spans = [part.span for part, length in stretches if length == used]
            take(used, partial(mark_within, spans=spans))
        return values

    def _group_alike(self, sources: Sequence[ResolvedSource]) -> _Alike:
        """Return the sources grouped by how they are computed."""
        recorded: dict[object, list[tuple[int, ResolvedSeries]]] = {}
        derived: dict[tuple[Operation, int], list[tuple[int, ResolvedDerivation]]] = {}
        by_form: dict[object, list[tuple[int, Recorded]]] = {}
        single: list[tuple[int, ResolvedSource]] = []
        for row, source in enumerate(sources):
            match source:
                case ResolvedSeries():
                    recorded.setdefault(_find_form(source), []).append((row, source))
                case ResolvedDerivation(operation, operands):
                    derived.setdefault((operation, len(operands)), []).append((row, source))
                case ResolvedRequestTime() | ResolvedFields():
                    by_form.setdefault(_find_form(source), []).append((row, source))
                case _:
                    single.append((row, source))
        return _Alike(
            len(sources),
            [self._group_recorded(rows) for rows in recorded.values()],
            [self._group_derived(rows) for rows in derived.values()],
            [
                ([row for row, _ in rows], self._form_sources([source for _, source in rows]))
                for rows in by_form.values()
            ],
            single,
        )

    def _group_recorded(
        self, rows: Sequence[tuple[int, ResolvedSeries]]
    ) -> tuple[list[int], Together, Transform, bool]:
        together = self._join_series([resolved.series for _, resolved in rows])
        return [row for row, _ in rows], together, rows[0][1].transform, rows[0][1].rate

    def _join_series(self, series: Sequence[Series]) -> Together:
        return self.together(series) if self.together else Apart(list(map(self.samples, series)))

    def _form_sources(self, sources: Sequence[Recorded]) -> _Formed:
        """Return sources of one form (see `_find_form`) with the series that they read."""
        rates = [source.rate for source in sources if isinstance(source, ResolvedRequestTime) and source.rate]
        values = [source.value if isinstance(source, ResolvedRequestTime) else source for source in sources]
        return _Formed(sources, self._read_columns(values), self._read_columns(rates) if rates else None)

    def _read_columns(self, sources: Sequence[ResolvedRecording]) -> _Columns:
        fields = zip(*map(list_read_series, sources), strict=True)
        return _Columns(sources[0], [self._join_series(column) for column in fields])

    def _group_derived(
        self, rows: Sequence[tuple[int, ResolvedDerivation]]
    ) -> tuple[list[int], Operation, list[_Alike], Sequence[Values]]:
        weights = np.array([derived.weights or (1.0,) * len(derived.operands) for _, derived in rows])
        operands = [self._group_alike(group) for group in zip(*(derived.operands for _, derived in rows), strict=True)]
        weighed = [*weights.T[:, :, np.newaxis]] if (weights != 1).any() else ()
        return [row for row, _ in rows], rows[0][1].operation, operands, weighed

    def _compute_alike(self, alike: _Alike, at: Times, window: int, reduce: Reduce) -> Values:
        """Return the values of sources at the evaluations `at`, a row for each source."""
        values = np.empty((alike.number, len(at)))
        if any(bounds.at is not at for bounds in self._bounds.values()):
            self._bounds.clear()
        bounds = self._bounds.setdefault(window, WindowBounds(at, window))
        for rows, series, transform, rate in alike.recorded:
            values[rows] = reduce_rows(
                series, bounds, reduce, partial(transform_values, transform=transform), rate=rate
            )
        for row, source in alike.single:
            values[row] = self._compute_value(source, at, window, reduce)
        for rows, formed in alike.by_form:
            values[rows] = self._compute_recorded(formed, at, window, reduce)
        for rows, operation, operands, weights in alike.derived:
            parts = [self._compute_alike(operand, at, window, reduce) for operand in operands]
            values[rows] = combine_operands(operation, parts, weights)
        return values

    def _compute_recorded(self, formed: _Formed, at: Times, window: int, reduce: Reduce) -> Values:
        """Return the values of sources of one form, a row for each source; one by one if there are too many samples."""
        sources, values, rates = formed
        fields, rated = values.arrays(), rates.arrays() if rates else []
        if len(sources) > 1 and not _fit_together([*fields, *rated]):
            return np.concatenate(
                [self._compute_recorded(self._form_sources([source]), at, window, reduce) for source in sources]
            )
        times = _flatten(values.form, fields)
        breaks = [field.breaks(self._bounds[window]) for part in (values, rates) if part for field in part.fields]
        begin = np.tile(at - window, (len(sources), 1))
        if not values.form.rate:  # growing counts tell what happened in a break, too
            begin = np.maximum.reduce([begin, *(field.since for field in breaks)])
        if not isinstance(sources[0], ResolvedRequestTime):
            reduced = reduce_pairs(times, at, begin, window, reduce)
        else:
            per_second = find_requests_per_second(times, _flatten(rates.form, rated) if rates else None, len(sources))
            busy = per_second > 0
            reduced = reduce_pairs(times.where(busy), at, begin, window, reduce, per_second[busy])
        return np.where(np.logical_or.reduce([field.inside for field in breaks]), np.nan, reduced)

    def _compute_value(self, source: ResolvedSource, at: Times, window: int, reduce: Reduce) -> Values:
        match source:
            case ResolvedTotal(parts, across):
                return total_values([*self._compute_alike(self._group_alike(parts), at, window, reduce)], across)
            case ResolvedFact(subject, fact):
                return np.full(len(at), float(self.fact(subject, fact)))
            case _:
                return self._compute_alike(self._group_alike([source]), at, window, reduce)[0]


def _fit_together(fields: Sequence[Arrays]) -> bool:
    """Return whether all rows can be computed at once: few enough samples, and row-and-time keys that fit 64 bits."""
    filled = [times for field, _ in fields for times in field if len(times)]
    if sum(map(len, filled)) > _MOST_SAMPLES:
        return False
    span = max(int(times[-1]) for times in filled) - min(int(times[0]) for times in filled) if filled else 0
    return (span + 3) * len(fields[0][0]) < _LARGEST


def _flatten(form: ResolvedRecording, fields: Sequence[Arrays]) -> FlatPairs:
    """Return the pairs of samples of several sources of one form."""
    match form:
        case ResolvedSeries(_, rate, transform):
            return FlatPairs.of_arrays(fields[0], transform, rate=rate)
        case ResolvedFields(operation, _, rate, transform):
            together = combine_fields(operation, [FlatPairs.of_arrays(field, rate=rate) for field in fields], transform)
            if together:
                return together
            # The fields were not sampled at the same times.
            rows = zip(*([*map(Samples, *field)] for field in fields), strict=True)
            return FlatPairs.of_rows([combine_field_samples(operation, row, transform, rate=rate) for row in rows])


def _find_form(source: Recorded | None) -> tuple[object, ...]:
    """Return the form of a source: a key that is equal for sources that can be computed together."""
    match source:
        case ResolvedSeries():
            return source.rate, id(source.transform)
        case ResolvedFields():
            return source.operation, len(source.fields), source.rate, id(source.transform)
        case ResolvedRequestTime():
            return _find_form(source.value), _find_form(source.rate)
        case None:
            return ()

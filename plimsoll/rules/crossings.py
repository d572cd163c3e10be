"""The matrix of a rule's evaluations for several subjects, and the crossings: spans in which the condition was true."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.states import EVALUATION_INTERVAL, State, States, Truth, Truths

NOT_JUDGED = -2  # the place of a truth of -1, which is no data


@dataclass(frozen=True, slots=True)
class Crossing:
    """A stretch of consecutive evaluations in which a rule's condition was true.

    Attributes:
        start: The first evaluation (UTC ns).
        end: The last evaluation (UTC ns). If the rule reduces by `increase`, `max` or `min`, the last evaluation with a
            new sample that made the condition true, as that sample stays in the window; `fired_at` may then be later.
        fired_at: The first evaluation (UTC ns) at which the rule fired. None for a brief crossing: the rule did not
            fire, or the condition was true for less than `for` in total while the alert lasted.
        worst: The worst reduced value of the rule in the crossing.
        mean: The mean of the rule's reduced values in the crossing.
        cut: Whether the data, or the judged time, begins or ends with the crossing, which may have lasted longer.
    """

    start: int
    end: int
    fired_at: int | None
    worst: float
    mean: float
    cut: bool = False

    @property
    def duration(self) -> int:
        """The time (ns) from the first to the last evaluation of the crossing."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class CrossingColumns(Sequence[Crossing]):
    """Crossings as columns: one array for each attribute. A `Crossing` object is created only on access.

    Attributes:
        starts: The first evaluation of each crossing (UTC ns).
        ends: The last evaluation of each crossing (UTC ns).
        fired_at: When each crossing fired (UTC ns); 0 for a brief crossing.
        fired: Whether each crossing fired.
        worst: The worst value of each crossing.
        means: The mean value of each crossing.
        cut: Whether the data, or the judged time, begins or ends with each crossing.
    """

    starts: Times
    ends: Times
    fired_at: Times
    fired: NDArray[np.bool_]
    worst: Values
    means: Values
    cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Crossing]:
        for start, end, at, fired, *rest in zip(*(column.tolist() for column in vars(self).values()), strict=True):
            yield Crossing(start, end, at if fired else None, *rest)

    def __getitem__(self, at: Any) -> Any:
        """Return the `Crossing` at an index, or the CrossingColumns of a slice, a mask or several indices."""
        if isinstance(at, int):
            return next(iter(self[[at]]))
        return CrossingColumns(*(column[at] for column in vars(self).values()))

    @property
    def durations(self) -> Times:
        """The time from the first to the last evaluation of each crossing (ns)."""
        return self.ends - self.starts

    def until(self, end: int) -> "CrossingColumns":
        """Return the crossings, with starts and ends later than `end` (UTC ns) replaced by `end`."""
        if not len(self) or self.ends.max() <= end:
            return self
        return replace(self, starts=np.minimum(self.starts, end), ends=np.minimum(self.ends, end))

    def of_samples(self, samples: Samples, healthy: Healthy, window: int, *, in_window: bool) -> "CrossingColumns":
        """Return the crossings of a mean, each from the first to the last sample past the limit.

        Those that meet are one. Samples before a crossing count if one of the last `window` (ns), and all from them on,
        are past the limit; with `in_window` only those of the window, as further conditions may have held the rule back
        before. A sample is the mean since the sample before.
        """
        times, past = samples.times, ~healthy.holds(samples.values)
        edges = np.flatnonzero(np.diff(past, prepend=False, append=False))
        run_starts, run_stops = edges[::2], edges[1::2]  # of consecutive samples past the limit
        if not len(edges) or not len(self):
            return self

        def find_last_past(at: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
            """Return the last sample past the limit up to each index, -1 if none, and the first of its run."""
            run = run_starts.searchsorted(at, "right") - 1
            return np.where(run < 0, -1, np.minimum(at, run_stops[run] - 1)), run_starts[run]

        instants = np.concatenate((self.starts - window, self.starts, self.ends + SECOND))
        reach, begin, end = np.split(times.searchsorted(instants, "right") - 1, 3)
        before, run_start = find_last_past(begin)
        following = run_stops.searchsorted(begin + 1, "right")
        next_past = np.maximum(begin + 1, np.append(run_starts, len(times) - 1)[following])
        earliest = times.searchsorted(instants[: len(self)] - EVALUATION_INTERVAL, "right") if in_window else 0
        first = np.where(before > reach, np.maximum(run_start, earliest), np.minimum(next_past, len(times) - 1))
        last, _ = find_last_past(end)
        counts = (first <= last) & (begin >= 0)
        starts = np.where(counts, np.maximum(times[first] - (samples.interval or 0), times[0]), self.starts)
        ends = np.where(counts, times[last], self.ends)
        first = np.flatnonzero(np.append([True], starts[1:] > ends[:-1]))
        sign, weights = -1 if healthy.worse == "lower" else 1, self.durations + EVALUATION_INTERVAL
        return replace(
            self[first],
            starts=starts[first],
            ends=np.maximum.reduceat(ends, first),
            worst=sign * np.maximum.reduceat(sign * self.worst, first),
            means=np.add.reduceat(weights * self.means, first) / np.add.reduceat(weights, first),
        )

    def longest(self, count: int) -> "CrossingColumns":
        """Return at most `count` crossings: the longest, in descending order of duration."""
        return self[np.argsort(-self.durations, kind="stable")[:count]]


NO_CROSSINGS = CrossingColumns(
    *(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, np.int64, bool, float, float, bool))
)


class _CrossingSpans(NamedTuple):
    """Runs of consecutive evaluations: first index and end (exclusive) in the flattened matrix, and row of each run."""

    first: NDArray[np.intp]
    stop: NDArray[np.intp]
    row: NDArray[np.intp]

    def where(self, mask: NDArray[np.bool_]) -> "_CrossingSpans":
        return _CrossingSpans(self.first[mask], self.stop[mask], self.row[mask])


@dataclass(frozen=True, eq=False)
class EvaluationMatrix:
    """The evaluations of a rule for several subjects: a row for each subject, a column for each evaluation.

    Counts and comparisons are computed for all rows at once.

    Attributes:
        healthy: The limit of each subject, scaled by host facts; all limits have the same operator.
        windows: The window (ns) of each subject, widened if the sampling interval is long.
        times: The evaluations (UTC ns).
        values: The reduced values of the rule's own signal, not of its further conditions; NaN for no data.
        truths: The `Truth` of the condition; FALSE where only the `recover` limit keeps an alert firing.
        states: The `State` after each evaluation.
        other_conditions_hold: Whether all other conditions of the rule were met.
        impossible: For each subject, the reduced values that the signal cannot have, which count as no data.
        for_: How long (ns) the condition must be true before the rule fires.
        begun: Whether data precedes the first evaluation, because only a part of a log is judged.
        renewed: Whether a new sample made the condition true (see `Crossing.end`); None if the end needs no correction.
    """

    healthy: Sequence[Healthy]
    windows: Sequence[int]
    times: Times
    values: Values
    truths: Truths
    states: States
    other_conditions_hold: NDArray[np.bool_]
    impossible: Sequence[Values]
    for_: int
    begun: bool
    renewed: NDArray[np.bool_] | None = None

    @cached_property
    def _runs(self) -> tuple[_CrossingSpans, NDArray[np.int8]]:
        """The runs of evaluations with equal truth, by row and time, and the truth (or NOT_JUDGED) of each run."""
        outside = self.states == State.NOT_JUDGED
        truths = np.where(outside, np.int8(NOT_JUDGED), self.truths) if outside.any() else self.truths
        changed = np.ones(truths.shape, dtype=np.bool_)
        changed[:, 1:] = truths[:, 1:] != truths[:, :-1]
        first = np.flatnonzero(changed)
        return _CrossingSpans(first, np.append(first[1:], truths.size), first // len(self.times)), truths.ravel()[first]

    @cached_property
    def _goes_on(self) -> NDArray[np.bool_]:
        """For each run of `_runs`: whether that run and the run before it in the same row both have data."""
        runs, truths = self._runs
        goes_on = truths >= Truth.FALSE
        goes_on[1:] &= goes_on[:-1] & (runs.row[1:] == runs.row[:-1])
        goes_on[:1] = False
        return goes_on

    @cached_property
    def _stretches(self) -> _CrossingSpans:
        """The stretches of evaluations with data; missing data, or time that is not judged, separates two stretches."""
        runs, truths = self._runs
        judged = truths >= Truth.FALSE
        begins, ends = judged & ~self._goes_on, judged & ~np.append(self._goes_on[1:], False)[: len(judged)]
        return _CrossingSpans(runs.first[begins], runs.stop[ends], runs.row[begins])

    @cached_property
    def _true(self) -> _CrossingSpans:
        runs, truths = self._runs
        return runs.where(truths == Truth.TRUE)

    @cached_property
    def judged(self) -> Sequence[int]:
        """For each row, the number of evaluations with data."""
        return self._sum_durations(self._stretches)

    @cached_property
    def true(self) -> Sequence[int]:
        """For each row, the number of evaluations at which the condition was true."""
        return self._sum_durations(self._true)

    @cached_property
    def longest_stretch(self) -> Sequence[int]:
        """For each row, the longest time (ns) with data without a break; no crossing can last longer."""
        spans = self._stretches
        return self._find_longest(spans.row, self._find_time(spans.stop - 1) - self._find_time(spans.first))

    @cached_property
    def longest_fired(self) -> Sequence[int]:
        """For each row, the duration (ns) of the longest crossing that fired; -1 if none fired."""
        columns = self.crossings
        return self._find_longest(self._true.row, np.where(columns.fired, columns.durations, -1), -1)

    @cached_property
    def longest_crossing(self) -> Sequence[int]:
        """For each row, the duration (ns) of the longest crossing; -1 without crossings."""
        return self._find_longest(self._true.row, self.crossings.durations, -1)

    @cached_property
    def last_judged(self) -> Sequence[int]:
        """For each row, the last evaluation with data (UTC ns); -1 without data."""
        spans = self._stretches
        return self._find_longest(spans.row, self._find_time(spans.stop - 1), -1)

    @cached_property
    def any_brief(self) -> Sequence[bool]:
        """For each row, whether some crossing did not fire."""
        return (np.bincount(self._true.row[~self.crossings.fired], minlength=len(self.values)) > 0).tolist()

    def _sum_durations(self, spans: _CrossingSpans) -> list[int]:
        return np.bincount(spans.row, spans.stop - spans.first, len(self.values)).astype(np.int64).tolist()

    def _find_longest(self, row: NDArray[np.intp], durations: Times, lowest: int = 0) -> list[int]:
        longest = np.full(len(self.values), lowest, dtype=np.int64)
        np.maximum.at(longest, row, durations)
        return longest.tolist()

    def _find_time(self, flat: NDArray[np.intp]) -> Times:
        return self.times[flat % len(self.times)] if len(flat) else np.empty(0, dtype=np.int64)

    @cached_property
    def _filled_from(self) -> NDArray[np.intp]:
        """For each stretch, the index of its first evaluation whose window is full of data; its end if no window is.

        At the start of the data, a window contains only a sample or two, so worst values are not taken there.
        """
        first, stop, row = self._stretches
        count = len(self.times)
        opens = first == row * count
        goes_on = np.where(opens, self.begun, self.states.ravel()[first - 1] == State.NOT_JUDGED)
        windows = np.array(self.windows, dtype=np.int64)[row]
        full = np.minimum(row * count + np.searchsorted(self.times, self._find_time(first) + windows), stop)
        return np.where(goes_on, first, full)

    @cached_property
    def _filled_crossings(self) -> NDArray[np.intp]:
        """For each crossing, the index of its first evaluation with a full window; its first index if no window is."""
        first, stop, _ = self._true
        begins = self._filled_from[np.searchsorted(self._stretches.first, first, "right") - 1]
        return np.where(begins < stop, np.maximum(first, begins), first)

    @property
    def _full_windows(self) -> NDArray[np.bool_]:
        """A mask of the evaluations with a full window. A crossing or row without any full window is marked, too."""
        edges = np.zeros(self.values.size + 1, dtype=np.int8)
        first, stop, _ = self._true
        over = self._filled_crossings < self._filled_from[np.searchsorted(self._stretches.first, first, "right") - 1]
        np.add.at(edges, np.concatenate((self._filled_from, first[over])), 1)
        np.subtract.at(edges, np.concatenate((self._stretches.stop, stop[over])), 1)
        filled = np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_).reshape(self.values.shape)
        filled[~filled.any(axis=1)] = True
        return filled

    @cached_property
    def worst(self) -> Sequence[float]:
        """For each row, the value closest to the limit or furthest past it, from full windows if any; NaN: no data."""
        return self._find_worst(None).tolist()

    @cached_property
    def nearest(self) -> Sequence[float]:
        """For each row, `worst` of the evaluations at which all other conditions of the rule were met; NaN if none."""
        return self.worst if self.other_conditions_hold.all() else self._find_worst(self.other_conditions_hold).tolist()

    def _find_worst(self, where: NDArray[np.bool_] | None) -> Values:
        values = self.values if where is None else np.where(where, self.values, np.nan)
        worst = self._find_furthest(np.where(self._full_windows, values, np.nan))
        missing = np.isnan(worst)
        return np.where(missing, self._find_furthest(values), worst) if missing.any() else worst

    def _find_furthest(self, values: Values) -> Values:
        """Return, for each row, the value closest to the limit or furthest past it; NaN if all values are missing."""
        match self.healthy[0].worse:
            case "higher":
                return np.fmax.reduce(values, axis=1, initial=np.nan)
            case "lower":
                return np.fmin.reduce(values, axis=1, initial=np.nan)
            case "either":
                if not len(self.times):
                    return np.full(len(values), np.nan)
                distances = np.abs(values - np.array([healthy.limit for healthy in self.healthy])[:, np.newaxis])
                at = np.argmax(np.where(np.isnan(distances), -1, distances), axis=1)
                return values[np.arange(len(values)), at]

    @cached_property
    def crossings(self) -> CrossingColumns:
        """The crossings of all rows, in order of row and then of time."""
        first, stop, row = self._true
        ends, active = (row + 1) * len(self.times), (self.states == State.PENDING) | (self.states == State.FIRING)
        over, firing = _TrueIndices(~active), _TrueIndices(self.states == State.FIRING)
        fires = firing.at_or_after(first, ends)
        # The number of evaluations that were true while the alert lasted.
        begins = active.copy()
        begins[:, 1:] &= ~active[:, :-1]
        begun = _TrueIndices(begins).at_or_before(first)
        begun = np.where(begun < row * len(self.times), first, begun)
        true = self._count_true_before(over.at_or_after(first, ends)) - self._count_true_before(begun)
        fired = (fires < over.at_or_after(stop, ends)) & (true * EVALUATION_INTERVAL >= self.for_)
        linked = np.append(self._goes_on, False)
        runs = np.flatnonzero(self._runs[1] == Truth.TRUE)
        last = stop - 1
        if self.renewed is not None:
            renewed = _TrueIndices(self.renewed & (self.truths == Truth.TRUE)).at_or_before(last)
            last = np.where(renewed >= first, renewed, last)
        return CrossingColumns(
            self._find_time(first),
            self._find_time(last),
            np.where(fired, self._find_time(fires), 0),
            fired,
            *self._compute_worst_and_mean(),
            ~(linked[runs] & linked[runs + 1]),
        )

    def _count_true_before(self, flat: NDArray[np.intp]) -> NDArray[np.intp]:
        """For each index of `flat` into the flattened matrix, return the number of true evaluations before it."""
        first, stop, _ = self._true
        before = np.concatenate(([0], np.cumsum(stop - first)))
        run = np.searchsorted(first, flat, "right") - 1
        return np.where(run < 0, 0, before[run] + np.minimum(flat - first[run], (stop - first)[run]))

    @cached_property
    def last_crossing(self) -> Sequence[int]:
        """For each row, the end (UTC ns) of the last crossing; -1 without crossings."""
        return self._find_longest(self._true.row, self.crossings.ends, -1)

    def crossings_of(self, row: int) -> CrossingColumns:
        """Return the crossings of one row."""
        return self.crossings[self._bounds[row] : self._bounds[row + 1]]

    @cached_property
    def _bounds(self) -> Sequence[int]:
        return np.searchsorted(self._true.row, np.arange(len(self.values) + 1)).tolist()

    def _compute_worst_and_mean(self) -> tuple[Values, Values]:
        """Return the worst value and the mean value of each crossing. No value within a crossing is missing."""
        first, stop, row = self._true
        if not len(first):
            return np.empty(0), np.empty(0)
        means = _reduce_spans(np.add, self.values.ravel(), first, stop) / (stop - first)
        begins, worse, values = self._filled_crossings, self.healthy[0].worse, self.values.ravel()
        if worse != "either":
            return _reduce_spans(np.minimum if worse == "lower" else np.maximum, values, begins, stop), means
        limits = np.repeat([healthy.limit for healthy in self.healthy], len(self.times))
        distances = np.abs(values - limits)
        worst = _reduce_spans(np.maximum, distances, begins, stop)
        at = np.flatnonzero(self.truths == Truth.TRUE)
        crossing = np.repeat(np.arange(len(row)), stop - first)
        hits = np.flatnonzero((distances[at] == worst[crossing]) & (at >= begins[crossing]))
        _, places = np.unique(crossing[hits], return_index=True)
        return values[at[hits[places]]], means

    def gaps_crossed(self, row: int) -> NDArray[np.bool_]:
        """Return, for each crossing of a row, whether only missing data separates it from the crossing before."""
        return self._gaps_crossed[self._bounds[row] : self._bounds[row + 1]]

    @cached_property
    def _gaps_crossed(self) -> NDArray[np.bool_]:
        runs, truths = self._runs
        at = np.flatnonzero(truths == Truth.TRUE)
        last, before = np.maximum(at - 1, 0), np.maximum(at - 2, 0)
        over_gap = (truths[last] == Truth.NO_DATA) & (truths[before] == Truth.TRUE)
        return over_gap & (runs.row[before] == runs.row[at]) & (at >= 2)


class _TrueIndices:
    """The indices at which a flattened mask is true, stored as the edges of the runs of true values."""

    def __init__(self, matrix: NDArray[np.bool_]) -> None:
        self._mask = matrix.ravel()
        self._edges = np.flatnonzero(self._mask[1:] != self._mask[:-1]) + 1

    def at_or_after(self, flat: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return, for each index of `flat`, the first true index from there on, but at most its element of `ends`."""
        edges = np.append(self._edges, self._mask.size)[np.searchsorted(self._edges, flat, "right")]
        return np.minimum(np.where(self._mask[np.minimum(flat, self._mask.size - 1)], flat, edges), ends)

    def at_or_before(self, flat: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return, for each index of `flat`, the last true index up to and including that index; -1 if there is none."""
        edges = np.concatenate(([0], self._edges))[np.searchsorted(self._edges, flat, "right")]
        return np.where(self._mask[flat], flat, edges - 1)


def _reduce_spans(ufunc: np.ufunc, values: Values, first: NDArray[np.intp], stop: NDArray[np.intp]) -> Values:
    """Return `ufunc.reduce(values[first:stop])` for each span; spans must be in order and not overlap."""
    bounds = np.column_stack((first, stop)).ravel()
    return ufunc.reduceat(values, bounds[:-1] if bounds[-1] == len(values) else bounds)[::2]


def find_worst(healthy: Healthy, values: Values) -> float:
    """Return the value closest to the limit, or furthest past it if the limit is crossed; NaN if all values are NaN."""
    if np.isnan(values).all():
        return float("nan")
    match healthy.worse:
        case "higher":
            return float(np.nanmax(values))
        case "lower":
            return float(np.nanmin(values))
        case "either":
            return float(values[np.nanargmax(np.abs(values - healthy.limit))])

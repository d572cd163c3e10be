"""Judges a rule over a recording: its value, condition and state at every evaluation.

docs/evaluation.md is the specification.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values, mark_within
from plimsoll.model.run import Phase, Planned
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.crossings import EvaluationMatrix
from plimsoll.rules.evaluations import (
    ConditionMatrix,
    Conditions,
    RowLimits,
    RuleEvaluation,
    compute_truths,
    find_true_spans,
    join_truths,
)
from plimsoll.rules.schema.field_types import Healthy, Reduce
from plimsoll.rules.schema.pack import Condition, Further, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import (
    ResolvedRecording,
    ResolvedRequestTime,
    ResolvedSource,
    ResolvedSources,
    find_source,
    list_facts,
    list_read_series,
)
from plimsoll.rules.signal_values import Facts, JoinedLayouts, Layout, SignalValues
from plimsoll.rules.states import TRUE, State, Truth, Truths, run
from plimsoll.rules.subjects import Subject
from plimsoll.rules.window import Together, is_idle

BELOW_ZERO = -1.0  # values nearer to zero may be rounding errors
# Units of which 1 is much; recorders round times to 0.01 ms.
_SMALL = {"s": 1e-5, "ms": 0.01, "ratio": 0.01, "share": 0.01}
_ABOVE = 1.1  # and so may values that are not further above the highest
_NEVER_BELOW_ZERO = frozenset((
    "%", "ratio", "share", "/s", "s", "ms", "ms/s", "bytes", "MB", "bytes/s",
    "connections", "failures", "machines", "messages", "packets", "processes", "requests", "sessions", "tasks",
    "threads",
))  # fmt: skip
_SHORT_WINDOW = 60 * SECOND  # a part of a longer one says little about the whole, as the first minutes of a run
_OF_SAMPLES: tuple[Reduce, ...] = ("mean", "min", "max", "last", "median")


class Constants:
    """A filler of missing values of constant signals. It keeps each row's last value, so call it in order of time."""

    def __init__(self, rows: int) -> None:
        self._last = np.full((rows, 1), np.nan)

    def filled(self, values: Values) -> Values:
        """Return values with each NaN replaced by the last value before (also of earlier calls), else by the next."""
        if not values.shape[1]:
            return values
        filled = _forward(np.concatenate((self._last, values), axis=1))[:, 1:]
        self._last = filled[:, -1:].copy()
        return _forward(filled[:, ::-1])[:, ::-1]


_MOST_CELLS = 100_000  # evaluations times subjects that are judged at once; more need memory but are no faster


class _Idle(NamedTuple):
    """The rows of times per request: `rated`, with recorded request rates and their minima, and `unrated`, without."""

    rated: list[int]
    rates: Layout
    minimum_rates: Values
    unrated: list[int]
    counts: Layout


class _Joint(NamedTuple):
    """A further condition of a rule for a batch: its distinct sources, and for each subject the index of its source."""

    condition: Condition
    layout: Layout
    rows: NDArray[np.intp]
    limits: RowLimits
    idle: _Idle | None
    missing: list[bool]
    constants: Constants | None


class SubjectBatch(NamedTuple):
    """A rule, and subjects that are judged together. Valid until a sampling interval of the subjects changes.

    `borders` are spans (UTC ns) around changes of a sampling interval, in which missing data changes no state.
    """

    rule: Rule
    subjects: Sequence[tuple[Subject, ResolvedSource]]
    limits: RowLimits
    recovered: RowLimits | None
    layout: Layout
    idle: _Idle | None
    joint: list[_Joint]
    borders: Sequence[tuple[int, int]]

    @property
    def layouts(self) -> Iterator[Layout]:
        """The layouts of all values that the rule's conditions need."""
        yield self.layout
        yield from (joint.layout for joint in self.joint)
        for idle in (self.idle, *(joint.idle for joint in self.joint)):
            yield from (idle.rates, idle.counts) if idle else ()


@dataclass(frozen=True)
class RuleEvaluator:
    """Evaluates rules from the sources of signals, their samples, host facts and phases.

    Values that their signal (of `signals`) cannot have count as no data. If phases were detected, not set by hand, a
    rule for a phase must also meet its `when_phase_unknown` conditions, as a steady load does not prove a warm host.
    Evaluations whose windows overlap `planned` work are not judged.
    """

    sources: Callable[[str], ResolvedSources]
    samples: Callable[[Series], Samples]
    fact: Facts
    phases: Sequence[Phase] = ()
    signals: Mapping[str, Signal] = field(default_factory=dict[str, Signal])
    phases_by_hand: bool = True
    planned: Sequence[Planned] = ()
    series_together: Callable[[Sequence[Series]], Together] | None = None

    @cached_property
    def _values(self) -> SignalValues:
        return SignalValues(self.samples, self.fact, self.series_together)

    def evaluate(self, rule: Rule, times: Callable[[Subject], Times]) -> Iterable[RuleEvaluation]:
        """Yield a rule's evaluations, one for each subject of its signal; `times` returns a subject's times."""
        for subject, source in self.sources(rule.signal).values():
            yield from self.evaluate_subjects(rule, [(subject, source)], times(subject))

    def evaluate_subjects(
        self,
        rule: Rule,
        subjects: Sequence[tuple[Subject, ResolvedSource]],
        at: Times,
        *,
        begun: bool = False,
        whole_windows: bool = False,
    ) -> Iterator[RuleEvaluation]:
        """Yield the evaluations of a rule at the times `at`: one for each of several subjects, in the order given.

        `begun` says that there was data before the first of these times. With `whole_windows`, means over more than a
        minute are judged only once there was data for as long, as by a review.
        """
        for matrix in self.matrices(rule, subjects, at):
            judged = _without_partial_windows(rule, matrix, begun=begun) if whole_windows else matrix
            yield from self._run_states(rule, judged, begun)

    def evaluate_conditions(self, rule: Rule, subject: Subject, source: ResolvedSource, at: Times) -> Conditions:
        """Return the conditions of a rule for one subject at the times `at`, before the state machine is applied."""
        return next(self.matrices(rule, [(subject, source)], at)).row(0)

    def mark_possible(
        self, rule: Rule, subject: Subject, source: ResolvedSource, at: Times
    ) -> NDArray[np.bool_] | None:
        """Return a mask of the times `at` that includes all at which a rule may enter or stay past its limit.

        At other times all samples in the window are on the healthy side, and so is their mean. None if that cannot be
        seen in single samples, or if a further condition depends on the evaluations before.
        """
        recorded = source.value if isinstance(source, ResolvedRequestTime) else source
        if rule.reduce not in _OF_SAMPLES or not isinstance(recorded, ResolvedRecording) or self._has_constant(rule):
            return None
        window, parts = self._values.windows(rule, source)
        if parts and recorded.rate:
            return None
        pairs = self._values.pairs(recorded)
        past = ~self._scale_limits(rule.recover or rule.healthy, rule, [subject]).hold(pairs.values)[0]
        longest = max([window, *(length for _, length in parts)])
        first = at.searchsorted(pairs.later[past])
        last = at.searchsorted(pairs.earlier[past] + longest, side="right")
        changes = np.bincount(first, minlength=len(at) + 1) - np.bincount(last, minlength=len(at) + 1)
        return changes.cumsum()[:-1] > 0

    def _has_constant(self, rule: Rule) -> bool:
        signals = (self.signals.get(condition.signal) for condition in rule.conditions)
        return any(signal and signal.constant for signal in signals)

    def _run_states(self, rule: Rule, matrix: ConditionMatrix, begun: bool) -> Iterator[RuleEvaluation]:
        """Run the state machine over conditions, within the rule's phase; yield the evaluation of each subject."""
        inside = self._mark_inside(rule, matrix.times)
        enter, values, together, odd = matrix.enter, matrix.values, matrix.other_conditions_hold, matrix.impossible
        if inside.all():
            states = run(matrix.times, enter, matrix.stay, rule.for_)
        else:
            states = np.full(enter.shape, State.NOT_JUDGED, dtype=np.int8)
            for span in find_true_spans(inside):
                states[:, span] = run(matrix.times[span], enter[:, span], matrix.stay[:, span], rule.for_)
            enter, values = np.where(inside, enter, Truth.NO_DATA).astype(np.int8), np.where(inside, values, np.nan)
            together, odd = together & inside, np.where(inside, odd, np.nan)
        knows = self._is_phase_known(rule)
        windows = [self._values.windows(rule, source) for _, source in matrix.subjects]
        is_odd = ~np.isnan(odd)
        impossible = (
            [row[mask] for row, mask in zip(odd, is_odd, strict=True)] if is_odd.any() else [odd[0, :0]] * len(odd)
        )
        columns = matrix.times, values, enter, states, together, impossible
        judged = EvaluationMatrix(
            matrix.healthy,
            [window for window, _ in windows],
            *columns,
            for_=rule.for_,
            begun=begun,
            renewed=self._mark_renewed(rule, matrix),
        )
        for row, ((subject, _), (window, stretches)) in enumerate(zip(matrix.subjects, windows, strict=True)):
            yield RuleEvaluation(subject, judged, row, knows, sorted({length for _, length in stretches} - {window}))

    def _mark_renewed(self, rule: Rule, matrix: ConditionMatrix) -> NDArray[np.bool_] | None:
        """Return a mask of the evaluations at which a new sample makes the condition true.

        None unless one sample can keep the condition true until it leaves the window (`max`, `min`, `increase`).
        """
        if rule.healthy.worse == {"max": "lower", "min": "higher", "increase": "lower"}.get(
            rule.reduce, rule.healthy.worse
        ):
            return None
        sources = [source for _, source in matrix.subjects]
        if rule.reduce == "increase":
            last = self._values.rows(replace(rule, reduce="last"), sources, matrix.times)
            rises = np.diff(last, axis=1, prepend=np.nan) > 0
            begins = np.diff(matrix.enter == Truth.TRUE, axis=1, prepend=False) > 0
            return rises | begins & (matrix.enter == Truth.TRUE)
        values = self._values.of(self._choose_layout(rule, sources).of_step(), matrix.times)
        return ~RowLimits.of(matrix.healthy).hold(values) & ~np.isnan(values)

    def matrices(
        self, rule: Rule, subjects: Sequence[tuple[Subject, ResolvedSource]], at: Times
    ) -> Iterator[ConditionMatrix]:
        """Yield a rule's conditions at the times `at`: a matrix for each batch of the subjects, in the order given."""
        return (self.evaluate_batch(part, at) for part in self.split_batches(rule, subjects, len(at)))

    def split_batches(
        self, rule: Rule, subjects: Sequence[tuple[Subject, ResolvedSource]], evaluations: int
    ) -> Iterator[SubjectBatch]:
        """Yield the subjects in batches of limited size; a subject with a changing sampling interval is a batch."""
        batch: list[tuple[Subject, ResolvedSource]] = []
        for pair in subjects:
            window, stretches = self._values.windows(rule, pair[1])
            borders = [span for part, _ in stretches for span in part.borders(window // 2)]
            if batch and (borders or len(batch) * evaluations > _MOST_CELLS):
                yield self._make_batch(rule, batch)
                batch = []
            if borders:
                yield self._make_batch(rule, [pair], borders)
            else:
                batch.append(pair)
        if batch:
            yield self._make_batch(rule, batch)

    def _make_batch(
        self, rule: Rule, pairs: Sequence[tuple[Subject, ResolvedSource]], borders: Sequence[tuple[int, int]] = ()
    ) -> SubjectBatch:
        """Return the batch of these subjects, with its conditions, limits and sources resolved."""
        subjects, sources = [subject for subject, _ in pairs], [source for _, source in pairs]
        # A host may warm up although its load is steady, so detected phases are not enough.
        is_phase_sure = not rule.phase or (self.phases and self.phases_by_hand)
        conditions = rule.and_ if is_phase_sure else (*rule.and_, *rule.when_phase_unknown)
        return SubjectBatch(
            rule,
            pairs,
            self._scale_limits(rule.healthy, rule, subjects),
            self._scale_limits(rule.recover, rule, subjects) if rule.recover else None,
            self._choose_layout(rule, sources),
            self._find_idle_rows(rule, sources),
            [self._resolve_joint(condition, subjects) for condition in conditions],
            borders,
        )

    def join_layouts(self, parts: Iterable[SubjectBatch], evaluations: int) -> list[JoinedLayouts]:
        """Return the layouts of batches joined, for `compute_joined`; valid as long as the batches are."""
        return self._values.join_layouts((layout for part in parts for layout in part.layouts), evaluations)

    def compute_joined(self, joined: Iterable[JoinedLayouts], at: Times) -> None:
        """Compute the values of joined layouts at once, before `evaluate_batch` at the same times (the same array)."""
        self._values.compute_joined(joined, at)

    def evaluate_batch(self, part: SubjectBatch, at: Times) -> ConditionMatrix:
        """Return a batch's conditions at the times `at`, without times in `borders` at which there is no data."""
        rule = part.rule
        values = self._values.of(part.layout, at)
        if part.borders:
            # Leave out evaluations without data where two sampling intervals meet, so that they change no state.
            border = np.isnan(values[0]) & mark_within(at, part.borders)
            at, values = at[~border], values[:, ~border]
        values, impossible = self._split_possible(rule, values)
        idle = self._mark_idle(part.idle, at, values)
        breached = compute_truths(values, ~part.limits.hold(values), idle)
        unrecovered = compute_truths(values, ~part.recovered.hold(values), idle) if part.recovered else breached
        joint = [self._compute_joint_truths(joint, at) for joint in part.joint]
        hold = [truths == TRUE for truths in joint]
        is_idle_anywhere = bool(idle.any())
        together = np.logical_and.reduce([*hold, ~idle] if is_idle_anywhere else hold, initial=np.True_)
        return ConditionMatrix(
            part.subjects,
            part.limits.limits,
            at,
            np.where(idle, np.nan, values) if is_idle_anywhere else values,
            join_truths([breached, *joint]),
            join_truths([unrecovered, *joint]),
            np.broadcast_to(together, values.shape),
            impossible,
        )

    def coverage(self, source: ResolvedSource, track: RuleEvaluation) -> int | None:
        """Return the longest time (ns) that samples covered in a window of `track`; None if they filled any window."""
        fullest = 0
        for series in list_read_series(source):
            samples = self.samples(series)
            times = samples.present_times
            first = np.searchsorted(times, track.times - track.window, side="left")
            last = np.searchsorted(times, track.times, side="right")
            covered = first < last
            longest = int((times[last[covered] - 1] - times[first[covered]]).max(initial=0))
            if longest + (samples.interval or 0) >= track.window:
                return None
            fullest = max(fullest, longest)
        return fullest

    def _is_phase_known(self, rule: Rule) -> bool:
        """Return whether the time of the rule's phase is known; true for a rule without a phase."""
        phase_exists = self.phases_by_hand or any(phase.name == rule.phase for phase in self.phases)
        return not rule.phase or (bool(self.phases) and phase_exists)

    def _mark_inside(self, rule: Rule, at: Times) -> np.ndarray:
        """Return a mask of the evaluations in the rule's phase (if known) whose window is outside planned work."""
        inside = np.ones(len(at), dtype=bool)
        if rule.phase and self._is_phase_known(rule):
            inside[:] = False
            for phase in self.phases:
                if phase.name == rule.phase:
                    inside |= (at >= phase.start) & (at <= phase.end)
        longest = max(condition.over for condition in rule.conditions)
        for planned in self.planned:
            if not planned.rules or rule.id in planned.rules:
                inside &= (at <= planned.start) | (at - longest >= planned.end)
        return inside

    def _choose_layout(self, condition: Condition, sources: Sequence[ResolvedSource]) -> Layout:
        """Return the layout to compute a condition from sources. Raise UnknownFact if one needs an unknown fact."""
        for source in sources:
            for fact in list_facts(source):
                self.fact(fact.subject, fact.fact)
        return self._values.layout(condition, sources)

    def _scale_limits(self, limit: Healthy, condition: Condition, subjects: Sequence[Subject]) -> RowLimits:
        scale = condition.scale
        return RowLimits.of([limit.scaled(self.fact(subject, scale)) if scale else limit for subject in subjects])

    def _resolve_joint(self, condition: Condition, subjects: Sequence[Subject]) -> _Joint:
        """Return a further condition resolved for these subjects; several subjects may share a source."""
        candidates, signal = self.sources(condition.signal), self.signals.get(condition.signal)
        sources = [find_source(candidates, subject) for subject in subjects]
        different = {id(source): source for source in sources if source is not None}
        place = {identity: row for row, identity in enumerate(different)}
        limits = [
            condition.healthy
            if source is None
            else self._scale_limits(condition.healthy, condition, [subject]).limits[0]
            for subject, source in zip(subjects, sources, strict=True)
        ]
        return _Joint(
            condition,
            self._choose_layout(condition, [*different.values()]),
            np.array([place.get(id(source), -1) for source in sources]),
            RowLimits.of(limits),
            self._find_idle_rows(condition, [*different.values()]),
            [source is None for source in sources],
            Constants(len(different)) if signal and signal.constant else None,
        )

    def _compute_joint_truths(self, joint: _Joint, at: Times) -> Truths:
        """Return the truths of a further condition at the times `at`, a row for each subject."""
        condition = joint.condition
        reduced, _ = self._split_possible(condition, self._values.of(joint.layout, at))
        if joint.constants:
            reduced = joint.constants.filled(reduced)
        values = np.concatenate((reduced, np.full((1, len(at)), np.nan)))[joint.rows]
        idle = self._mark_idle(joint.idle, at, reduced)
        if idle.ndim:
            idle = np.concatenate((idle, np.zeros((1, len(at)), bool)))[joint.rows]
        truths = compute_truths(values, ~joint.limits.hold(values), idle)
        if isinstance(condition, Further) and condition.if_not_recorded:
            truths[joint.missing] = TRUE
        return truths

    def _find_idle_rows(self, condition: Condition, sources: Sequence[ResolvedSource]) -> _Idle | None:
        """Return which of `sources` are times per request, with and without a recorded rate; None if no source is."""
        weighted = [(row, source) for row, source in enumerate(sources) if isinstance(source, ResolvedRequestTime)]
        if not weighted:
            return None
        rated = [
            (row, request_time.rate, request_time.minimum_rate) for row, request_time in weighted if request_time.rate
        ]
        unrated = [(row, request_time.value) for row, request_time in weighted if not request_time.rate]
        mean, count = (replace(condition, reduce=reduce) for reduce in ("mean", "count"))
        return _Idle(
            [row for row, _, _ in rated],
            self._values.layout(mean, [rate for _, rate, _ in rated]),
            np.array([minimum for _, _, minimum in rated])[:, np.newaxis],
            [row for row, _ in unrated],
            self._values.layout(count, [minimum for _, minimum in unrated]),
        )

    def _mark_idle(self, rows: _Idle | None, at: Times, values: Values) -> NDArray[np.bool_]:
        """Return a mask of the values that are times per request over windows with no requests, or too few to judge.

        Without times per request, the mask is a single False.
        """
        idle = np.zeros(values.shape if rows else (), dtype=bool)
        if rows and rows.rated:
            idle[rows.rated] = is_idle(values[rows.rated], self._values.of(rows.rates, at), rows.minimum_rates)
        if rows and rows.unrated:
            idle[rows.unrated] = np.isnan(values[rows.unrated]) & (self._values.of(rows.counts, at) > 0)
        return idle

    def _split_possible(self, condition: Condition, values: Values) -> tuple[Values, Values]:
        """Return two arrays: the values that the signal can have, and the impossible values, each otherwise NaN."""
        signal = self.signals.get(condition.signal)
        odd = mark_impossible(values, signal) if signal and condition.reduce in _OF_SAMPLES else np.False_
        if not odd.any():
            return values, np.broadcast_to(np.nan, values.shape)
        return np.where(odd, np.nan, values), np.where(odd, values, np.nan)


def _without_partial_windows(rule: Rule, matrix: ConditionMatrix, *, begun: bool) -> ConditionMatrix:
    """Return the matrix without the means over more than a minute whose windows reach back to before the data.

    Where data lasts for less than the window and `for` together they stay, as the only ones. `begun`: see
    `evaluate_subjects`.
    """
    if rule.reduce != "mean" or rule.over <= _SHORT_WINDOW or not len(matrix.times):
        return matrix
    hidden = np.zeros(matrix.enter.shape, dtype=bool)
    for row, truths in enumerate(matrix.enter):
        for span in find_true_spans(truths != Truth.NO_DATA):
            times = matrix.times[span]
            if times[-1] - times[0] >= rule.over + rule.for_ and not (begun and span.start == 0):
                hidden[row, span] = times < times[0] + rule.over
    return matrix.without(hidden) if hidden.any() else matrix


def _forward(values: Values) -> Values:
    """Return the values with each NaN replaced by the last value before it in its row, if any."""
    columns = np.where(np.isnan(values), 0, np.arange(values.shape[1]))
    return np.take_along_axis(values, np.maximum.accumulate(columns, axis=1), axis=1)


def mark_impossible(values: Values, signal: Signal) -> NDArray[np.bool_]:
    """Return a mask of the impossible samples: too far below zero, or above the signal's maximum; False for NaN."""
    above_zero = not signal.negative and signal.unit in _NEVER_BELOW_ZERO
    low = -_SMALL.get(signal.unit, -BELOW_ZERO) if above_zero else -np.inf
    return (values <= low) | (values > (np.inf if signal.highest is None else _ABOVE * signal.highest))

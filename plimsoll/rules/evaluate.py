"""Judges a rule over a recording: its value, condition and state at every evaluation.

docs/evaluation.md is the specification.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.run import Phase, Planned
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import within
from plimsoll.model.series import Series
from plimsoll.rules.origins import Origin, Origins, WeightedOrigin, origin_for, series_of
from plimsoll.rules.possible import possible
from plimsoll.rules.schema.healthy import Healthy, holds
from plimsoll.rules.schema.pack import Condition, Further, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_values import Facts, SignalValues
from plimsoll.rules.states import State, Truth, Truths, run_rows
from plimsoll.rules.subjects import Subject
from plimsoll.rules.tracks import Conditions, Matrix, Track
from plimsoll.rules.weighted import is_idle

_MOST_CELLS = 2_000_000  # evaluations times subjects that are judged at once; more need memory and are no faster


@dataclass(frozen=True)
class Judge:
    """The data that rules are judged on: origins of signals, samples, host facts and phases.

    `signals` say which values are possible; those of others all are. Phases that were not set by hand but found tell
    when to judge, but not that a host is warm: conditions under `when_phase_unknown` apply beside them. Evaluations
    whose windows reach into `planned` work are not judged.
    """

    origins: Callable[[str], Origins]
    samples: Callable[[Series], Samples]
    fact: Facts
    phases: Sequence[Phase] = ()
    signals: Mapping[str, Signal] = field(default_factory=dict[str, Signal])
    phases_by_hand: bool = True
    planned: Sequence[Planned] = ()

    @cached_property
    def _values(self) -> SignalValues:
        return SignalValues(self.samples, self.fact)

    def tracks(self, rule: Rule, grid: Callable[[Subject], Times]) -> Iterable[Track]:
        """A track for every subject that has the rule's signal."""
        for subject, origin in self.origins(rule.signal).values():
            yield self.track(rule, subject, origin, grid(subject))

    def track(self, rule: Rule, subject: Subject, origin: Origin, at: Times) -> Track:
        """The track of a rule for one subject at the evaluations `at`."""
        return next(self.together(rule, [(subject, origin)], at))

    def together(self, rule: Rule, subjects: Sequence[tuple[Subject, Origin]], at: Times) -> Iterator[Track]:
        """The tracks of a rule for several subjects, in their order, at the evaluations `at`."""
        for found in self.matrices(rule, subjects, at):
            yield from self._tracks(rule, found)

    def conditions(self, rule: Rule, subject: Subject, origin: Origin, at: Times) -> Conditions:
        """The conditions of a rule for one subject at the evaluations `at`, which the state machine then steps over."""
        return next(self.matrices(rule, [(subject, origin)], at)).row(0)

    def _tracks(self, rule: Rule, found: Matrix) -> Iterator[Track]:
        inside = self._inside(rule, found.times)
        enter, values, together, odd = found.enter, found.values, found.others_hold, found.impossible
        if inside.all():
            states = run_rows(found.times, enter, found.stay, rule.for_)
        else:
            states = np.full(enter.shape, State.NOT_JUDGED, dtype=np.int8)
            for span in _spans(inside):
                states[:, span] = run_rows(found.times[span], enter[:, span], found.stay[:, span], rule.for_)
            enter, values = np.where(inside, enter, Truth.NO_DATA).astype(np.int8), np.where(inside, values, np.nan)
            together, odd = together & inside, np.where(inside, odd, np.nan)
        known = self._knows(rule)
        for row, (subject, origin) in enumerate(found.subjects):
            window, others = self._values.windows(rule, origin)
            columns = found.times, values[row], enter[row], states[row], together[row], odd[row]
            used = sorted({one for _, one in others} - {window})
            yield Track(subject, found.healthy[row], window, *columns, known, used)

    def matrices(self, rule: Rule, subjects: Sequence[tuple[Subject, Origin]], at: Times) -> Iterator[Matrix]:
        """The conditions for the subjects, in their order; those whose evaluations differ are apart."""
        some: list[tuple[Subject, Origin]] = []
        for one in subjects:
            window, others = self._values.windows(rule, one[1])
            borders = [span for part, _ in others for span in part.borders(window // 2)]
            if some and (borders or len(some) * len(at) > _MOST_CELLS):
                yield self._matrix(rule, some, at)
                some = []
            if borders:
                yield self._matrix(rule, [one], at, borders)
            else:
                some.append(one)
        if some:
            yield self._matrix(rule, some, at)

    def _matrix(
        self,
        rule: Rule,
        subjects: Sequence[tuple[Subject, Origin]],
        at: Times,
        borders: Sequence[tuple[int, int]] = (),
    ) -> Matrix:
        healthy = [self._scaled(rule.healthy, rule, subject) for subject, _ in subjects]
        values = self._values.rows(rule, [origin for _, origin in subjects], at)
        if borders:
            # Leave out evaluations without data where two sampling intervals meet, so that they change no state.
            border = np.isnan(values[0]) & within(at, borders)
            at, values = at[~border], values[:, ~border]
        values, impossible = self._possible(rule, values)
        idle = self._idle(rule, [origin for _, origin in subjects], at, values)
        breached = _truths(values, ~_hold(healthy, values), idle)
        unrecovered = breached
        if rule.recover:
            recovered = [self._scaled(rule.recover, rule, subject) for subject, _ in subjects]
            unrecovered = _truths(values, ~_hold(recovered, values), idle)
        conditions = rule.and_ if self._sure_of(rule) else (*rule.and_, *rule.when_phase_unknown)
        joint = [self._joint(condition, [subject for subject, _ in subjects], at) for condition in conditions]
        together = np.logical_and.reduce([one == Truth.TRUE for one in joint], initial=np.True_) & ~idle
        return Matrix(
            subjects,
            healthy,
            at,
            np.where(idle, np.nan, values),
            _all([breached, *joint]),
            _all([unrecovered, *joint]),
            np.broadcast_to(together, values.shape),
            impossible,
        )

    def coverage(self, origin: Origin, track: Track) -> int | None:
        """The longest part of a window (ns) that samples covered; None if some window was covered completely."""
        fullest = 0
        for series in series_of(origin):
            samples = self.samples(series)
            times = samples.present.times
            first = np.searchsorted(times, track.times - track.window, side="left")
            last = np.searchsorted(times, track.times, side="right")
            some = first < last
            longest = int((times[last[some] - 1] - times[first[some]]).max(initial=0))
            if longest + (samples.interval or 0) >= track.window:
                return None
            fullest = max(fullest, longest)
        return fullest

    def _sure_of(self, rule: Rule) -> bool:
        """Whether the phase of a rule is known for sure: a host may warm up although its load is steady."""
        return not rule.phase or (bool(self.phases) and self.phases_by_hand)

    def _knows(self, rule: Rule) -> bool:
        """Whether it is known when the phase of a rule was: phases by hand are all there are, found ones are not."""
        found = self.phases_by_hand or any(one.name == rule.phase for one in self.phases)
        return not rule.phase or (bool(self.phases) and found)

    def _inside(self, rule: Rule, at: Times) -> np.ndarray:
        """Which evaluations lie in the phase of a rule, if that is known, and not in planned work."""
        inside = np.ones(len(at), dtype=bool)
        if rule.phase and self._knows(rule):
            inside[:] = False
            for phase in self.phases:
                if phase.name == rule.phase:
                    inside |= (at >= phase.start) & (at <= phase.end)
        longest = max(condition.over for condition in rule.conditions)
        for one in self.planned:
            if not one.rules or rule.id in one.rules:
                inside &= (at <= one.start) | (at - longest >= one.end)
        return inside

    def _scaled(self, limit: Healthy, condition: Condition, subject: Subject) -> Healthy:
        return limit.scaled(self.fact(subject, condition.scale)) if condition.scale else limit

    def _joint(self, condition: Condition, subjects: Sequence[Subject], at: Times) -> Truths:
        """One row for each subject; several instances of a host may share an origin, which is reduced once."""
        known = self.origins(condition.signal)
        origins = [origin_for(known, subject) for subject in subjects]
        different = {id(origin): origin for origin in origins if origin is not None}
        place = {one: row for row, one in enumerate(different)}
        reduced, _ = self._possible(condition, self._values.rows(condition, [*different.values()], at))
        rows = [place.get(id(origin), -1) for origin in origins]
        values = np.concatenate((reduced, np.full((1, len(at)), np.nan)))[rows]
        idle = np.concatenate((self._idle(condition, [*different.values()], at, reduced), np.zeros((1, len(at)), bool)))
        healthy = [
            condition.healthy if origin is None else self._scaled(condition.healthy, condition, subject)
            for subject, origin in zip(subjects, origins, strict=True)
        ]
        truths = _truths(values, ~_hold(healthy, values), idle[rows])
        if isinstance(condition, Further) and condition.if_not_recorded:
            truths[[origin is None for origin in origins]] = Truth.TRUE
        return truths

    def _idle(self, condition: Condition, origins: Sequence[Origin], at: Times, values: Values) -> NDArray[np.bool_]:
        """Whether nobody waited: the value is a time per request, and there were none, or too few to tell."""
        idle = np.zeros(values.shape, dtype=bool)
        weighted = [(row, one) for row, one in enumerate(origins) if isinstance(one, WeightedOrigin)]
        rated = [(row, one.rate, one.least) for row, one in weighted if one.rate]
        if rated:
            rows, rates, least = zip(*rated, strict=True)
            per_second = self._values.rows(condition.model_copy(update={"reduce": "mean"}), rates, at)
            idle[[*rows]] = is_idle(values[[*rows]], per_second, np.array(least)[:, np.newaxis])
        unrated = [(row, one.value) for row, one in weighted if not one.rate]
        if unrated:
            rows, times = zip(*unrated, strict=True)
            counts = self._values.rows(condition.model_copy(update={"reduce": "count"}), times, at)
            idle[[*rows]] = np.isnan(values[[*rows]]) & (counts > 0)
        return idle

    def _possible(self, condition: Condition, values: Values) -> tuple[Values, Values]:
        """The values that the signal can have, and those that it cannot; NaN elsewhere."""
        signal = self.signals.get(condition.signal)
        can_be = possible(values, signal, condition.reduce) if signal else np.True_
        if np.all(can_be):
            return values, np.broadcast_to(np.nan, values.shape)
        return np.where(can_be, values, np.nan), np.where(can_be, np.nan, values)


def _hold(healthy: Sequence[Healthy], values: Values) -> NDArray[np.bool_]:
    """Which values are healthy, by the limit of each row; False for NaN."""
    limits = np.array([one.limit for one in healthy])[:, np.newaxis]
    return holds(healthy[0].operator, values, limits)


def _truths(values: Values, breached: NDArray[np.bool_], idle: NDArray[np.bool_]) -> Truths:
    known = np.where(np.isnan(values), np.int8(Truth.NO_DATA), breached.astype(np.int8))
    return np.where(idle, np.int8(Truth.FALSE), known).astype(np.int8)


def _all(truths: Sequence[Truths]) -> Truths:
    """All conditions together: false if one is false, else no data if one has none, else true."""
    if len(truths) == 1:
        return truths[0]
    stacked = np.stack(truths)
    false = (stacked == Truth.FALSE).any(axis=0)
    missing = (stacked == Truth.NO_DATA).any(axis=0)
    return np.where(false, Truth.FALSE, np.where(missing, Truth.NO_DATA, Truth.TRUE)).astype(np.int8)


def _spans(inside: np.ndarray) -> list[slice]:
    """The runs of consecutive evaluations inside a phase; the state machine restarts at each."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False])).astype(np.int8)))
    return [slice(first, last) for first, last in edges.reshape(-1, 2).tolist()]

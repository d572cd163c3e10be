"""Judges a rule over a recording: its value, condition and state at every evaluation.

docs/evaluation.md is the specification.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times, Values
from plimsoll.model.parameters import Parameter
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import Stretch, within
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, duration_text, utc
from plimsoll.rules.fields import Pairs, apply_operation, combined_rates, combined_samples, rates, transformed
from plimsoll.rules.origins import (
    DerivedOrigin,
    FactOrigin,
    FieldsOrigin,
    Origin,
    Origins,
    RecordedOrigin,
    SeriesOrigin,
    TotalOrigin,
    WeightedOrigin,
    origin_for,
    series_of,
)
from plimsoll.rules.possible import possible
from plimsoll.rules.schema.field_types import Across, Fact, Operation, Reduce
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Condition, Further, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import State, States, Truth, Truths, run
from plimsoll.rules.subjects import Subject
from plimsoll.rules.weighted import is_idle, reduce_requests
from plimsoll.rules.window import reduce, reduce_pairs

EVERY = 10 * SECOND
_MOST_EVALUATIONS = 20_000_000

Facts = Callable[[Subject, Fact], float]


@dataclass(frozen=True, eq=False)
class Track:
    """A rule judged for one subject, with one row per evaluation.

    Attributes:
        subject: The host or instance.
        healthy: The limit, scaled for this subject.
        window: The window (ns) after widening.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        truths: The condition; false where only `recover` keeps an alert firing.
        states: The state after each evaluation.
        others_hold: Whether all other conditions of the rule held.
        impossible: Reduced values that the signal cannot have, which are no data; NaN elsewhere.
        phase_known: Whether the phases of the run were known, if the rule is for one.
        other_windows: Windows (ns) of parts of the log that were sampled at another interval.
    """

    subject: Subject
    healthy: Healthy
    window: int
    times: Times
    values: Values
    truths: Truths
    states: States
    others_hold: NDArray[np.bool_]
    impossible: Values
    phase_known: bool = True
    other_windows: Sequence[int] = ()

    @property
    def judged(self) -> int:
        """How many evaluations had data."""
        return int(np.count_nonzero((self.truths != Truth.NO_DATA) & (self.states != State.NOT_JUDGED)))


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a rule for one subject, with one row per evaluation.

    Attributes:
        healthy: The limit, scaled for this subject.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        enter: The condition for leaving OK.
        stay: The condition for remaining pending or firing; differs from `enter` if the rule has a `recover` limit.
        others_hold: Whether all other conditions of the rule held.
        impossible: Reduced values that the signal cannot have, which are no data; NaN elsewhere.
    """

    healthy: Healthy
    times: Times
    values: Values
    enter: Truths
    stay: Truths
    others_hold: NDArray[np.bool_]
    impossible: Values


@dataclass(frozen=True)
class Judge:
    """The data that rules are judged on: origins of signals, samples, host facts and phases.

    `signals` say which values are possible; those of others all are.
    """

    origins: Callable[[str], Origins]
    samples: Callable[[Series], Samples]
    fact: Facts
    phases: Sequence[Phase] = ()
    signals: Mapping[str, Signal] = field(default_factory=dict[str, Signal])

    def tracks(self, rule: Rule, grid: Callable[[Subject], Times]) -> Iterable[Track]:
        """A track for every subject that has the rule's signal."""
        for subject, origin in self.origins(rule.signal).values():
            yield self.track(rule, subject, origin, grid(subject))

    def track(self, rule: Rule, subject: Subject, origin: Origin, at: Times) -> Track:
        """The track of a rule for one subject at the evaluations `at`."""
        window, others = self._windows(rule, origin)
        found = self.conditions(rule, subject, origin, at)
        at, inside = found.times, self._inside(rule, found.times)
        states = np.full(len(at), State.NOT_JUDGED, dtype=np.int8)
        for span in _spans(inside):
            states[span], _ = run(at[span], found.enter[span], found.stay[span], rule.for_)
        truths = np.where(inside, found.enter, Truth.NO_DATA).astype(np.int8)
        values = np.where(inside, found.values, np.nan)
        known, used = bool(self.phases) or not rule.phase, sorted({one for _, one in others} - {window})
        together = found.others_hold & inside
        odd = np.where(inside, found.impossible, np.nan)
        return Track(subject, found.healthy, window, at, values, truths, states, together, odd, known, used)

    def conditions(self, rule: Rule, subject: Subject, origin: Origin, at: Times) -> Conditions:
        """The conditions of a rule for one subject at the evaluations `at`, which the state machine then steps over."""
        healthy = self._scaled(rule.healthy, rule, subject)
        window, others = self._windows(rule, origin)
        values = self._reduced(rule, origin, at)
        # Leave out evaluations without data where two sampling intervals meet, so that they change no state.
        border = np.isnan(values) & within(at, (span for part, _ in others for span in part.borders(window // 2)))
        at, values = at[~border], values[~border]
        values, impossible = self._possible(rule, values)
        idle = self._idle(rule, origin, at, values)
        breached = _truths(values, ~healthy.holds(values), idle)
        unrecovered = breached
        if rule.recover:
            unrecovered = _truths(values, ~self._scaled(rule.recover, rule, subject).holds(values), idle)
        conditions = rule.and_ if not rule.phase or self.phases else (*rule.and_, *rule.when_phase_unknown)
        joint = [self._joint(condition, subject, at) for condition in conditions]
        together = np.logical_and.reduce([one == Truth.TRUE for one in joint], initial=np.True_) & ~idle
        return Conditions(
            healthy,
            at,
            np.where(idle, np.nan, values),
            _all([breached, *joint]),
            _all([unrecovered, *joint]),
            np.broadcast_to(together, at.shape),
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

    def _inside(self, rule: Rule, at: Times) -> np.ndarray:
        if not rule.phase or not self.phases:
            return np.ones(len(at), dtype=bool)
        inside = np.zeros(len(at), dtype=bool)
        for phase in self.phases:
            if phase.name == rule.phase:
                inside |= (at >= phase.start) & (at <= phase.end)
        return inside

    def _scaled(self, limit: Healthy, condition: Condition, subject: Subject) -> Healthy:
        return limit.scaled(self.fact(subject, condition.scale)) if condition.scale else limit

    def _joint(self, condition: Condition, subject: Subject, at: Times) -> Truths:
        origin = origin_for(self.origins(condition.signal), subject)
        if origin is None:
            counts = isinstance(condition, Further) and condition.if_not_recorded
            return np.full(len(at), Truth.TRUE if counts else Truth.NO_DATA, dtype=np.int8)
        values, _ = self._possible(condition, self._reduced(condition, origin, at))
        idle = self._idle(condition, origin, at, values)
        return _truths(values, ~self._scaled(condition.healthy, condition, subject).holds(values), idle)

    def _idle(self, condition: Condition, origin: Origin, at: Times, values: Values) -> NDArray[np.bool_]:
        """Whether nobody waited: the value is a time per request, and there were none, or too few to tell."""
        if not isinstance(origin, WeightedOrigin):
            return np.zeros(len(at), dtype=bool)
        recorded, how = (origin.rate, "mean") if origin.rate else (origin.value, "count")
        rates = self._reduced(condition.model_copy(update={"reduce": how}), recorded, at)
        return is_idle(values, rates, origin.least) if origin.rate else np.isnan(values) & (rates > 0)

    def _possible(self, condition: Condition, values: Values) -> tuple[Values, Values]:
        """The values that the signal can have, and those that it cannot; NaN elsewhere."""
        signal = self.signals.get(condition.signal)
        can_be = possible(values, signal, condition.reduce) if signal else np.ones(len(values), dtype=bool)
        return np.where(can_be, values, np.nan), np.where(can_be, np.nan, values)

    def _reduced(self, condition: Condition, origin: Origin, at: Times) -> Values:
        """One value per evaluation. Parts sampled at another interval are reduced apart, with their own window."""
        window, others = self._windows(condition, origin)
        if not others:
            return self._value(origin, at, window, condition.reduce)
        values = np.full(len(at), np.nan)

        def take(window: int, chosen: Callable[[Times], NDArray[np.bool_]]) -> None:
            judge = replace(self, samples=lambda series: self.samples(series).chosen(chosen))
            values[chosen(at)] = judge._value(origin, at[chosen(at)], window, condition.reduce)

        take(window, lambda times: ~within(times, (part.span for part, _ in others)))
        for used in sorted({its_window for _, its_window in others}):
            spans = [part.span for part, its_window in others if its_window == used]
            take(used, partial(within, spans=spans))
        return values

    def _windows(self, condition: Condition, origin: Origin) -> tuple[int, list[tuple[Stretch, int]]]:
        """The window, at least twice the sampling interval: for the log, and for parts with another interval."""
        sampled = [self.samples(series) for series in series_of(origin)]
        parts = sorted(
            (part for samples in sampled for part in samples.other_intervals), key=lambda part: part.interval
        )
        window = max(condition.over, 2 * max((samples.interval or 0 for samples in sampled), default=0))
        return window, [(part, max(condition.over, 2 * part.interval)) for part in parts]

    def _value(self, origin: Origin, at: Times, window: int, how: Reduce) -> Values:
        match origin:
            case SeriesOrigin(series, rate, transform):
                samples = self.samples(series).present
                samples = Samples(samples.times, transformed(samples.values, transform))
                return reduce_pairs(rates(samples), at, window, how) if rate else reduce(samples, at, window, how)
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
            case DerivedOrigin(operation, operands, weights):
                values = [self._value(operand, at, window, how) for operand in operands]
                return combined(operation, values, weights)
            case TotalOrigin(parts, across):
                return total([self._value(part, at, window, how) for part in parts], across)
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


def grid(times: Times, every: int = EVERY, reach: int = 0) -> Times:
    """The evaluations of a recording: from the first grid point at or after the first sample to the
    first at or after the last.

    Of a pause longer than `reach` (the longest window) only the first evaluation without data is kept: the others
    change no state. Unusable if there are still too many evaluations to hold in memory.
    """
    if not len(times):
        return np.empty(0, dtype=np.int64)
    pauses = np.flatnonzero(np.diff(times) > reach + 2 * every)
    starts = -(-times[np.concatenate(([0], pauses + 1))] // every) * every
    ends = np.concatenate((times[pauses] + reach + every, [-(-times[-1] // every) * every]))
    counts = (ends - starts) // every + 1
    if counts.sum() > _MOST_EVALUATIONS:
        raise Unusable(
            f"the samples lie too far apart to be judged every {duration_text(every)}: {len(times)} rows from "
            f"{utc(int(times[0])):%Y-%m-%d} to {utc(int(times[-1])):%Y-%m-%d}; choose a part "
            f"with {Parameter.FROM} and {Parameter.TO}"
        )
    return np.concatenate([np.arange(s, e + 1, every) for s, e in zip(starts.tolist(), ends.tolist(), strict=True)])


def total(values: Sequence[Values], how: Across = "sum") -> Values:
    """The sum, mean or maximum of the values that are present; NaN where all are missing."""
    stacked = np.stack(values)
    present = ~np.isnan(stacked)
    match how:
        case "sum":
            found = np.nansum(stacked, axis=0)
        case "mean":
            found = np.nansum(stacked, axis=0) / np.maximum(present.sum(axis=0), 1)
        case "max":
            found = np.where(present, stacked, -np.inf).max(axis=0)
    return np.where(present.any(axis=0), found, np.nan)


def combined(operation: Operation, values: Sequence[Values], weights: Sequence[float] = ()) -> Values:
    """The value of a derived signal: its operands, each times its weight, under the operation."""
    weighed = [weight * one for weight, one in zip(weights, values, strict=True)] if weights else values
    return apply_operation(operation, weighed)


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

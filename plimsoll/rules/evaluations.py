"""What judging a rule gives, evaluation by evaluation: its values, conditions and states."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.rules.resolved_sources import ResolvedSource
from plimsoll.rules.schema.healthy import Healthy, holds
from plimsoll.rules.states import State, States, Truth, Truths
from plimsoll.rules.subjects import Subject

NOT_JUDGED = -2  # where a truth of -1 is no data


@dataclass(frozen=True, eq=False)
class TruthRuns:
    """Runs of equal truth, in order of time; neighbours differ.

    Attributes:
        bounds: The first evaluation of each run, and the number of evaluations.
        truths: The truth of each, `NOT_JUDGED` outside the phases of the rule.
    """

    bounds: NDArray[np.intp]
    truths: NDArray[np.int8]

    @classmethod
    def of(cls, truths: Truths, states: States) -> "TruthRuns":
        """Return the runs of a column of truths."""
        outside = states == State.NOT_JUDGED
        column = np.where(outside, np.int8(NOT_JUDGED), truths) if outside.any() else truths
        starts = np.flatnonzero(np.concatenate((column[:1] == column[:1], column[1:] != column[:-1])))
        return cls(np.append(starts, len(column)), column[starts])

    def between(self, truth: Truth) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first evaluation of each run of this truth, and the one after its last."""
        at = np.flatnonzero(self.truths == truth)
        return self.bounds[at], self.bounds[at + 1]

    def count(self, truth: Truth) -> int:
        """Return how many evaluations have this truth."""
        first, stop = self.between(truth)
        return int((stop - first).sum())

    def judged(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the stretches judged without a break: true and false ones that follow each other, together."""
        judged = np.concatenate(([False], self.truths >= Truth.FALSE, [False])).astype(np.int8)
        edges = np.flatnonzero(np.diff(judged)).reshape(-1, 2)
        return self.bounds[edges[:, 0]], self.bounds[edges[:, 1]]


@dataclass(frozen=True, eq=False)
class RuleEvaluation:
    """A rule judged for one subject, with one row per evaluation.

    Attributes:
        subject: The host or instance.
        healthy: The limit, scaled for this subject.
        window: The window (ns) after widening.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        truths: The condition; false where only `recover` keeps an alert firing.
        states: The state after each evaluation.
        other_conditions_hold: Whether all other conditions of the rule held.
        impossible: Reduced values that the signal cannot have, which are no data; NaN elsewhere.
        is_phase_determined: Whether the phases of the run were known, if the rule is for one.
        other_windows: Windows (ns) of parts of the log that were sampled at another interval.
        for_: How long (ns) the condition must be true before the rule fires.
        begun: Whether there was data before the first evaluation, as where only a part of a log is judged.
    """

    subject: Subject
    healthy: Healthy
    window: int
    times: Times
    values: Values
    truths: Truths
    states: States
    other_conditions_hold: NDArray[np.bool_]
    impossible: Values
    is_phase_determined: bool = True
    other_windows: Sequence[int] = ()
    for_: int = 0
    begun: bool = False

    @cached_property
    def runs(self) -> TruthRuns:
        """The runs of equal truth."""
        return TruthRuns.of(self.truths, self.states)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Where the alert was pending or firing."""
        return (self.states == State.PENDING) | (self.states == State.FIRING)

    @cached_property
    def judged(self) -> int:
        """How many evaluations had data."""
        return self.runs.count(Truth.TRUE) + self.runs.count(Truth.FALSE)

    @cached_property
    def telling(self) -> NDArray[np.bool_]:
        """The evaluations that worst values are of: those whose windows lie within the data.

        Where data begins, a window has a sample or two. A crossing that was over before a window was full has no
        others.
        """
        telling = np.zeros(len(self.times), dtype=bool)
        for first, stop in zip(*self.runs.judged(), strict=True):
            goes_on = self.begun if first == 0 else self.states[first - 1] == State.NOT_JUDGED
            full = first if goes_on else np.searchsorted(self.times, self.times[first] + self.window)
            telling[full:stop] = True
        begins, ends = self.runs.between(Truth.TRUE)
        before = np.concatenate(([0], np.cumsum(telling)))
        over = before[begins] == before[ends]
        for first, stop in zip(begins[over], ends[over], strict=True):
            telling[first:stop] = True
        return telling if telling.any() else ~telling


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a rule for one subject, with one row per evaluation.

    Attributes:
        healthy: The limit, scaled for this subject.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        enter: The condition for leaving OK.
        stay: The condition for remaining pending or firing; differs from `enter` if the rule has a `recover` limit.
    """

    healthy: Healthy
    times: Times
    values: Values
    enter: Truths
    stay: Truths


@dataclass(frozen=True, eq=False)
class ConditionMatrix:
    """The conditions of a rule for several subjects: a row each, a column for each evaluation."""

    subjects: Sequence[tuple[Subject, ResolvedSource]]
    healthy: Sequence[Healthy]
    times: Times
    values: Values
    enter: Truths
    stay: Truths
    other_conditions_hold: NDArray[np.bool_]
    impossible: Values

    def row(self, at: int) -> Conditions:
        """Return the conditions for one subject."""
        return Conditions(self.healthy[at], self.times, self.values[at], self.enter[at], self.stay[at])

    def without(self, rows: NDArray[np.bool_]) -> "ConditionMatrix":
        """Return the same without data for some rows."""
        hidden = rows[:, np.newaxis]
        return replace(
            self,
            values=np.where(hidden, np.nan, self.values),
            enter=np.where(hidden, np.int8(Truth.NO_DATA), self.enter),
            stay=np.where(hidden, np.int8(Truth.NO_DATA), self.stay),
            impossible=np.where(hidden, np.nan, self.impossible),
        )


class RowLimits(NamedTuple):
    """Limits of several rows, all with one operator."""

    limits: Sequence[Healthy]
    values: Values

    @classmethod
    def of(cls, limits: Sequence[Healthy]) -> "RowLimits":
        """Return the limits of some rows."""
        return cls(limits, np.array([limit.limit for limit in limits])[:, np.newaxis])

    def hold(self, values: Values) -> NDArray[np.bool_]:
        """Return which values are healthy, by the limit of each row; False for NaN."""
        return holds(self.limits[0].operator, values, self.values)


def truths_of(values: Values, breached: NDArray[np.bool_], idle: NDArray[np.bool_]) -> Truths:
    """Return whether the condition holds: false where nobody waited, no data where there is no value."""
    truths = np.where(np.isnan(values), np.int8(Truth.NO_DATA), breached.astype(np.int8))
    return np.where(idle, np.int8(Truth.FALSE), truths).astype(np.int8)


def together_of(truths: Sequence[Truths]) -> Truths:
    """Return all conditions together: false if one is false, else no data if one has none, else true."""
    if len(truths) == 1:
        return truths[0]
    stacked = np.stack(truths)
    false = (stacked == Truth.FALSE).any(axis=0)
    missing = (stacked == Truth.NO_DATA).any(axis=0)
    return np.where(false, Truth.FALSE, np.where(missing, Truth.NO_DATA, Truth.TRUE)).astype(np.int8)


def spans_of(inside: np.ndarray) -> list[slice]:
    """Return the runs of consecutive true evaluations of a mask."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False])).astype(np.int8)))
    return [slice(first, last) for first, last in edges.reshape(-1, 2).tolist()]

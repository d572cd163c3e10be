"""The result of judging a rule: its value, condition and state at each evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.rules.crossings import CrossingColumns, EvaluationMatrix
from plimsoll.rules.schema.field_types import Healthy, holds
from plimsoll.rules.signal_finder import ResolvedSource
from plimsoll.rules.states import EVALUATION_INTERVAL, FALSE, NO_DATA, States, Truths
from plimsoll.rules.subjects import Subject

_Value = TypeVar("_Value")


class _Cell(Generic[_Value]):
    """A descriptor that reads an attribute of `EvaluationMatrix` in the row of one subject."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __get__(self, track: "RuleEvaluation", _: type["RuleEvaluation"]) -> _Value:
        return getattr(track.matrix, self._attribute)[track.row]


@dataclass(frozen=True, eq=False)
class RuleEvaluation:
    """The evaluations of a rule for one subject: one row of an `EvaluationMatrix`, which describes its attributes.

    Attributes:
        subject: The host or instance.
        matrix: The evaluations of all subjects that were judged together.
        row: The row of this subject.
        is_phase_determined: Whether the phases of the run were known, if the rule is for one phase.
        other_windows: The windows (ns) of parts of the log that were sampled at another interval.
    """

    subject: Subject
    matrix: EvaluationMatrix
    row: int
    is_phase_determined: bool = True
    other_windows: Sequence[int] = ()

    healthy = _Cell[Healthy]("healthy")
    window = _Cell[int]("windows")
    values = _Cell[Values]("values")
    truths = _Cell[Truths]("truths")
    states = _Cell[States]("states")
    other_conditions_hold = _Cell[NDArray[np.bool_]]("other_conditions_hold")
    impossible = _Cell[Values]("impossible")
    judged = _Cell[int]("judged")
    longest_stretch = _Cell[int]("longest_stretch")
    longest_crossing = _Cell[int]("longest_crossing")
    last_judged = _Cell[int]("last_judged")
    worst = _Cell[float]("worst")
    nearest = _Cell[float]("nearest")

    @property
    def times(self) -> Times:
        """The evaluations (UTC ns)."""
        return self.matrix.times

    @property
    def time_crossed(self) -> int:
        """The total time (ns) for which the condition was true."""
        return self.matrix.true[self.row] * EVALUATION_INTERVAL

    @property
    def share_of_time(self) -> float | None:
        """The share of evaluations with data at which the condition was true; None if none had data."""
        return self.matrix.true[self.row] / self.judged if self.judged else None

    @property
    def longest_fired(self) -> int | None:
        """The duration (ns) of the longest crossing that fired; None if none fired."""
        longest = self.matrix.longest_fired[self.row]
        return longest if longest >= 0 else None

    @property
    def crossings(self) -> CrossingColumns:
        """All crossings of the subject, in time order."""
        return self.matrix.crossings_of(self.row)


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a rule for one subject, with one element for each evaluation.

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
        """Return the conditions of one subject, by its row."""
        return Conditions(self.healthy[at], self.times, self.values[at], self.enter[at], self.stay[at])

    def without(self, rows: NDArray[np.bool_]) -> "ConditionMatrix":
        """Return the matrix with "no data" in the rows that the mask marks."""
        hidden = rows[:, np.newaxis]
        return replace(
            self,
            values=np.where(hidden, np.nan, self.values),
            enter=np.where(hidden, NO_DATA, self.enter),
            stay=np.where(hidden, NO_DATA, self.stay),
            impossible=np.where(hidden, np.nan, self.impossible),
        )


class RowLimits(NamedTuple):
    """The limits of several rows, all with one operator."""

    limits: Sequence[Healthy]
    values: Values

    @classmethod
    def of(cls, limits: Sequence[Healthy]) -> "RowLimits":
        """Return the limits of several rows, given one for each row."""
        return cls(limits, np.array([limit.limit for limit in limits])[:, np.newaxis])

    def hold(self, values: Values) -> NDArray[np.bool_]:
        """Return which values are on the healthy side of the limit of their row; False for NaN."""
        return holds(self.limits[0].operator, values, self.values)


def truths_of(values: Values, breached: NDArray[np.bool_], idle: NDArray[np.bool_]) -> Truths:
    """Return whether the condition is met: false where `idle` (no requests), no data where the value is NaN."""
    truths = breached.astype(np.int8)
    truths[np.isnan(values)] = NO_DATA
    if idle.any():
        truths[idle] = FALSE
    return truths


def together_of(truths: Sequence[Truths]) -> Truths:
    """Return several conditions joined by AND: false if any is false, else no data if any lacks data, else true."""
    if len(truths) == 1:
        return truths[0]
    stacked = np.stack(truths)
    joined = stacked.min(axis=0)  # no data where any lacks data, unless one is false
    joined[(stacked == FALSE).any(axis=0)] = FALSE
    return joined


def spans_of(inside: np.ndarray) -> list[slice]:
    """Return the runs of consecutive true elements of a mask, as slices."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False])).astype(np.int8)))
    return [slice(first, last) for first, last in edges.reshape(-1, 2).tolist()]
